// The tree of verbs: what people find when they ask for help or press the tab key.
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/completion.h"
#include "cli/doctor.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;

class CommandLine : public testing::Test {
 protected:
  CommandLine() { add_verbs(program.word()); }

  static void each(Word word, const std::function<void(Word)>& use) {
    use(word);
    for (const Word next : word.words()) each(next, use);
  }

  // What the line ends with; `said` has what it prints.
  int code_of(std::vector<const char*> line) {
    line.insert(line.begin(), "spillway");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = program.read(static_cast<int>(line.size()), line.data())();
    said = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
    return code;
  }

  Program program{"Spillway"};
  std::string said;
};

TEST_F(CommandLine, HelpEndsWithExamples) {
  for (const Word verb : program.word().words()) {
    each(verb, [](Word word) {
      const std::string help = word.help();
      const size_t at = help.rfind("Examples:\n");
      ASSERT_NE(at, std::string::npos) << word.name();
      std::string examples = help.substr(at);
      size_t count = 0;
      for (size_t i = examples.find("\n  "); i != std::string::npos;
           i = examples.find("\n  ", i + 1)) {
        ++count;
      }
      EXPECT_GE(count, 2u) << word.name();
    });
  }
}

TEST_F(CommandLine, EverythingIsDescribed) {
  for (const Word verb : program.word().words()) {
    each(verb, [](Word word) {
      EXPECT_FALSE(word.summary().empty()) << word.name();
      for (const Setting setting : word.settings()) {
        EXPECT_FALSE(setting.help().empty()) << word.help();
      }
    });
  }
}

TEST_F(CommandLine, CompletionKnowsEveryWordAndOption) {
  const std::string bash = bash_completion(program.word());
  const std::string zsh = zsh_completion(program.word());
  const std::string fish = fish_completion(program.word());
  EXPECT_THAT(bash, HasSubstr("'spillway broker authority rotate') next='begin finish retire"));
  EXPECT_THAT(bash, HasSubstr("--carbon-worth"));
  EXPECT_THAT(zsh, HasSubstr("'spillway token create') next='"));
  EXPECT_THAT(fish, HasSubstr("-n \"__spillway_at 'spillway contracts'\" -f -a release"));
  EXPECT_THAT(fish, HasSubstr("-l output -s o"));
}

TEST_F(CommandLine, WordsLeadToTheirOwnRun) {
  EXPECT_EQ(code_of({"completion", "bash"}), 0);
  EXPECT_EQ(said, bash_completion(program.word()));
  EXPECT_EQ(code_of({"token"}), 2);
  EXPECT_EQ(code_of({"contracts", "release"}), 2);
  EXPECT_EQ(code_of({"pools", "-o", "xml"}), 2);
}

TEST_F(CommandLine, AnUnknownWordIsNamed) {
  EXPECT_EQ(code_of({"nosuch", "--dir", "x"}), 2);
  EXPECT_THAT(said, testing::StartsWith("spillway: \"nosuch\": there is no such word; these "));
  EXPECT_THAT(said, HasSubstr("identities"));
  EXPECT_EQ(code_of({"brokr"}), 2);
  EXPECT_THAT(said, HasSubstr("did you mean broker?"));
  EXPECT_EQ(code_of({"token", "creat"}), 2);
  EXPECT_THAT(said, testing::StartsWith("spillway token: \"creat\": "));
  EXPECT_THAT(said, HasSubstr("did you mean create?"));
  EXPECT_EQ(code_of({"token", "swt1.SECRET.00ff"}), 2);
  EXPECT_THAT(said, testing::Not(HasSubstr("SECRET")));
  EXPECT_EQ(code_of({}), 2);
  EXPECT_THAT(said, HasSubstr("required"));
}

TEST_F(CommandLine, AHoldAsksForNoMoreThanABrokerGives) {
  EXPECT_EQ(code_of({"hold", "turin/small", "--units", "1001"}), 2);
  EXPECT_EQ(code_of({"hold", "turin/small", "--units", "1000", "--dir", "/nonexistent"}), 1);
}

TEST_F(CommandLine, WithoutAWordOrWithOneThatAddsNothingTheVerbRuns) {
  for (const std::vector<const char*>& line : {std::vector{"pools", "--dir", "/nonexistent"},
                                               {"pools", "list", "--dir", "/nonexistent"}}) {
    EXPECT_EQ(code_of(line), 1);
    EXPECT_THAT(said, testing::StartsWith("spillway pools: "));
  }
  EXPECT_EQ(code_of({"clusters", "show", "edge", "--dir", "/nonexistent"}), 1);
  EXPECT_THAT(said, testing::StartsWith("spillway clusters show: "));
}

TEST_F(CommandLine, ANumberBeyond64BitsIsNotTakenForAnother) {
  EXPECT_EQ(code_of({"sim", "--seed", "18446744073709551616"}), 2);
  EXPECT_THAT(said, HasSubstr("--seed: 18446744073709551616 does not fit into 64 bits: "
                              "0 to 18446744073709551615"));
  EXPECT_EQ(code_of({"events", "--after", "9223372036854775808"}), 2);
  EXPECT_THAT(said, HasSubstr("--after: 9223372036854775808 does not fit"));
}

TEST_F(CommandLine, AnUnknownOptionIsToldBeforeWhatIsMissing) {
  EXPECT_EQ(code_of({"hold", "--oops"}), 2);
  EXPECT_THAT(said, HasSubstr("hold: The following argument was not expected: --oops"));
  EXPECT_EQ(code_of({"token", "--oops"}), 2);
  EXPECT_THAT(said, HasSubstr("token: The following argument was not expected: --oops"));
  EXPECT_EQ(code_of({"broker", "init", "--federatoin", "lab"}), 2);
  EXPECT_THAT(said, HasSubstr("--federatoin"));
  EXPECT_EQ(code_of({"hold"}), 2);
  EXPECT_THAT(said, HasSubstr("offer is required"));
}

TEST(Doctor, ReadsTheDateOfAnAnswer) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Instant{784'111'777'000});
  EXPECT_EQ(parse_http_date("yesterday"), std::nullopt);
  EXPECT_EQ(parse_http_date(""), std::nullopt);
}

}  // namespace
}  // namespace spillway::cli
