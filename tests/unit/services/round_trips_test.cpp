#include "services/autoscaler/round_trips.h"

#include <gtest/gtest.h>

#include "support/manual_loop.h"
#include "support/nouns.h"

namespace spillway::autoscaler {
namespace {

class RoundTripsTest : public testing::Test {
 protected:
  using Answer = std::function<void(std::optional<int64_t>)>;

  static Seen at(const std::string& id, const std::string& address) {
    Seen seen{test::plain_offer(), 1, std::nullopt};
    seen.offer.id = OfferId(id);
    seen.offer.network.probe = address;
    return seen;
  }
  void answer(std::optional<int64_t> micros) {
    ASSERT_FALSE(asked.empty());
    const Answer then = std::move(asked.front().second);
    asked.erase(asked.begin());
    then(micros);
  }

  test::ManualLoop loop;
  host::SeededRandom random{1};
  std::vector<std::pair<std::string, Answer>> asked;
  RoundTrips trips{loop, random, [this](const std::string& address, Answer then) {
                     asked.emplace_back(address, std::move(then));
                   }};
};

TEST_F(RoundTripsTest, TakesTheShortestOfThreeAndAsksAgainAfterMinutes) {
  const Seen lyon = at("lyon/m", "192.0.2.1:443");
  trips.look({lyon});
  EXPECT_EQ(trips.of(lyon.offer), std::nullopt);
  answer(30'000);
  answer(20'000);
  answer(25'000);
  ASSERT_TRUE(trips.of(lyon.offer));
  EXPECT_EQ(trips.of(lyon.offer)->micros, 20'000);
  EXPECT_EQ(trips.of(lyon.offer)->measured, loop.now());
  trips.look({lyon});
  EXPECT_TRUE(asked.empty());
  loop.run_for(RoundTrips::k_every);
  trips.look({lyon});
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(RoundTripsTest, KeepsTheLastReadingOfWhoCannotBeReachedAnyMore) {
  const Seen lyon = at("lyon/m", "192.0.2.1:443");
  trips.look({lyon});
  for (int i = 0; i < 3; ++i) answer(20'000);
  const Instant then = loop.now();
  loop.run_for(RoundTrips::k_every);
  trips.look({lyon});
  answer(std::nullopt);
  EXPECT_EQ(trips.of(lyon.offer), (rank::RoundTrip{20'000, then}));
}

TEST_F(RoundTripsTest, ComesToEveryoneInTurn) {
  std::vector<Seen> all;
  for (int i = 0; i < 230; ++i) {
    all.push_back(at(fmt::format("p{}/m", i), fmt::format("192.0.2.{}:443", i)));
  }
  // Looks every few seconds, as the market does: a round takes longer than readings stay fresh.
  for (int turn = 0; turn < 60; ++turn) {
    trips.look(all);
    while (!asked.empty()) answer(20'000);
    loop.run_for(seconds(5));
  }
  for (const Seen& one : all) EXPECT_TRUE(trips.of(one.offer)) << one.offer.network.probe;
}

TEST_F(RoundTripsTest, FloodsNobodyHoweverManyAddressesAProviderNames) {
  std::vector<Seen> all;
  for (int i = 1; i < 100; ++i) {
    all.push_back(at(fmt::format("lyon/m{}", i), fmt::format("192.0.2.{}:443", i)));
  }
  std::set<std::string> addresses;
  for (int turn = 0; turn < 50; ++turn) {
    trips.look(all);
    EXPECT_LE(asked.size(), static_cast<size_t>(RoundTrips::k_most_at_once));
    for (const auto& one : asked) addresses.insert(one.first);
    while (!asked.empty()) answer(1000);
  }
  EXPECT_EQ(addresses.size(), static_cast<size_t>(RoundTrips::k_most_of_a_provider));
}

TEST_F(RoundTripsTest, AsksNobodyWithoutAnAddressAndForgetsWhoIsGone) {
  const Seen lyon = at("lyon/m", "192.0.2.1:443");
  trips.look({at("bonn/m", "")});
  EXPECT_TRUE(asked.empty());
  trips.look({lyon});
  for (int i = 0; i < 3; ++i) answer(20'000);
  trips.look({});
  EXPECT_EQ(trips.of(lyon.offer), std::nullopt);
}

}  // namespace
}  // namespace spillway::autoscaler
