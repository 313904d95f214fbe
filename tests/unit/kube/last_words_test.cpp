#include "kube/last_words.h"

#include <gtest/gtest.h>

namespace spillway::kube {
namespace {

TEST(LastWords, AreTheLastTwoLines) {
  EXPECT_EQ(last_words(""), "");
  EXPECT_EQ(last_words("\n \n"), "");
  EXPECT_EQ(last_words("expired\n\n"), "expired");
  EXPECT_EQ(last_words("a\nb\n\nc\r\n"), "b / c");
}

TEST(LastWords, MoveNoCursor) {
  EXPECT_EQ(last_words("\x1b[2Jgone\x07 \xe2\x80\xae."), "?[2Jgone? ???.");
  EXPECT_EQ(last_words("\x9b"
                       "1m!"),
            "?1m!");
}

TEST(LastWords, HoldNothingThatMayBeAToken) {
  const std::string token(64, 'x');
  EXPECT_EQ(last_words("Bearer " + token + "." + token + " is refused"),
            "Bearer ....... is refused");
  // What people need to look further stays.
  const std::string uuid =
      "request 7f2c9a1e-04b6-4d7a-9c1b-3f0e5a6d8b21 to https://sts.example.com/a";
  EXPECT_EQ(last_words(uuid), uuid);
}

TEST(LastWords, AreShort) {
  std::string line;
  for (int i = 0; i < 1000; ++i) line += "word ";
  EXPECT_LT(last_words(line + "cause").size(), 250U);
  EXPECT_TRUE(last_words(line + "cause").ends_with("cause"));
}

}  // namespace
}  // namespace spillway::kube
