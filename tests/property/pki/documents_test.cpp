// Whatever was signed or sealed opens as it was, for whom it was; changed anywhere, for nobody.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "model/canonical.h"
#include "model/tree.h"
#include "pki/ed25519.h"
#include "pki/envelope.h"
#include "pki/jws.h"
#include "support/any_below.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_type = "spillway-contract";

Key any_key() {
  return *signing_key_from_seed(std::string(32, static_cast<char>('a' + test::any_below(8))));
}

std::string any_payload() {
  model::Node root = model::object_node();
  const int members = test::any_below(4);
  for (int i = 0; i < members; ++i) {
    model::put(root, fmt::format("m{}", i),
               model::text_node(std::string(static_cast<size_t>(test::any_below(40)), 'x')));
  }
  return *model::canonical_json(root);
}

// Each key once, as signers are.
std::vector<Key> any_keys() {
  std::vector<Key> keys;
  const int wanted = 1 + test::any_below(3);
  for (int i = 0; i < wanted; ++i) {
    Key key = any_key();
    const bool known = std::any_of(keys.begin(), keys.end(), [&](const Key& one) {
      return one.fingerprint() == key.fingerprint();
    });
    if (!known) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<PublicKey> public_halves(const std::vector<Key>& keys) {
  std::vector<PublicKey> halves;
  for (const Key& key : keys) halves.push_back(key.public_key());
  return halves;
}

Jws signed_by(const std::vector<Key>& keys, const std::string& payload) {
  Jws jws = *Jws::sign(k_type, payload, keys.front());
  for (size_t i = 1; i < keys.size(); ++i) RC_ASSERT(jws.add_signature(keys[i]).has_value());
  return jws;
}

RC_GTEST_PROP(SignedDocument, IsByExactlyThoseWhoSigned, ()) {
  const auto keys = any_keys();
  const std::string text = signed_by(keys, any_payload()).to_text();
  const auto jws = Jws::parse(text);
  RC_ASSERT(jws.has_value());
  RC_ASSERT(jws->to_text() == text);
  RC_ASSERT(jws->verify(k_type, public_halves(keys)).has_value());

  const auto others = any_keys();
  std::vector<std::string> signers;
  std::vector<std::string> asked;
  for (const Key& key : keys) signers.push_back(key.fingerprint());
  for (const Key& key : others) asked.push_back(key.fingerprint());
  std::sort(signers.begin(), signers.end());
  std::sort(asked.begin(), asked.end());
  RC_ASSERT(jws->verify(k_type, public_halves(others)).has_value() == (signers == asked));
}

RC_GTEST_PROP(SignedDocument, ChangedAnywhereIsNobodys, ()) {
  const auto keys = any_keys();
  std::string text = signed_by(keys, any_payload()).to_text();
  const auto at = static_cast<size_t>(test::any_below(static_cast<int>(text.size())));
  constexpr std::string_view k_letters = "AB\"{}:,_-09az";
  const char other =
      k_letters[static_cast<size_t>(test::any_below(static_cast<int>(k_letters.size())))];
  RC_PRE(text[at] != other);
  text[at] = other;
  const auto jws = Jws::parse(text);
  const bool is_refused = !jws || !jws->verify(k_type, public_halves(keys));
  RC_ASSERT(is_refused);
}

RC_GTEST_PROP(Envelope, OpensAsItWasForItsReceiverAndNobodyElse, ()) {
  const SealingKey receiver = SealingKey::generate();
  Binding binding{std::string(64, 'a'), Direction::to_provider, "nonce",
                  static_cast<uint64_t>(test::any_below(1000))};
  const std::string plain(static_cast<size_t>(test::any_below(300)), 'm');
  const std::string sealed = *seal_envelope(receiver.public_key(), binding, plain);
  const auto opened = open_envelope(receiver, binding, sealed);
  RC_ASSERT(opened.has_value() && opened->view() == plain);
  RC_ASSERT(!open_envelope(SealingKey::generate(), binding, sealed));

  std::string changed = sealed;
  const auto at = static_cast<size_t>(test::any_below(static_cast<int>(changed.size())));
  changed[at] = static_cast<char>(changed[at] ^ (1 << test::any_below(8)));
  RC_ASSERT(!open_envelope(receiver, binding, changed));
  const auto length = static_cast<size_t>(test::any_below(static_cast<int>(sealed.size())));
  RC_ASSERT(!open_envelope(receiver, binding, sealed.substr(0, length)));

  Binding other = binding;
  switch (test::any_below(4)) {
    case 0:
      other.contract[0] = 'b';
      break;
    case 1:
      other.direction = Direction::to_buyer;
      break;
    case 2:
      other.step += "x";
      break;
    default:
      other.sequence += 1;
  }
  RC_ASSERT(!open_envelope(receiver, other, sealed));
}

}  // namespace
}  // namespace spillway::pki
