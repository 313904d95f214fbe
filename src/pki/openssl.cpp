#include "pki/openssl.h"

#include <openssl/pem.h>

#include "base/check.h"

namespace spillway::pki {
namespace {

using namespace std::string_view_literals;

// RFC 5480: id-ecPublicKey, secp256r1, 65 bytes of point, the first of which says "uncompressed".
constexpr std::string_view k_p256_head =
    "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"
    "\x03\x42\x00\x04"sv;
constexpr size_t k_p256_size = 91;
// RFC 8410.
constexpr std::string_view k_ed25519_head = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"sv;
constexpr size_t k_ed25519_size = 44;

}  // namespace

OwnedBio reader_of(std::string_view text) {
  // OpenSSL takes the length -1 for strlen, and 0 with a null pointer for a mistake.
  OwnedBio bio(BIO_new_mem_buf(text.empty() ? "" : text.data(), static_cast<int>(text.size())));
  SPILLWAY_CHECK(bio != nullptr, "no memory");
  return bio;
}

OwnedBio memory_writer() {
  OwnedBio bio(BIO_new(BIO_s_mem()));  // wiped when it is freed and when it grows
  SPILLWAY_CHECK(bio != nullptr, "no memory");
  return bio;
}

std::string_view written(const OwnedBio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

bool is_p256(std::string_view public_key_der) {
  return public_key_der.size() == k_p256_size && public_key_der.starts_with(k_p256_head);
}

bool is_ed25519(std::string_view public_key_der) {
  return public_key_der.size() == k_ed25519_size && public_key_der.starts_with(k_ed25519_head);
}

const EVP_MD* digest_for(const EVP_PKEY* key) {
  return EVP_PKEY_is_a(key, "ED25519") == 1 ? nullptr : EVP_sha256();
}

std::string certificate_to_pem(X509* certificate) {
  const OwnedBio bio = memory_writer();
  SPILLWAY_CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1, "a certificate has no PEM");
  return std::string(written(bio));
}

}  // namespace spillway::pki
