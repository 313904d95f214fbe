// BrokerClient: the broker's routes as calls, over any Channel. Agents, the CLI and the simulator's
// parties all speak through it. A refusal comes back as the Error that the broker made.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/channel.h"
#include "net/sse.h"
#include "services/wire/bodies.h"

namespace spillway::wire {

template <class T>
using Then = std::function<void(Result<T>)>;

struct ListAsked {
  std::string after;
  int32_t limit = 100;
};

// Of whom, of which time, which side of it; empty: one's own, of all time, both.
struct InvoiceAsked {
  std::string cluster;
  std::optional<Instant> from;
  std::optional<Instant> until;
  std::string side;  // bought, sold
  std::string after;
  int32_t limit = 100;  // contracts
};

// Where an event stream stands. Dropping it closes the stream.
class EventStream {
 public:
  virtual ~EventStream() = default;
};

struct EventCalls {
  std::function<void()> on_open;
  std::function<void(const EventBody&)> on_event;
  // Once. `snapshot` when the log no longer has what was missed: take it over and follow from
  // there. `gone` without one, or any other error: open again, later.
  std::function<void(const Error&, const SnapshotAnswer* snapshot)> on_end;
};

class BrokerClient {
 public:
  explicit BrokerClient(net::Channel& channel) : channel_(channel) {}

  void join(const JoinRequest& body, Then<CertificateAnswer> then);
  void recertify(const CertificateRequest& body, Then<CertificateAnswer> then);
  void whoami(Then<WhoAmI> then);

  void put_pool(const PoolPut& body, Then<PoolPutAnswer> then);
  void withdraw_pool(const PoolId& id, int64_t sequence, Then<void> then);
  void list_pools(const ListAsked& asked, Then<PoolPage> then);
  void put_offer(const OfferPut& body, Then<void> then);
  void withdraw_offer(const OfferId& id, int64_t sequence, Then<void> then);
  void list_offers(const ListAsked& asked, Then<OfferPage> then);
  void get_offer(const OfferId& id, Then<OfferRow> then);
  void give_notice(const ContractId& id, const SignedRequest& body, Then<ContractAnswer> then);

  void meter_usage(const ContractId& id, const UsageRequest& body, Then<ContractAnswer> then);

  void query(const QueryRequest& body, Then<QueryAnswer> then);
  void hold(const std::string& key, const HoldRequest& body, Then<HoldAnswer> then);
  void confirm(const ContractId& id, const ConfirmRequest& body, Then<ContractAnswer> then);
  void extend(const ContractId& id, const ExtendRequest& body, Then<ContractAnswer> then);
  void renew(const ContractId& id, const SignedRequest& body, Then<ContractAnswer> then);
  void buy(const ContractId& id, const BuyRequest& body, Then<ContractAnswer> then);
  void release(const ContractId& id, const ReleaseRequest& body, Then<ContractAnswer> then);
  void drained(const ContractId& id, const SignedRequest& body, Then<ContractAnswer> then);
  void get_contract(const ContractId& id, Then<ContractAnswer> then);
  void list_contracts(const ListAsked& asked, Then<ContractPage> then);

  void invoice(const InvoiceAsked& asked, Then<InvoiceAnswer> then);

  void get_card(const ClusterId& cluster, Then<CardBody> then);
  void put_card(const ClusterId& cluster, const CardBody& body, Then<void> then);
  void get_agreement(const ContractId& id, Then<AgreementAnswer> then);
  void countersign(const ContractId& id, const CountersignRequest& body, Then<ContractAnswer> then);

  void send_message(const ContractId& id, const MessageRequest& body, Then<void> then);
  void get_messages(const ContractId& id, int64_t after, Then<MessagePage> then);
  // Answers what waits after them.
  void take_messages(const ContractId& id, const TakenRequest& body, Then<MessagePage> then);

  void snapshot(Then<SnapshotAnswer> then);
  void list_events(int64_t after, int32_t limit, Then<EventPage> then);
  void audit(int64_t after, int32_t limit, Then<EventPage> then);
  // after < 0: from now on.
  std::unique_ptr<EventStream> follow(int64_t after, EventCalls calls);

  void list_clusters(const ListAsked& asked, Then<ClusterPage> then);
  void get_cluster(const ClusterId& id, Then<ClusterAnswer> then);
  void put_cluster(const model::Cluster& cluster, Then<void> then);
  void make_token(const TokenRequest& body, Then<TokenAnswer> then);
  void list_tokens(const ListAsked& asked, Then<TokenPage> then);
  void cancel_token(const std::string& id, Then<void> then);
  void list_identities(const ListAsked& asked, Then<IdentityPage> then);
  void revoke(const std::string& name, Then<IdentityRow> then);

 private:
  net::Channel& channel_;
};

// What a response that is no success says; for any body, also one that is no problem of ours.
Error error_of(const net::Response& response);

}  // namespace spillway::wire
