// Evidence: what a broker shows of one contract, read as by somebody who does not trust it: every
// signature is verified, and every document belongs to this contract and to one of its parties.
// Pure: whether a key is a party's own is for the pins to say, and comes later.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pki/signed_documents.h"
#include "services/agent/paper.h"
#include "services/wire/bodies.h"

namespace spillway::agent {

struct Self {
  ClusterId cluster;
  std::string federation;
};

struct Evidence {
  model::Contract row;  // what the broker's book says: a claim
  std::optional<pki::VerifiedAgreement> agreement;
  bool complete = false;
  std::vector<pki::VerifiedEvent> events;
  std::optional<pki::VerifiedCard> buyer;  // their cards, as they are now
  std::optional<pki::VerifiedCard> provider;
};

// Refuses what does not verify, what is of another contract, and what is not ours to see.
Result<Evidence> weigh(const wire::AgreementAnswer& told, const ContractId& asked,
                       const Self& self);
// Out of our own copy, which was verified when it was kept.
struct Agreed {
  pki::VerifiedAgreement agreement;
  bool complete = false;
  std::vector<pki::VerifiedEvent> events;
};
Result<Agreed> read_paper(const Paper& paper);
// A paper as it lies at `source`. Invalid, with a reason: it is damaged, or not of this contract.
Result<Paper> kept_paper(std::string_view text, const std::string& source, const ContractId& id);

// All of it, to be kept.
Paper paper_of(const Evidence& evidence, Instant now);

// Whether the provider should sign what the buyer has: it must be what the row says, what our own
// offer says, between the cards that are shown, and in time. Null: we offer no such thing.
Status check_to_countersign(const Evidence& evidence, const Self& self, const model::Card& own,
                            const model::Offer* offer, Instant now);
// Which side says what: renewals, extensions and releases are the buyer's, the end of a drain is
// either's, all else the provider's.
bool may_say(model::ContractEventKind kind, bool is_buyer);
// Whether what was signed names this card's keys.
Status check_card(const model::Signatory& side, const model::Card& card);

}  // namespace spillway::agent
