#include "pki/request.h"

#include <memory>

#include <openssl/pem.h>

#include "base/check.h"
#include "base/text.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/openssl.h"
#include "pki/pem.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_thing = "certificate request";
constexpr size_t k_longest_common_name = 64;  // RFC 5280

tl::unexpected<Error> refuse(const char* reason) {
  return fail(Code::invalid, std::string(k_thing), reason,
              "send a PKCS#10 request in PEM for a P-256 or Ed25519 key, signed by that key");
}

}  // namespace

Result<std::string> make_request(const Key& key, std::string_view common_name) {
  if (common_name.empty() || common_name.size() > k_longest_common_name ||
      !is_printable(common_name)) {
    return fail(Code::invalid, "common name", in_quotes(common_name) + " cannot be one",
                "use 1 to 64 printable bytes");
  }
  const QuietErrors quiet;
  const OwnedRequest request(X509_REQ_new());
  SPILLWAY_CHECK(request != nullptr, "no memory");
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  const bool signed_well =
      X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
      X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) == 1 &&
      X509_REQ_set_pubkey(request.get(), key.handle()) == 1 &&
      X509_REQ_sign(request.get(), key.handle(), digest_for(key.handle())) > 0;
  SPILLWAY_CHECK(signed_well, "a request cannot be made");
  const OwnedBio bio = memory_writer();
  SPILLWAY_CHECK(PEM_write_bio_X509_REQ(bio.get(), request.get()) == 1, "a request has no PEM");
  return std::string(written(bio));
}

Result<Request> read_request(std::string_view pem) {
  if (pem.size() > k_max_request) return refuse("it is larger than 16 KiB");
  const QuietErrors quiet;
  const Result<PemBlock> block = single_pem(pem, "CERTIFICATE REQUEST", k_thing);
  if (!block) return tl::unexpected(block.error());
  const Result<std::string> der = decode_pem(*block, k_thing);
  if (!der) return tl::unexpected(der.error());

  const auto* at = reinterpret_cast<const unsigned char*>(der->data());
  const unsigned char* const end = at + der->size();
  const OwnedRequest request(d2i_X509_REQ(nullptr, &at, static_cast<long>(der->size())));
  if (!request || at != end) return refuse("it is not PKCS#10");

  // Before the signature is checked: that of a huge RSA key would cost us what it costs nobody
  // else.
  const std::string spelled = der_of<i2d_X509_PUBKEY>(X509_REQ_get_X509_PUBKEY(request.get()));
  if (!is_p256(spelled) && !is_ed25519(spelled)) {
    return refuse("its key is neither P-256 (named curve, uncompressed) nor Ed25519");
  }
  std::shared_ptr<EVP_PKEY> key(X509_REQ_get_pubkey(request.get()), EVP_PKEY_free);
  if (!key) return refuse("its key is no point on the curve");
  if (X509_REQ_verify(request.get(), key.get()) != 1) {
    return refuse("its signature is not by its own key");
  }
  const PublicKey read(std::move(key));
  if (is_ed25519(spelled) && !signing_key_text(read)) {
    return refuse("its key is of small order or oddly spelled: anybody could sign for it");
  }
  return Request{read, sha256_hex(spelled)};
}

}  // namespace spillway::pki
