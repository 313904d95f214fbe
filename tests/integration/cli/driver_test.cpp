// spillway driver: a process with two embedded clusters with Liqo, asked by its own words, killed
// at every step that it tells of.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/when.h"
#include "integration/cli/live_autoscaler.h"
#include "pki/authority_folder.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A driver's folder, and the two clusters that it names.
class DriverWorld {
 public:
  DriverWorld(std::string consumer, std::string provider)
      : clusters_{std::move(consumer), std::move(provider)} {
    ::setenv("SPILLWAY_CLUSTERS", (folder_ / "clusters").c_str(), 1);
    std::string listed = "clusters:";
    for (const std::string& name : clusters_) {
      const Ended up = run_spillway(fmt::format("cluster up {} --liqo", name));
      EXPECT_EQ(up.code, 0) << up.err;
      listed += fmt::format("\n  - {{name: {0}, kubeconfig: {1}/{0}/kubeconfig}}", name,
                            folder_ / "clusters");
    }
    const Ended init = run_spillway(
        fmt::format("driver init --folder '{}' --listen 127.0.0.1:{}", driver(), free_port()));
    EXPECT_EQ(init.code, 0) << init.err;
    std::string file = text_of(driver() + "/driver.yaml");
    const std::string none = "clusters: []";
    file.replace(file.find(none), none.size(), listed);
    std::ofstream(driver() + "/driver.yaml") << file;
  }
  DriverWorld(const DriverWorld&) = delete;
  DriverWorld& operator=(const DriverWorld&) = delete;
  ~DriverWorld() {
    for (const std::string& name : clusters_) run_spillway("cluster down " + name);
    ::unsetenv("SPILLWAY_CLUSTERS");
  }

  std::string driver() const { return folder_ / "driver"; }
  std::string caller() const { return driver() + "/operator"; }
  std::string path(const std::string& file) const { return folder_ / file; }
  std::unique_ptr<Running> start() const {
    auto running = std::make_unique<Running>(
        std::vector<std::string>{"driver", "--folder", driver()}, path("out"), path("err"));
    EXPECT_TRUE(running->says("listens on")) << text_of(path("err"));
    return running;
  }
  Ended ask(const std::string& words) const {
    return run_spillway(fmt::format("driver {} --dir '{}'", words, caller()));
  }

 private:
  test::TemporaryFolder folder_;
  std::vector<std::string> clusters_;
};

class DriverVerb : public testing::Test {
 protected:
  std::string driver() const { return world_.driver(); }
  std::unique_ptr<Running> start() { return world_.start(); }
  Ended ask(const std::string& words) const { return world_.ask(words); }
  std::string path(const std::string& file) const { return world_.path(file); }
  // The name of the one unit that there is, as a list tells it.
  std::string ordered() const {
    const std::string text = ask("units -o plain").out;
    return text.substr(0, text.find('\t'));
  }
  // Of one more unit, its name.
  std::string order() const {
    const Ended told = ask("order rome milan -o plain");
    EXPECT_EQ(told.code, 0) << told.err;
    return told.out.substr(0, told.out.find('\t'));
  }
  Running watch_all() const {
    return Running({"driver", "watch", "--dir", driver() + "/operator", "--after", "0"},
                   path("watched"), path("watch-err"));
  }
  bool comes_to(const std::string& unit, const std::string& step) const {
    return test::comes_true([&] { return has_line(ask("units -o plain").out, {unit, step}); });
  }
  std::string all() const { return ask("units -o json").out + text_of(path("err")); }

  DriverWorld world_{"rome", "milan"};
};

TEST_F(DriverVerb, AnOrderIsWatchedUntilItIsReadyAndGone) {
  const auto running = start();
  Running watch({"driver", "watch", "--dir", driver() + "/operator", "--after", "0"},
                path("watched"), path("watch-err"));
  const Ended order = ask("order rome milan --cpu 4 --memory 8Gi --labels disk=ssd");
  ASSERT_EQ(order.code, 0) << order.err;
  EXPECT_THAT(order.out, HasSubstr("asked"));
  EXPECT_TRUE(watch.says("ready")) << text_of(path("watched")) << text_of(path("err"));
  const std::string unit = ordered();
  EXPECT_THAT(ask("peerings").out, HasSubstr("open"));
  const Ended again =
      ask(fmt::format("order rome milan --cpu 4 --memory 8Gi --labels disk=ssd --unit {}", unit));
  EXPECT_EQ(again.code, 0) << again.err;
  const Ended other = ask(fmt::format("order rome milan --cpu 5 --memory 8Gi --unit {}", unit));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("resources"));
  EXPECT_EQ(ask("end " + unit).code, 0);
  EXPECT_TRUE(watch.says("gone")) << text_of(path("watched"));
}

// A unit for each step, for most are over in a moment: killed as soon as that step of it is told.
TEST_F(DriverVerb, KilledAtEveryStepItGoesOn) {
  auto running = start();
  const auto kill_at = [&](const std::string& unit, const std::string& step, const Running& watch) {
    EXPECT_TRUE(watch.says_line({unit, step})) << text_of(path("watched"));
    running->stop(SIGKILL);
    running = start();
  };
  std::vector<std::string> units;
  for (const char* step : {"asked", "recorded", "carried", "granted", "made", "ready"}) {
    SCOPED_TRACE(step);
    const Running watch = watch_all();
    units.push_back(order());
    kill_at(units.back(), step, watch);
  }
  for (const std::string& unit : units) EXPECT_TRUE(comes_to(unit, "ready")) << all();
  for (const char* step : {"ending", "gone"}) {
    SCOPED_TRACE(step);
    const Running watch = watch_all();
    ASSERT_EQ(ask("end " + units.back()).code, 0);
    kill_at(units.back(), step, watch);
    EXPECT_TRUE(comes_to(units.back(), "gone")) << all();
    units.pop_back();
  }
  for (const std::string& unit : units) EXPECT_TRUE(comes_to(unit, "ready")) << all();
}

TEST_F(DriverVerb, OneDriverHasTheStateAndStrangersAreRefused) {
  const auto running = start();
  const Ended second = run_spillway("driver --folder '" + driver() + "'");
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr("same state"));
  // A certificate of the right authority that nobody has listed, and one of another's.
  ASSERT_EQ(run_spillway(fmt::format("driver caller nobody --folder '{}'", driver())).code, 0);
  const Ended unlisted = run_spillway(fmt::format("driver units --dir '{}/nobody'", driver()));
  EXPECT_NE(unlisted.code, 0);
  EXPECT_THAT(unlisted.err, HasSubstr("not among the driver's callers"));
  const std::string other = path("other");
  ASSERT_EQ(run_spillway(fmt::format("driver init --folder '{}'", other)).code, 0);
  const std::string url = text_of(driver() + "/operator/member.json");
  std::ofstream(other + "/operator/member.json") << url;
  EXPECT_NE(run_spillway(fmt::format("driver units --dir '{}/operator'", other)).code, 0);
  EXPECT_THAT(text_of(path("err")), Not(HasSubstr("BEGIN")));
}

TEST(DriverWords, WhoHasNoIdentityIsToldHowADriversCallerGetsOne) {
  const test::TemporaryFolder folder;
  for (const char* words : {"units", "watch", "end sw-x-0"}) {
    const Ended told = run_spillway(fmt::format("driver {} --dir '{}'", words, folder / "nobody"));
    EXPECT_EQ(told.code, 1) << words;
    EXPECT_THAT(told.err, HasSubstr("spillway driver caller NAME")) << words;
    EXPECT_THAT(told.err, Not(HasSubstr("join"))) << words;
  }
}

TEST(DriverWords, NothingOfAnOrderStandsBesideItsFile) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "order.yaml") << "version: 1\nconsumer: rome\nprovider: milan\nresources: "
                                          "{cpu: 1, memory: 1Gi, pods: 10}\n";
  const auto told = [&](const std::string& words) {
    return run_spillway(fmt::format("driver order -f '{}' {} --dir '{}'", folder / "order.yaml",
                                    words, folder / "nobody"));
  };
  for (const std::string& words :
       {std::string("rome"), std::string("--cpu 4"), std::string("--memory 8Gi"),
        std::string("--pods 5"), std::string("--labels disk=ssd"),
        std::string("--provider-id aws:///x"), std::string("--spare")}) {
    const Ended refused = told(words);
    EXPECT_EQ(refused.code, 2) << words << refused.err;
    const std::string name = words == "rome" ? "consumer" : words.substr(0, words.find(' '));
    EXPECT_THAT(refused.err, HasSubstr(name + " excludes --file")) << words;
  }
  const Ended alone = told("--unit sw-06b8vxpv5j26w5z2cdm4h0rvg8-0");
  EXPECT_EQ(alone.code, 1) << "it comes to asking, as nobody: " << alone.err;
}

// Whose certificate the port shows says nothing of who its own callers are.
class DriverWithCertificate : public DriverVerb {
 protected:
  // By another authority, which the driver trusts with members: it may sign any name.
  DriverWithCertificate() {
    EXPECT_EQ(run_spillway(fmt::format("driver init --folder '{}'", other())).code, 0);
    const auto authority = pki::AuthorityFolder::load(other() + "/authority").value();
    const pki::Key key = pki::Key::generate();
    const auto shown = authority.signer().issue_server(
        key.public_key(), {{"localhost"}, {"127.0.0.1"}}, now(), now() + hours(1));
    std::ofstream(driver() + "/company.pem") << *shown;
    std::ofstream(driver() + "/company.key") << key.to_pem().view();
    std::ofstream(path("authorities.pem")) << authority.bundle();
    std::ofstream(driver() + "/driver.yaml", std::ios::app)
        << "certificate: company.pem\nkey: company.key\nauthorities: " << path("authorities.pem")
        << "\n";
  }
  std::string other() const { return path("other"); }
  Ended make_operator(const std::string& more) const {
    return run_spillway(fmt::format("driver caller operator --folder '{}' {}", driver(), more));
  }
};

TEST_F(DriverWithCertificate, ItsCallersAreKnownByItsOwnAuthority) {
  const auto running = start();
  EXPECT_NE(ask("units").code, 0);  // it trusts the driver's own authority alone
  const Ended untold = make_operator("");
  EXPECT_EQ(untold.code, 1);
  EXPECT_THAT(untold.err, HasSubstr("--authorities"));
  const Ended made = make_operator("--authorities '" + path("authorities.pem") + "'");
  ASSERT_EQ(made.code, 0) << made.err;
  const Ended units = ask("units");
  EXPECT_EQ(units.code, 0) << units.err;
  // The same name, signed by whom the driver trusts with members alone.
  std::ofstream(other() + "/operator/member.json") << text_of(driver() + "/operator/member.json");
  const Ended stranger = run_spillway(fmt::format("driver units --dir '{}/operator'", other()));
  EXPECT_NE(stranger.code, 0);
  EXPECT_THAT(stranger.err, HasSubstr("not among the driver's callers"));
}

TEST_F(DriverWithCertificate, WhatIsNotReadAgainInWholeIsNotTakenInPart) {
  const auto running = start();
  ASSERT_EQ(make_operator("--authorities '" + path("authorities.pem") + "'").code, 0);
  std::string file = text_of(driver() + "/driver.yaml");
  const std::string callers = "certificate: operator";
  file.replace(file.find(callers), callers.size(), "certificate: nobody");
  std::ofstream(driver() + "/driver.yaml") << file;
  const std::string shown = text_of(driver() + "/company.pem");
  std::ofstream(driver() + "/company.pem") << "none\n";
  running->signal(SIGHUP);
  ASSERT_TRUE(running->says("what was holds", path("err"))) << text_of(path("err"));
  const Ended held = ask("units");
  EXPECT_EQ(held.code, 0) << held.err;
  std::ofstream(driver() + "/company.pem") << shown;
  running->signal(SIGHUP);
  ASSERT_TRUE(running->says("callers are read again", path("err"))) << text_of(path("err"));
  const Ended struck = ask("units");
  EXPECT_NE(struck.code, 0);
  EXPECT_THAT(struck.err, HasSubstr("not among the driver's callers"));
}

TEST_F(DriverWithCertificate, WithoutAnAuthorityItHasNoCallersOfItsOwn) {
  std::filesystem::rename(driver() + "/authority", path("away"));
  const Ended refused = run_spillway("driver --folder '" + driver() + "'");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("caller operator"));
  EXPECT_THAT(refused.err, HasSubstr("spillway driver init"));
}

TEST_F(DriverWithCertificate, AnAuthorityThatIsMadeLaterIsTakenWithItsCallers) {
  ASSERT_EQ(make_operator("--authorities '" + path("authorities.pem") + "'").code, 0);
  const std::string file = text_of(driver() + "/driver.yaml");
  std::string of_federation = file;
  const std::string callers = "certificate: operator";
  of_federation.replace(of_federation.find(callers), callers.size(),
                        "certificate: spillway://company/ann");
  std::ofstream(driver() + "/driver.yaml") << of_federation;
  std::filesystem::rename(driver() + "/authority", path("away"));
  const auto running = start();
  std::ofstream(driver() + "/driver.yaml") << file;
  running->signal(SIGHUP);
  ASSERT_TRUE(running->says("there is none in", path("err"))) << text_of(path("err"));
  EXPECT_NE(ask("units").code, 0);
  std::filesystem::rename(path("away"), driver() + "/authority");
  running->signal(SIGHUP);
  ASSERT_TRUE(running->says("callers are read again", path("err"))) << text_of(path("err"));
  const Ended units = ask("units");
  EXPECT_EQ(units.code, 0) << units.err;
}

// A market's units, made by whoever has the kubeconfigs: the Cluster Autoscaler sees no difference.
class DriverBackEnd : public LiveAutoscaler {
 protected:
  DriverWorld world_{"home", "seller"};
  std::unique_ptr<Running> driver_ = world_.start();
};

TEST_F(DriverBackEnd, KeepsTheRulesThatTheClusterAutoscalerActsOn) {
  start(4, {"--backend", "driver", "--driver-dir", world_.caller()});
  const Ended told = run_spillway("conformance externalgrpc " + process_->client_flags());
  EXPECT_EQ(told.code, 0) << told.out << told.err;
  EXPECT_TRUE(comes([this] { return target() == 0; }));
}

TEST_F(DriverBackEnd, NodesOutliveTheDeathOfBoth) {
  start(4, {"--backend", "driver", "--driver-dir", world_.caller()});
  ASSERT_EQ(code_of(cloud_.increase(k_small, 2)), GrpcCode::ok);
  const auto are_running = [this] {
    const auto all = nodes();
    return all.size() == 2 && all[0].state == 1 && all[1].state == 1;
  };
  ASSERT_TRUE(comes(are_running)) << world_.ask("units -o json").out;
  process_->kill();
  driver_->stop(SIGKILL);
  driver_ = world_.start();
  run();
  EXPECT_TRUE(comes(are_running));
  ASSERT_EQ(code_of(cloud_.remove(k_small, demand::NodeRef{nodes()[0].id, {}})), GrpcCode::ok);
  EXPECT_TRUE(comes([this] {
    return world_.ask("units -o plain").out.find("gone") != std::string::npos &&
           nodes().size() == 1;
  })) << world_.ask("units -o json").out;
}

}  // namespace
}  // namespace spillway::cli
