#include "pki/ed25519.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "pki/base64url.h"
#include "unit/pki/known_keys.h"

namespace spillway::pki {
namespace {

// RFC 8037 appendix A.
constexpr std::string_view k_seed = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
constexpr std::string_view k_x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
constexpr std::string_view k_thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
constexpr std::string_view k_signing_input =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
constexpr std::string_view k_signature =
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

std::string decoded(std::string_view text) { return std::string(from_base64url(text)->view()); }

TEST(Ed25519, AnswersOfTheRfc) {
  const Key key = test::key_of_seed(decoded(k_seed));
  EXPECT_EQ(*signing_key_text(key.public_key()), k_x);
  EXPECT_EQ(*key_id(key.public_key()), k_thumbprint);
  EXPECT_EQ(*sign_message(key, k_signing_input), decoded(k_signature));
  const Result<PublicKey> read = read_signing_key(k_x);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*key_id(*read), k_thumbprint);
  EXPECT_TRUE(verify_message(*read, k_signing_input, decoded(k_signature)));
}

TEST(Ed25519, AnyChangeIsNoticed) {
  const PublicKey key = *read_signing_key(k_x);
  const std::string signature = decoded(k_signature);
  for (size_t at = 0; at < signature.size(); ++at) {
    std::string changed = signature;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const Status status = verify_message(key, k_signing_input, changed);
    ASSERT_FALSE(status) << at;
    EXPECT_EQ(status.error().code, Code::denied);
  }
  EXPECT_FALSE(verify_message(key, std::string(k_signing_input) + "A", signature));
  EXPECT_FALSE(verify_message(key, k_signing_input, signature.substr(1)));
  EXPECT_FALSE(verify_message(key, k_signing_input, signature + '\0'));
  EXPECT_FALSE(verify_message(key, k_signing_input, ""));
  EXPECT_FALSE(verify_message(Key::generate_member().public_key(), k_signing_input, signature));
}

// S + L satisfies the same equation: without a check there would be a second signature.
TEST(Ed25519, OneSignatureForEachMessage) {
  const std::string order =
      test::bytes_of_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  std::string signature = decoded(k_signature);
  int carry = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    carry += static_cast<unsigned char>(signature[32 + i]) + static_cast<unsigned char>(order[i]);
    signature[32 + i] = static_cast<char>(carry & 255);
    carry >>= 8;
  }
  ASSERT_EQ(carry, 0);
  EXPECT_FALSE(verify_message(*read_signing_key(k_x), k_signing_input, signature));
}

TEST(Ed25519, OtherKindsOfKeysNeitherSignNorVerify) {
  const Key p256 = Key::generate();
  for (const std::string& reason :
       {key_id(p256.public_key()).error().reason,
        signing_key_text(p256.public_key()).error().reason,
        sign_message(p256, "hello").error().reason,
        verify_message(p256.public_key(), "hello", std::string(64, 'a')).error().reason}) {
    EXPECT_EQ(reason, "it is no Ed25519 key");
  }
}

// With the neutral element as key, the signature (neutral element, 0) is right for every message.
TEST(Ed25519, KeysForWhichAnybodyCanSignAreRefused) {
  const std::string one = test::bytes_of_hex("01" + std::string(62, '0'));
  const PublicKey weak = test::unchecked_key(one);
  EXPECT_EQ(verify_message(weak, "any message", one + std::string(32, '\0')).error().reason,
            "it is of small order: anybody can sign for it");
  for (const std::string& hex : test::k_small_order_points) {
    for (const int sign : {0, 0x80}) {
      std::string point = test::bytes_of_hex(hex);
      point.back() = static_cast<char>(point.back() | sign);
      const Result<PublicKey> key = read_signing_key(to_base64url(point).view());
      ASSERT_FALSE(key) << hex;
      EXPECT_NE(key.error().reason.find("small order"), std::string::npos) << hex;
    }
  }
}

TEST(Ed25519, OneTextForEachKey) {
  // 3 is the y of a point; so would be 3 + (2^255 - 19).
  EXPECT_TRUE(read_signing_key(to_base64url("\x03" + std::string(31, '\0')).view()));
  for (const char first : {'\xed', '\xee', '\xf0', '\xff'}) {
    const std::string point = first + std::string(30, '\xff') + '\x7f';
    const Result<PublicKey> key = read_signing_key(to_base64url(point).view());
    ASSERT_FALSE(key);
    EXPECT_NE(key.error().reason.find("beyond the field"), std::string::npos);
  }
  const std::string x(k_x);
  for (const std::string& text : {std::string(), x.substr(1), x + "A", x + "=",
                                  x.substr(0, 42) + "p", "+" + x.substr(1), x + "\n"}) {
    EXPECT_FALSE(read_signing_key(text)) << text;
  }
}

TEST(Ed25519, KnowsAKeyIdWhenItSeesOne) {
  EXPECT_TRUE(is_key_id(k_thumbprint));
  const std::string id(k_thumbprint);
  for (const std::string& text :
       {std::string(), id.substr(1), id + "A", id.substr(0, 42) + "l", "=" + id.substr(1)}) {
    EXPECT_FALSE(is_key_id(text)) << text;
  }
}

}  // namespace
}  // namespace spillway::pki
