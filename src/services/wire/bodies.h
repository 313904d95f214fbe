// The bodies of requests and answers, shared by broker, agent and CLI. Each is a document of the
// strict codec: {"version":1, …}, unknown fields refused. api/openapi.yaml describes the same for
// everyone else; tests/integration/broker/openapi_test.cpp holds the two together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "market/commands.h"
#include "model/cluster.h"
#include "model/contract.h"
#include "model/identity.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/pool.h"
#include "rank/query.h"
#include "services/wire/contract_bodies.h"

namespace spillway::wire {

// ---- enrolment ----

struct JoinRequest {
  std::string token;    // swt1.…
  std::string request;  // PKCS#10, PEM
  bool operator==(const JoinRequest&) const = default;
};

struct CertificateRequest {
  std::string request;
  bool operator==(const CertificateRequest&) const = default;
};

// A body where there is nothing to say.
struct Nothing {
  bool operator==(const Nothing&) const = default;
};

// Answer to both.
struct CertificateAnswer {
  std::string federation;
  std::string name;
  std::vector<model::Role> roles;
  std::string certificate;  // PEM
  std::string authorities;  // PEM bundle: trust exactly these from now on
  Instant not_after;
  Instant renew_at;
  bool operator==(const CertificateAnswer&) const = default;
};

struct TokenRequest {
  std::string name;
  std::vector<model::Role> roles;
  model::Labels labels;
  Duration ttl = hours(1);
  bool operator==(const TokenRequest&) const = default;
};

struct TokenAnswer {  // told once: the book keeps only a hash
  std::string token;  // swt1.…
  std::string id;
  std::string name;
  Instant expires;
  bool operator==(const TokenAnswer&) const = default;
};

struct TokenRow {
  std::string id;
  std::string name;
  std::vector<model::Role> roles;
  model::Labels labels;
  Instant expires;
  bool used = false;
  bool operator==(const TokenRow&) const = default;
};

struct TokenPage {
  std::vector<TokenRow> tokens;
  std::string next;
  bool operator==(const TokenPage&) const = default;
};

struct WhoAmI {
  std::string federation;
  std::string name;
  std::vector<model::Role> roles;
  Instant not_after;
  bool operator==(const WhoAmI&) const = default;
};

struct IdentityRow {
  std::string name;
  std::vector<model::Role> roles;
  std::string key;
  Instant since;
  Instant not_after;
  std::optional<Instant> revoked;
  bool operator==(const IdentityRow&) const = default;
};

struct IdentityPage {
  std::vector<IdentityRow> identities;
  std::string next;  // pass as ?after=; empty: this was the last page
  bool operator==(const IdentityPage&) const = default;
};

// ---- providers ----

struct PoolPut {
  model::Pool pool;  // its id is the path's
  int64_t sequence = 0;
  Duration lease = minutes(2);
  std::vector<market::Carried> carries;
  int64_t epoch = 0;
  int64_t report = 0;
  bool operator==(const PoolPut&) const = default;
};

struct PoolPutAnswer {
  int64_t epoch = 0;  // confirm in this one
  bool operator==(const PoolPutAnswer&) const = default;
};

struct PoolRow {
  model::Pool pool;
  ClusterId provider;
  int64_t sequence = 0;
  bool withdrawn = false;
  Instant lease_until;
  int64_t epoch = 0;
  int64_t report = 0;
  model::Resources committed;
  model::Resources unaccounted;
  std::optional<Instant> oversold_since;
  bool operator==(const PoolRow&) const = default;
};

struct PoolPage {
  std::vector<PoolRow> pools;
  std::string next;
  bool operator==(const PoolPage&) const = default;
};

struct OfferPut {
  model::Offer offer;
  int64_t sequence = 0;
  bool operator==(const OfferPut&) const = default;
};

struct OfferRow {
  model::Offer offer;
  ClusterId provider;
  std::optional<int64_t> sequence;  // for its provider, operators and viewers
  bool withdrawn = false;
  bool operator==(const OfferRow&) const = default;
};

struct OfferPage {
  std::vector<OfferRow> offers;
  std::string next;
  bool operator==(const OfferPage&) const = default;
};

// ---- buyers ----

struct QueryRequest {
  model::Intent intent;
  int32_t limit = 10;
  std::string cursor;
  bool explain = false;  // verdicts: the candidates, and offers that were ruled out, with why
  bool paid = false;     // tell of own units too that would do and are paid for anyway
  bool operator==(const QueryRequest&) const = default;
};

struct Term {
  std::string name;
  int64_t amount = 0;
  std::string how;
  bool estimated = false;
  bool operator==(const Term&) const = default;
};

struct Candidate {
  OfferId offer;
  ClusterId provider;
  PoolId pool;
  int32_t free_units = 0;
  int64_t rate = 0;
  std::optional<int64_t> distance_metres;
  std::optional<int32_t> carbon;
  std::optional<Instant> heard;  // the provider's last sign of life
  int64_t score = 0;
  std::vector<Term> terms;
  bool operator==(const Candidate&) const = default;
};

struct RuledOut {
  std::string reason;
  int64_t offers = 0;
  bool operator==(const RuledOut&) const = default;
};

struct Verdict {
  OfferId offer;
  std::string ruled_out_by;  // empty: it fits
  int64_t score = 0;
  std::string sentence;
  bool operator==(const Verdict&) const = default;
};

// Units that the asker has, and pays for until then whatever it does: holding them costs nothing.
struct PaidUnits {
  ContractId contract;
  OfferId offer;
  ClusterId provider;
  int32_t units = 0;
  Instant until;
  int64_t marginal_rate = 0;  // of one until then: not zero where use is paid for besides
  bool operator==(const PaidUnits&) const = default;
};

struct QueryAnswer {
  std::string outcome;  // ok, not now, never
  std::string why;
  Currency currency;
  int64_t considered = 0;
  int64_t fitting = 0;
  std::vector<RuledOut> ruled_out;
  std::vector<Candidate> candidates;
  std::vector<Verdict> verdicts;
  std::string next;
  std::vector<PaidUnits> paid = {};
  bool operator==(const QueryAnswer&) const = default;
};

struct HoldRequest {
  std::vector<market::HoldLine> lines;
  Duration ttl = minutes(1);
  bool operator==(const HoldRequest&) const = default;
};

struct HoldAnswer {
  std::vector<market::Grant> grants;
  int64_t ttl_seconds = 0;  // left; for clients whose clock is wrong
  bool operator==(const HoldAnswer&) const = default;
};

// ---- everyone ----

struct EventBody {
  int64_t sequence = 0;
  Instant at;
  std::string kind;
  std::string subject;
  PoolId pool;
  ClusterId provider;
  ClusterId buyer;
  std::string detail;
  std::string by;       // operators and viewers only
  std::string request;  // operators and viewers only
  bool operator==(const EventBody&) const = default;
};

struct EventPage {
  std::vector<EventBody> events;
  int64_t next = 0;  // pass as ?after=
  bool more = false;
  bool operator==(const EventPage&) const = default;
};

struct SnapshotAnswer {
  int64_t sequence = 0;  // follow events after this one
  int64_t epoch = 0;
  std::vector<PoolRow> pools;
  std::vector<OfferRow> offers;
  std::vector<model::Contract> contracts;  // live ones, bought and sold
  bool more = false;                       // contracts than fit here: list them
  bool operator==(const SnapshotAnswer&) const = default;
};

struct ClusterPage {
  std::vector<model::Cluster> clusters;
  std::string next;
  bool operator==(const ClusterPage&) const = default;
};

struct ClusterAnswer {
  model::Cluster cluster;
  int64_t units = 0;       // held now
  int64_t open_holds = 0;  // not confirmed yet
  bool operator==(const ClusterAnswer&) const = default;
};

struct Health {
  std::string status;  // ok; everything else is a problem
  bool operator==(const Health&) const = default;
};

// RFC 9457, with the parts of our Error.
struct Problem {
  std::string type;  // urn:spillway:problem:<code>
  std::string title;
  int32_t status = 0;
  std::string detail;
  std::string thing;
  std::string reason;
  std::string next;
  std::optional<SnapshotAnswer> snapshot;  // with 410 on /v1/events
  bool operator==(const Problem&) const = default;
};

}  // namespace spillway::wire
