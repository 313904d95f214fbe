#include "base/base64.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(Base64, ReadsWhatItWroteAndNothingElse) {
  for (const std::string bytes : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(from_base64("Zm9v\nYg==\n"), "foob");
  for (const std::string text : {"Zm9vYg", "Zm9vYg=", "Zm9vYh==", "Z", "=", "Zm=9", "Zm9v Yg=="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
}  // namespace spillway
