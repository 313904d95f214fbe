#include "base/shell_text.h"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>

namespace spillway {
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

}  // namespace
}  // namespace spillway
