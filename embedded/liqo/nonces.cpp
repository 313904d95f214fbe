#include "embedded/liqo/nonces.h"

#include "base/base64.h"
#include "fabric/liqo/handshake.h"
#include "pki/ed25519.h"

namespace spillway::embedded::liqo {
namespace {

constexpr size_t k_nonce_bytes = 64;

std::string new_nonce_text(host::Random& random) {
  std::string bytes;
  while (bytes.size() < k_nonce_bytes) bytes += static_cast<char>(random.next() & 0xff);
  return to_base64(bytes);
}

}  // namespace

Nonces::Nonces(const Setting& setting) : Controller(setting) { follow(codec::k_secrets); }

void Nonces::look_at(const Key& key) {
  const ObjectPtr secret = s_.find(codec::k_secrets, key);
  if (secret == nullptr || secret->is_deleting) return;
  if (label_of(*secret, codec::k_nonce_label) == "true") {
    const auto nonce = codec::read_nonce(secret->document());
    if (nonce && nonce->nonce.empty()) fill(key);
  } else if (label_of(*secret, codec::k_signed_nonce_label) == "true") {
    const auto nonce = codec::read_signed_nonce(secret->document());
    if (nonce && !nonce->nonce.empty() && nonce->signature.empty()) sign(key, nonce->nonce);
  }
}

void Nonces::fill(const Key& key) const {
  const std::string nonce = new_nonce_text(s_.objects.random);
  s_.change(codec::k_secrets, key, [&](model::Node& secret) {
    model::put(model::ensure(secret, {"data"}), "nonce", model::text_node(to_base64(nonce)));
  });
}

// Over the text, not over the bytes that it stands for.
void Nonces::sign(const Key& key, const std::string& nonce) const {
  const auto signature = pki::sign_message(s_.own_key, nonce);
  if (!signature) return;
  s_.change(codec::k_secrets, key, [&](model::Node& secret) {
    model::put(model::ensure(secret, {"data"}), "signedNonce",
               model::text_node(to_base64(*signature)));
  });
}

}  // namespace spillway::embedded::liqo
