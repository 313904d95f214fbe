// As much of a broker as an agent or a buyer can tell from a real one: sequence numbers, epochs, a
// snapshot, a stream; queries, holds under keys, confirmations, releases. Every pool's report
// number must be above all before it. Cards and agreements are kept as they come, without a look at
// their signatures; `lie` may change what is shown of them. `first` may answer instead; `loses`
// loses an answer to what was done.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pki/jws.h"
#include "services/wire/fields.h"
#include "support/scripted_channel.h"

namespace spillway::test {

class ScriptedBroker {
 public:
  explicit ScriptedBroker(host::Loop& loop) : channel(loop), loop_(loop) {
    channel.script = [this](const net::Request& request) -> std::optional<Result<net::Response>> {
      auto told = answer(request);
      if (loses(request)) return lost();
      return told;
    };
  }

  template <class T>
  static net::Response ok(const T& body) {
    return {200, {{"Content-Type", "application/json"}}, model::write_json(body)};
  }
  static net::Response refusal(Code code, const std::string& thing, const std::string& reason,
                               const wire::SnapshotAnswer* snapshot = nullptr) {
    const CodeRow& row = describe(code);
    wire::Problem problem;
    problem.type = fmt::format("urn:spillway:problem:{}", row.name);
    problem.title = row.name;
    problem.status = row.http;
    problem.detail = reason;
    problem.thing = thing;
    problem.reason = reason;
    if (snapshot != nullptr) problem.snapshot = *snapshot;
    return {row.http, {{"Content-Type", "application/problem+json"}}, model::write_json(problem)};
  }

  wire::SnapshotAnswer snapshot() const {
    wire::SnapshotAnswer told;
    told.sequence = events;
    told.epoch = epoch;
    for (const auto& [id, put] : pools) {
      wire::PoolRow row;
      row.pool = put.pool;
      row.provider = ClusterId(std::string(owner_of(id)));
      row.sequence = put.sequence;
      row.epoch = put.epoch;
      row.report = put.report;
      told.pools.push_back(row);
    }
    for (const auto& [id, put] : offers) {
      told.offers.push_back({put.offer, ClusterId(std::string(owner_of(id))), put.sequence, false});
    }
    for (const auto& [id, contract] : contracts) {
      if (contract.is_live()) told.contracts.push_back(contract);
    }
    return told;
  }

  // Says it on the stream, if one is open; a stream that comes later hears it then.
  void tell(const std::string& kind, const std::string& subject, const PoolId& pool = {},
            const ClusterId& provider = {}) {
    wire::EventBody event;
    event.sequence = ++events;
    event.at = loop_.now();
    event.kind = kind;
    event.subject = subject;
    event.pool = pool;
    event.provider = provider;
    log_[event.sequence] =
        net::write_sse({std::to_string(event.sequence), kind, model::write_json(event)});
    channel.stream(log_[event.sequence]);
  }
  void tell_of(const model::Contract& contract, const std::string& kind) {
    contracts[contract.id.text] = contract;
    tell(kind, contract.id.text, contract.pool, contract.provider);
  }

  int64_t epoch = 7;
  int64_t events = 100;
  int64_t forgotten = 0;  // events up to this one
  std::map<std::string, wire::PoolPut> pools;
  std::map<std::string, wire::OfferPut> offers;
  std::optional<Instant> heard;  // of every provider
  std::map<std::string, model::Contract> contracts;
  std::map<std::string, int64_t> withdrawn;  // pools and offers, with their last number
  std::vector<std::string> noticed;
  std::vector<std::string> renewed;
  std::vector<std::string> drained;
  int64_t last_report = 0;
  ClusterId buyer{"home"};
  std::map<std::string, std::string> cards;                 // signed, by cluster
  std::map<std::string, wire::AgreementAnswer> agreements;  // by contract, without row and cards
  std::function<void(wire::AgreementAnswer&)> lie = [](wire::AgreementAnswer&) {};
  std::vector<wire::MessageRow> waiting;          // messages to whoever asks, on any contract
  std::map<int64_t, std::string> letters;         // that were sent, by number
  std::vector<std::string> asked_for_messages;    // with what
  bool is_strict = false;                         // what is done under what was signed must be
  std::map<std::string, int32_t> free_units;      // of offers; those not named have ten
  std::map<std::string, wire::HoldAnswer> holds;  // by key
  std::function<bool(const net::Request&)> loses = [](const net::Request&) { return false; };
  ScriptedChannel::Script first = [](const net::Request&) {
    return std::optional<Result<net::Response>>(net::Response{0, {}, {}});  // no opinion
  };
  ScriptedChannel channel;

 private:
  std::optional<Result<net::Response>> answer(const net::Request& request) {
    auto special = first(request);
    const bool no_opinion = special && *special && (*special)->status == 0;
    if (!no_opinion) return special;
    net::Target target;
    EXPECT_TRUE(net::parse_target(request.target, target));
    const auto& path = target.segments;
    if (path[1] == "pools" && request.method == "PUT") return put_pool(request);
    if (path[1] == "offers" && request.method == "PUT") return put_offer(request);
    if (request.method == "DELETE") return remove(path[1], path[2] + "/" + path[3], target);
    if (path[1] == "offers") return get_offer(path[2] + "/" + path[3]);
    if (path[1] == "snapshot") return ok(snapshot());
    if (path[1] == "events") return follow(request);
    if (path[1] == "contracts") return contract(path, request);
    if (path[1] == "cards") return card(path[2], request);
    if (path[1] == "query") return query();
    if (path[1] == "holds") return hold(request);
    return refusal(Code::not_found, request.target, "no such thing");
  }

  template <class Put>
  std::optional<net::Response> stale(const std::map<std::string, Put>& all, const std::string& id,
                                     int64_t sequence, bool same) {
    const auto found = all.find(id);
    const int64_t present = std::max(found == all.end() ? 0 : found->second.sequence,
                                     withdrawn.contains(id) ? withdrawn[id] : 0);
    if (sequence > present || (sequence == present && same)) return std::nullopt;
    return refusal(Code::stale, id, fmt::format("{} is not above {}", sequence, present));
  }

  Result<net::Response> put_pool(const net::Request& request) {
    auto put = model::read_json<wire::PoolPut>(request.body, "pool");
    if (!put) return refusal(Code::invalid, "pool", put.error().message());
    EXPECT_GT(put->report, last_report) << "a report number was used twice";
    last_report = put->report;
    const std::string& id = put->pool.id.text;
    const bool same = pools.contains(id) && pools[id].pool == put->pool;
    if (auto refused = stale(pools, id, put->sequence, same)) return *refused;
    pools[id] = *put;
    return ok(wire::PoolPutAnswer{epoch});
  }

  Result<net::Response> put_offer(const net::Request& request) {
    auto put = model::read_json<wire::OfferPut>(request.body, "offer");
    if (!put) return refusal(Code::invalid, "offer", put.error().message());
    const std::string& id = put->offer.id.text;
    if (!pools.contains(put->offer.pool.text)) {
      return refusal(Code::not_found, "offer " + id, "its pool is not published");
    }
    const bool same = offers.contains(id) && offers[id].offer == put->offer;
    if (auto refused = stale(offers, id, put->sequence, same)) return *refused;
    if (offers.contains(id) && !immutable_difference(offers[id].offer, put->offer).empty()) {
      return refusal(Code::stale, "offer " + id, "its shape cannot change under the same id");
    }
    offers[id] = *put;
    return net::Response{204, {}, {}};
  }

  Result<net::Response> remove(const std::string& room, const std::string& id,
                               const net::Target& target) {
    const int64_t sequence = std::stoll(*target.parameter("sequence"));
    if (!pools.contains(id) && !offers.contains(id) && !withdrawn.contains(id)) {
      return refusal(Code::not_found, id, "it was never published");
    }
    if (room == "pools") {
      for (const auto& [offer, put] : offers) EXPECT_NE(put.offer.pool.text, id) << offer;
      if (auto refused = stale(pools, id, sequence, !pools.contains(id))) return *refused;
      pools.erase(id);
    } else {
      if (auto refused = stale(offers, id, sequence, !offers.contains(id))) return *refused;
      offers.erase(id);
    }
    withdrawn[id] = sequence;
    return net::Response{204, {}, {}};
  }

  Result<net::Response> get_offer(const std::string& id) {
    if (!offers.contains(id)) return refusal(Code::not_found, "offer " + id, "no such offer");
    return ok(wire::OfferRow{offers[id].offer, ClusterId(std::string(owner_of(id))),
                             offers[id].sequence, false});
  }

  int32_t& free_of(const std::string& offer) {
    return free_units.try_emplace(offer, 10).first->second;
  }

  Result<net::Response> query() {
    wire::QueryAnswer told;
    told.outcome = "ok";
    for (const auto& [id, put] : offers) {
      wire::Candidate one;
      one.offer = put.offer.id;
      one.provider = ClusterId(std::string(owner_of(id)));
      one.pool = put.offer.pool;
      one.free_units = free_of(id);
      one.rate = model::hourly_rate(put.offer.price, put.offer.shape);
      one.heard = heard;
      if (one.free_units > 0) told.candidates.push_back(one);
    }
    return ok(told);
  }

  Result<net::Response> hold(const net::Request& request) {
    const std::string key = *net::find_header(request.headers, "Idempotency-Key");
    if (holds.contains(key)) return ok(holds[key]);
    const auto body = model::read_json<wire::HoldRequest>(request.body, "hold");
    const market::HoldLine& line = body->lines.at(0);
    const std::string id = line.offer.text;
    if (!offers.contains(id)) return refusal(Code::not_found, "offer " + id, "no such offer");
    const int32_t units = line.spare ? line.units : std::min(line.units, free_of(id));
    if (units < line.at_least) return refusal(Code::taken, "offer " + id, "none are free");
    if (!line.spare) free_of(id) -= units;
    const model::Offer& offer = offers[id].offer;
    model::Contract made;
    made.id = make_contract_id(loop_.now(), 5, holds.size() + 1);
    made.buyer = buyer;
    made.provider = ClusterId(std::string(owner_of(id)));
    made.pool = offer.pool;
    made.offer = offer.id;
    made.shape = offer.shape;
    made.price = offer.price;
    made.rate = model::hourly_rate(offer.price, offer.shape);
    made.terms = offer.terms;
    for (int32_t i = 0; i < units; ++i) made.units.push_back({i, true, {}, 0, 0});
    made.spare = line.spare;
    made.created = loop_.now();
    made.deadline = loop_.now() + body->ttl;
    contracts[made.id.text] = made;
    holds[key].grants = {{made.id, offer.id, units, made.deadline, made.rate, made.price.currency}};
    return ok(holds[key]);
  }

  Result<net::Response> card(const std::string& cluster, const net::Request& request) {
    if (request.method == "PUT") {
      cards[cluster] = model::read_json<wire::CardBody>(request.body, "card")->document;
      return net::Response{204, {}, {}};
    }
    if (!cards.contains(cluster)) return refusal(Code::not_found, "card " + cluster, "no card");
    return ok(wire::CardBody{cards[cluster]});
  }

  Result<net::Response> agreement(const model::Contract& known) {
    wire::AgreementAnswer told = agreements[known.id.text];
    told.contract = known;
    told.buyer_card = cards[known.buyer.text];
    told.provider_card = cards[known.provider.text];
    lie(told);
    return ok(told);
  }

  Result<net::Response> half_sign(model::Contract& known, const std::string& document) {
    if (known.agreement.empty()) agreements[known.id.text].document = document;
    known.agreement = pki::payload_id(pki::Jws::parse(document)->unverified_payload());
    return ok(wire::ContractAnswer{known});
  }

  Result<net::Response> countersign(model::Contract& known, const net::Request& request) {
    const auto body = model::read_json<wire::CountersignRequest>(request.body, "agreement");
    wire::AgreementAnswer& both = agreements[known.id.text];
    both.document = body->document;
    both.complete = true;
    both.events = {body->accepted};
    return confirm(known);
  }

  // What is done under an agreement; false: it is not signed, and should be.
  bool take_event(const model::Contract& known, const std::string& event) {
    if (!event.empty()) agreements[known.id.text].events.push_back(event);
    return !event.empty() || known.agreement.empty() || !is_strict;
  }
  template <class Body>
  static std::string event_in(const net::Request& request) {
    return request.body.empty() ? std::string()
                                : model::read_json<Body>(request.body, "request")->event;
  }

  Result<net::Response> confirm(model::Contract& known) {
    if (known.state == model::ContractState::hold && known.deadline <= loop_.now()) {
      known.state = model::ContractState::closed;
      known.reason = model::EndReason::expired;
    }
    if (known.state == model::ContractState::closed) {
      return refusal(Code::gone, "contract " + known.id.text, "it has ended");
    }
    if (known.state == model::ContractState::hold) {
      known.state = model::ContractState::active;
      known.started = loop_.now();
      known.deadline = loop_.now() + known.terms.lease;
    }
    return ok(wire::ContractAnswer{known});
  }

  Result<net::Response> release(model::Contract& known, const net::Request& request) {
    const auto body = model::read_json<wire::ReleaseRequest>(request.body, "release");
    for (model::Unit& unit : known.units) {
      const auto& named = body->units;
      const bool is_named =
          named.empty() || std::find(named.begin(), named.end(), unit.number) != named.end();
      if (!is_named || !unit.live) continue;
      unit.live = false;
      unit.ended = loop_.now();
      if (!known.is_spare(unit)) free_of(known.offer.text) += 1;
    }
    if (known.live_units() == 0) {
      known.state = model::ContractState::closed;
      known.reason = model::EndReason::released;
    }
    return ok(wire::ContractAnswer{known});
  }

  Result<net::Response> buy(model::Contract& known, const net::Request& request) {
    const auto body = model::read_json<wire::BuyRequest>(request.body, "purchase");
    int32_t& free = free_of(known.offer.text);
    const auto wanted = static_cast<int32_t>(body->units.size());
    if (free < wanted) return refusal(Code::taken, "contract " + known.id.text, "none are free");
    for (const int32_t number : body->units) {
      model::Unit& unit = known.units[static_cast<size_t>(number)];
      if (!known.is_spare(unit)) continue;
      unit.bought = loop_.now();
      free -= 1;
    }
    return ok(wire::ContractAnswer{known});
  }

  Result<net::Response> contract(const std::vector<std::string>& path,
                                 const net::Request& request) {
    const auto found = contracts.find(path[2]);
    if (found == contracts.end()) {
      return refusal(Code::not_found, "contract " + path[2], "no such contract");
    }
    model::Contract& known = found->second;
    if (path.size() > 3 && path[3] == "agreement") return agreement(known);
    if (path.size() > 3 && path[3] == "countersign") return countersign(known, request);
    if (path.size() > 3 && path[3] == "messages") return relay(request);
    if (path.size() > 3 && path[3] == "confirm") {
      const auto body = request.body.empty()
                            ? Result<wire::ConfirmRequest>(wire::ConfirmRequest())
                            : model::read_json<wire::ConfirmRequest>(request.body, "agreement");
      return body->document.empty() ? confirm(known) : half_sign(known, body->document);
    }
    const auto unsigned_ = [&] { return refusal(Code::conflict, path[2], "it is not signed"); };
    if (path.size() > 3 && path[3] == "buy") {
      if (!take_event(known, event_in<wire::BuyRequest>(request))) return unsigned_();
      return buy(known, request);
    }
    if (path.size() > 3 && path[3] == "release") {
      if (!take_event(known, event_in<wire::ReleaseRequest>(request))) return unsigned_();
      return release(known, request);
    }
    if (path.size() > 3 && !take_event(known, event_in<wire::SignedRequest>(request))) {
      return unsigned_();
    }
    if (path.size() > 3 && path[3] == "drained") {
      if (known.state != model::ContractState::closing) {
        return refusal(Code::conflict, "contract " + path[2], "it is not closing");
      }
      drained.push_back(path[2]);
      known.state = model::ContractState::closed;
      for (model::Unit& unit : known.units) {
        unit.live = false;
        unit.ended = loop_.now();
      }
    } else if (path.size() > 3 && path[3] == "notice") {
      if (known.state != model::ContractState::closing) noticed.push_back(path[2]);
      known.state = model::ContractState::closing;
      known.reason = model::EndReason::noticed;
    } else if (path.size() > 3 && path[3] == "renew") {
      renewed.push_back(path[2]);
      known.deadline = loop_.now() + known.terms.lease;
    }
    return ok(wire::ContractAnswer{known});
  }

  Result<net::Response> relay(const net::Request& request) {
    asked_for_messages.push_back(request.target);
    if (request.method == "POST" && request.target.ends_with("/messages")) {
      const auto body = model::read_json<wire::MessageRequest>(request.body, "message");
      if (letters.insert({body->sequence, body->envelope}).second)
        return net::Response{204, {}, {}};
      EXPECT_EQ(letters.at(body->sequence), body->envelope) << "one number, two letters";
      return net::Response{204, {}, {}};
    }
    if (request.target.ends_with("/taken")) {
      const auto taken = model::read_json<wire::TakenRequest>(request.body, "taken");
      std::erase_if(waiting, [&](const auto& row) { return row.sequence <= taken->through; });
    }
    return ok(wire::MessagePage{waiting, false});
  }

  Result<net::Response> follow(const net::Request& request) {
    const int64_t after = std::stoll(*net::find_header(request.headers, "Last-Event-ID"));
    if (after < forgotten || after > events) {
      const auto told = snapshot();
      return refusal(Code::gone, "events", "they are forgotten", &told);
    }
    loop_.post([this, after] {
      for (auto it = log_.upper_bound(after); it != log_.end(); ++it) channel.stream(it->second);
    });
    return net::Response{200, {{"Content-Type", "text/event-stream"}}, {}};
  }

  host::Loop& loop_;
  std::map<int64_t, std::string> log_;
};

}  // namespace spillway::test
