// spillway demo: the hour is played to its end, and nothing is left of it unless it was asked for.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/cli/program.h"
#include "live/seen_cluster.h"
#include "supply/guest_rule.h"
#include "support/temporary_folder.h"

namespace spillway::cli {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::ContainsRegex;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::StartsWith;

constexpr size_t k_demo_processes = 24;
// Said once everything is up, before the hour begins.
constexpr const char* k_is_up = "On sale, in each of the two markets";

// Guests that run on a node of the seller's own.
int running_guests(test::SeenCluster& seller) {
  int running = 0;
  const model::Label guest = supply::liqo_guest_labels().front();
  for (const kube::Object& pod : seller.list(kube::k_pods, guest.key + "=" + guest.value)) {
    const bool is_placed = model::text_at(pod, {"spec", "nodeName"}).starts_with("node-");
    const bool is_running = model::text_at(pod, {"status", "phase"}) == "Running";
    running += is_placed && is_running ? 1 : 0;
  }
  return running;
}

class Demo : public testing::Test {
 protected:
  void SetUp() override { setenv("TMPDIR", folder.path().c_str(), 1); }
  void TearDown() override {
    for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
    if (before) {
      setenv("TMPDIR", before->c_str(), 1);
    } else {
      unsetenv("TMPDIR");
    }
  }

  // Those that work in the demo's folder; its path is on their command lines.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string line = text_of(entry.path() / "cmdline");
      if (line.find(folder.path().string() + "/spillway-demo.") != std::string::npos) {
        found.push_back(std::stoi(name));
      }
    }
    return found;
  }
  // Of the demo that is there; without other files of this test.
  std::vector<std::string> demos() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (entry.path().filename().string().starts_with("spillway-demo.")) {
        found.push_back(entry.path());
      }
    }
    return found;
  }
  bool all_gone() const {
    constexpr auto k_patience = std::chrono::seconds(10);
    const auto until = std::chrono::steady_clock::now() + k_patience;
    for (auto left = processes(); !left.empty(); left = processes()) {
      if (!ends(left.front(), k_patience) || std::chrono::steady_clock::now() > until) return false;
    }
    return true;
  }

  std::optional<std::string> before = std::getenv("TMPDIR") == nullptr
                                          ? std::nullopt
                                          : std::optional<std::string>(std::getenv("TMPDIR"));
  TemporaryFolder folder;
};

// The numbers of a row of the table at the end: cost-unaware, cost-aware, always on.
struct Row {
  double unaware = -1;
  double aware = -1;
  double always = -1;
};

Row row_of(const std::string& out, const std::string& name) {
  const size_t table = out.find("What the hour came to");
  const size_t begin = table == std::string::npos ? table : out.find("\n  " + name + " ", table);
  if (begin == std::string::npos) return {};
  std::istringstream rest(out.substr(begin + 3 + name.size()));
  Row row;
  rest >> row.unaware >> row.aware >> row.always;
  return row;
}

// How many decisions of that sign the chapter has that is called so.
int decisions(const std::string& out, const std::string& chapter, const std::string& sign) {
  const size_t begin = out.find("What was decided when, and why: " + chapter);
  if (begin == std::string::npos) return -1;
  const std::string text = out.substr(begin, out.find("\n\n", begin) - begin);
  const std::regex line("\n  [0-9:]+  \\" + sign + " ");
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), line), std::sregex_iterator()));
}

TEST_F(Demo, SpendsLessWithAnEyeOnCost) {
  const Ended ended = run_spillway("demo --speed 180");
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, AllOf(HasSubstr("embedded   in the clusters: the Kubernetes API"),
                               HasSubstr("modelled   the Cluster Autoscaler"),
                               HasSubstr("make e2e"), HasSubstr("a second that passes here")));
  const Row money = row_of(ended.out, "USD");
  EXPECT_THAT(money.aware, AllOf(Gt(0), Lt(money.unaware), Lt(money.always))) << ended.out;
  // It had the cheapest first, and nothing of the dearest, which it did not need.
  EXPECT_THAT(row_of(ended.out, "node-hours of far").aware,
              Gt(row_of(ended.out, "node-hours of pr1").aware));
  EXPECT_EQ(row_of(ended.out, "node-hours of pr2").aware, 0) << ended.out;
  // All that was bought was given back before the hour was over.
  EXPECT_THAT(decisions(ended.out, "cost-aware (price)", "+"), Gt(0));
  EXPECT_THAT(decisions(ended.out, "cost-unaware (random)", "-"), Gt(0));
  EXPECT_THAT(ended.out, ContainsRegex("\n  60:00    0   0    0   0   0     0   0 +[0-9.]+"
                                       "   0    0   0   0     0   0 +[0-9.]+\n"));
  EXPECT_THAT(ended.out, ContainsRegex("[+] 1 far +USD/h: far 45.00, pr1 60.00"));
  EXPECT_THAT(ended.out, ContainsRegex("spillway explain\n  group far/"));
  // What was bought was a virtual node, and had guests at whoever sold it.
  EXPECT_THAT(row_of(ended.out, "virtual nodes, Ready").aware, Gt(3)) << ended.out;
  EXPECT_THAT(row_of(ended.out, "guests at sellers, at most").aware, Gt(6)) << ended.out;
  EXPECT_THAT(ended.out, ContainsRegex("\n  spillway://[0-9a-z]+/0 +far +[0-9.]+ s +2 +[0-9:]+\n"));
  EXPECT_THAT(demos(), IsEmpty());
  EXPECT_THAT(processes(), IsEmpty());
}

// Seen in the clusters themselves; then interrupted while all that is there.
TEST_F(Demo, PodsSpillToTheSellersOverVirtualNodes) {
  Running demo({"demo", "--speed", "60"}, folder / "out", folder / "err");
  ASSERT_TRUE(demo.says(k_is_up)) << text_of(folder / "err");
  ASSERT_EQ(demos().size(), 1U);
  const std::string market = demos().front() + "/aware/";
  test::SeenCluster buyer(market + "edge.kubeconfig");
  test::SeenCluster cheapest(market + "far.kubeconfig");
  EXPECT_TRUE(test::comes_true([&] { return test::provider_ids(buyer).size() >= 2; }))
      << text_of(folder / "out");
  EXPECT_THAT(test::provider_ids(buyer), Each(StartsWith("spillway://")));
  EXPECT_TRUE(test::comes_true([&] { return running_guests(cheapest) >= 2; }));
  EXPECT_EQ(demo.stop(SIGINT), 128 + SIGINT);
  EXPECT_THAT(processes(), IsEmpty());
  EXPECT_THAT(demos(), IsEmpty());
}

TEST_F(Demo, GoesByThePolicyThatItIsGivenAndIsKeptWhenAsked) {
  const Ended kept = run_spillway("demo --keep --speed 600 --policy greenest");
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.out, ContainsRegex("[+] 1 green +the recommender's choice of far, green"));
  const Row carbon = row_of(kept.out, "g CO2e, as declared");
  EXPECT_THAT(carbon.aware, AllOf(Gt(0), Lt(carbon.always))) << kept.out;
  ASSERT_EQ(demos().size(), 1U);
  const std::string demo = demos().front();
  EXPECT_EQ(processes().size(), k_demo_processes);
  EXPECT_THAT(kept.out, HasSubstr("demo --stop " + demo));
  const std::string edge = " --dir '" + demo + "/aware/edge'";
  EXPECT_EQ(run_spillway("doctor" + edge).code, 0);
  // What it says that one may try.
  std::smatch explain;
  ASSERT_TRUE(std::regex_search(kept.out, explain, std::regex("spillway (explain .*)\n")));
  EXPECT_THAT(run_spillway(explain[1]).out, HasSubstr("by the policy: place"));

  const Ended stopped = run_spillway("demo --stop '" + demo + "'");
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_THAT(processes(), IsEmpty());
  EXPECT_THAT(demos(), IsEmpty());
  const Ended again = run_spillway("demo --stop '" + demo + "'");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("no demo was kept there"));
}

TEST_F(Demo, IsToldNoNonsense) {
  EXPECT_EQ(run_spillway("demo --policy greener").code, 2);
  EXPECT_EQ(run_spillway("demo --speed 0").code, 2);
}

TEST_F(Demo, StopsNobodyElse) {
  // A number that by now is another's: ours, which started at another time.
  const std::string old = folder / "spillway-demo.old";
  std::filesystem::create_directory(old);
  std::ofstream(old + "/demo.pids") << "broker " << ::getpid() << " 1\n";
  EXPECT_EQ(run_spillway("demo --stop '" + old + "/'").code, 0);
  EXPECT_FALSE(std::filesystem::exists(old));
}

TEST_F(Demo, RemovesNoFolderThatIsNotADemos) {
  std::filesystem::create_directory(folder / "mine");
  std::ofstream(folder / "mine/demo.pids") << "";
  EXPECT_EQ(run_spillway("demo --stop '" + (folder / "mine") + "'").code, 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "mine/demo.pids"));
}

// Two at once: each has ports and a folder of its own.
TEST_F(Demo, EndsCleanlyWhenInterrupted) {
  Running demo({"demo"}, folder / "out", folder / "err");
  Running kept({"demo", "--keep"}, folder / "out2", folder / "err2");
  ASSERT_TRUE(demo.says(k_is_up)) << text_of(folder / "err");
  ASSERT_TRUE(kept.says(k_is_up)) << text_of(folder / "err2");
  EXPECT_EQ(processes().size(), 2 * k_demo_processes);
  EXPECT_EQ(demo.stop(SIGINT), 128 + SIGINT);
  EXPECT_THAT(text_of(folder / "err"), HasSubstr("nothing is left running"));
  EXPECT_EQ(processes().size(), k_demo_processes);
  EXPECT_EQ(demos().size(), 1U);
  EXPECT_EQ(kept.stop(SIGTERM), 128 + SIGTERM);
  EXPECT_THAT(processes(), IsEmpty());
  EXPECT_THAT(demos(), IsEmpty());
}

TEST_F(Demo, ItsProcessesDieWithIt) {
  Running demo({"demo"}, folder / "out", folder / "err");
  ASSERT_TRUE(demo.says(k_is_up));
  EXPECT_EQ(processes().size(), k_demo_processes);
  demo.stop(SIGKILL);
  EXPECT_TRUE(all_gone());
}

TEST_F(Demo, AnEmptyTmpdirIsNone) {
  setenv("TMPDIR", "", 1);
  Running demo({"demo"}, folder / "out", folder / "err");
  EXPECT_TRUE(demo.says(k_is_up)) << text_of(folder / "err");
  EXPECT_EQ(demo.stop(SIGINT), 128 + SIGINT);
}

TEST_F(Demo, SaysWhenItHasNoTemporaryFolder) {
  setenv("TMPDIR", "/nonexist", 1);
  const Running demo({"demo"}, folder / "out", folder / "err");
  EXPECT_TRUE(demo.says("spillway demo: ", folder / "err"));
  EXPECT_TRUE(demo.says("TMPDIR", folder / "err"));
}

}  // namespace
}  // namespace spillway::cli
