// Two agents with a fabric: edge-1 sells in milan, edge-2 buys in rome, each before a broker of its
// own that tells what the test says; letters go from one to the other.
#pragma once

#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "fabric/liqo/handshake.h"
#include "integration/fabric/played_liqo.h"
#include "pki/hash.h"
#include "pki/subject_request.h"
#include "services/fabric/wishes.h"
#include "support/cluster_channel.h"
#include "support/deed_gate.h"
#include "unit/services/agent_fixture.h"
#include "unit/services/signed_trade.h"

namespace spillway::agent {

// One agent and its cluster.
struct Party {
  Party(test::ManualLoop& the_loop, test::Place& where, const Signatory& who)
      : loop(the_loop),
        place(where),
        broker(the_loop),
        channel(the_loop, where.cluster),
        gated(the_loop, channel, gate),
        signatory(who) {}

  void start(FabricOptions fabric = {}) {
    agent.reset();
    api.emplace(loop, random, gated, kube::ApiOptions{.patience = seconds(5)});
    AgentOptions options{signatory.cluster(), minutes(2), true};
    options.signatory = signatory;
    options.papers = &papers;
    agent.emplace(loop, random, broker.channel, store, log, options);
    const Status status = agent->start(Supply{});
    ASSERT_TRUE(status) << status.error().message();
    agent->start_fabric(*api, std::move(fabric));
    agent::read_liqo_home(*api, [this](const Result<agent::LiqoHome>& home) {
      if (home && agent) agent->know_liqo(*home);
    });
  }
  void kill() { agent.reset(); }
  const FabricContract* kept(const ContractId& id) const {
    const auto& all = agent->state().fabric.contracts;
    return all.contains(id) ? &all.at(id) : nullptr;
  }

  test::ManualLoop& loop;
  test::Place& place;
  test::ScriptedBroker broker;
  test::ClusterChannel channel;
  test::DeedGate gate;
  test::GatedChannel gated;  // the agent's own way to its cluster
  Signatory signatory;
  host::SeededRandom random{5};
  MemoryState store;
  MemoryLog log;
  MemoryPapers papers;
  std::optional<kube::Api> api;
  std::optional<Agent> agent;
};

class FabricTest : public ::testing::Test {
 protected:
  FabricTest()
      : liqo(loop), seller(loop, liqo.milan, trade.provider), buyer(loop, liqo.rome, trade.buyer) {
    for (Party* party : {&seller, &buyer}) {
      party->broker.cards["edge-1"] = trade.card_of(trade.provider);
      party->broker.cards["edge-2"] = trade.card_of(trade.buyer);
      wire::OfferPut offer;
      offer.offer = test::plain_offer();
      offer.offer.labels = {{"disk", "ssd"}};
      party->broker.offers[offer.offer.id.text] = offer;
    }
    carry(seller, buyer);
    carry(buyer, seller);
  }

  // What one sends waits for the other, who is told.
  void carry(Party& from, Party& to) {
    from.broker.first = [this,
                         &to](const net::Request& request) -> std::optional<Result<net::Response>> {
      if (request.method == "POST" && request.target.ends_with("/messages")) {
        const auto body = model::read_json<wire::MessageRequest>(request.body, "message");
        const ContractId on(request.target.substr(14, 26));
        post_[&to].push_back(
            {on, {body->sequence, body->step, body->envelope, loop.now() + minutes(5)}});
        steps.push_back(body->step);
        return net::Response{204, {}, {}};
      }
      return net::Response{0, {}, {}};
    };
  }
  // The scripted broker has one pile: letters lie on it one by one, and not those of contracts that
  // have ended.
  void deliver() {
    for (auto& [to, letters] : post_) {
      const auto& contracts = to->broker.contracts;
      const auto is_over = [&](const ContractId& on) {
        const auto found = contracts.find(on.text);
        return found == contracts.end() || !found->second.is_live();
      };
      std::erase_if(letters, [&](const auto& one) { return is_over(one.first); });
      if (!to->broker.waiting.empty() && is_over(lying_[to])) to->broker.waiting.clear();
      if (!to->agent || letters.empty() || !to->broker.waiting.empty()) continue;
      auto [on, row] = letters.front();
      letters.erase(letters.begin());
      lying_[to] = on;
      to->broker.waiting.push_back(row);
      to->broker.tell("message-sent", on.text);
    }
  }

  model::LiqoPart part_of(const model::Contract& contract) const {
    model::LiqoPart part;
    part.buyer = "rome";
    part.provider = "milan";
    part.buyer_key = to_base64(to_pem(liqo.rome.key.public_key()));
    part.control_plane_request =
        pki::sha256_hex(*pki::make_subject_request(liqo.rome.key, {"liqo.io", "rome"}));
    for (const std::string& unit : unit_names(contract)) {
      part.unit_requests.push_back(pki::sha256_hex(request_of(unit)));
    }
    return part;
  }
  std::string request_of(const std::string& unit) const {
    return *pki::make_subject_request(
        liqo.rome.key, {"rome", fabric::liqo::unit_user(unit, pki::sha256_hex("rome"))});
  }

  // Both have signed, and both are told.
  model::Contract trade_units(int32_t units, bool is_spare = false) {
    return trade_units_by(trade, {&seller, &buyer}, units, is_spare);
  }
  // `age`: as the broker says.
  model::Contract trade_units_by(const SignedTrade& by, const std::vector<Party*>& told_parties,
                                 int32_t units, bool is_spare = false, Duration age = {}) {
    model::Contract held = test::contract_of_units(
        make_contract_id(loop.now(), 11, static_cast<uint64_t>(++contracts_)), units);
    held.buyer = by.buyer.cluster();
    if (held.provider != by.provider.cluster()) {
      held.provider = by.provider.cluster();
      held.pool = PoolId(held.provider.text + "/pool");
      held.offer = OfferId(held.provider.text + "/offer");
    }
    held.state = model::ContractState::hold;
    held.spare = is_spare;
    held.created = loop.now() - age;
    held.started.reset();
    held.deadline = loop.now() + minutes(2);
    model::Agreement agreement = by.agreement(held);
    agreement.fabric.liqo = part_of(held);
    wire::AgreementAnswer told = by.half(held, agreement);
    told.document = *pki::countersign(told.document, by.provider.key());
    told.complete = true;
    told.contract.state = model::ContractState::active;
    told.contract.started = loop.now();
    told.contract.deadline = loop.now() + held.terms.lease;
    told.events = {SignedTrade::deed(
        told, by.provider, 1,
        {.kind = model::ContractEventKind::accepted, .trust = model::Trust::first_use})};
    for (Party* party : told_parties) {
      party->broker.agreements[held.id.text] = told;
      party->broker.tell_of(told.contract, "contract-confirmed");
    }
    return told.contract;
  }
  // Of a contract of spares: the buyer has signed that it buys this one, and the book knows.
  model::Contract buy_spare(model::Contract contract, int32_t unit) {
    wire::AgreementAnswer told = buyer.broker.agreements.at(contract.id.text);
    contract.units[static_cast<size_t>(unit)].bought = loop.now();
    told.contract = contract;
    told.events.push_back(SignedTrade::deed(
        told, trade.buyer, 1, {.kind = model::ContractEventKind::purchase, .units = {unit}}));
    for (Party* party : {&seller, &buyer}) party->broker.agreements[contract.id.text] = told;
    tell_both(contract, "units-bought");
    return contract;
  }
  void tell_both(const model::Contract& contract, const std::string& kind) {
    seller.broker.tell_of(contract, kind);
    buyer.broker.tell_of(contract, kind);
  }
  static model::Contract closed(model::Contract contract) {
    contract.state = model::ContractState::closed;
    contract.reason = model::EndReason::released;
    for (model::Unit& unit : contract.units) unit.live = false;
    return contract;
  }

  // Time passes, and Liqo works.
  void live(int rounds = 1) {
    for (int i = 0; i < rounds; ++i) {
      loop.run_for(milliseconds(25));
      deliver();
      liqo.work();
    }
  }
  template <class F>
  bool comes(F is_true, int rounds = 400) {
    for (int i = 0; i < rounds; ++i) {
      if (is_true()) return true;
      live();
    }
    return is_true();
  }
  bool is_ready(const std::string& unit) {
    const test::Told node = liqo.rome.ask("GET", "/api/v1/nodes/" + unit);
    for (const model::Node& one : model::items_at(node.body, {"status", "conditions"})) {
      if (model::text_at(one, {"type"}) == "Ready")
        return model::text_at(one, {"status"}) == "True";
    }
    return false;
  }
  bool all_ready(const model::Contract& contract) {
    for (const std::string& unit : unit_names(contract)) {
      if (!is_ready(unit)) return false;
    }
    return true;
  }
  // Everything that has the unit in its name, on both sides, but for events.
  std::vector<std::string> left_of(const std::string& unit) {
    std::vector<std::string> left;
    for (test::Place* place : {&liqo.rome, &liqo.milan}) {
      for (const auto& kind :
           {fabric::liqo::k_secrets, fabric::liqo::k_slices, fabric::liqo::k_virtual_nodes,
            fabric::liqo::k_nodes, fabric::liqo::k_leases}) {
        for (const model::Node& object : place->all(kind)) {
          const std::string name(kube::name_in(object));
          if (name.find(unit) != std::string::npos) left.push_back(place->name + " " + name);
        }
      }
      for (const model::Node& map : place->all(fabric::liqo::k_config_maps)) {
        if (!model::text_at(map, {"data", unit}).empty()) left.push_back("record " + unit);
      }
    }
    return left;
  }
  // How many events of that cluster say so.
  static int events(test::Place& at, std::string_view part) {
    int found = 0;
    for (const model::Node& event : at.all({"", "v1", "events", "Event"})) {
      const std::string text(model::text_at(event, {"message"}));
      found += text.find(part) != std::string::npos ? 1 : 0;
    }
    return found;
  }
  std::string slice_path(const test::Place& at, const std::string& unit) {
    return test::Place::path(fabric::liqo::k_slices,
                             at.name == "rome" ? "liqo-tenant-milan" : "liqo-tenant-rome", unit);
  }

  test::ManualLoop loop;
  SignedTrade trade;
  test::PlayedLiqo liqo;
  Party seller;
  Party buyer;
  std::vector<std::string> steps;  // of all letters

 private:
  std::map<Party*, std::vector<std::pair<ContractId, wire::MessageRow>>> post_;
  std::map<Party*, ContractId> lying_;  // whose letter lies there
  int contracts_ = 0;
};

}  // namespace spillway::agent
