#include "cli/shell_text.h"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>

#include "cli/sim_replay.h"

namespace spillway::cli {
namespace {

std::string read_by_a_shell(const std::string& word) {
  FILE* shell = ::popen(("printf %s " + word).c_str(), "r");
  std::array<char, 256> text{};
  const size_t size = std::fread(text.data(), 1, text.size(), shell);
  EXPECT_EQ(::pclose(shell), 0);
  return {text.data(), size};
}

TEST(ShellWord, PlainTextStaysAsItIs) {
  EXPECT_EQ(shell_word("sim/scenarios/rush.yaml"), "sim/scenarios/rush.yaml");
}

TEST(ShellWord, AShellReadsWhatWasWritten) {
  for (const std::string text : {"", "two words.yaml", "it's", "$(touch x)", "a;b|c&d", "`x`", "*",
                                 "~/x", "\\n", "\"q\"", "''", "a\nb", "#x", "größe"}) {
    EXPECT_EQ(read_by_a_shell(shell_word(text)), text);
  }
}

TEST(ReplayLine, IsSafeToPaste) {
  EXPECT_EQ(replay_line(7, "", "none"), "spillway sim --seed 7");
  EXPECT_EQ(replay_line(7, "sim/scenarios/rush.yaml", "lost-hold"),
            "spillway sim --seed 7 --scenario sim/scenarios/rush.yaml --mutant lost-hold");
  EXPECT_EQ(replay_line(7, "my rush; it's.yaml", "none"),
            "spillway sim --seed 7 --scenario 'my rush; it'\\''s.yaml'");
}

}  // namespace
}  // namespace spillway::cli
