// A real broker that is killed for longer than the grace: both agents keep what they have up to its
// stated point and not longer, and when the broker is back the book agrees.
#include <chrono>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "live/broker_process.h"
#include "live/federation.h"
#include "market/outage.h"
#include "services/agent/agent.h"
#include "services/agent/state_file.h"
#include "support/comes_true.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::comes_true;
using test::Members;
using test::Papers;

// The least that an offer may promise, so that a test sees the end of it.
model::Offer short_offer() {
  model::Offer offer = test::plain_offer();
  offer.terms.lease = seconds(10);
  offer.terms.grace = seconds(3);
  offer.terms.drain = seconds(1);
  offer.terms.notice = seconds(1);
  return offer;
}

// An agent on a thread of its own.
class LiveAgent {
 public:
  LiveAgent(Members& members, const Papers& who, agent::Supply supply)
      : file_(agent::StateFile::open(members.data() + "/" + who.name).value()) {
    thread_.run([&] {
      auto client = net::Client::create(thread_.poll(), members.options(who));
      SPILLWAY_CHECK(client.has_value(), "no client");
      client_ = std::move(*client);
      agent::AgentOptions options;
      options.cluster = ClusterId(who.name);
      options.overdue = seconds(1);
      agent_.emplace(loop_, random_, *client_, *file_, log_, options);
      SPILLWAY_CHECK(agent_->start(std::move(supply)).has_value(), "it does not start");
      return true;
    });
  }
  ~LiveAgent() {
    thread_.run([this] {
      agent_.reset();
      client_.reset();
      return true;
    });
  }
  LiveAgent(const LiveAgent&) = delete;
  LiveAgent& operator=(const LiveAgent&) = delete;

  agent::AgentState state() {
    return thread_.run([this] { return agent_->state(); });
  }
  agent::AgentStatus status() {
    return thread_.run([this] { return agent_->status(); });
  }

 private:
  test::PollThread thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  services::NoLog log_;
  std::unique_ptr<agent::StateFile> file_;
  std::unique_ptr<net::Client> client_;
  std::optional<agent::Agent> agent_;
};

class Silence : public testing::Test {
 protected:
  Silence() : broker(members.data(), {"member_rate=0", "stranger_rate=0"}) {
    broker.start();
    members.set_port(broker.port());
    seller = members.join("edge-1", {Role::provider});
    buyer = members.join("edge-2", {Role::consumer});
    selling = std::make_unique<LiveAgent>(members, seller,
                                          agent::Supply{{test::plain_pool()}, {short_offer()}});
    buying = std::make_unique<LiveAgent>(members, buyer, agent::Supply{});
  }

  model::Contract buy() {
    net::Response held;
    EXPECT_TRUE(comes_true([&] {
      net::Request request = Members::post(
          "/v1/holds",
          model::write_json(wire::HoldRequest{{{OfferId("edge-1/small"), 1, 1}}, minutes(1)}));
      request.headers.push_back({"Idempotency-Key", "one"});
      held = members.call(buyer, request);
      return held.status < 300;
    })) << held.body;
    const auto grants = Members::read<wire::HoldAnswer>(held).grants;
    const std::string path = "/v1/contracts/" + grants.at(0).contract.text;
    const auto active = members.call(buyer, Members::post(path + "/confirm"));
    return Members::read<wire::ContractAnswer>(active).contract;
  }
  wire::ContractAnswer look(const ContractId& id) {
    return Members::read<wire::ContractAnswer>(
        members.call(buyer, Members::get("/v1/contracts/" + id.text)));
  }
  static bool knows(LiveAgent& one, const ContractId& id) {
    return one.state().contracts.contains(id);
  }
  // A hold lives for longer, and ends otherwise.
  static bool knows_as_active(LiveAgent& one, const ContractId& id) {
    const agent::AgentState state = one.state();
    const auto known = state.contracts.find(id);
    return known != state.contracts.end() && known->second.state == model::ContractState::active;
  }

  Members members;
  test::BrokerProcess broker;
  Papers seller;
  Papers buyer;
  std::unique_ptr<LiveAgent> selling;
  std::unique_ptr<LiveAgent> buying;
};

TEST_F(Silence, BeyondTheGraceBothSidesEndAtTheStatedPointAndTheBookAgrees) {
  const ContractId id = buy().id;
  ASSERT_TRUE(
      comes_true([&] { return knows_as_active(*selling, id) && knows_as_active(*buying, id); }));
  broker.kill();
  members.forget_connections();
  const Instant sold_until = market::ends_no_later_than(selling->state().contracts.at(id));
  const Instant bought_until = market::ends_no_later_than(buying->state().contracts.at(id));
  std::optional<Instant> sold_ended;
  std::optional<Instant> bought_ended;
  EXPECT_TRUE(comes_true([&] {
    if (!sold_ended && !knows(*selling, id)) sold_ended = test::wall_clock();
    if (!bought_ended && !knows(*buying, id)) bought_ended = test::wall_clock();
    return sold_ended && bought_ended;
  }));
  ASSERT_TRUE(sold_ended && bought_ended);
  EXPECT_GE(*sold_ended, sold_until);
  EXPECT_GE(*bought_ended, bought_until);
  EXPECT_LE(*sold_ended - sold_until, seconds(15));
  EXPECT_EQ(selling->state().ended_unheard.size(), 1U) << "the broker does not know yet";
  EXPECT_EQ(selling->status().orphans_ended, 1);

  broker.start();
  EXPECT_TRUE(comes_true([&] { return look(id).contract.state == model::ContractState::closed; }));
  EXPECT_TRUE(comes_true([&] { return selling->state().ended_unheard.empty(); }));
  EXPECT_FALSE(look(id).ends_no_later_than) << "it has ended";
}

TEST_F(Silence, WithinTheGraceNothingEndsAndTheLeaseGoesOn) {
  const model::Contract contract = buy();
  ASSERT_TRUE(comes_true([&] {
    return knows_as_active(*selling, contract.id) && knows_as_active(*buying, contract.id);
  }));
  broker.kill();
  members.forget_connections();
  const Instant back = test::wall_clock() + seconds(2);  // the least lease lasts for ten
  EXPECT_TRUE(comes_true([&] { return test::wall_clock() >= back; }));
  broker.start();
  const auto renewed = [&] { return look(contract.id).contract.deadline > contract.deadline; };
  EXPECT_TRUE(comes_true(renewed));
  EXPECT_EQ(look(contract.id).contract.state, model::ContractState::active);
  EXPECT_TRUE(knows(*selling, contract.id));
  EXPECT_TRUE(knows(*buying, contract.id));
}

TEST_F(Silence, ABuyerThatVanishedIsSaidToEndAndEnds) {
  const ContractId id = buy().id;
  ASSERT_TRUE(
      comes_true([&] { return knows_as_active(*selling, id) && knows_as_active(*buying, id); }));
  buying.reset();
  EXPECT_TRUE(comes_true([&] { return look(id).contract.state == model::ContractState::closed; }));
  EXPECT_EQ(look(id).contract.reason, model::EndReason::lapsed);
  const auto events = members.call(seller, Members::get("/v1/events?after=0&limit=1000"));
  EXPECT_NE(events.body.find("contract-ending"), std::string::npos);
  EXPECT_NE(events.body.find("nobody said it was drained"), std::string::npos);
  EXPECT_TRUE(comes_true([&] { return !knows(*selling, id); }));
}

TEST_F(Silence, NoticeWorksOnABuyerThatIsGoneAndTheCapacityIsBackInTime) {
  const ContractId id = buy().id;
  buying.reset();
  const auto told = Members::read<wire::ContractAnswer>(
      members.call(seller, Members::post("/v1/contracts/" + id.text + "/notice")));
  ASSERT_EQ(told.contract.state, model::ContractState::closing);
  EXPECT_EQ(told.ends_no_later_than, told.contract.deadline);
  EXPECT_TRUE(comes_true([&] {
    const auto pool = Members::read<wire::PoolRow>(
        members.call(seller, Members::get("/v1/pools/edge-1/standard")));
    return pool.committed.is_zero();
  }));
  EXPECT_LE(test::wall_clock() - told.contract.deadline, seconds(10));
}

TEST_F(Silence, DrainedIsSaidOverTheWire) {
  const ContractId id = buy().id;
  const std::string path = "/v1/contracts/" + id.text;
  EXPECT_EQ(members.call(buyer, Members::post(path + "/drained")).status, 409);
  ASSERT_EQ(members.call(seller, Members::post(path + "/notice")).status, 200);
  const auto drained = members.call(buyer, Members::post(path + "/drained"));
  ASSERT_EQ(drained.status, 200) << drained.body;
  EXPECT_EQ(Members::read<wire::ContractAnswer>(drained).contract.state,
            model::ContractState::closed);
}

}  // namespace
}  // namespace spillway
