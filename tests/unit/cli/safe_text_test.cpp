#include "cli/safe_text.h"

#include <gtest/gtest.h>

namespace spillway::cli {
namespace {

TEST(SafeText, KeepsLettersOfAllScripts) {
  EXPECT_EQ(safe("Zürich, 東京, 2 × a100"), "Zürich, 東京, 2 × a100");
}

TEST(SafeText, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(safe("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(safe("one\ntwo\r\t"), "one\\x0atwo\\x0d\\x09");
  EXPECT_EQ(safe("\xc2\x9b"), "\\u{9b}");              // CSI in one character
  EXPECT_EQ(safe("abc\xe2\x80\xae"), "abc\\u{202e}");  // turns the rest around
  EXPECT_EQ(safe("\xe2\x80\x8b"), "\\u{200b}");        // has no width
  EXPECT_EQ(safe(std::string_view("\0", 1)), "\\x00");
}

TEST(SafeText, ShowsBytesThatAreNoText) {
  EXPECT_EQ(safe("\xff\xc0\x80"), "\\xff\\xc0\\x80");  // overlong
  EXPECT_EQ(safe("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(safe("\xe2\x82"), "\\xe2\\x82");           // cut off
}

TEST(SafeText, AJsonDocumentStaysOne) {
  EXPECT_EQ(safe_json("{\"a\":\"\xe2\x80\xae\"}"), "{\"a\":\"\\u202e\"}");
  EXPECT_EQ(safe_json("\"\xf3\xa0\x80\x81\""), "\"\\udb40\\udc01\"");
  EXPECT_EQ(safe_json("{\n}"), "{\n}");
}

TEST(SafeText, CountsColumnsAndCuts) {
  EXPECT_EQ(columns("abc"), 3u);
  EXPECT_EQ(columns("Zürich"), 6u);
  EXPECT_EQ(columns("東京"), 4u);
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("東京都", 4), "東…");
  EXPECT_EQ(cut("abc", 0), "");
}

TEST(SafeText, TokensAreHidden) {
  EXPECT_EQ(hide_tokens("unexpected: swt1.aB-_9.00ff and more"), "unexpected: swt1.… and more");
  EXPECT_EQ(hide_tokens("swt1.a swt1.b"), "swt1.… swt1.…");
  EXPECT_EQ(hide_tokens("nothing"), "nothing");
}

}  // namespace
}  // namespace spillway::cli
