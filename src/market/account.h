// A buyer's account: how much more it may take, and what happens to it when units come and go.
//
// A budget is never exceeded, whatever happens later: for each live unit the most that it can come
// to before its lease could be renewed is set aside (reserve_of), and what it did come to is at
// most that (settle).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "market/records.h"

namespace spillway::market {

// The refusal for a cluster without an account. One place, so that all doors say the same.
tl::unexpected<Error> not_enrolled(const ClusterId& cluster);

// How many units of one more contract the account has room for, and what binds when it is fewer
// than were asked for.
struct Room {
  int32_t units = 0;
  Code why = Code::internal;
  std::string reason;
  std::string next;
};
enum class OpensHold { yes, no };
Room room_for(const AccountRecord& account, const model::Offer& offer, int64_t reserve_per_unit,
              int32_t wanted, OpensHold opens = OpensHold::yes);
// The same for spares, which take nothing: their number alone is bounded, and what a unit would
// need is asked for when it is bought.
Room room_for_spares(const AccountRecord& account, const model::Offer& offer, int32_t most,
                     int32_t wanted);

// The longest that a unit can run when its lease ends `lease` after it started: the lease, an
// outage up to the grace, and the time to leave.
Duration longest_run(const model::Terms& terms, Duration lease);
// What to set aside for a unit whose lease ends `lease` after its start.
int64_t reserve_of(const model::Price& price, int64_t rate, const model::Terms& terms,
                   Duration lease);

Purse& purse_in(AccountRecord& account, const Currency& currency);
// Micro-units of `currency` that may still be promised: what is left of the budget; without one,
// what an int64 can still count, so that no price and no patience can overflow a purse. Below zero
// when the operator lowered the budget since.
int64_t left_to_promise(const AccountRecord& account, const Currency& currency);

}  // namespace spillway::market
