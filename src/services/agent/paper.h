// Paper: a member's own copy of what was signed on one contract: evidence, and what it acts by when
// the broker lies, forgets, or comes back from a backup. Only what was verified is put on it.
//
// Of renewals, extensions and usage only the newest of each side is kept: each says all that the
// one before it said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/contract_event.h"
#include "pki/signed_documents.h"

namespace spillway::agent {

struct PaperEvent {
  ClusterId by;
  int64_t number = 1;
  model::ContractEventKind kind = model::ContractEventKind::renewal;
  std::string document;
  bool operator==(const PaperEvent&) const = default;
};

struct Paper {
  static constexpr size_t k_most_events = 2000;  // beside releases

  ContractId contract;
  std::string agreement;  // its id
  ClusterId buyer;
  ClusterId provider;
  std::string document;  // the agreement, signed by the buyer, and by the provider if complete
  bool complete = false;
  std::vector<PaperEvent> events;  // by side, then by number
  std::string buyer_card;
  std::string provider_card;
  Instant since;                 // when the first of it was kept
  std::optional<Instant> ended;  // when this member heard that the contract is closed
  bool operator==(const Paper&) const = default;
};

Paper paper_of(const pki::VerifiedAgreement& agreement, bool complete, Instant now);
PaperEvent event_of(const pki::VerifiedEvent& event);

// The highest number that this side has used here; 0: none.
int64_t last_number(const Paper& paper, const ClusterId& by);

// What is known after `heard`. Conflict: a complete agreement is kept, and this is another one.
// Contended: an event with that number is kept, and says something else; what was kept stays.
Result<Paper> merged(const Paper& kept, const Paper& heard);

Status validate(const Paper& paper);
std::string to_json(const Paper& paper);
Result<Paper> paper_from_json(std::string_view text, std::string_view source = "paper");

}  // namespace spillway::agent
