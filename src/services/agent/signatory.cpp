#include "services/agent/signatory.h"

#include <utility>

#include "pki/derived_key.h"
#include "pki/ed25519.h"
#include "pki/signed_documents.h"

namespace spillway::agent {
namespace {

model::Signatory side_of(const model::Card& card) {
  return {card.cluster, card.key, card.sealing, card.number};
}

}  // namespace

Signatory::Signatory(pki::Key key, std::string federation, ClusterId cluster, std::string key_text,
                     pki::SealingKey sealing)
    : key_(std::move(key)),
      federation_(std::move(federation)),
      cluster_(std::move(cluster)),
      key_text_(std::move(key_text)),
      sealing_(std::make_shared<const pki::SealingKey>(std::move(sealing))) {}

Result<Signatory> Signatory::of(const Credentials& credentials) {
  auto key = pki::Key::from_pem(credentials.tls.key_pem);
  if (!key) return tl::unexpected(std::move(key).error());
  return of(std::move(*key), credentials.federation, ClusterId(credentials.name));
}

Result<Signatory> Signatory::of(pki::Key key, std::string federation, ClusterId cluster) {
  auto sealing = pki::derive_sealing_key(key, federation);
  if (!sealing) return tl::unexpected(std::move(sealing).error());
  auto text = pki::signing_key_text(key.public_key());
  if (!text) return tl::unexpected(std::move(text).error());
  return Signatory(std::move(key), std::move(federation), std::move(cluster), std::move(*text),
                   std::move(*sealing));
}

model::Card Signatory::card(int64_t number, std::string liqo) const {
  return {federation_,    cluster_, number, key_text_, to_text(sealing_->public_key()),
          std::move(liqo)};
}

bool Signatory::is_own(const model::Card& shown) const {
  return shown == card(shown.number, shown.liqo);
}

Result<std::string> Signatory::sign(const model::Card& card) const { return pki::sign(card, key_); }

Result<std::string> Signatory::sign(const model::Contract& contract, const Terms& terms) const {
  model::Agreement agreement = model::agreement_on(contract, federation_);
  agreement.buyer = side_of(terms.own);
  agreement.provider = side_of(terms.provider);
  agreement.trust = terms.trust;
  agreement.sign_by = terms.sign_by;
  agreement.fabric = terms.fabric;
  return pki::sign(agreement, key_);
}

Result<std::string> Signatory::countersign(std::string document) const {
  return pki::countersign(std::move(document), key_);
}

Result<std::string> Signatory::sign(const Under& under, const Deed& deed, int64_t number,
                                    Instant now) const {
  model::ContractEvent event;
  event.agreement = under.agreement;
  event.hold = under.hold;
  event.by = cluster_;
  event.key = key_text_;
  event.number = number;
  event.kind = deed.kind;
  event.at = now;
  event.until = deed.until;
  event.units = deed.units;
  event.trust = deed.trust;
  event.used = deed.used;
  return pki::sign(event, key_);
}

}  // namespace spillway::agent
