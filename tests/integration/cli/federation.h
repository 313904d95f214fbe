// A federation by the command line alone, for tests that live in one.
#pragma once

#include <memory>

#include <gmock/gmock.h>

#include "integration/cli/program.h"

namespace spillway::cli {

class Federation : public testing::Test {
 protected:
  void SetUp() override {
    const Ended init = run_spillway(init_line());
    ASSERT_EQ(init.code, 0) << init.err;
    start();
  }

  std::string init_line() const {
    return "broker init --data '" + data() +
           "' --federation lab --listen 127.0.0.1:" + std::to_string(port) +
           " --name 127.0.0.1 --operator ada=operator";
  }
  void start() {
    broker = std::make_unique<Running>(std::vector<std::string>{"broker", "--data", data()},
                                       folder / "broker.out", folder / "broker.err");
    ASSERT_TRUE(broker->says("broker of lab listens on https://127.0.0.1:"))
        << text_of(folder / "broker.err");
  }

  std::string data() const { return folder / "broker"; }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port); }
  std::string dir(const std::string& name) const { return " --dir '" + (folder / name) + "'"; }
  std::string ada() const { return dir("broker/operator"); }

  // Again and again until it is good: a broker hears of what others commit within a second, and an
  // agent has published soon after its start.
  template <class Good>
  static Ended run_until(const std::string& line, Good good) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    Ended ended = run_spillway(line);
    while (!good(ended) && std::chrono::steady_clock::now() < patience) ended = run_spillway(line);
    return ended;
  }
  void join(const std::string& name, const std::string& roles) {
    const Ended token =
        run_spillway("token create --cluster " + name + " --roles " + roles + " -o plain" + ada());
    ASSERT_EQ(token.code, 0) << token.err;
    EXPECT_THAT(token.out, testing::MatchesRegex("swt1\\.[A-Za-z0-9_-]+\\.[0-9a-f]+\n"));
    const Ended joined = run_spillway("join " + url() + " --token-file -" + dir(name), token.out);
    ASSERT_EQ(joined.code, 0) << joined.err;
    EXPECT_THAT(joined.out, testing::HasSubstr("Joined lab as " + name));
  }

  test::TemporaryFolder folder;
  uint16_t port = free_port();
  std::unique_ptr<Running> broker;
};

}  // namespace spillway::cli
