// What happened, in commit order. Every change that a provider, a buyer or the operator could
// notice appends at least one (a heartbeat or a forgotten key does not); their sequence numbers
// have no gaps. Agents, caches and audits live on them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace spillway::market {

enum class EventKind {
  pool_published,
  pool_withdrawn,
  pool_oversold,  // sold more than there is: the provider must give notice, or the book will
  pool_covered,   // no longer oversold
  offer_published,
  offer_withdrawn,
  cluster_put,
  contract_held,
  contract_extended,
  contract_confirmed,
  contract_renewed,
  contract_moved,  // its deadline, by an outage
  contract_closing,
  units_released,
  contract_closed,
  outage_recorded,
  epoch_begun,  // a broker came back, too soon for an outage
  token_made,
  token_cancelled,
  identity_joined,
  identity_renewed,  // another certificate, perhaps another key
  identity_revoked,
  card_published,
  contract_signed,   // by the buyer; the provider's signature makes it active
  contract_ending,   // its lease ends soon, and was not renewed
  contract_drained,  // nothing of what is closing runs any more
  usage_metered,
  message_sent,  // from one party of a contract to the other
  units_bought,  // that were spares
};

inline constexpr size_t k_event_kinds = 29;
inline constexpr std::array<std::string_view, k_event_kinds> k_event_words{
    "pool-published",    "pool-withdrawn",     "pool-oversold",    "pool-covered",
    "offer-published",   "offer-withdrawn",    "cluster-put",      "contract-held",
    "contract-extended", "contract-confirmed", "contract-renewed", "contract-moved",
    "contract-closing",  "units-released",     "contract-closed",  "outage-recorded",
    "epoch-begun",       "token-made",         "token-cancelled",  "identity-joined",
    "identity-renewed",  "identity-revoked",   "card-published",   "contract-signed",
    "contract-ending",   "contract-drained",   "usage-metered",    "message-sent",
    "units-bought"};

constexpr std::string_view to_text(EventKind kind) {
  return k_event_words[static_cast<size_t>(kind)];
}

// Who asked for what led to an event, and in which request: with it, the log is the audit. Empty:
// the broker itself.
struct Origin {
  std::string by;  // the name of an identity
  std::string request;
};

struct Event {
  int64_t sequence = 0;  // set by the store
  Instant at;
  EventKind kind = EventKind::pool_published;
  std::string subject;  // id of the pool, offer, cluster, contract, identity or token
  PoolId pool;          // whose capacity it concerns, if any
  ClusterId provider;   // who may hear of it, besides the operator
  ClusterId buyer;
  std::string detail;  // for people
  std::string by{};    // Origin
  std::string request{};

  bool operator==(const Event&) const = default;
};

}  // namespace spillway::market
