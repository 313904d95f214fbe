#include "net/message.h"

#include <gtest/gtest.h>

namespace spillway::net {
namespace {

TEST(Headers, AreFoundWithoutRegardToCase) {
  const Headers headers = {{"Content-Type", "a"}, {"X", "1"}, {"x", "2"}};
  ASSERT_NE(find_header(headers, "content-TYPE"), nullptr);
  EXPECT_EQ(*find_header(headers, "content-TYPE"), "a");
  EXPECT_EQ(*find_header(headers, "x"), "1");
  EXPECT_EQ(find_header(headers, "Content"), nullptr);
}

TEST(ReasonPhrase, IsKnownForWhatWeSend) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(reason_phrase(599), "Unknown");
}

TEST(Target, IsTakenApart) {
  Target target;
  ASSERT_TRUE(parse_target("/v1/offers/edge%2D1/a%20b?after=x%3Dy&limit=5&flag", target));
  EXPECT_EQ(target.segments, (std::vector<std::string>{"v1", "offers", "edge-1", "a b"}));
  ASSERT_NE(target.parameter("after"), nullptr);
  EXPECT_EQ(*target.parameter("after"), "x=y");
  EXPECT_EQ(*target.parameter("limit"), "5");
  EXPECT_EQ(*target.parameter("flag"), "");
  EXPECT_EQ(target.parameter("none"), nullptr);
}

TEST(Target, TellsATrailingSlashFromNone) {
  Target target;
  ASSERT_TRUE(parse_target("/", target));
  EXPECT_TRUE(target.segments.empty());
  ASSERT_TRUE(parse_target("/a/", target));
  EXPECT_EQ(target.segments, (std::vector<std::string>{"a", ""}));
  ASSERT_TRUE(parse_target("//a", target));
  EXPECT_EQ(target.segments, (std::vector<std::string>{"", "a"}));
}

TEST(Target, RefusesWhatIsMalformed) {
  for (const std::string_view text :
       {"",        "a",         "http://x/", "*",       "/a b",      "/a\tb", "/%",
        "/%4",     "/%4g",      "/a%00b",    "/a%0Ab",  "/%7F",      "/a#b",  "/.",
        "/a/../b", "/%2e%2E/x", "/?a=%zz",   "/?a=%0D", "/\xC3\xA4", "/%ff"}) {
    Target target;
    EXPECT_FALSE(parse_target(text, target)) << text;
  }
}

TEST(Segment, SurvivesEscaping) {
  const std::string text = "a/b c%ä~-._?#&=+";
  EXPECT_EQ(escape_segment("a/b"), "a%2Fb");
  Target target;
  ASSERT_TRUE(parse_target("/" + escape_segment(text) + "?q=" + escape_segment(text), target));
  EXPECT_EQ(target.segments, std::vector<std::string>{text});
  EXPECT_EQ(*target.parameter("q"), text);
}

}  // namespace
}  // namespace spillway::net
