// Many buyers at once, and a broker that is killed under load. Nothing is ever sold twice, and what
// was acknowledged is still there.
#include <gtest/gtest.h>

#include "live/broker_process.h"
#include "live/federation.h"
#include "live/kill_rounds.h"
#include "live/shop.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::Members;
using test::Papers;

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
  all([&](size_t i) { return test::hold_one(fmt::format("{}-{}", round, i)); },
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
  test::open_shop(federation, seller, 4);
  int64_t sold = 0;
  for (int round = 0; round < 5; ++round) {
    const Outcome outcome = race(federation, buyers, fmt::format("r{}", round));
    EXPECT_EQ(outcome.granted, 4) << "no false refusal, never one too many";
    EXPECT_EQ(outcome.taken, 60);
    EXPECT_EQ(outcome.other, 0);
    sold += outcome.granted;
    // Four more for the next round.
    const auto more = federation.call(
        seller, test::put_pool(test::plain_shape(), 4 + sold, {.sequence = round + 2}));
    ASSERT_EQ(more.status, 200) << more.body;
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
