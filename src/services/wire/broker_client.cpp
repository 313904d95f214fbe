#include "services/wire/broker_client.h"

#include "base/text.h"
#include "services/wire/fields.h"

namespace spillway::wire {
namespace {

constexpr size_t k_max_answer = size_t{16} << 20;

std::string query_of(const ListAsked& asked) {
  std::string query = fmt::format("?limit={}", asked.limit);
  if (!asked.after.empty()) query += "&after=" + net::escape_segment(asked.after);
  return query;
}

std::string query_of(const InvoiceAsked& asked) {
  std::string query = query_of(ListAsked{asked.after, asked.limit});
  const auto add = [&query](std::string_view name, const std::string& value) {
    if (!value.empty()) query += fmt::format("&{}={}", name, net::escape_segment(value));
  };
  add("cluster", asked.cluster);
  if (asked.from) add("from", to_text(*asked.from));
  if (asked.until) add("until", to_text(*asked.until));
  add("side", asked.side);
  return query;
}

// "edge-1/small" as two segments.
std::string owned_path(std::string_view room, const std::string& id) {
  const std::string_view owner = owner_of(id);
  const std::string_view name = std::string_view(id).substr(std::min(owner.size() + 1, id.size()));
  return fmt::format("/v1/{}/{}/{}", room, net::escape_segment(owner), net::escape_segment(name));
}

std::string contract_path(const ContractId& id, std::string_view verb = {}) {
  return fmt::format("/v1/contracts/{}{}", net::escape_segment(id.text), verb);
}

std::string card_path(const ClusterId& cluster) {
  return "/v1/cards/" + net::escape_segment(cluster.text);
}

net::Request request(std::string method, std::string target, std::string body = {}) {
  net::Request made;
  made.method = std::move(method);
  made.target = std::move(target);
  made.headers.push_back({"Accept", "application/json"});
  if (!body.empty()) made.headers.push_back({"Content-Type", "application/json"});
  made.body = std::move(body);
  return made;
}

// Brokers of before signatures take no body here, and need none.
template <class T>
std::string text_if_any(const T& body) {
  return body == T{} ? std::string() : model::write_json(body);
}

std::optional<Problem> problem_in(const net::Response& response) {
  const std::string* type = net::find_header(response.headers, "Content-Type");
  if (type == nullptr || !type->starts_with("application/problem+json")) return std::nullopt;
  auto problem = model::read_json<Problem>(
      response.body, model::Heading{.what = "problem", .max_bytes = k_max_answer});
  if (!problem) return std::nullopt;
  return std::move(*problem);
}

Code code_of(const Problem& problem) {
  const std::string_view name = std::string_view(problem.type).substr(problem.type.rfind(':') + 1);
  for (const CodeRow& row : error_table()) {
    if (row.name == name) return row.code;
  }
  if (problem.status == 401) return Code::denied;
  if (problem.status == 429) return Code::over_quota;
  return problem.status >= 500 ? Code::unavailable : Code::invalid;
}

Error error_from(const net::Response& response, const std::optional<Problem>& problem) {
  if (problem) return {code_of(*problem), problem->thing, problem->reason, problem->next};
  return {response.status >= 500 ? Code::unavailable : Code::invalid, "broker",
          fmt::format("it answered {} {}", response.status, in_quotes(response.body)),
          "look whether this address is a Spillway broker of a release near yours"};
}

template <class T>
Result<T> read_answer(const Result<net::Response>& response) {
  if (!response) return tl::unexpected(response.error());
  if (response->status >= 300) return tl::unexpected(error_of(*response));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return model::read_json<T>(response->body,
                               model::Heading{.what = "answer", .max_bytes = k_max_answer});
  }
}

template <class T>
void ask(net::Channel& channel, net::Request what, Then<T> then) {
  channel.send(std::move(what), [then = std::move(then)](const Result<net::Response>& response) {
    then(read_answer<T>(response));
  });
}

// Bytes to events. The pieces hold each other: the reading's callbacks name this object, and it
// owns the reading.
class Following : public EventStream {
 public:
  explicit Following(EventCalls calls)
      : calls_(std::move(calls)),
        parser_([this](const net::SseEvent& event) { on_event(event); }) {}

  void open(net::Channel& channel, net::Request what) {
    reading_ = channel.open(std::move(what), {[this](const net::Response& head) { on_head(head); },
                                              [this](std::string_view bytes) { on_bytes(bytes); },
                                              [this](const Error& why) { end(why, nullptr); }});
  }

 private:
  void on_head(const net::Response& head) {
    if (head.status == 200) {
      open_ = true;
      if (calls_.on_open) calls_.on_open();
      return;
    }
    const auto problem = problem_in(head);
    const SnapshotAnswer* snapshot = problem && problem->snapshot ? &*problem->snapshot : nullptr;
    end(error_from(head, problem), snapshot);
  }

  void on_bytes(std::string_view bytes) {
    if (!open_ || ended_) return;
    if (!parser_.feed(bytes)) {
      end({Code::invalid, "event stream", "it is not one, or has a line without end",
           "look whether this address is a Spillway broker"},
          nullptr);
    }
  }

  void on_event(const net::SseEvent& event) {
    if (ended_) return;
    const auto body = model::read_json<EventBody>(event.data, "event");
    if (!body) return end(body.error(), nullptr);
    calls_.on_event(*body);
  }

  // Last: whoever hears of it may drop this object.
  void end(const Error& why, const SnapshotAnswer* snapshot) {
    if (std::exchange(ended_, true)) return;
    const auto on_end = calls_.on_end;
    on_end(why, snapshot);
  }

  EventCalls calls_;
  net::SseParser parser_;
  bool open_ = false;
  bool ended_ = false;
  std::unique_ptr<net::Reading> reading_;
};

}  // namespace

Error error_of(const net::Response& response) { return error_from(response, problem_in(response)); }

void BrokerClient::join(const JoinRequest& body, Then<CertificateAnswer> then) {
  ask(channel_, request("POST", "/v1/join", model::write_json(body)), std::move(then));
}
void BrokerClient::recertify(const CertificateRequest& body, Then<CertificateAnswer> then) {
  ask(channel_, request("POST", "/v1/certificates", model::write_json(body)), std::move(then));
}
void BrokerClient::whoami(Then<WhoAmI> then) {
  ask(channel_, request("GET", "/v1/whoami"), std::move(then));
}

void BrokerClient::put_pool(const PoolPut& body, Then<PoolPutAnswer> then) {
  ask(channel_, request("PUT", owned_path("pools", body.pool.id.text), model::write_json(body)),
      std::move(then));
}
void BrokerClient::withdraw_pool(const PoolId& id, int64_t sequence, Then<void> then) {
  ask(channel_,
      request("DELETE", fmt::format("{}?sequence={}", owned_path("pools", id.text), sequence)),
      std::move(then));
}
void BrokerClient::list_pools(const ListAsked& asked, Then<PoolPage> then) {
  ask(channel_, request("GET", "/v1/pools" + query_of(asked)), std::move(then));
}
void BrokerClient::put_offer(const OfferPut& body, Then<void> then) {
  ask(channel_, request("PUT", owned_path("offers", body.offer.id.text), model::write_json(body)),
      std::move(then));
}
void BrokerClient::withdraw_offer(const OfferId& id, int64_t sequence, Then<void> then) {
  ask(channel_,
      request("DELETE", fmt::format("{}?sequence={}", owned_path("offers", id.text), sequence)),
      std::move(then));
}
void BrokerClient::list_offers(const ListAsked& asked, Then<OfferPage> then) {
  ask(channel_, request("GET", "/v1/offers" + query_of(asked)), std::move(then));
}
void BrokerClient::get_offer(const OfferId& id, Then<OfferRow> then) {
  ask(channel_, request("GET", owned_path("offers", id.text)), std::move(then));
}
void BrokerClient::give_notice(const ContractId& id, const SignedRequest& body,
                               Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/notice"), text_if_any(body)), std::move(then));
}

void BrokerClient::meter_usage(const ContractId& id, const UsageRequest& body,
                               Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/usage"), model::write_json(body)),
      std::move(then));
}

void BrokerClient::query(const QueryRequest& body, Then<QueryAnswer> then) {
  ask(channel_, request("POST", "/v1/query", model::write_json(body)), std::move(then));
}
void BrokerClient::hold(const std::string& key, const HoldRequest& body, Then<HoldAnswer> then) {
  net::Request made = request("POST", "/v1/holds", model::write_json(body));
  made.headers.push_back({"Idempotency-Key", key});
  ask(channel_, std::move(made), std::move(then));
}
void BrokerClient::confirm(const ContractId& id, const ConfirmRequest& body,
                           Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/confirm"), text_if_any(body)), std::move(then));
}
void BrokerClient::extend(const ContractId& id, const ExtendRequest& body,
                          Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/extend"), model::write_json(body)),
      std::move(then));
}
void BrokerClient::renew(const ContractId& id, const SignedRequest& body,
                         Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/renew"), text_if_any(body)), std::move(then));
}
void BrokerClient::get_card(const ClusterId& cluster, Then<CardBody> then) {
  ask(channel_, request("GET", card_path(cluster)), std::move(then));
}
void BrokerClient::put_card(const ClusterId& cluster, const CardBody& body, Then<void> then) {
  ask(channel_, request("PUT", card_path(cluster), model::write_json(body)), std::move(then));
}
void BrokerClient::get_agreement(const ContractId& id, Then<AgreementAnswer> then) {
  ask(channel_, request("GET", contract_path(id, "/agreement")), std::move(then));
}
void BrokerClient::countersign(const ContractId& id, const CountersignRequest& body,
                               Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/countersign"), model::write_json(body)),
      std::move(then));
}
void BrokerClient::buy(const ContractId& id, const BuyRequest& body, Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/buy"), model::write_json(body)),
      std::move(then));
}

void BrokerClient::release(const ContractId& id, const ReleaseRequest& body,
                           Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/release"), model::write_json(body)),
      std::move(then));
}
void BrokerClient::drained(const ContractId& id, const SignedRequest& body,
                           Then<ContractAnswer> then) {
  ask(channel_, request("POST", contract_path(id, "/drained"), text_if_any(body)), std::move(then));
}
void BrokerClient::get_contract(const ContractId& id, Then<ContractAnswer> then) {
  ask(channel_, request("GET", contract_path(id)), std::move(then));
}
void BrokerClient::list_contracts(const ListAsked& asked, Then<ContractPage> then) {
  ask(channel_, request("GET", "/v1/contracts" + query_of(asked)), std::move(then));
}

void BrokerClient::invoice(const InvoiceAsked& asked, Then<InvoiceAnswer> then) {
  ask(channel_, request("GET", "/v1/invoices" + query_of(asked)), std::move(then));
}
void BrokerClient::send_message(const ContractId& id, const MessageRequest& body, Then<void> then) {
  ask(channel_, request("POST", contract_path(id, "/messages"), model::write_json(body)),
      std::move(then));
}
void BrokerClient::get_messages(const ContractId& id, int64_t after, Then<MessagePage> then) {
  ask(channel_, request("GET", fmt::format("{}?after={}", contract_path(id, "/messages"), after)),
      std::move(then));
}
void BrokerClient::take_messages(const ContractId& id, const TakenRequest& body,
                                 Then<MessagePage> then) {
  ask(channel_, request("POST", contract_path(id, "/messages/taken"), model::write_json(body)),
      std::move(then));
}

void BrokerClient::snapshot(Then<SnapshotAnswer> then) {
  ask(channel_, request("GET", "/v1/snapshot"), std::move(then));
}
void BrokerClient::list_events(int64_t after, int32_t limit, Then<EventPage> then) {
  ask(channel_, request("GET", fmt::format("/v1/events?after={}&limit={}", after, limit)),
      std::move(then));
}
void BrokerClient::audit(int64_t after, int32_t limit, Then<EventPage> then) {
  ask(channel_, request("GET", fmt::format("/v1/audit?after={}&limit={}", after, limit)),
      std::move(then));
}
std::unique_ptr<EventStream> BrokerClient::follow(int64_t after, EventCalls calls) {
  net::Request what = request("GET", "/v1/events");
  what.headers[0].value = "text/event-stream";
  if (after >= 0) what.headers.push_back({"Last-Event-ID", fmt::format("{}", after)});
  auto following = std::make_unique<Following>(std::move(calls));
  following->open(channel_, std::move(what));
  return following;
}

void BrokerClient::list_clusters(const ListAsked& asked, Then<ClusterPage> then) {
  ask(channel_, request("GET", "/v1/clusters" + query_of(asked)), std::move(then));
}
void BrokerClient::get_cluster(const ClusterId& id, Then<ClusterAnswer> then) {
  ask(channel_, request("GET", "/v1/clusters/" + net::escape_segment(id.text)), std::move(then));
}
void BrokerClient::put_cluster(const model::Cluster& cluster, Then<void> then) {
  ask(channel_,
      request("PUT", "/v1/clusters/" + net::escape_segment(cluster.id.text),
              model::write_json(cluster)),
      std::move(then));
}
void BrokerClient::make_token(const TokenRequest& body, Then<TokenAnswer> then) {
  ask(channel_, request("POST", "/v1/tokens", model::write_json(body)), std::move(then));
}
void BrokerClient::list_tokens(const ListAsked& asked, Then<TokenPage> then) {
  ask(channel_, request("GET", "/v1/tokens" + query_of(asked)), std::move(then));
}
void BrokerClient::cancel_token(const std::string& id, Then<void> then) {
  ask(channel_, request("DELETE", "/v1/tokens/" + net::escape_segment(id)), std::move(then));
}
void BrokerClient::list_identities(const ListAsked& asked, Then<IdentityPage> then) {
  ask(channel_, request("GET", "/v1/identities" + query_of(asked)), std::move(then));
}
void BrokerClient::revoke(const std::string& name, Then<IdentityRow> then) {
  ask(channel_, request("POST", fmt::format("/v1/identities/{}/revoke", net::escape_segment(name))),
      std::move(then));
}

}  // namespace spillway::wire
