// Answers of the RFCs.
#include "pki/sealing_parts.h"

#include <gtest/gtest.h>

#include "pki/hash.h"
#include "unit/pki/known_keys.h"

namespace spillway::pki {
namespace {

using test::bytes_of_hex;

TEST(SealingParts, X25519) {
  // RFC 7748 section 5.2, both vectors, and Bob's side of 6.1.
  EXPECT_EQ(
      to_hex(
          x25519(bytes_of_hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
                 bytes_of_hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"))
              ->view()),
      "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
  EXPECT_EQ(
      to_hex(
          x25519(bytes_of_hex("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"),
                 bytes_of_hex("e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"))
              ->view()),
      "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957");
  const std::string bob =
      bytes_of_hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
  EXPECT_EQ(to_hex(x25519_public(bob)),
            "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  const std::string alice_public =
      bytes_of_hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  EXPECT_EQ(to_hex(x25519(bob, alice_public)->view()),
            "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
}

TEST(SealingParts, Hkdf) {
  // RFC 5869 appendix A.1 and A.3.
  EXPECT_EQ(to_hex(hkdf_sha256(std::string(22, '\x0b'), bytes_of_hex("000102030405060708090a0b0c"),
                               bytes_of_hex("f0f1f2f3f4f5f6f7f8f9"), 42)
                       .view()),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(to_hex(hkdf_sha256(std::string(22, '\x0b'), "", "", 42).view()),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(SealingParts, ChaCha20Poly1305) {
  // RFC 8439 section 2.8.2.
  const std::string key =
      bytes_of_hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
  const std::string nonce = bytes_of_hex("070000004041424344454647");
  const std::string associated = bytes_of_hex("50515253c0c1c2c3c4c5c6c7");
  constexpr std::string_view k_plaintext =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
      "sunscreen would be it.";
  const std::string sealed = aead_encrypt(key, nonce, associated, k_plaintext);
  EXPECT_EQ(to_hex(sealed),
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
            "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
            "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
            "3ff4def08e4b7a9de576d26586cec64b6116"
            "1ae10b594f09e26a7e902ecbd0600691");
  EXPECT_EQ(aead_decrypt(key, nonce, associated, sealed)->view(), k_plaintext);
  EXPECT_FALSE(aead_decrypt(key, nonce, "", sealed));
  EXPECT_FALSE(aead_decrypt(key, nonce, associated, sealed.substr(1)));
  EXPECT_FALSE(aead_decrypt(key, nonce, associated, "short"));
}

}  // namespace
}  // namespace spillway::pki
