#include "pki/sealed.h"

#include <gtest/gtest.h>

namespace spillway::pki {
namespace {

constexpr std::string_view k_passphrase = "correct horse battery";

// Sealing and opening cost half a second each, by intention: one text for several tests.
const std::string& sealed_hello() {
  static const std::string text = *seal("hello", k_passphrase);
  return text;
}

TEST(Sealed, OpensWithItsPassphraseOnly) {
  EXPECT_EQ(sealed_hello().find("hello"), std::string::npos);
  EXPECT_EQ(unseal(sealed_hello(), k_passphrase)->view(), "hello");
  const Result<Secret> opened = unseal(sealed_hello(), "correct horse batterx");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::denied);
  EXPECT_EQ(opened.error().message().find("horse"), std::string::npos);
}

TEST(Sealed, IsNeverTheSameTwice) { EXPECT_NE(*seal("hello", k_passphrase), sealed_hello()); }

TEST(Sealed, NeedsAPassphrase) {
  EXPECT_FALSE(seal("hello", ""));
  EXPECT_FALSE(seal("hello", "short"));
}

TEST(Sealed, AnyChangeIsNoticed) {
  const std::string& text = sealed_hello();
  const size_t first = text.find('\n') + 1;
  // One digit each of the salt, the nonce, the content and the tag.
  for (const size_t at : {first + 3, first + 24, first + 40, first + 56}) {
    std::string changed = text;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(unseal(changed, k_passphrase)) << at;
  }
}

TEST(Sealed, OtherTextsAreRefusedAtOnce) {
  EXPECT_FALSE(unseal("", k_passphrase));
  EXPECT_FALSE(unseal("hello", k_passphrase));
  EXPECT_FALSE(unseal("-----BEGIN SPILLWAY SEALED 1-----\nAAAA\n-----END SPILLWAY SEALED 1-----\n",
                      k_passphrase));
  EXPECT_FALSE(unseal("-----BEGIN SPILLWAY SEALED 2-----\nAAAA\n-----END SPILLWAY SEALED 2-----\n",
                      k_passphrase));
}

}  // namespace
}  // namespace spillway::pki
