// Contract: an agreement on units of one offer. One ladder, never climbed back:
//
//   hold ──confirm──▶ active ──notice, or not renewed──▶ closing ──drained, or in time──▶ closed
//     └──────────────── expired, released ───────────────────────────────────────────────▲
//
// Everything that was agreed is copied in, so that a later change of the offer changes nothing
// here. Units end one by one; the contract is closed when its last unit is.
//
// A contract of spares is the same ladder with units at zero: each is bought when it is wanted, in
// a moment, at the price that was agreed and if there is room then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "model/offer.h"
#include "model/use.h"

namespace spillway::model {

enum class ContractState { hold, active, closing, closed };

enum class EndReason {
  none,      // it has not ended
  expired,   // a hold nobody confirmed
  released,  // by the buyer
  lapsed,    // the lease was not renewed
  noticed,   // by the provider
  reclaimed  // by the book, since the provider shrank below what it sold and gave no notice
};

struct Unit {
  int32_t number = 0;
  bool live = true;
  std::optional<Instant> ended;        // up to when it is paid for by time
  int64_t reserved = 0;                // of the buyer's budget, in micro-units
  int64_t charged = 0;                 // what it came to, once it has ended
  int64_t charged_for_use = 0;         // the part of it that is for what was metered
  Use metered = {};                    // of a unit that is paid per use, up to the last reading
  std::optional<Instant> bought = {};  // of one that was a spare: the money runs from here
  bool operator==(const Unit&) const = default;
};

struct Contract {
  ContractId id;  // the hold's id
  ClusterId buyer;
  ClusterId provider;
  PoolId pool;
  OfferId offer;
  ContractState state = ContractState::hold;
  EndReason reason = EndReason::none;
  Resources shape;  // of one unit
  Price price;
  int64_t rate = 0;  // micro-units per unit-hour (price.h)
  Terms terms;
  std::vector<Unit> units;
  bool spare = false;  // its units take nothing, and cost nothing, until they are bought
  Instant created;
  std::optional<Instant> started;  // confirmed; the money runs from here
  // When the present state ends by itself: a hold expires, a lease lapses, a closing is over.
  // Outages of the broker move the first two (market/outage.h).
  Instant deadline;
  Duration outage_mark;  // outage recorded by the market when the deadline was last set or moved
  Duration grace_used;   // how far outages have moved this deadline already
  // When the book says next that a lease ends that was not renewed (market/ending_notice.h).
  std::optional<Instant> ending_notice;
  // The id of what was signed (model/agreement.h), once the buyer has; a hold with one waits for
  // the provider's signature. Empty: nobody has signed anything.
  std::string agreement;

  bool operator==(const Contract&) const = default;
  bool is_live() const { return state != ContractState::closed; }
  int32_t live_units() const;
  bool is_spare(const Unit& unit) const { return spare && !unit.bought; }
  int32_t bought_units() const;  // live, and no spares
  Resources taken() const;       // of the pool, by these
  // From when a unit is paid for; never, for a hold and for a spare.
  std::optional<Instant> paid_from(const Unit& unit) const;
};

std::string_view to_text(ContractState state);
std::string_view to_text(EndReason reason);
Status validate(const Contract& contract);

}  // namespace spillway::model
