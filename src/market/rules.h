// The market's house rules. Plain values, so that tests and simulations can have other ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace spillway::market {

// So long before its end a lease that was not renewed is said to end: a part of the lease, or, when
// that is zero, a time.
struct EndingDistance {
  int64_t percent = 0;
  Duration time = {};
  bool operator==(const EndingDistance&) const = default;
};

struct Rules {
  Duration max_hold_ttl = minutes(10);  // asked for at once
  Duration max_hold_total = hours(1);   // with all extensions, from the beginning
  Duration max_pool_lease = hours(1);   // a provider silent for longer is stale for sure
  Duration key_retention = hours(24);   // idempotency keys, from the grant
  Duration reclaim_after = minutes(2);  // an oversold provider's time to give notice itself
  Duration outage_after = seconds(10);  // silence of all brokers that counts as an outage
  Duration alone_after = seconds(3);    // a starting broker that sees no beat so recent is alone
  Duration max_token_ttl = hours(24 * 7);
  Duration token_retention = hours(24);  // from its end; so long a lost answer can be had again
  Duration max_message_ttl = minutes(10);
  Duration mailbox_retention = hours(1);  // from the last message; longer than any waits
  size_t max_waiting = 64;                // messages, in one direction of a contract
  int64_t max_waiting_bytes = int64_t{1} << 20;
  size_t remembered_messages = 16;  // that no longer wait: so far back a retry is known
  int32_t max_units = 1000;         // in one line of a hold
  int32_t max_lines = 16;           // in one hold
  int32_t max_spares = 32;          // of one buyer
  // Below a half, at which agents renew: who renews in time hears nothing.
  std::vector<EndingDistance> ending_notices{{.percent = 25}, {.percent = 10}, {.percent = 2}};
};

}  // namespace spillway::market
