#include "base/text.h"

#include <array>

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(Utf8, TakesWellFormedText) {
  for (const char* text : {"", "plain", "é", "€", "𝄞", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RefusesEveryMalformation) {
  for (const char* text :
       {"\x80", "\xff", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9d\x84", "12345678\xff", "1234567\xc3"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Quoted, IsSafeToShow) {
  EXPECT_EQ(in_quotes("a b"), "\"a b\"");
  EXPECT_EQ(in_quotes("a\nb\x7f\xff"), "\"a\\x0ab\\x7f\\xff\"");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "\"" + std::string(60, 'x') + "…\"");
  std::string cut_inside_a_letter(59, 'x');
  cut_inside_a_letter += "€€";
  EXPECT_TRUE(is_printable(in_quotes(cut_inside_a_letter)));
}

TEST(Nearest, FindsSlipsOnly) {
  constexpr std::array<std::string_view, 4> k_known{"cpu", "memory", "pods", "storage"};
  EXPECT_EQ(nearest("memroy", k_known), "memory");
  EXPECT_EQ(nearest("cpus", k_known), "cpu");
  EXPECT_EQ(nearest("strage", k_known), "storage");
  EXPECT_EQ(nearest("gpu-count", k_known), "");
  EXPECT_EQ(nearest("", k_known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), k_known), "");
}

}  // namespace
}  // namespace spillway
