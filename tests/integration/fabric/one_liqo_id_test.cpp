// Any member signs for any Liqo id: it is the one's that came first, while anything of that lives.
#include <utility>

#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

class OneLiqoId : public FabricTest {
 protected:
  void SetUp() override {
    seller.start();
    buyer.start();
    live(4);
    loop.run_for(minutes(1));  // so that another may be older
    live(4);
    honest = trade_units(1);
    ASSERT_TRUE(comes([&] { return all_ready(honest); }));
    live(40);
    seller.broker.cards["mallory"] = buyer.broker.cards["mallory"] = trade.card_of(trade.stranger);
  }
  // Mallory buys from the seller, as rome.
  model::Contract buys(Duration age = {}) {
    SignedTrade by_another = trade;
    by_another.buyer = trade.stranger;
    return trade_units_by(by_another, {&seller}, 1, false, age);
  }
  // Mallory sells to the buyer, as milan.
  model::Contract sells(Duration age = {}) {
    SignedTrade by_another = trade;
    by_another.provider = trade.stranger;
    wire::OfferPut put;
    put.offer = test::plain_offer();
    put.offer.id = OfferId("mallory/offer");
    put.offer.pool = PoolId("mallory/pool");
    buyer.broker.offers[put.offer.id.text] = put;
    return trade_units_by(by_another, {&buyer}, 1, false, age);
  }
  static std::string told(Party& party) {
    std::string all;
    for (const std::string& one : party.agent->fabric()->status().troubles) all += one + "\n";
    return all;
  }
  static bool is_disputed(Party& party, const model::Contract& contract,
                          const std::string& holder) {
    const std::string all = told(party);
    return all.find("Liqo cluster is that of " + holder) != std::string::npos &&
           all.find(contract.id.text) != std::string::npos;
  }

  model::Contract honest;
};

TEST_F(OneLiqoId, IsTheFirstMembersWhileAnythingOfThatLives) {
  const model::Contract stolen = buys();
  EXPECT_TRUE(comes([&] { return is_disputed(seller, stolen, "edge-2"); })) << told(seller);
  EXPECT_EQ(seller.kept(stolen.id), nullptr);
  // It stops nothing of the first, who buys on.
  const model::Contract next = trade_units(1);
  EXPECT_TRUE(comes([&] { return all_ready(next); }));
  // When nothing of that lives any more, it is the other's.
  for (const model::Contract& one : {honest, next}) tell_both(closed(one), "contract-closed");
  EXPECT_TRUE(comes([&] { return seller.kept(stolen.id) != nullptr; }));
  EXPECT_TRUE(
      comes([&] { return told(seller).find("Liqo cluster is that") == std::string::npos; }));
}

// How old a contract is only a broker says, and what runs is not ended for its word.
TEST_F(OneLiqoId, IsNotABuyersWhoseContractABrokerCallsOlder) {
  const model::Contract stolen = buys(seconds(90));
  EXPECT_TRUE(comes([&] { return is_disputed(seller, stolen, "edge-2"); })) << told(seller);
  live(200);
  EXPECT_NE(seller.kept(honest.id), nullptr);
  EXPECT_EQ(seller.kept(stolen.id), nullptr);
  EXPECT_TRUE(all_ready(honest));
}

TEST_F(OneLiqoId, IsNotAProvidersWhoseContractABrokerCallsOlder) {
  const model::Contract stolen = sells(seconds(90));
  EXPECT_TRUE(comes([&] { return is_disputed(buyer, stolen, "edge-1"); })) << told(buyer);
  live(200);
  EXPECT_NE(buyer.kept(honest.id), nullptr);
  EXPECT_EQ(buyer.kept(stolen.id), nullptr);
  EXPECT_TRUE(all_ready(honest));
}

// After a start without a state contracts are verified in any order: it is theirs who has
// something here, whoever was verified first.
TEST_F(OneLiqoId, IsTheirsWhoHaveSomethingHereAfterAStart) {
  const model::Contract stolen = buys(seconds(90));
  live(8);
  seller.kill();
  seller.store = {};
  const auto agreement = std::exchange(seller.broker.agreements[honest.id.text], {});
  seller.start();
  ASSERT_TRUE(comes([&] { return seller.kept(stolen.id) != nullptr; }));
  live(40);
  EXPECT_TRUE(all_ready(honest)) << "nothing of it ends before it is known whose it is";
  seller.broker.agreements[honest.id.text] = agreement;
  seller.kill();
  seller.start();
  EXPECT_TRUE(comes([&] { return seller.kept(honest.id) != nullptr; }, 400));
  EXPECT_EQ(seller.kept(stolen.id), nullptr);
  EXPECT_TRUE(comes([&] { return is_disputed(seller, stolen, "edge-2"); })) << told(seller);
  live(40);
  EXPECT_TRUE(all_ready(honest));
}

// Whoever was displaced is as new when it is taken up again.
TEST_F(OneLiqoId, WhoeverIsTakenUpAgainIsMadeReal) {
  const model::Contract stolen = sells();
  live(8);
  buyer.kill();
  buyer.store = {};
  const auto agreement = std::exchange(buyer.broker.agreements[honest.id.text], {});
  buyer.start();
  ASSERT_TRUE(comes([&] { return buyer.kept(stolen.id) != nullptr; }));
  live(40);
  buyer.broker.agreements[honest.id.text] = agreement;
  buyer.kill();
  buyer.start();
  ASSERT_TRUE(comes([&] { return buyer.kept(honest.id) != nullptr; }, 400));
  tell_both(closed(honest), "contract-closed");
  ASSERT_TRUE(comes([&] { return buyer.kept(stolen.id) != nullptr; }, 400)) << told(buyer);
  EXPECT_TRUE(comes([&] { return buyer.kept(stolen.id)->offer.has_value(); }, 400))
      << "its offer is asked for again";
}

}  // namespace
}  // namespace spillway::agent
