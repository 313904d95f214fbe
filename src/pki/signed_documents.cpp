#include "pki/signed_documents.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pki/ed25519.h"
#include "pki/jws.h"

namespace spillway::pki {
namespace {

Status check_named(const Key& key, const std::string& named) {
  const auto text = signing_key_text(key.public_key());
  if (!text) return tl::unexpected(text.error());
  if (*text == named) return {};
  return fail(Code::invalid, "document to be signed",
              "it names another key than the one that signs",
              "name the key of the side that signs");
}

template <class T>
Result<std::string> sign_as(std::string_view type, const T& value, const Key& key) {
  SPILLWAY_TRY(validate(value));
  const auto jws = Jws::sign(type, to_payload(value), key);
  if (!jws) return tl::unexpected(jws.error());
  return jws->to_text();
}

template <class T>
Result<std::string> sign_as(std::string_view type, const T& value, const Key& key,
                            const std::string& named) {
  SPILLWAY_TRY(check_named(key, named));
  return sign_as(type, value, key);
}

Result<std::vector<PublicKey>> read_keys(std::initializer_list<std::string_view> texts) {
  std::vector<PublicKey> keys;
  for (const std::string_view text : texts) {
    auto key = read_signing_key(text);
    if (!key) return tl::unexpected(key.error());
    keys.push_back(std::move(*key));
  }
  return keys;
}

// The same bytes verify the same for ever, and parties look at what was signed again and again.
// Only what was right is remembered, by its whole text: nobody can make another one pass for it.
// Not more than what is being dealt with: each is some 5 KiB.
template <class T>
using Memory = std::unordered_map<std::string, T>;
constexpr size_t k_most_remembered = 64;

template <class T>
Memory<T>& memory() {
  thread_local Memory<T> known;
  return known;
}

template <class T>
std::optional<T> recall(const std::string& document) {
  const auto at = memory<T>().find(document);
  if (at == memory<T>().end()) return std::nullopt;
  T known = at->second;
  known.document = document;
  return known;
}

template <class T>
T remember(T verified) {
  if (memory<T>().size() >= k_most_remembered) memory<T>().clear();
  T without_text = verified;
  without_text.document = std::string();
  memory<T>().insert_or_assign(verified.document, std::move(without_text));
  return verified;
}

Result<model::Agreement> verified(const Jws& jws, Signers signers) {
  auto agreement = model::agreement_from_payload(jws.unverified_payload());
  if (!agreement) return agreement;
  const auto keys = signers == Signers::buyer
                        ? read_keys({agreement->buyer.key})
                        : read_keys({agreement->buyer.key, agreement->provider.key});
  if (!keys) return tl::unexpected(keys.error());
  SPILLWAY_TRY(jws.verify(model::k_agreement_type, *keys));
  return agreement;
}

}  // namespace

Result<std::string> sign(const model::Card& card, const Key& key) {
  return sign_as(model::k_card_type, card, key, card.key);
}

Result<std::string> sign(const model::Agreement& agreement, const Key& buyer) {
  return sign_as(model::k_agreement_type, agreement, buyer, agreement.buyer.key);
}

Result<std::string> sign(const model::ContractEvent& event, const Key& key) {
  return sign_as(model::k_contract_event_type, event, key, event.key);
}

Result<std::string> countersign(std::string document, const Key& provider) {
  auto jws = Jws::parse(document);
  if (!jws) return tl::unexpected(jws.error());
  const auto agreement = verified(*jws, Signers::buyer);
  if (!agreement) return tl::unexpected(agreement.error());
  SPILLWAY_TRY(check_named(provider, agreement->provider.key));
  SPILLWAY_TRY(jws->add_signature(provider));
  return jws->to_text();
}

Result<VerifiedCard> verify_card(std::string document) {
  if (auto known = recall<VerifiedCard>(document)) return std::move(*known);
  const auto jws = Jws::parse(document);
  if (!jws) return tl::unexpected(jws.error());
  auto card = model::card_from_payload(jws->unverified_payload());
  if (!card) return tl::unexpected(card.error());
  const auto keys = read_keys({card->key});
  if (!keys) return tl::unexpected(keys.error());
  SPILLWAY_TRY(jws->verify(model::k_card_type, *keys));
  std::string fingerprint = keys->front().fingerprint();
  return remember(VerifiedCard{std::move(document), std::move(*card), std::move(fingerprint)});
}

Result<VerifiedAgreement> verify_agreement(std::string document, Signers signers) {
  auto known = recall<VerifiedAgreement>(document);
  if (known && known->signers == signers) return std::move(*known);
  const auto jws = Jws::parse(document);
  if (!jws) return tl::unexpected(jws.error());
  auto agreement = verified(*jws, signers);
  if (!agreement) return tl::unexpected(agreement.error());
  return remember(VerifiedAgreement{std::move(document), payload_id(jws->unverified_payload()),
                                    std::move(*agreement), signers});
}

Result<VerifiedEvent> verify_event(std::string document) {
  if (auto known = recall<VerifiedEvent>(document)) return std::move(*known);
  const auto jws = Jws::parse(document);
  if (!jws) return tl::unexpected(jws.error());
  auto event = model::contract_event_from_payload(jws->unverified_payload());
  if (!event) return tl::unexpected(event.error());
  const auto keys = read_keys({event->key});
  if (!keys) return tl::unexpected(keys.error());
  SPILLWAY_TRY(jws->verify(model::k_contract_event_type, *keys));
  return remember(VerifiedEvent{std::move(document), std::move(*event)});
}

Result<std::string> sign(const model::Message& message, const Key& sender) {
  return sign_as(model::k_message_type, message, sender);
}

Result<model::Message> verify_message(std::string_view document, const PublicKey& sender) {
  const auto jws = Jws::parse(document);
  if (!jws) return tl::unexpected(jws.error());
  SPILLWAY_TRY(jws->verify(model::k_message_type, std::span(&sender, 1)));
  return model::message_from_payload(jws->unverified_payload());
}

}  // namespace spillway::pki
