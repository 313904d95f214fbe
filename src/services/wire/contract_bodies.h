// The bodies about contracts: what is signed, said and paid between two parties (bodies.h has the
// rest, and says how they are written).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "market/invoice.h"
#include "model/contract.h"

namespace spillway::wire {

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

struct BuyRequest {
  std::vector<int32_t> units;  // spares
  std::string event = {};
  bool operator==(const BuyRequest&) const = default;
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

}  // namespace spillway::wire
