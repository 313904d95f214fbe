// spillway demo: the story is told to its end, and nothing is left of it unless it was asked for.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/cli/program.h"
#include "support/temporary_folder.h"

namespace spillway::cli {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST_F(Demo, TellsItsStoryToTheEnd) {
  const Ended ended = run_spillway("demo");
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, AllOf(HasSubstr("that run\n             nothing"), HasSubstr("takes pr1 "),
                               HasSubstr("not   far: 16680 km away, at most 2500 km wanted"),
                               HasSubstr("takes pr2 "), HasSubstr("short of cpu")));
  EXPECT_THAT(ended.out, ContainsRegex("[0-9]+ ms later there are 2 units on sale there, not 3"));
  EXPECT_THAT(ended.out, ContainsRegex("[0-9]+ ms later they are 3 again"));
  EXPECT_THAT(ended.out, ContainsRegex("pr1 hears in [0-9.]+ ms, edge in [0-9.]+ ms"));
  EXPECT_THAT(ended.out, HasSubstr("pr1 costs 90.00 USD/h"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("with 5 contracts in its book"),
                               HasSubstr("5 contracts are there, each as it was")));
  for (const std::string name : {"edge", "far", "green", "pr1", "pr2"}) {
    EXPECT_THAT(ended.out, ContainsRegex(name + " +is back [0-9.]+ s after the broker"));
  }
  EXPECT_THAT(ended.out, ContainsRegex("in all +[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(demos(), IsEmpty());
  EXPECT_THAT(processes(), IsEmpty());
}

TEST_F(Demo, IsKeptAndStoppedWhenAsked) {
  const Ended kept = run_spillway("demo --keep");
  ASSERT_EQ(kept.code, 0) << kept.err;
  ASSERT_EQ(demos().size(), 1U);
  const std::string demo = demos().front();
  EXPECT_EQ(processes().size(), 11U);
  EXPECT_THAT(kept.out, HasSubstr("demo --stop " + demo));
  const std::string edge = " --dir '" + demo + "/edge'";
  EXPECT_EQ(run_spillway("doctor" + edge).code, 0);
  const std::string best = run_spillway("offers --cpu 2 --currency USD -o plain" + edge).out;
  EXPECT_THAT(run_spillway("hold " + best.substr(0, best.find('\t')) + " --confirm" + edge).out,
              HasSubstr("active"));

  const Ended stopped = run_spillway("demo --stop '" + demo + "'");
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_THAT(processes(), IsEmpty());
  EXPECT_THAT(demos(), IsEmpty());
  const Ended again = run_spillway("demo --stop '" + demo + "'");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("no demo was kept there"));
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

TEST_F(Demo, EndsCleanlyWhenInterrupted) {
  for (const std::string arguments : {"demo", "demo --keep"}) {
    std::vector<std::string> words{"demo"};
    if (arguments != "demo") words.emplace_back("--keep");
    Running demo(words, folder / "out", folder / "err");
    ASSERT_TRUE(demo.says("confirmed in"));
    EXPECT_EQ(demo.stop(SIGINT), 128 + SIGINT) << arguments;
    EXPECT_THAT(text_of(folder / "err"), HasSubstr("nothing is left running"));
    EXPECT_THAT(processes(), IsEmpty()) << arguments;
    EXPECT_THAT(demos(), IsEmpty()) << arguments;
  }
}

TEST_F(Demo, ItsProcessesDieWithIt) {
  Running demo({"demo"}, folder / "out", folder / "err");
  ASSERT_TRUE(demo.says("confirmed in"));
  EXPECT_EQ(processes().size(), 11U);
  demo.stop(SIGKILL);
  EXPECT_TRUE(all_gone());
}

TEST_F(Demo, AnEmptyTmpdirIsNone) {
  setenv("TMPDIR", "", 1);
  Running demo({"demo"}, folder / "out", folder / "err");
  EXPECT_TRUE(demo.says("confirmed in")) << text_of(folder / "err");
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
