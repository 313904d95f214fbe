// The tree of verbs: what people find when they ask for help or press the tab key.
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/completion.h"
#include "cli/doctor.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;

class CommandLine : public testing::Test {
 protected:
  CommandLine() { add_verbs(app, chosen); }

  static std::vector<const CLI::App*> words_of(const CLI::App& verb) {
    return verb.get_subcommands([](const CLI::App*) { return true; });
  }
  static void each(const CLI::App& verb, const std::function<void(const CLI::App&)>& use) {
    use(verb);
    for (const CLI::App* word : words_of(verb)) each(*word, use);
  }

  CLI::App app;
  cli::Run chosen;
};

TEST_F(CommandLine, HelpEndsWithExamples) {
  for (const CLI::App* verb : words_of(app)) {
    each(*verb, [](const CLI::App& word) {
      const std::string help = word.help();
      const size_t at = help.rfind("Examples:\n");
      ASSERT_NE(at, std::string::npos) << word.get_name();
      std::string examples = help.substr(at);
      size_t count = 0;
      for (size_t i = examples.find("\n  "); i != std::string::npos;
           i = examples.find("\n  ", i + 1)) {
        ++count;
      }
      EXPECT_GE(count, 2u) << word.get_name();
    });
  }
}

TEST_F(CommandLine, EverythingIsDescribed) {
  for (const CLI::App* verb : words_of(app)) {
    each(*verb, [](const CLI::App& word) {
      EXPECT_FALSE(word.get_description().empty()) << word.get_name();
      for (const CLI::Option* option : word.get_options()) {
        EXPECT_FALSE(option->get_description().empty()) << word.get_name() << option->get_name();
      }
    });
  }
}

TEST_F(CommandLine, CompletionKnowsEveryWordAndOption) {
  const std::string bash = bash_completion(app);
  const std::string zsh = zsh_completion(app);
  const std::string fish = fish_completion(app);
  EXPECT_THAT(bash, HasSubstr("'spillway broker authority rotate') next='begin finish retire"));
  EXPECT_THAT(bash, HasSubstr("--carbon-worth"));
  EXPECT_THAT(zsh, HasSubstr("'spillway token create') next='"));
  EXPECT_THAT(fish, HasSubstr("-n \"__spillway_at 'spillway contracts'\" -f -a release"));
  EXPECT_THAT(fish, HasSubstr("-l output -s o"));
}

TEST_F(CommandLine, WordsLeadToTheirOwnRun) {
  EXPECT_NO_THROW(app.parse("completion bash", false));
  EXPECT_TRUE(static_cast<bool>(chosen));
  EXPECT_THROW(app.parse("token", false), CLI::ParseError);
  EXPECT_THROW(app.parse("contracts release", false), CLI::ParseError);
  EXPECT_THROW(app.parse("pools -o xml", false), CLI::ParseError);
}

TEST(Doctor, ReadsTheDateOfAnAnswer) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Instant{784'111'777'000});
  EXPECT_EQ(parse_http_date("yesterday"), std::nullopt);
  EXPECT_EQ(parse_http_date(""), std::nullopt);
}

}  // namespace
}  // namespace spillway::cli
