#include "pki/ed25519.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/base64.h"
#include "base/check.h"
#include "pki/base64url.h"
#include "pki/hash.h"
#include "pki/openssl.h"

namespace spillway::pki {
namespace {

using namespace std::string_view_literals;

constexpr size_t k_point_bytes = 32;
constexpr const char* k_thing = "signing key";
constexpr const char* k_next = "make one with: openssl genpkey -algorithm ED25519";

using OwnedDigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;

// The y of the points of order 1, 2, 4 and 8, without the sign of x.
constexpr std::array<std::string_view, 5> k_small_order{
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"sv,
    "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"sv,
    "\xec\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"sv,
    "\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0"
    "\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05"sv,
    "\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f"
    "\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a"sv,
};

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// 2^255 - 19 and above: the same y has a shorter spelling.
bool is_beyond_the_field(std::string_view y) {
  return static_cast<unsigned char>(y.front()) >= 0xed && y.back() == '\x7f' &&
         std::all_of(y.begin() + 1, y.end() - 1, [](char c) { return c == '\xff'; });
}

Status check_point(std::string_view point) {
  std::string y(point);
  y.back() = static_cast<char>(y.back() & 0x7f);
  if (is_beyond_the_field(y)) {
    return fail(Code::invalid, k_thing, "it is spelled with a number beyond the field", k_next);
  }
  if (std::find(k_small_order.begin(), k_small_order.end(), y) != k_small_order.end()) {
    return fail(Code::invalid, k_thing, "it is of small order: anybody can sign for it", k_next);
  }
  return {};
}

Result<std::string> point_of(const PublicKey& key) {
  if (EVP_PKEY_is_a(key.handle(), "ED25519") != 1) {
    return fail(Code::invalid, k_thing, "it is no Ed25519 key", k_next);
  }
  std::string point(k_point_bytes, '\0');
  size_t size = point.size();
  const int done = EVP_PKEY_get_raw_public_key(
      key.handle(), reinterpret_cast<unsigned char*>(point.data()), &size);
  SPILLWAY_CHECK(done == 1 && size == k_point_bytes, "an Ed25519 key has no bytes");
  SPILLWAY_TRY(check_point(point));
  return point;
}

}  // namespace

Result<std::string> key_id(const PublicKey& key) {
  const Result<std::string> x = signing_key_text(key);
  if (!x) return tl::unexpected(x.error());
  // The members that RFC 8037 requires, in the order of their names (RFC 7638 section 3).
  return sha256_base64url(R"({"crv":"Ed25519","kty":"OKP","x":")" + *x + R"("})");
}

bool is_key_id(std::string_view text) {
  return text.size() == k_key_id_characters && from_base64url(text).has_value();
}

Result<std::string> signing_key_text(const PublicKey& key) {
  const Result<std::string> point = point_of(key);
  if (!point) return tl::unexpected(point.error());
  return std::string(to_base64url(*point).view());
}

Result<PublicKey> read_signing_key(std::string_view text) {
  const QuietErrors quiet;
  const std::optional<Secret> point = from_base64url(text);
  if (!point || point->size() != k_point_bytes) {
    return fail(Code::invalid, k_thing, "it is not 32 bytes in base64url without padding",
                "copy all 43 characters of it");
  }
  SPILLWAY_TRY(check_point(point->view()));
  EVP_PKEY* key =
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(point->view()), point->size());
  SPILLWAY_CHECK(key != nullptr, "no memory");
  return PublicKey(std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free));
}

Result<Key> signing_key_from_seed(std::string_view seed) {
  // RFC 8410: PKCS#8 is these bytes and the seed.
  constexpr std::string_view k_prefix =
      "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"sv;
  if (seed.size() != k_point_bytes) {
    return fail(Code::invalid, k_thing, "its seed is not 32 bytes", "give 32 bytes");
  }
  const std::string der = std::string(k_prefix) + std::string(seed);
  return Key::from_pem("-----BEGIN PRIVATE KEY-----\n" + to_base64(der) +
                       "\n-----END PRIVATE KEY-----\n");
}

Result<std::string> sign_message(const Key& key, std::string_view message) {
  const QuietErrors quiet;
  if (const Result<std::string> point = point_of(key.public_key()); !point) {
    return tl::unexpected(point.error());
  }
  std::string signature(k_signature_bytes, '\0');
  size_t size = signature.size();
  const OwnedDigestContext context(EVP_MD_CTX_new());
  const bool done =
      context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.handle()) == 1 &&
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     octets(message), message.size()) == 1;
  SPILLWAY_CHECK(done && size == k_signature_bytes, "a key does not sign");
  return signature;
}

Status verify_message(const PublicKey& key, std::string_view message, std::string_view signature) {
  const QuietErrors quiet;
  if (const Result<std::string> point = point_of(key); !point) {
    return tl::unexpected(point.error());
  }
  const OwnedDigestContext context(EVP_MD_CTX_new());
  const bool ready =
      context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.handle()) == 1;
  SPILLWAY_CHECK(ready, "no memory");
  // OpenSSL refuses an S that is not reduced (RFC 8032 section 5.1.7): one signature, one text.
  if (signature.size() != k_signature_bytes ||
      EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(message),
                       message.size()) != 1) {
    return fail(Code::denied, "signature", "it is not by that key over these bytes",
                "ask the signer for the document as it was signed");
  }
  return {};
}

}  // namespace spillway::pki
