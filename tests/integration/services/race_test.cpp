// Many buyers at once, and a broker that is killed under load. Nothing is ever sold twice, and what
// was acknowledged is still there.
#include <atomic>

#include <gtest/gtest.h>

#include "support/broker_process.h"
#include "support/federation.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::Members;
using test::Papers;

void publish(Members& members, const Papers& seller, int64_t units, int64_t sequence,
             int64_t epoch, int64_t report) {
  const model::Pool pool{PoolId("seller/pool"), test::plain_shape(),
                         test::plain_shape().times(units)};
  const wire::PoolPut body{pool, sequence, minutes(30), {}, epoch, report};
  const auto answer = members.call(
      seller, Members::put("/v1/pools/seller/pool", model::write_json(body)));
  ASSERT_EQ(answer.status, 200) << answer.body;
}

void publish_offer(Members& members, const Papers& seller) {
  model::Offer offer = test::plain_offer();
  offer.id = OfferId("seller/small");
  offer.pool = PoolId("seller/pool");
  const auto answer =
      members.call(seller, Members::put("/v1/offers/seller/small",
                                        model::write_json(wire::OfferPut{offer, 1})));
  ASSERT_EQ(answer.status, 204) << answer.body;
}

net::Request hold_one(const std::string& key) {
  net::Request request = Members::post(
      "/v1/holds", model::write_json(wire::HoldRequest{{{OfferId("seller/small"), 1, 1}},
                                                       minutes(10)}));
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
  constexpr int k_rounds = 20;
  constexpr int k_buyers = 8;
  Members members;
  test::BrokerProcess broker(members.data(),
                             {"member_rate=0", "stranger_rate=0", "log=error"});
  broker.start();
  members.set_port(broker.port());
  const Papers seller = members.join("seller", {Role::provider});
  std::vector<Papers> buyers;
  for (int i = 0; i < k_buyers; ++i) {
    buyers.push_back(members.join(fmt::format("buyer-{}", i), {Role::consumer}));
  }
  constexpr int64_t k_units = 100'000;
  publish(members, seller, k_units, 1, 0, 0);
  publish_offer(members, seller);

  test::PollThread thread;
  std::mutex mutex;
  std::map<std::string, std::string> acknowledged;  // key → contract
  for (int round = 0; round < k_rounds; ++round) {
    std::vector<std::unique_ptr<net::Client>> clients;
    for (const Papers& buyer : buyers) {
      clients.push_back(std::move(*net::Client::create(thread.poll(), members.options(buyer))));
    }
    std::atomic<int> acks = 0;
    std::atomic<int> broken = 0;
    // Each asks again as soon as it is answered, until the connection breaks.
    std::function<void(size_t, int)> ask = [&](size_t i, int number) {
      const std::string key = fmt::format("{}-{}-{}", round, i, number);
      clients[i]->send(hold_one(key), [&, i, number, key](const Result<net::Response>& answer) {
        if (!answer || answer->status >= 500) {
          ++broken;
          return;
        }
        EXPECT_EQ(answer->status, 201) << answer->body;
        {
          const std::lock_guard lock(mutex);
          acknowledged[fmt::format("{}/{}", buyers[i].name, key)] =
              Members::read<wire::HoldAnswer>(*answer).grants.at(0).contract.text;
        }
        ++acks;
        ask(i, number + 1);
      });
    };
    thread.run([&] {
      for (size_t i = 0; i < clients.size(); ++i) ask(i, 0);
      return true;
    });
    while (acks < 20 + round * 7) std::this_thread::yield();
    broker.kill();
    while (broken < k_buyers) std::this_thread::yield();
    thread.run([&] {
      clients.clear();
      return true;
    });
    broker.start();
    members.forget_connections();
    // Law 4: it may have come back after others had gone on; the provider confirms.
    const auto snapshot =
        Members::read<wire::SnapshotAnswer>(members.call(seller, Members::get("/v1/snapshot")));
    publish(members, seller, k_units, 1, snapshot.epoch, round + 1);
  }

  // Every acknowledged hold is there, under its key, and all together are what the pool has sold.
  std::set<std::string> contracts;
  for (const auto& [key, contract] : acknowledged) {
    contracts.insert(contract);
    const size_t slash = key.find('/');
    const auto owner = std::find_if(buyers.begin(), buyers.end(), [&](const Papers& papers) {
      return papers.name == key.substr(0, slash);
    });
    const auto again = members.call(*owner, hold_one(key.substr(slash + 1)));
    ASSERT_EQ(again.status, 200) << again.body;
    EXPECT_EQ(Members::read<wire::HoldAnswer>(again).grants.at(0).contract.text, contract);
  }
  EXPECT_EQ(contracts.size(), acknowledged.size());
  const auto pool =
      Members::read<wire::PoolRow>(members.call(seller, Members::get("/v1/pools/seller/pool")));
  const int64_t sold = pool.committed.cpu_millis / test::plain_shape().cpu_millis;
  EXPECT_GE(sold, static_cast<int64_t>(acknowledged.size()));
  EXPECT_LE(sold, static_cast<int64_t>(acknowledged.size()) + k_rounds * k_buyers)
      << "more is held than was ever asked for";
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
