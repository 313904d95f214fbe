#include "pki/derived_key.h"

#include <gtest/gtest.h>

#include "pki/hash.h"
#include "unit/pki/known_keys.h"

namespace spillway::pki {
namespace {

// The first key of RFC 8032 section 7.1.
Key known_identity() {
  return test::key_of_seed(
      test::bytes_of_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
}

// Computed apart from this code, by HMAC and the ladder of RFC 7748.
TEST(DerivedKey, IsTheOneOfTheFormula) {
  const auto key = derive_sealing_key(known_identity(), "lab");
  ASSERT_TRUE(key);
  EXPECT_EQ(to_hex(key->bytes().view()),
            "f48bd2eff30695a8bd2261197cbed1c366298ec0cd79b30b8d5438c3a46b45d7");
  EXPECT_EQ(to_hex(key->public_key().point),
            "5dee094a7383b37b59bcf420f1215b70d913a1b838c0d41f32a7b813ce012d25");
}

TEST(DerivedKey, IsAnotherInAnotherFederation) {
  const auto here = derive_sealing_key(known_identity(), "lab");
  const auto there = derive_sealing_key(known_identity(), "lab2");
  EXPECT_FALSE(here->public_key() == there->public_key());
}

TEST(DerivedKey, OpensWhatIsSealedToIt) {
  const Key identity = Key::generate_member();
  const Binding binding{std::string(64, 'a'), Direction::to_buyer, "nonce", 1};
  const auto envelope =
      seal_envelope(derive_sealing_key(identity, "lab")->public_key(), binding, "hello");
  ASSERT_TRUE(envelope);
  // Another process of the same identity.
  const Key again = *Key::from_pem(identity.to_pem().view());
  EXPECT_EQ(open_envelope(*derive_sealing_key(again, "lab"), binding, *envelope)->view(), "hello");
}

TEST(DerivedKey, OtherKindsOfKeysHaveNone) {
  const auto key = derive_sealing_key(Key::generate(), "lab");
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, Code::invalid);
}

}  // namespace
}  // namespace spillway::pki
