#include "rank/interner.h"

#include <gtest/gtest.h>

namespace spillway::rank {
namespace {

using std::string_view_literals::operator""sv;

TEST(Interner, KeepsEqualValuesOnce) {
  Texts texts;
  const Ref first = texts.take("linux"sv);
  EXPECT_EQ(texts.take("linux"sv), first);
  EXPECT_NE(texts.take("windows"sv), first);
  EXPECT_EQ(texts.size(), 2);
  EXPECT_EQ(texts[first], "linux");
}

TEST(Interner, AValueGoesWithItsLastHolder) {
  Texts texts;
  const Ref ref = texts.take("linux"sv);
  texts.take("linux"sv);
  texts.drop(ref);
  EXPECT_EQ(texts.find("linux"sv), ref);
  texts.drop(ref);
  EXPECT_EQ(texts.find("linux"sv), std::nullopt);
  EXPECT_EQ(texts.size(), 0);
}

TEST(Interner, UsesAVacatedPlaceAgain) {
  Texts texts;
  for (int i = 0; i < 1000; ++i) texts.drop(texts.take(std::string_view(std::to_string(i))));
  EXPECT_EQ(texts.bound(), 1);
}

TEST(InternerDeathTest, DroppingWhatNobodyHoldsIsABrokenInvariant) {
  Texts texts;
  const Ref ref = texts.take("linux"sv);
  texts.drop(ref);
  EXPECT_DEATH(texts.drop(ref), "dropped more often than taken");
}

struct SameHash {
  size_t operator()(std::string_view) const { return 7; }
};

TEST(Interner, TellsValuesOfEqualHashApart) {
  Interner<std::string, SameHash> texts;
  const Ref a = texts.take("a"sv);
  const Ref b = texts.take("b"sv);
  EXPECT_NE(a, b);
  texts.drop(a);
  EXPECT_EQ(texts.find("b"sv), b);
  EXPECT_EQ(texts.find("a"sv), std::nullopt);
}

}  // namespace
}  // namespace spillway::rank
