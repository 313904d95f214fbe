// Rules: what keeps an option from being recommended at all, in a sentence.
//
// Assumptions
//   - the buyer may see the option; numbers count as rank/doubt.h says, or as they were stated
//     where that is worse.
// Algorithm
//   One test after the other in the order of the enum; the first that fails is the one told. What
//   is unknown fails a rule about carbon, round trip or silence: a rule is not passed by silence.
//   What was never tried has failed once, as everywhere.
// Ties
//   None: the order is fixed. Caps come last (rank/caps.h), so that a cap is blamed only for what
//   would do otherwise.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rank/option.h"
#include "rank/policy.h"

namespace spillway::rank {

enum class Bar : uint8_t {
  ended,
  currency,
  shape,
  denied,
  not_allowed,
  label,
  country,
  price,
  lease,
  carbon,
  round_trip,
  failures,
  silence,
  sold_out,
  cap,
};
std::string_view to_text(Bar bar);

struct Barred {
  Bar bar = Bar::ended;
  std::string sentence;
  bool operator==(const Barred&) const = default;
};

// Nullopt when it passes all but the caps.
std::optional<Barred> first_bar(const EffectivePolicy& policy, const Workload& workload,
                                const Option& option, Instant now);

}  // namespace spillway::rank
