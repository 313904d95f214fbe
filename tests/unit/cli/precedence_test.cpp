// Which of several sources counts.
#include <array>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "cli/asking.h"
#include "cli/broker_settings.h"
#include "support/temporary_folder.h"

namespace spillway::cli {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
  auto kept = std::make_shared<std::map<std::string, std::string>>(std::move(variables));
  return [kept](const char* name) -> const char* {
    const auto found = kept->find(name);
    return found == kept->end() ? nullptr : found->second.c_str();
  };
}

TEST(Precedence, OfTheIdentitysFolder) {
  const auto there = [](const std::string&) { return true; };
  const auto not_there = [](const std::string&) { return false; };
  const auto both = environment({{"SPILLWAY_DIR", "/env"}, {"HOME", "/home/ada"}});
  const auto home = environment({{"SPILLWAY_DIR", ""}, {"HOME", "/home/ada"}});
  EXPECT_EQ(identity_dir("/given", both, there), "/given");
  EXPECT_EQ(identity_dir("", both, there), "/env");
  EXPECT_EQ(identity_dir("", home, there), "/home/ada/.spillway");
  EXPECT_EQ(identity_dir("", home, not_there), "/etc/spillway");
  EXPECT_EQ(identity_dir("", environment({}), there), "/etc/spillway");
}

TEST(Precedence, OfTheBrokersFolder) {
  const auto set = environment({{"SPILLWAY_BROKER_DATA", "/env"}});
  EXPECT_EQ(data_folder("/given", set), "/given");
  EXPECT_EQ(data_folder("", set), "/env");
  EXPECT_EQ(data_folder("", environment({})), "/var/lib/spillway/broker");
}

class BrokerSettings : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  }
  BrokerFlags flags(std::vector<std::string> sets = {}) {
    return {folder.path().string(), {}, std::move(sets)};
  }
  test::TemporaryFolder folder;
};

TEST_F(BrokerSettings, FlagThenVariableThenFileThenDefault) {
  const auto listen = [&](const BrokerFlags& with, const Environment& variables) {
    const auto config = read_settings(with, variables);
    return config ? config->listen : config.error().message();
  };
  const auto set = environment({{"SPILLWAY_BROKER_LISTEN", "127.0.0.1:2"}});
  EXPECT_EQ(listen(flags(), environment({})), "127.0.0.1:7443");
  write("broker.yaml", "version: 1\nlisten: \"127.0.0.1:1\"\n");
  EXPECT_EQ(listen(flags(), environment({})), "127.0.0.1:1");
  EXPECT_EQ(listen(flags(), set), "127.0.0.1:2");
  EXPECT_EQ(listen(flags({"listen=127.0.0.1:3"}), set), "127.0.0.1:3");
  EXPECT_EQ(listen(flags({"listen=127.0.0.1:3", "listen=127.0.0.1:4"}), set), "127.0.0.1:4");
}

TEST_F(BrokerSettings, AnotherFileMayBeNamed) {
  write("other.yaml", "version: 1\nlog: debug\n");
  BrokerFlags with = flags();
  with.config = folder / "other.yaml";
  EXPECT_EQ(read_settings(with, environment({}))->log, "debug");
  with.config = folder / "none.yaml";
  EXPECT_EQ(read_settings(with, environment({})).error().code, Code::not_found);
}

TEST_F(BrokerSettings, WhatIsWrongIsNamed) {
  EXPECT_EQ(read_settings(flags({"listen"}), environment({})).error().thing, "--set");
  EXPECT_NE(read_settings(flags({"lisen=1"}), environment({})).error().message().find("lisen"),
            std::string::npos);
  EXPECT_EQ(read_settings(flags(), environment({{"SPILLWAY_BROKER_STREAMS", "x"}})).error().thing,
            "SPILLWAY_BROKER_STREAMS");
  EXPECT_FALSE(read_settings(flags({"log=loud"}), environment({})).has_value());
}

TEST_F(BrokerSettings, EndingNoticesArePartsOfALeaseOrTimes) {
  const auto distances = [&](const std::string& text) {
    const auto config = read_settings(flags({"ending_notices=" + text}), environment({}));
    if (!config) return config.error().message();
    std::string all;
    const auto read = services::ending_distances(*config);
    for (const market::EndingDistance& one : *read) {
      all += fmt::format("{}% {} ", one.percent, to_text(one.time));
    }
    return all;
  };
  EXPECT_EQ(distances("50%,10m"), "50% 0s 0% 10m ");
  EXPECT_EQ(distances(""), "");
  for (const char* wrong : {"0%", "100%", "-5%", "5", "soon", "0s", "5%%", "%", "1.5%"}) {
    const std::string told = distances(wrong);
    EXPECT_NE(told.find("ending_notices"), std::string::npos) << wrong << ": " << told;
    EXPECT_NE(told.find(wrong), std::string::npos) << told;
  }
  EXPECT_NE(distances("1%,2%,3%,4%,5%,6%,7%,8%,9%").find("more than 8"), std::string::npos);
  write("broker.yaml", "version: 1\nending_notices: [40%, 1h]\n");
  EXPECT_EQ(read_settings(flags(), environment({}))->ending_notices,
            (std::vector<std::string>{"40%", "1h"}));
}

Status check(const char* variable) {
  const std::array variables{"HOME=/home/ada", variable, static_cast<const char*>(nullptr)};
  return check_variables(variables.data());
}

TEST_F(BrokerSettings, AMisspelledVariableIsRefused) {
  EXPECT_TRUE(check("SPILLWAY_BROKER_LISTEN=[::]:7443"));
  EXPECT_TRUE(check("SPILLWAY_BROKER_MEMBER_RATE=1"));
  EXPECT_TRUE(check("SPILLWAY_BROKER_DATA=/data"));
  EXPECT_TRUE(check("SPILLWAY_DIR=/etc/spillway"));
  const Status near = check("SPILLWAY_BROKER_LISEN=[::]:7443");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().thing, "SPILLWAY_BROKER_LISEN");
  EXPECT_EQ(near.error().next, "did you mean SPILLWAY_BROKER_LISTEN?");
  EXPECT_FALSE(check("SPILLWAY_BROKER_listen=[::]:7443"));
  EXPECT_FALSE(check("SPILLWAY_BROKER_BOGUS=1"));
  EXPECT_FALSE(check("SPILLWAY_BROKER_PORT=7443"));
}

TEST_F(BrokerSettings, VariablesOfAKubernetesServiceAreNotOurs) {
  EXPECT_TRUE(check("SPILLWAY_BROKER_SERVICE_HOST=10.0.0.1"));
  EXPECT_TRUE(check("SPILLWAY_BROKER_SERVICE_PORT_HTTPS=7443"));
  EXPECT_TRUE(check("SPILLWAY_BROKER_PORT=tcp://10.0.0.1:7443"));
  EXPECT_TRUE(check("SPILLWAY_BROKER_PORT_7443_TCP_ADDR=10.0.0.1"));
  EXPECT_TRUE(check("SPILLWAY_BROKER_METRICS_PORT=tcp://10.0.0.1:9090"));
}

}  // namespace
}  // namespace spillway::cli
