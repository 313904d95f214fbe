// Many buyers at once, and a broker that is killed under load. Nothing is ever sold twice, and what
// was acknowledged is still there.
#include <gtest/gtest.h>

#include "live/broker_process.h"
#include "live/federation.h"
#include "live/kill_rounds.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::Members;
using test::Papers;

void publish(Members& members, const Papers& seller, int64_t units, int64_t sequence, int64_t epoch,
             int64_t report) {
  const model::Pool pool{PoolId("seller/pool"), test::plain_shape(),
                         test::plain_shape().times(units)};
  const wire::PoolPut body{pool, sequence, minutes(30), {}, epoch, report};
  const auto answer =
      members.call(seller, Members::put("/v1/pools/seller/pool", model::write_json(body)));
  ASSERT_EQ(answer.status, 200) << answer.body;
}

void publish_offer(Members& members, const Papers& seller) {
  model::Offer offer = test::plain_offer();
  offer.id = OfferId("seller/small");
  offer.pool = PoolId("seller/pool");
  const auto answer = members.call(
      seller, Members::put("/v1/offers/seller/small", model::write_json(wire::OfferPut{offer, 1})));
  ASSERT_EQ(answer.status, 204) << answer.body;
}

net::Request hold_one(const std::string& key) {
  net::Request request = Members::post(
      "/v1/holds",
      model::write_json(wire::HoldRequest{{{OfferId("seller/small"), 1, 1}}, minutes(10)}));
  request.headers.push_back({"Idempotency-Key", key});
  return request;
}

struct Outcome {
  int granted = 0;
  int taken = 0;
  int other = 0;
};

// Each buyer asks once, all at the same moment, over connections that are open already.
Outcome race(Members& members, const std::vector<Papers>& buyers, const std::string& round) {
  test::PollThread thread;
  std::vector<std::unique_ptr<net::Client>> clients;
  for (const Papers& buyer : buyers) {
    auto made = net::Client::create(thread.poll(), members.options(buyer));
    clients.push_back(std::move(*made));
  }
  const auto all = [&](const std::function<net::Request(size_t)>& make,
                       const std::function<void(const Result<net::Response>&)>& take) {
    size_t open = clients.size();
    thread.ask<bool>([&](auto done) {
      for (size_t i = 0; i < clients.size(); ++i) {
        clients[i]->send(make(i), [&, done](const Result<net::Response>& response) {
          take(response);
          if (--open == 0) done(true);
        });
      }
    });
  };
  all([](size_t) { return Members::get("/v1/whoami"); },
      [](const Result<net::Response>& response) { EXPECT_TRUE(response); });
  Outcome outcome;
  all([&](size_t i) { return hold_one(fmt::format("{}-{}", round, i)); },
      [&](const Result<net::Response>& response) {
        const int status = response ? response->status : 0;
        ++(status == 201 ? outcome.granted : status == 409 ? outcome.taken : outcome.other);
      });
  thread.run([&] {
    clients.clear();
    return true;
  });
  return outcome;
}

TEST(Race, SixtyFourBuyersForFourUnitsGetFour) {
  test::Federation federation;
  const Papers seller = federation.join("seller", {Role::provider});
  std::vector<Papers> buyers;
  for (int i = 0; i < 64; ++i) {
    buyers.push_back(federation.join(fmt::format("buyer-{}", i), {Role::consumer}));
  }
  publish(federation, seller, 4, 1, 0, 0);
  publish_offer(federation, seller);
  int64_t sold = 0;
  for (int round = 0; round < 5; ++round) {
    const Outcome outcome = race(federation, buyers, fmt::format("r{}", round));
    EXPECT_EQ(outcome.granted, 4) << "no false refusal, never one too many";
    EXPECT_EQ(outcome.taken, 60);
    EXPECT_EQ(outcome.other, 0);
    sold += outcome.granted;
    publish(federation, seller, 4 + sold, round + 2, 0, 0);  // four more for the next round
  }
}

TEST(Race, ABrokerKilledUnderLoadLosesNothingAndSellsNothingTwice) {
  const test::KillReport report = test::kill_brokers(20, 1);
  EXPECT_EQ(report.broken, "");
  EXPECT_EQ(report.rounds, 20);
  EXPECT_GT(report.acknowledged, 100);
}

TEST(Race, ATerminatedBrokerAnswersWhatItHasAndLeaves) {
  Members members;
  test::BrokerProcess broker(members.data(), {"log=error"});
  broker.start();
  members.set_port(broker.port());
  EXPECT_EQ(members.call(members.boss(), Members::get("/v1/whoami")).status, 200);
  EXPECT_EQ(broker.terminate(), 0);
}

}  // namespace
}  // namespace spillway
