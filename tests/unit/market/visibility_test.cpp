// Who may see an offer may buy it; for all others it does not exist.
#include "model/visibility.h"

#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;

class Visibility : public testing::Test {
 protected:
  void SetUp() override { book.open_market(5); }

  OfferId offer_for(const model::Visibility& visibility) {
    model::Offer offer = minute_offer("shown");
    offer.visibility = visibility;
    book.publish(offer).value();
    return offer.id;
  }
  bool can_hold(const ClusterId& buyer, const OfferId& offer) {
    const auto answer = book.hold(buyer, 1, offer);
    EXPECT_TRUE(answer || is_refused(answer, Code::not_found));
    return answer.has_value();
  }
  void label(const ClusterId& id, const model::Labels& labels) {
    model::Cluster cluster;
    cluster.id = id;
    cluster.labels = labels;
    book.enrol(cluster);
  }

  TestBook book;
};

TEST_F(Visibility, WhatIsForEveryoneIsSoldToEveryone) {
  const OfferId offer = offer_for({.everyone = true, .clusters = {}, .selector = {}});
  EXPECT_TRUE(can_hold(k_buyer, offer));
  EXPECT_TRUE(can_hold(k_rival, offer));
}

TEST_F(Visibility, WhatIsForNobodyIsSoldToNobody) {
  const OfferId offer = offer_for({});
  EXPECT_FALSE(can_hold(k_buyer, offer));
}

TEST_F(Visibility, AListIsForThoseOnIt) {
  const OfferId offer = offer_for({.everyone = false, .clusters = {k_buyer}, .selector = {}});
  EXPECT_TRUE(can_hold(k_buyer, offer));
  EXPECT_FALSE(can_hold(k_rival, offer));
}

TEST_F(Visibility, ASelectorWantsAllItsLabelsWithTheirValues) {
  const OfferId offer = offer_for(
      {.everyone = false, .clusters = {}, .selector = {{"land", "it"}, {"tier", "gold"}}});
  EXPECT_FALSE(can_hold(k_buyer, offer));
  label(k_buyer, {{"tier", "gold"}});
  EXPECT_FALSE(can_hold(k_buyer, offer));
  label(k_buyer, {{"land", "it"}, {"tier", "silver"}});
  EXPECT_FALSE(can_hold(k_buyer, offer));
  label(k_buyer, {{"land", "it"}, {"more", "x"}, {"tier", "gold"}});
  EXPECT_TRUE(can_hold(k_buyer, offer));
}

TEST_F(Visibility, LosingALabelEndsNewSalesNotOldContracts) {
  const OfferId offer =
      offer_for({.everyone = false, .clusters = {}, .selector = {{"tier", "gold"}}});
  label(k_buyer, {{"tier", "gold"}});
  const ContractId id = book.active(k_buyer, 1, offer);
  label(k_buyer, {});
  EXPECT_FALSE(can_hold(k_buyer, offer));
  EXPECT_TRUE(book.run(Renew{k_buyer, id}));
}

TEST_F(Visibility, OneHiddenLineRefusesTheWholeHold) {
  const OfferId hidden = offer_for({});
  EXPECT_TRUE(
      is_refused(book.run(book.hold_of(k_buyer, {{minute_offer().id, 1, 1}, {hidden, 1, 1}})),
                 Code::not_found));
  EXPECT_EQ(book.sold(), 0);
}

TEST_F(Visibility, AClusterDoesNotBuyFromItself) {
  EXPECT_TRUE(is_refused(book.hold(k_seller, 1), Code::conflict));
}

}  // namespace
}  // namespace spillway::market
