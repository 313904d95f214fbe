#include <gtest/gtest.h>

#include "services/fabric/hearing.h"

namespace spillway::agent {
namespace {

TEST(AllowedServers, AStarStandsForNoPartOfAHost) {
  const std::string other = "https://api.milan.example.other.example:6443";
  EXPECT_FALSE(check_api_server(other, {"https://api.milan.example*"}));
  EXPECT_FALSE(check_api_server(other, {"https://api.milan.example:6443*"}));
  EXPECT_TRUE(
      check_api_server("https://api.milan.example:6443/a", {"https://api.milan.example:6443*"}));
  EXPECT_TRUE(check_api_server("https://api.milan.example", {"https://api.milan.example"}));
  EXPECT_FALSE(
      check_api_server("https://api.milan.example:64430", {"https://api.milan.example:6443*"}));
  EXPECT_TRUE(check_api_server("https://api.milan.example:64430", {"https://api.milan.example:*"}));
  EXPECT_TRUE(check_api_server("https://[2001:db8::1]:6443/a", {"https://[2001:db8::1]:6443*"}));
  EXPECT_FALSE(check_api_server("https://[2001:db8::2]:6443", {"https://[2001:db8::*"}));
}

TEST(AllowedServers, PatternsThatCouldNameOthersAreRefusedAtOnce) {
  EXPECT_TRUE(
      check_allowed({"https://api.milan.example:6443*", "https://10.0.0.1/*", "https://b"}));
  for (const char* wrong : {"https://api.milan.example*", "*", "https://*:6443", "https://10.0.*",
                            "https://[2001:db8:*", "https://[2001:db8::1]*", "https://[*"}) {
    const Status checked = check_allowed({wrong});
    ASSERT_FALSE(checked) << wrong;
    EXPECT_NE(checked.error().message().find("host's name"), std::string::npos) << wrong;
  }
}

}  // namespace
}  // namespace spillway::agent
