// Everything that can be asked of the book. Who asks is part of a command and was authenticated
// before it got here; ids and randomness come in as values, so that a command is the same command
// wherever and however often it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "market/records.h"

namespace spillway::market {

// --- providers ---

inline constexpr size_t k_max_carried = 10'000;            // contracts on one pool
inline constexpr int32_t k_max_carried_units = 1'000'000;  // of one contract

// What a provider says it carries of a contract.
struct Carried {
  ContractId contract;
  int32_t units = 0;
  model::Resources shape;  // of one unit, for contracts that the book does not know

  bool operator==(const Carried&) const = default;
};

// Publishes, or with the same sequence number and pool renews the lease.
//
// With the epoch that the provider heard last (Answer::epoch) and a report number that grows with
// every message, it is also the provider's confirmation of what it carries: what the book does not
// know of is not sold again. A message of another epoch, or overtaken by a later report, renews the
// lease and confirms nothing. A pool that the book has never seen needs no confirmation as long as
// it carries nothing.
struct PublishPool {
  ClusterId provider;
  model::Pool pool;
  int64_t sequence = 0;
  Duration lease;
  std::vector<Carried> carries;
  int64_t epoch = 0;  // 0: none was heard yet
  int64_t report = 0;
};

struct WithdrawPool {
  ClusterId provider;
  PoolId pool;
  int64_t sequence = 0;
};

struct PublishOffer {
  ClusterId provider;
  model::Offer offer;
  int64_t sequence = 0;
};

struct WithdrawOffer {
  ClusterId provider;
  OfferId offer;
  int64_t sequence = 0;
};

// --- what was signed, as the door has verified it ---

struct SignedAgreement {
  std::string id;        // of the payload
  std::string document;  // a JWS, with exactly the signatures that the command needs
  model::Agreement agreement;
};

// By the party that it names.
struct SignedEvent {
  std::string document;
  model::ContractEvent event;
};

// Notice: the provider ends a contract, after the time that the terms give the buyer.
struct GiveNotice {
  ClusterId provider;
  ContractId contract;
  std::optional<SignedEvent> event = {};
};

// What units that are paid per use have used, in all since their start, as their provider measured
// it. Counts as far as the shape of the unit could have been used in that time; never less than
// before.
struct MeterUsage {
  ClusterId provider;
  ContractId contract;
  std::vector<model::MeteredUse> used;
  std::optional<SignedEvent> event = {};
};

// A cluster's card. `key`: the fingerprint of what signed it.
struct PutCard {
  model::Card card;
  std::string document;
  std::string key;
};

// The second signature, by which a hold becomes active.
struct Countersign {
  ClusterId provider;
  ContractId contract;
  SignedAgreement agreement;  // signed by both
  std::optional<SignedEvent> accepted = {};
};

// --- the operator ---

// Enrols a cluster or changes its labels, quota and budget. What it holds is untouched.
struct PutCluster {
  model::Cluster cluster;
  std::optional<model::Cluster> expected = {};  // refused when it is another one by now
};

// A token with which somebody may join, until `ttl` has passed. `id` is what the broker makes of
// the secret, new for every token: the same command again gets the same answer.
struct MakeToken {
  std::string id;
  std::string name;
  model::Roles roles;
  model::Labels labels;
  Duration ttl;
};

// Of one that nobody used.
struct CancelToken {
  std::string id;
};

struct FindToken {
  std::string id;
};

// Ends an identity: it does not renew, and what it has on sale is withdrawn in the same commit. Its
// contracts stay. It may join again with another token.
struct Revoke {
  std::string name;
};

// --- whoever has a token or an identity ---

// The first key that comes with a token gets the identity; the same key again gets the same
// certificate, for as long as the token is remembered; no other key ever does.
struct Join {
  std::string token;  // its id
  std::string key;
  std::string certificate;
  Instant not_after;
};

// Another certificate for `name`, whose key is `key`, and perhaps another key. It may be asked for
// again with the same `new_key` after the answer was lost.
struct Recertify {
  std::string name;
  std::string key;
  std::string new_key;
  std::string certificate;
  Instant not_after;
};

// --- buyers ---

struct HoldLine {
  OfferId offer;
  int32_t units = 1;     // wanted
  int32_t at_least = 1;  // fewer than this: the whole hold is refused
  bool spare = false;    // they take and cost nothing until they are bought

  bool operator==(const HoldLine&) const = default;
};

// All lines or none, in one commit. `fresh` has an id for each line; ids of a retry that turns out
// to be one are not used.
struct Hold {
  ClusterId buyer;
  std::string key;  // idempotency, scoped to the buyer
  std::vector<HoldLine> lines;
  Duration ttl;
  std::vector<ContractId> fresh;
};

// Makes a hold active; with a signature it waits for the provider's.
struct Confirm {
  ClusterId buyer;
  ContractId contract;
  std::optional<SignedAgreement> agreement = {};  // signed by the buyer alone
};

// A hold's life, from now on; refused beyond Rules::max_hold_total.
struct Extend {
  ClusterId buyer;
  ContractId contract;
  Duration ttl;
  std::optional<SignedEvent> event = {};
};

struct Renew {
  ClusterId buyer;
  ContractId contract;
  std::optional<SignedEvent> event = {};
};

// Spares of an active contract become units like others: if the pool has room, at the price that
// was agreed. Those that were bought already are no error.
struct Buy {
  ClusterId buyer;
  ContractId contract;
  std::vector<int32_t> units;
  std::optional<SignedEvent> event = {};
};

// Gives units back, or all of them when none is named. Units that ended already are no error.
struct Release {
  ClusterId buyer;
  ContractId contract;
  std::vector<int32_t> units;
  std::optional<SignedEvent> event = {};
};

// --- either party ---

// Nothing of what is closing runs any more: the buyer has left, or the provider has ended it. It is
// closed, and the money stops.
struct Drained {
  ClusterId party;
  ContractId contract;
  std::optional<SignedEvent> event = {};
};

// A contract as one of its two parties may see it.
struct Look {
  ClusterId party;
  ContractId contract;
};

// --- either party of a signed contract ---

inline constexpr int64_t k_max_envelope_bytes = 65'585;  // as large as pki/envelope.h seals

// A message to the other party. The same number with the same content again is a retry.
struct SendMessage {
  ClusterId sender;
  ContractId contract;
  int64_t sequence = 0;
  std::string step;
  std::string envelope;  // base64
  Duration ttl;
};

// The receiver has all up to this number, and wants none of them again.
struct TakeMessages {
  ClusterId receiver;
  ContractId contract;
  int64_t through = 0;
};

// --- the broker itself, on its timers ---

// The time of this row has come, perhaps: expires holds, lapses leases, closes what is closing,
// takes back what an oversold provider did not, forgets old keys, tokens and messages.
struct Attend {
  Key row;
};

// A sign of life. After a silence it records the outage.
struct Beat {
  bool starting = false;  // the first of this broker: it may have come back, even from a backup
};

using Command = std::variant<PublishPool, WithdrawPool, PublishOffer, WithdrawOffer, GiveNotice,
                             PutCluster, Hold, Confirm, Extend, Renew, Release, Look, Attend, Beat,
                             MakeToken, CancelToken, FindToken, Revoke, Join, Recertify, PutCard,
                             Countersign, MeterUsage, Drained, SendMessage, TakeMessages, Buy>;

std::string_view name_of(const Command& command);

// What the asker learns.
struct Answer {
  std::vector<Grant> grants;                // Hold
  bool replayed = false;                    // answered from what an earlier one did
  int64_t epoch = 0;                        // PublishPool: confirm in this one
  std::optional<model::Contract> contract;  // everything about one contract
  std::optional<TokenRecord> token;         // MakeToken, FindToken
  std::optional<model::Identity> identity;  // Join, Recertify, Revoke
  std::vector<Key> waiting;                 // TakeMessages: the messages after them
};

}  // namespace spillway::market
