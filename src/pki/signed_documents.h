// Cards, agreements, their events and messages, signed and verified (pki/jws.h). Each but a message
// names the keys that must have signed it, and is verified with these; that a key is the party's
// own is for others to say: the book has the cards, and a member has its pins.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/agreement.h"
#include "model/card.h"
#include "model/contract_event.h"
#include "model/message.h"
#include "pki/key.h"

namespace spillway::pki {

struct VerifiedCard {
  std::string document;
  model::Card card;
  std::string fingerprint;  // of the key that it names and that signed it
};

enum class Signers { buyer, both };

struct VerifiedAgreement {
  std::string document;
  std::string id;
  model::Agreement agreement;
  Signers signers = Signers::buyer;
};

struct VerifiedEvent {
  std::string document;
  model::ContractEvent event;
};

// The text of the JWS. The document must name the key as its signer's: else nobody would believe
// it.
Result<std::string> sign(const model::Card& card, const Key& key);
Result<std::string> sign(const model::Agreement& agreement, const Key& buyer);
Result<std::string> sign(const model::ContractEvent& event, const Key& key);
// Adds the provider's signature to what the buyer has signed, which is verified first.
Result<std::string> countersign(std::string document, const Key& provider);

Result<VerifiedCard> verify_card(std::string document);
Result<VerifiedAgreement> verify_agreement(std::string document, Signers signers);
Result<VerifiedEvent> verify_event(std::string document);

// A message names no key: its sender's is in the agreement that it names.
Result<std::string> sign(const model::Message& message, const Key& sender);
Result<model::Message> verify_message(std::string_view document, const PublicKey& sender);

}  // namespace spillway::pki
