#include "rank/spares.h"

#include <gtest/gtest.h>

namespace spillway::rank {
namespace {

const OfferId k_best("a/best");
const OfferId k_next("b/next");
const OfferId k_third("c/third");
const std::vector<OfferId> k_order{k_best, k_next, k_third};

using Changes = std::vector<SpareChange>;

Spares wish(int32_t units, int32_t groups) {
  Spares spares;
  spares.units = units;
  spares.groups = groups;
  return spares;
}

TEST(SparePlan, KeepsSoManyOfTheBestGroups) {
  EXPECT_EQ(plan_spares(wish(1, 2), k_order, {}), (Changes{{k_best, 1}, {k_next, 1}}));
  EXPECT_EQ(plan_spares(wish(1, 2), k_order, {{{k_best, 1}, {k_next, 1}}, 0, {}}), Changes{});
  EXPECT_EQ(plan_spares(wish(0, 2), k_order, {{{k_best, 1}}, 0, {}}), (Changes{{k_best, -1}}));
  EXPECT_EQ(plan_spares(wish(1, 9), {}, {}), Changes{});
}

TEST(SparePlan, WhatIsNoLongerAmongTheBestIsGivenBackFirst) {
  const SpareSight sight{{{k_third, 2}, {k_best, 2}}, 0, {}};
  EXPECT_EQ(plan_spares(wish(1, 2), k_order, sight),
            (Changes{{k_best, -1}, {k_third, -2}, {k_next, 1}}));
}

// More than the Cluster Autoscaler bears, and it does nothing at all.
TEST(SparePlan, WithAllOtherUnreadyNodesStaysBelowTheHealthRule) {
  Spares spares = wish(2, 3);
  EXPECT_EQ(plan_spares(spares, k_order, {}), (Changes{{k_best, 2}, {k_next, 1}}));
  EXPECT_EQ(plan_spares(spares, k_order, {{{k_best, 2}, {k_next, 1}}, 2, {}}),
            (Changes{{k_best, -1}, {k_next, -1}}));
  EXPECT_EQ(plan_spares(spares, k_order, {{{k_best, 1}}, 7, {}}), (Changes{{k_best, -1}}));
  spares.unready = 6;
  EXPECT_EQ(plan_spares(spares, k_order, {}), (Changes{{k_best, 2}, {k_next, 2}, {k_third, 2}}));
}

TEST(SparePlan, AreNotKeptWhereNothingIsBought) {
  const Spares spares = wish(1, 1);
  EXPECT_EQ(plan_spares(spares, k_order, {{{k_best, 1}}, 0, spares.idle - seconds(1)}), Changes{});
  EXPECT_EQ(plan_spares(spares, k_order, {{{k_best, 1}}, 0, spares.idle}), (Changes{{k_best, -1}}));
}

}  // namespace
}  // namespace spillway::rank
