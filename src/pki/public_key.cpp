#include "pki/public_key.h"

#include <openssl/pem.h>

#include "base/check.h"
#include "pki/ed25519.h"
#include "pki/openssl.h"
#include "pki/pem.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_public_key_thing = "public key";

tl::unexpected<Error> refuse_public_key(const char* reason) {
  return fail(Code::invalid, std::string(k_public_key_thing), reason,
              "send a P-256 or Ed25519 key as one block PUBLIC KEY in PEM");
}

}  // namespace

Result<PublicKey> read_public_key(std::string_view pem) {
  if (pem.size() > k_max_public_key) return refuse_public_key("it is larger than 4 KiB");
  const QuietErrors quiet;
  const Result<PemBlock> block = single_pem(pem, "PUBLIC KEY", k_public_key_thing);
  if (!block) return tl::unexpected(block.error());
  const Result<std::string> der = decode_pem(*block, k_public_key_thing);
  if (!der) return tl::unexpected(der.error());
  if (!is_p256(*der) && !is_ed25519(*der)) {
    return refuse_public_key("it is neither P-256 (named curve, uncompressed) nor Ed25519");
  }
  const auto* at = reinterpret_cast<const unsigned char*>(der->data());
  std::shared_ptr<EVP_PKEY> key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der->size())),
                                EVP_PKEY_free);
  if (!key) return refuse_public_key("it is no point on the curve");
  const PublicKey read(std::move(key));
  if (is_ed25519(*der) && !signing_key_text(read)) {
    return refuse_public_key("it is of small order or oddly spelled: anybody could sign for it");
  }
  return read;
}

std::string to_pem(const PublicKey& key) {
  const OwnedBio bio = memory_writer();
  SPILLWAY_CHECK(PEM_write_bio_PUBKEY(bio.get(), key.handle()) == 1, "a key has no PEM");
  return std::string(written(bio));
}

}  // namespace spillway::pki
