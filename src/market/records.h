// The rows of the book: what a store keeps, one aggregate each, under one version number each.
//
// A transition reads some rows and replaces some; nothing else is state. Records are immutable once
// made and shared by pointer: a batch of decisions, the simulator's store and a cache of reads can
// all hold the same one.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/card.h"
#include "model/cluster.h"
#include "model/contract.h"
#include "model/contract_event.h"
#include "model/identity.h"
#include "model/message.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::market {

// A pool as its provider last published it, and what the book has sold of it.
struct PoolRecord {
  model::Pool pool;
  ClusterId provider;
  int64_t sequence = 0;
  bool withdrawn = false;
  Instant lease_until;           // silent beyond it: stale, not sold
  std::optional<Instant> heard;  // when the provider last told of it; older records do not say
  int64_t epoch = 0;             // in which the provider last confirmed what it carries (law 4)
  int64_t report = 0;            // the number of that confirmation: a late, older one says nothing
  model::Resources committed;    // all units of live contracts, but for spares
  model::Resources unaccounted;  // carried by the provider though no live contract says so
  std::optional<Instant> oversold_since;  // capacity no longer covers what was sold
  std::optional<Instant> reclaim_at;  // then the book gives the notice that the provider did not

  bool operator==(const PoolRecord&) const = default;
};

struct OfferRecord {
  model::Offer offer;
  ClusterId provider;
  int64_t sequence = 0;
  bool withdrawn = false;

  bool operator==(const OfferRecord&) const = default;
};

// What a buyer has promised to pay and has paid, in one currency.
struct Purse {
  Currency currency;
  int64_t reserved = 0;  // for live units, up to the end of their lease and what may follow it
  int64_t spent = 0;     // by units that ended, since the budget's `from`

  bool operator==(const Purse&) const = default;
};

// A buyer: what the operator allows it, and what it holds.
struct AccountRecord {
  model::Cluster cluster;
  int64_t units = 0;
  int64_t spares = 0;  // not among the units
  int64_t open_holds = 0;
  model::Resources used;
  std::vector<Purse> purses;          // sorted by currency
  std::optional<Instant> spent_from;  // the `from` of the budget that `spent` counts for

  bool operator==(const AccountRecord&) const = default;
};

// One line of a hold that was granted.
struct Grant {
  ContractId contract;
  OfferId offer;
  int32_t units = 0;
  Instant hold_until;
  int64_t rate = 0;  // micro-units per unit-hour
  Currency currency;

  bool operator==(const Grant&) const = default;
};

// A hold that was granted, remembered under the buyer's idempotency key so that a retry gets the
// same answer. Refusals change nothing and are not remembered.
struct RequestRecord {
  ClusterId buyer;
  std::string key;
  Fingerprint body;
  std::vector<Grant> grants;
  Instant forget_at;

  bool operator==(const RequestRecord&) const = default;
};

// Read by every transition, changed only when the market comes back from being away. `lost` is the
// sum of all outages. An epoch begins when a broker starts and finds no other alive, and with every
// outage; a pool is sold from only once its provider has confirmed in it. Its number is the time of
// its beginning, so that a restored backup cannot give out one that was used.
struct EpochRecord {
  int64_t epoch = 1;
  Duration lost;

  bool operator==(const EpochRecord&) const = default;
};

// The last sign of life of any broker on this store. Not read by sales, so beating costs no
// conflict.
struct HeartRecord {
  Instant beat;

  bool operator==(const HeartRecord&) const = default;
};

// A right to join, once, under a name and with roles that the operator chose. The secret stays with
// whoever was given it; the book knows only what the broker made of it, the id. What it was used
// for is remembered, so that a lost answer can be given again, and only to the same key.
struct TokenRecord {
  std::string id;
  std::string name;
  model::Roles roles;
  model::Labels labels;  // for the account of a cluster
  Instant made;
  Instant expires;
  std::string key;          // that used it; empty: nobody yet
  std::string certificate;  // that it was given
  Instant not_after;        // of that
  Instant forget_at;

  bool is_used() const { return !key.empty(); }
  bool operator==(const TokenRecord&) const = default;
};
Status check_token_id(std::string_view text);

// A cluster's card, as its key signed it.
struct CardRecord {
  model::Card card;
  std::string document;  // a JWS; the door has verified it

  bool operator==(const CardRecord&) const = default;
};

// A Liqo id belongs to the cluster that was the first to show it.
struct LiqoRecord {
  std::string id;
  ClusterId cluster;

  bool operator==(const LiqoRecord&) const = default;
};

// What one side has signed under an agreement. Of what only moves on the newest: of renewals, and
// of readings as far as a later one has all their units.
struct KeptEvent {
  ClusterId by;
  int64_t number = 1;
  model::ContractEventKind kind = model::ContractEventKind::renewal;
  std::string document;
  std::vector<int32_t> units = {};  // of a reading

  bool operator==(const KeptEvent&) const = default;
};

// What was signed on a contract, beside its row: every sale and renewal reads and writes the row,
// and only the parties read this.
struct AgreementRecord {
  ContractId contract;
  ClusterId buyer;
  ClusterId provider;
  std::string buyer_key;  // those that the agreement names
  std::string provider_key;
  std::string id;        // of the payload
  std::string document;  // a JWS with the buyer's signature, then with both
  bool complete = false;
  Instant sign_by;
  std::vector<KeptEvent> events;

  bool operator==(const AgreementRecord&) const = default;
};

using model::Direction;

// A number that a sender has used, and what for: to know a retry, and to find the message.
struct Posted {
  int64_t sequence = 0;
  Fingerprint content;
  int64_t bytes = 0;  // of its envelope
  Instant expires;
  bool waiting = true;  // else it was taken, or has expired

  bool operator==(const Posted&) const = default;
};

// The messages in one direction between the parties of a contract. Numbers are the sender's, and
// only grow. All that waits is listed here, so that no decision has to look for messages.
struct MailboxRecord {
  ContractId contract;
  Direction direction = Direction::to_provider;
  std::vector<Posted> posted;  // by number: what waits, and the last few that no longer do
  Instant forget_at;           // looked at again then; it goes when its contract is closed

  int64_t sent() const { return posted.empty() ? 0 : posted.back().sequence; }

  bool operator==(const MailboxRecord&) const = default;
};

// One message on its way. Nobody but its receiver can read it.
struct MessageRecord {
  ContractId contract;
  Direction direction = Direction::to_provider;
  int64_t sequence = 0;
  std::string step;
  std::string envelope;  // base64
  Instant expires;

  bool operator==(const MessageRecord&) const = default;
};

enum class Kind : uint8_t {
  pool,
  offer,
  account,
  contract,
  request,
  epoch,
  heart,
  identity,
  token,
  card,
  liqo,
  agreement,
  mailbox,
  message,
};
inline constexpr int k_kinds = 14;
std::string_view to_text(Kind kind);

struct Key {
  Kind kind = Kind::pool;
  std::string id;

  auto operator<=>(const Key&) const = default;
};

Key key_of(const PoolId& id);
Key key_of(const OfferId& id);
Key key_of(const ContractId& id);
Key account_key(const ClusterId& buyer);
Key request_key(const ClusterId& buyer, const std::string& key);
Key epoch_key();
Key heart_key();
Key identity_key(const std::string& name);
Key token_key(const std::string& id);
Key card_key(const ClusterId& cluster);
Key liqo_key(const std::string& id);
Key agreement_key(const ContractId& id);
Key mailbox_key(const ContractId& id, Direction direction);
Key message_key(const ContractId& id, Direction direction, int64_t sequence);  // in their order

template <class T>
using Shared = std::shared_ptr<const T>;

// monostate: no such row, or (in a put) the row is deleted.
using Record = std::variant<std::monostate, Shared<PoolRecord>, Shared<OfferRecord>,
                            Shared<AccountRecord>, Shared<model::Contract>, Shared<RequestRecord>,
                            Shared<EpochRecord>, Shared<HeartRecord>, Shared<model::Identity>,
                            Shared<TokenRecord>, Shared<CardRecord>, Shared<LiqoRecord>,
                            Shared<AgreementRecord>, Shared<MailboxRecord>, Shared<MessageRecord>>;

inline bool is_absent(const Record& record) {
  return std::holds_alternative<std::monostate>(record);
}

// What a store indexes besides the key, the same for every kind. Live rows have indexes of their
// own, so history costs nothing to those that look for what is live or due. Of what has ended only
// contracts that ran are indexed, by their parties and their end, for invoices.
struct Facets {
  bool live = false;
  std::string group;           // contracts and offers: their pool
  std::string owner;           // contracts: their buyer; pools and offers: their provider
  std::optional<Instant> due;  // when the book wants to look at it again; of an ended one, its end
};
Facets facets_of(const Record& record);

}  // namespace spillway::market

template <>
struct std::hash<spillway::market::Key> {
  size_t operator()(const spillway::market::Key& key) const noexcept {
    return std::hash<std::string>{}(key.id) * 31 + static_cast<size_t>(key.kind);
  }
};
