#include "demand/prices.h"

#include <gtest/gtest.h>

#include "support/nouns.h"

namespace spillway::demand {
namespace {

constexpr Instant k_from{1'800'000'000'000};

TEST(Prices, CountTheMinimumTermOfWhatIsNotHeld) {
  model::Offer offer = test::plain_offer();  // 0.05 + 2 × 0.01 an hour
  EXPECT_EQ(price_of_new(offer, hours(2)), 140'000);
  offer.price.minimum_term = hours(10);
  EXPECT_EQ(price_of_new(offer, hours(2)), 700'000);
}

TEST(Prices, CallWhatIsPaidForAnywayNearlyFree) {
  const HeldPrice held{70'000, hours(1), k_from};
  EXPECT_EQ(price_of_held(held, k_from, k_from + hours(1)), 1);
  EXPECT_EQ(price_of_held(held, k_from, k_from + hours(3)), 140'000);
  EXPECT_EQ(price_of_held(held, k_from + hours(5), k_from + hours(6)), 70'000);
}

TEST(Prices, GiveAPodTheShareOfItsLargestRequestWhereThatIsLeast) {
  Ledger ledger{{ClusterId("home"), 0, {}}};
  model::Offer dear = test::plain_offer();
  dear.id = OfferId("edge-1/dear");
  dear.price.unit_hour = 900'000;
  ledger.show(std::vector<Ledger::OnSale>{{test::plain_offer(), 1}, {dear, 1}});
  const PodPrices prices(ledger.state());
  model::Resources half;
  half.cpu_millis = 1000;
  EXPECT_EQ(prices.price(half, hours(1)), 35'000);
  EXPECT_EQ(prices.price({}, hours(1)), 3'500);  // one of the 20 pods
}

TEST(Prices, AreNeverNothing) {
  model::Offer gift = test::plain_offer();
  gift.price = {};
  EXPECT_EQ(price_of_new(gift, hours(1)), 1);
  EXPECT_EQ(PodPrices().price({}, hours(1)), 1);
}

TEST(Prices, CountGpusAsPodsAskForThem) {
  model::Offer offer = test::plain_offer();
  offer.shape.gpus = {{"nvidia-a100", 4}};
  Ledger ledger{{ClusterId("home"), 0, {}}};
  ledger.show(std::vector<Ledger::OnSale>{{offer, 1}});
  model::Resources one;
  one.extended = {{"nvidia.com/gpu", 1}};
  EXPECT_EQ(PodPrices(ledger.state()).price(one, hours(1)), 17'500);
}

}  // namespace
}  // namespace spillway::demand
