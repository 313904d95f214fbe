#include "services/fabric/liqo_key.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "fabric/liqo/handshake.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"

namespace spillway::agent {
namespace {

constexpr size_t k_raw_key_bytes = 32;

void wipe_text(std::string& text) {
  volatile char* bytes = text.data();
  for (size_t i = 0; i < text.size(); ++i) bytes[i] = 0;
}

void wipe_values(kube::Object& node) {
  wipe_text(node.text);
  for (kube::Object& item : node.items) wipe_values(item);
}

}  // namespace

Result<pki::Key> liqo_key_in(kube::Object secret) {
  auto text = fabric::liqo::private_key_in(secret);
  wipe_values(secret);
  if (!text) return tl::unexpected(std::move(text).error());
  auto key = pki::Key::from_pem(*text);
  wipe_text(*text);
  return key;
}

Result<pki::PublicKey> read_liqo_key(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return fail(Code::invalid, "buyer_key", "it is no base64", "write Liqo's public key");
  if (bytes->size() != k_raw_key_bytes) return pki::read_public_key(*bytes);
  std::string spelled(text.substr(0, text.find('=')));
  std::replace(spelled.begin(), spelled.end(), '+', '-');
  std::replace(spelled.begin(), spelled.end(), '/', '_');
  return pki::read_signing_key(spelled);
}

LiqoKey::LiqoKey(kube::Api& api, std::string id, std::string public_key, std::string space)
    : api_(api), id_(std::move(id)), public_key_(std::move(public_key)), space_(std::move(space)) {}

void LiqoKey::use(std::function<void(Result<pki::Key>)> then) {
  api_.get(kube::k_secrets, {space_, std::string(fabric::liqo::k_keys_secret)},
           life_.guard([then = std::move(then)](Result<kube::Object> secret) {
             if (!secret) return then(tl::unexpected(std::move(secret).error()));
             then(liqo_key_in(std::move(*secret)));
           }));
}

void LiqoKey::request_control_plane(Then<std::string> then) {
  use([id = id_, then = std::move(then)](const Result<pki::Key>& key) {
    if (!key) return then(tl::unexpected(key.error()));
    then(pki::make_subject_request(*key, {std::string(fabric::liqo::k_control_plane_group), id}));
  });
}

void LiqoKey::request_units(const std::vector<std::string>& units, Then<Requests> then) {
  use([id = id_, units, then = std::move(then)](const Result<pki::Key>& key) {
    if (!key) return then(tl::unexpected(key.error()));
    Requests made;
    const std::string hash = pki::sha256_hex(id);
    for (const std::string& unit : units) {
      auto request = pki::make_subject_request(*key, {id, fabric::liqo::unit_user(unit, hash)});
      if (!request) return then(tl::unexpected(std::move(request).error()));
      made.emplace(unit, std::move(*request));
    }
    then(std::move(made));
  });
}

void LiqoKey::sign_nonce(const std::string& nonce, Then<std::string> then) {
  use([nonce, then = std::move(then)](const Result<pki::Key>& key) {
    if (!key) return then(tl::unexpected(key.error()));
    then(pki::sign_message(*key, nonce));
  });
}

}  // namespace spillway::agent
