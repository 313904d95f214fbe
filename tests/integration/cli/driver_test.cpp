// spillway driver: a process with two embedded clusters with Liqo, asked by its own words, killed
// at every step that it tells of.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "integration/cli/program.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class DriverVerb : public testing::Test {
 protected:
  DriverVerb() {
    ::setenv("SPILLWAY_CLUSTERS", (folder_ / "clusters").c_str(), 1);
    for (const char* name : {"rome", "milan"}) {
      const Ended up = run_spillway(fmt::format("cluster up {} --liqo", name));
      EXPECT_EQ(up.code, 0) << up.err;
    }
    const Ended init = run_spillway(
        fmt::format("driver init --folder '{}' --listen 127.0.0.1:{}", driver(), free_port()));
    EXPECT_EQ(init.code, 0) << init.err;
    std::string file = text_of(driver() + "/driver.yaml");
    file.replace(file.find("clusters: []"), 12,
                 fmt::format("clusters:\n"
                             "  - {{name: rome, kubeconfig: {0}/rome/kubeconfig}}\n"
                             "  - {{name: milan, kubeconfig: {0}/milan/kubeconfig}}",
                             folder_ / "clusters"));
    std::ofstream(driver() + "/driver.yaml") << file;
  }
  ~DriverVerb() override {
    for (const char* name : {"rome", "milan"}) {
      run_spillway(fmt::format("cluster down {}", name));
    }
    ::unsetenv("SPILLWAY_CLUSTERS");
  }

  std::string driver() const { return folder_ / "driver"; }
  std::string as_operator() const { return fmt::format("--dir '{}/operator'", driver()); }
  std::unique_ptr<Running> start() {
    auto running = std::make_unique<Running>(
        std::vector<std::string>{"driver", "--folder", driver()}, folder_ / "out", folder_ / "err");
    EXPECT_TRUE(running->says("listens on")) << text_of(folder_ / "err");
    return running;
  }
  Ended ask(const std::string& words) const {
    return run_spillway(fmt::format("driver {} {}", words, as_operator()));
  }
  // The name of the one unit that there is, as a list tells it.
  std::string ordered() const {
    const std::string text = ask("units -o plain").out;
    return text.substr(0, text.find('\t'));
  }
  bool comes_to(const std::string& step) const {
    return test::comes_true(
        [&] { return ask("units -o plain").out.find(step) != std::string::npos; });
  }

  test::TemporaryFolder folder_;
};

TEST_F(DriverVerb, AnOrderIsWatchedUntilItIsReadyAndGone) {
  const auto running = start();
  Running watch({"driver", "watch", "--dir", driver() + "/operator", "--after", "0"},
                folder_ / "watched", folder_ / "watch-err");
  const Ended order = ask("order rome milan --cpu 4 --memory 8Gi --labels disk=ssd");
  ASSERT_EQ(order.code, 0) << order.err;
  EXPECT_THAT(order.out, HasSubstr("asked"));
  EXPECT_TRUE(watch.says("ready")) << text_of(folder_ / "watched") << text_of(folder_ / "err");
  const std::string unit = ordered();
  EXPECT_THAT(ask("peerings").out, HasSubstr("open"));
  const Ended again =
      ask(fmt::format("order rome milan --cpu 4 --memory 8Gi --labels disk=ssd --unit {}", unit));
  EXPECT_EQ(again.code, 0) << again.err;
  const Ended other = ask(fmt::format("order rome milan --cpu 5 --memory 8Gi --unit {}", unit));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("resources"));
  EXPECT_EQ(ask("end " + unit).code, 0);
  EXPECT_TRUE(watch.says("gone")) << text_of(folder_ / "watched");
}

TEST_F(DriverVerb, KilledAtEveryStepItGoesOn) {
  auto running = start();
  ASSERT_EQ(ask("order rome milan").code, 0);
  for (const char* step : {"asked", "recorded", "carried", "granted", "made", "ready"}) {
    running->stop(SIGKILL);
    running = start();
    SCOPED_TRACE(step);
    Running watch({"driver", "watch", "--dir", driver() + "/operator", "--after", "0"},
                  folder_ / "watched", folder_ / "watch-err");
    // Whatever the next step is: killed as soon as it is told, or when all is there.
    EXPECT_TRUE(test::comes_true([&] {
      return !text_of(folder_ / "watched").empty() ||
             ask("units -o plain").out.find("ready") != std::string::npos;
    }));
  }
  EXPECT_TRUE(comes_to("ready")) << ask("units -o json").out << text_of(folder_ / "err");
  const std::string unit = ordered();
  ASSERT_EQ(ask("end " + unit).code, 0);
  running->stop(SIGKILL);
  running = start();
  EXPECT_TRUE(comes_to("gone")) << ask("units -o json").out;
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
  const std::string other = folder_ / "other";
  ASSERT_EQ(run_spillway(fmt::format("driver init --folder '{}'", other)).code, 0);
  const std::string url = text_of(driver() + "/operator/member.json");
  std::ofstream(other + "/operator/member.json") << url;
  EXPECT_NE(run_spillway(fmt::format("driver units --dir '{}/operator'", other)).code, 0);
  EXPECT_THAT(text_of(folder_ / "err"), Not(HasSubstr("BEGIN")));
}

}  // namespace
}  // namespace spillway::cli
