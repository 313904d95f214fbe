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
#include "market/invoice.h"
#include "model/cluster.h"
#include "model/contract.h"
#include "model/identity.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/pool.h"
#include "rank/query.h"

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

// What is signed travels as the text of a JWS (pki/signed_documents.h); empty: it is not signed.
struct ConfirmRequest {
  std::string document;  // the agreement, signed by the buyer
  bool operator==(const ConfirmRequest&) const = default;
};

struct CountersignRequest {
  std::string document;  // the agreement, signed by both
  std::string accepted;  // an event
  bool operator==(const CountersignRequest&) const = default;
};

struct SignedRequest {  // renew, notice, drained
  std::string event;
  bool operator==(const SignedRequest&) const = default;
};

struct ExtendRequest {
  Duration ttl;
  std::string event = {};
  bool operator==(const ExtendRequest&) const = default;
};

struct CardBody {
  std::string document;
  bool operator==(const CardBody&) const = default;
};

// All that was signed on a contract, and the cards of its parties as they are now.
struct AgreementAnswer {
  model::Contract contract;
  std::string document;  // empty: nobody has signed yet
  bool complete = false;
  std::vector<std::string> events;
  std::string buyer_card;  // empty: it has none
  std::string provider_card;
  bool operator==(const AgreementAnswer&) const = default;
};

// A message to the other party of a contract; nobody else can open its envelope.
struct MessageRequest {
  int64_t sequence = 0;  // the sender's, above all before
  std::string step;
  std::string envelope;  // base64
  Duration ttl = minutes(10);
  bool operator==(const MessageRequest&) const = default;
};

struct MessageRow {
  int64_t sequence = 0;
  std::string step;
  std::string envelope;
  Instant expires;
  bool operator==(const MessageRow&) const = default;
};

struct MessagePage {
  std::vector<MessageRow> messages;  // to the caller, in order
  bool more = false;                 // wait than fit here
  bool operator==(const MessagePage&) const = default;
};

struct TakenRequest {
  int64_t through = 0;  // all up to this number
  bool operator==(const TakenRequest&) const = default;
};

struct ReleaseRequest {
  std::vector<int32_t> units;  // empty: all
  std::string event = {};
  bool operator==(const ReleaseRequest&) const = default;
};

struct UsageRequest {
  std::vector<model::MeteredUse> used;
  std::string event = {};
  bool operator==(const UsageRequest&) const = default;
};

struct ContractAnswer {
  model::Contract contract;
  std::optional<Instant> paid_anyway_until = {};  // its live units; until then holding them is free
  // However long the broker is silent from now on (market/outage.h); of what is not closed.
  std::optional<Instant> ends_no_later_than = {};
  bool operator==(const ContractAnswer&) const = default;
};

struct ContractPage {
  std::vector<model::Contract> contracts;
  std::string next;
  bool operator==(const ContractPage&) const = default;
};

// A part of an invoice. Lines of a contract that ends while the parts are read may come twice: of
// one contract, those of the last part count.
struct InvoiceAnswer {
  ClusterId cluster;  // whose it is
  Instant from;
  std::optional<Instant> until;  // none: all that there is so far
  Instant as_of;
  std::vector<market::InvoiceLine> lines;
  std::vector<market::InvoiceTotal> totals;  // of these lines
  std::string next;
  bool operator==(const InvoiceAnswer&) const = default;
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
