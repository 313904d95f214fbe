// The built `spillway`, as its users start it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support/temporary_folder.h"

namespace spillway::cli {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int code = -1;  // beyond 255: it did not exit by itself
  std::string out;
  std::string err;
};

std::string binary() {
  const char* folder = std::getenv("SPILLWAY_BINARY_DIR");
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return (folder == nullptr ? here : std::filesystem::path(folder)) / "spillway";
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Arguments go through a shell: quote what needs it. `before` is what stands before the command, as
// in VARIABLE=value.
Outcome spillway(const std::string& arguments, const std::string& before = {},
                 const std::string& output = {}) {
  const TemporaryFolder folder;
  const std::string out = output.empty() ? folder / "out" : output;
  const std::string command = before + " '" + binary() + "' " + arguments + " >'" + out + "' 2>'" +
                              (folder / "err") + "' </dev/null";
  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256;
  outcome.out = content_of(folder / "out");
  outcome.err = content_of(folder / "err");
  return outcome;
}

TEST(Spillway, OutputThatIsLostIsAFailure) {
  const TemporaryFolder folder;
  for (const std::string arguments :
       {"demo", "sim --seed 7", "validate examples/pool.yaml", "--help", "--version"}) {
    const Outcome outcome =
        spillway(arguments, "TMPDIR='" + folder.path().string() + "'", "/dev/full");
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_THAT(outcome.err, testing::StartsWith("spillway: ")) << arguments;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Spillway, SimRunsTheVeryLastSeedOnce) {
  const std::string last = "18446744073709551615";
  for (const std::string& arguments : {"sim --seed " + last, "sim --seeds 1 --first " + last}) {
    const Outcome outcome = spillway(arguments, "timeout 60");
    EXPECT_EQ(outcome.code, 0) << arguments;
    EXPECT_THAT(outcome.out, HasSubstr("1 seeds of")) << arguments;
  }
  const Outcome beyond = spillway("sim --seeds 2 --first " + last, "timeout 60");
  EXPECT_EQ(beyond.code, 2);
  EXPECT_THAT(beyond.err, HasSubstr("--first"));
}

TEST(Spillway, SimOfOneSeedIsReplayedToTheByte) {
  const auto trace = [](const std::string& arguments) {
    const Outcome outcome = spillway(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const size_t at = outcome.out.find("trace ");
    EXPECT_NE(at, std::string::npos) << outcome.out;
    return outcome.out.substr(0, outcome.out.find('\n'));
  };
  const std::string first = trace("sim --seed 7");
  EXPECT_EQ(trace("sim --seed 7"), first);
  EXPECT_NE(trace("sim --seed 8"), first);
}

TEST(Spillway, SimRefusesWhatItCannotRun) {
  EXPECT_EQ(spillway("sim --seeds 0").code, 2);
  EXPECT_EQ(spillway("sim --seed -1").code, 2);
  EXPECT_EQ(spillway("sim --seed seven").code, 2);
  EXPECT_EQ(spillway("sim --mutant no-such-mutant").code, 2);
}

TEST(Spillway, ValidateKnowsGoodFiles) {
  const Outcome outcome = spillway("validate examples/*.yaml");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("examples/offer.yaml: good"));
  EXPECT_EQ(outcome.err, "");
}

TEST(Spillway, ValidatePrintsWhatAProfileStandsFor) {
  for (const std::string profile : {"cheapest", "greenest", "closest", "safest", "balanced"}) {
    const Outcome outcome = spillway("validate --profile " + profile);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const test::TemporaryFolder folder;
    std::ofstream(folder / "policy.yaml") << outcome.out;
    EXPECT_EQ(spillway("validate '" + (folder / "policy.yaml") + "'").code, 0) << outcome.out;
  }
  EXPECT_THAT(spillway("validate --profile cheepest").err, HasSubstr("cheapest"));
  EXPECT_EQ(spillway("validate").code, 2);
}

class ValidateBad : public testing::Test {
 protected:
  // What is said of a file with these lines.
  std::string said_of(const std::string& text) {
    std::ofstream(folder / "bad.yaml") << text;
    const Outcome outcome = spillway("validate '" + (folder / "bad.yaml") + "'");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, Not(HasSubstr("good")));
    return outcome.err;
  }
  TemporaryFolder folder;
};

TEST_F(ValidateBad, TellsFileAndLine) {
  const std::string said = said_of(
      "noun: pool\nversion: 1\nid: edge-1/standard\nnode: {cpu: 4, memory: 8Gi}\n"
      "capacity:\n  cpu: 8\n  memory: -1\n");
  EXPECT_THAT(said, AllOf(HasSubstr("bad.yaml"), HasSubstr("line 7"), HasSubstr("memory")));
}

TEST_F(ValidateBad, SuggestsTheFieldThatWasMeant) {
  const std::string said = said_of(
      "noun: pool\nversion: 1\nid: edge-1/standard\nnode: {cpu: 4, memory: 8Gi}\ncapcity: {cpu: "
      "8}\n");
  EXPECT_THAT(said, AllOf(HasSubstr("line 5"), HasSubstr("capcity"), HasSubstr("capacity")));
}

TEST_F(ValidateBad, SaysWhatElseIsWrong) {
  EXPECT_THAT(said_of(""), HasSubstr("empty"));
  EXPECT_THAT(said_of("noun: bridge\nversion: 1\n"), HasSubstr("bridge"));
  EXPECT_THAT(said_of("noun: pool\nversion: 99\n"), HasSubstr("version"));
  EXPECT_THAT(said_of("noun: [pool\n"), HasSubstr("line "));
  EXPECT_NE(said_of(std::string(100'000, '[')), "");
  EXPECT_NE(said_of("noun: pool\nversion: 1\nid: \xff\xfe\n"), "");
}

TEST_F(ValidateBad, AMissingFileIsNoGoodFile) {
  const Outcome outcome = spillway("validate examples/pool.yaml '" + (folder / "none.yaml") + "'");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("examples/pool.yaml: good"));
  EXPECT_THAT(outcome.err, HasSubstr("none.yaml"));
}

TEST_F(ValidateBad, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string& path : {folder / "pipe", std::string("/dev/zero")}) {
    const Outcome outcome = spillway("validate '" + path + "'", "timeout 20");
    EXPECT_EQ(outcome.code, 1) << path;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(path), HasSubstr("regular file")));
  }
}

TEST(Spillway, AnUnknownVerbGetsTheHelp) {
  for (const std::string arguments : {"", "fly", "demo --fly", "explain"}) {
    const Outcome outcome = spillway(arguments);
    EXPECT_EQ(outcome.code, 2) << "spillway " << arguments;
    EXPECT_THAT(outcome.out + outcome.err, testing::ContainsRegex("[Uu]sage|[Ss]ubcommand"))
        << "spillway " << arguments;
  }
  const Outcome outcome = spillway("fly");
  EXPECT_THAT(outcome.out + outcome.err,
              AllOf(HasSubstr("demo"), HasSubstr("sim"), HasSubstr("validate")));
}

TEST(Spillway, EveryVerbHasHelp) {
  for (const std::string verb : {"", "demo ", "sim ", "validate "}) {
    const Outcome outcome = spillway(verb + "--help");
    EXPECT_EQ(outcome.code, 0) << verb;
    EXPECT_THAT(outcome.out, HasSubstr("--help")) << verb;
    EXPECT_EQ(outcome.err, "") << verb;
  }
  EXPECT_THAT(spillway("--version").out, testing::StartsWith("spillway 0"));
}

}  // namespace
}  // namespace spillway::cli
