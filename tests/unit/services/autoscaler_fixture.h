// An autoscaler of cluster home before a scripted broker, with nodes in memory, on a clock that the
// test turns.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent_fixture.h"
#include "services/autoscaler/autoscaler.h"

namespace spillway::autoscaler {

// A back end in memory. It outlives the autoscaler, as a cluster does.
class MemoryNodes final : public NodeMaker {
 public:
  explicit MemoryNodes(host::Loop& loop) : loop_(loop) {}

  void start(std::function<void()> changed) override { changed_ = std::move(changed); }
  NodeSight look(const std::string& name) const override {
    if (is_blind) return NodeSight::unknown;
    if (!nodes.contains(name)) return NodeSight::absent;
    return is_slow || unready.contains(name) ? NodeSight::coming : NodeSight::ready;
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& entry : nodes) all.push_back(entry.first);
    all.insert(all.end(), still_seen.begin(), still_seen.end());
    return all;
  }
  void make(const demand::NodeImage& image, Then then) override {
    loop_.post([this, image, then = std::move(then)] {
      tries += 1;
      if (refusal) return then(tl::unexpected(*refusal));
      nodes.insert_or_assign(image.name, image);
      then({});
      changed_();
    });
  }
  void remove(const std::string& name, Then then) override {
    loop_.post([this, name, then = std::move(then)] {
      removals += 1;
      if (refusal) return then(tl::unexpected(*refusal));
      nodes.erase(name);
      unready.erase(name);
      then({});
      changed_();
    });
  }
  std::optional<int32_t> others_unready(const Knows& ledger) const override {
    if (!others) return std::nullopt;
    const auto strangers = std::count_if(unready.begin(), unready.end(),
                                         [&](const auto& name) { return !ledger(name); });
    return *others + static_cast<int32_t>(strangers);
  }
  void tell() { changed_(); }

  std::map<std::string, demand::NodeImage> nodes;
  std::set<std::string> unready;
  std::optional<Error> refusal;
  std::optional<int32_t> others;  // not Ready, of no name; none: no spares are kept
  bool is_slow = false;
  bool is_blind = false;
  int tries = 0;
  int removals = 0;
  std::vector<std::string> still_seen;  // by who hears of nothing at the moment

 private:
  host::Loop& loop_;
  std::function<void()> changed_ = [] {};
};

class AutoscalerTest : public ::testing::Test {
 protected:
  AutoscalerTest() : nodes(loop), broker(loop) {
    broker.offers[small.text] = {test::plain_offer(), 1};
  }

  Autoscaler& start() {
    service.reset();
    service.emplace(loop, random, broker.channel, store, nodes, log, home);
    const Status status = service->start();
    EXPECT_TRUE(status) << (status ? "" : status.error().message());
    loop.run_for(milliseconds(100));
    service->refresh();
    return *service;
  }
  void kill() { service.reset(); }

  // Not answered yet: none.
  using Outcome = std::shared_ptr<std::optional<Status>>;
  Outcome ask(int32_t delta) {
    auto outcome = std::make_shared<std::optional<Status>>();
    service->increase(small, delta, [outcome](const Status& status) { *outcome = status; });
    return outcome;
  }
  Status increase(int32_t delta) {
    const Outcome outcome = ask(delta);
    loop.run_for(milliseconds(500));
    EXPECT_TRUE(outcome->has_value()) << "not answered";
    return outcome->value_or(Status());
  }
  Status remove(const std::vector<demand::NodeRef>& refs) {
    Outcome outcome = std::make_shared<std::optional<Status>>();
    service->remove(small, refs, [outcome](const Status& status) { *outcome = status; });
    loop.run_for(milliseconds(500));
    EXPECT_TRUE(outcome->has_value()) << "not answered";
    return outcome->value_or(Status());
  }
  std::vector<demand::NodeRef> refs() const {
    std::vector<demand::NodeRef> all;
    for (const demand::Instance& one : service->ledger().instances(small)) {
      all.push_back({one.provider_id, {}});
    }
    return all;
  }
  int32_t target() const {
    const demand::GroupState* group = service->ledger().find(small);
    return group == nullptr ? -1 : group->target();
  }
  std::vector<demand::UnitState> states() const {
    std::vector<demand::UnitState> all;
    for (const demand::Instance& one : service->ledger().instances(small)) {
      all.push_back(one.state);
    }
    return all;
  }
  // Live units at the broker, of all contracts, confirmed or not.
  int32_t sold() const {
    int32_t units = 0;
    for (const auto& [id, contract] : broker.contracts) {
      if (contract.is_live()) units += contract.live_units();
    }
    return units;
  }
  model::Contract& contract() { return broker.contracts.begin()->second; }

  const OfferId small{"edge-1/small"};
  AutoscalerOptions home{ClusterId("home")};
  test::ManualLoop loop;
  host::SeededRandom random{1};
  agent::MemoryState store;
  agent::MemoryLog log;
  MemoryNodes nodes;
  test::ScriptedBroker broker;
  std::optional<Autoscaler> service;
};

using States = std::vector<demand::UnitState>;
using demand::UnitState;

}  // namespace spillway::autoscaler
