// An agent of cluster edge-1 before a scripted broker, on a clock that the test turns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/agent/agent.h"
#include "support/manual_loop.h"
#include "support/nouns.h"
#include "support/scripted_broker.h"

namespace spillway::agent {

class MemoryState : public StateStore {
 public:
  void save(const std::string& next, std::function<void(Status)> then) override {
    ++saves;
    if (crash_before == saves) crashed = true;
    if (!crashed) json = next;
    if (crash_after == saves) crashed = true;
    if (crashed) return;  // nobody is there to hear
    then(fails ? Status(fail(Code::unavailable, "disk", "it is full", "make room")) : Status());
  }
  Result<std::string> load() override { return json; }

  std::string json;
  int saves = 0;
  int crash_before = 0;
  int crash_after = 0;
  bool crashed = false;
  bool fails = false;
};

class MemoryLog : public services::Log {
 public:
  bool takes(services::Level) const override { return true; }
  void write(services::Level, std::string_view what,
             std::initializer_list<services::Field> fields) override {
    std::string line(what);
    for (const services::Field& field : fields)
      line += fmt::format(" {}={}", field.name, field.value);
    lines.push_back(line);
  }
  int64_t count(std::string_view part) const {
    int64_t n = 0;
    for (const std::string& line : lines) n += line.find(part) != std::string::npos ? 1 : 0;
    return n;
  }
  std::vector<std::string> lines;
};

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() : broker(loop) {}

  static Supply plain_supply() { return {{test::plain_pool()}, {test::plain_offer()}}; }

  // A contract on our pool; a higher number is a younger one.
  model::Contract sold(uint64_t number, int32_t units = 1) {
    model::Contract contract = test::plain_contract();
    contract.created = loop.now() + milliseconds(static_cast<int64_t>(number));
    contract.id = make_contract_id(contract.created, number, number);
    contract.units.clear();
    for (int32_t i = 0; i < units; ++i) contract.units.push_back({i, true, {}, 0, 0});
    contract.started = contract.created;
    contract.deadline = loop.now() + contract.terms.lease;
    return contract;
  }
  model::Contract bought(uint64_t number) {
    model::Contract contract = sold(number);
    contract.buyer = ClusterId("edge-1");
    contract.provider = ClusterId("far");
    contract.pool = PoolId("far/standard");
    contract.offer = OfferId("far/small");
    return contract;
  }

  Agent& start(std::optional<Supply> supply) {
    agent.reset();
    agent.emplace(loop, random, broker.channel, store, log, options);
    const Status status = agent->start(std::move(supply));
    EXPECT_TRUE(status) << (status ? "" : status.error().message());
    return *agent;
  }
  Agent& start() { return start(plain_supply()); }
  void kill() { agent.reset(); }

  wire::PoolPut& pool() { return broker.pools.at("edge-1/standard"); }
  std::vector<std::string> carried() {
    std::vector<std::string> ids;
    for (const market::Carried& one : pool().carries) ids.push_back(one.contract.text);
    return ids;
  }

  test::ManualLoop loop;
  host::SeededRandom random{1};
  MemoryState store;
  MemoryLog log;
  AgentOptions options{ClusterId("edge-1"), minutes(2), true};
  test::ScriptedBroker broker;
  std::optional<Agent> agent;
};

// What the broker says to a request that begins like this, instead of what it would.
inline test::ScriptedChannel::Script saying(const std::string& beginning,
                                            std::function<Result<net::Response>()> answer) {
  return [beginning, answer = std::move(answer)](
             const net::Request& request) -> std::optional<Result<net::Response>> {
    if (!(request.method + " " + request.target).starts_with(beginning)) {
      return net::Response{0, {}, {}};
    }
    return answer();
  };
}

inline test::ScriptedChannel::Script no_opinion() {
  return [](const net::Request&) {
    return std::optional<Result<net::Response>>(net::Response{0, {}, {}});
  };
}

}  // namespace spillway::agent
