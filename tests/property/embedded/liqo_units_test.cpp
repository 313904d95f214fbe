// Both machines of the fabric on two embedded clusters with Liqo, over the API of both: a unit
// becomes Ready, is given back, is ended by its provider; and with everything that a host remembers
// lost at any step, or an API server away.
#include <gtest/gtest.h>

#include "property/embedded/units_world.h"

namespace spillway::fabric {
namespace {

// Kept as a spare, bought, given back; bought again, ended by the provider; parted.
void live_through(UnitsWorld& world) {
  TestContract& first = world.contract(0);
  first.is_bought = first.is_sold = first.is_spare = true;
  ASSERT_TRUE(world.runs_until([&] { return world.is_spare(0) && world.is_quiet(); }))
      << "no spare is kept";
  EXPECT_FALSE(world.is_ready(0));
  first.is_spare = false;
  const int64_t before = world.deeds();
  ASSERT_TRUE(world.runs_until([&] { return world.is_ready(0); })) << "no node is Ready";
  if (world.is_calm()) {
    EXPECT_EQ(world.deeds() - before, static_cast<int64_t>(first.units.size()))
        << "one patch for each";
  }

  first.drained_by = world.liqos.loop.now() + seconds(30);
  ASSERT_TRUE(world.runs_until([&] { return world.liqos.buyer_sight().units.empty(); }))
      << "the buyer cannot let go";
  first.is_sold = false;
  ASSERT_TRUE(world.runs_until([&] { return world.left_of(0).empty(); }))
      << fmt::format("left: {}", fmt::join(world.left_of(0), ", "));
  first.is_bought = false;

  TestContract& second = world.contract(1);
  second.is_bought = second.is_sold = true;
  ASSERT_TRUE(world.runs_until([&] { return world.is_ready(1); })) << "no second node is Ready";
  second.is_sold = false;  // and the buyer does not know
  ASSERT_TRUE(world.runs_until([&] { return world.liqos.seller_sight().slices.empty(); }))
      << "the provider cannot end";
  // A buyer that cannot be told keeps a node that it cannot use, until its own papers say so.
  if (world.is_calm()) {
    EXPECT_FALSE(world.is_ready(1));
  }
  second.is_bought = false;
  ASSERT_TRUE(world.runs_until([&] { return world.left_of(1).empty(); }))
      << fmt::format("left: {}", fmt::join(world.left_of(1), ", "));

  // The buyer first: its Liqo needs its rights at the provider to take everything back from there.
  world.is_buyer_warm = false;
  ASSERT_TRUE(world.runs_until([&] { return left_of_peering(world.liqos, false).empty(); }))
      << fmt::format("left: {}", fmt::join(left_of_peering(world.liqos, false), ", "));
  world.is_seller_warm = false;
  ASSERT_TRUE(world.runs_until([&] { return left_of_peering(world.liqos, true).empty(); }))
      << fmt::format("left: {}", fmt::join(left_of_peering(world.liqos, true), ", "));
  EXPECT_TRUE(world.runs_until([&] { return world.is_quiet(); })) << "somebody is never done";
}

TEST(LiqoUnits, AreMadeGivenBackAndEndedByTheirProvider) {
  UnitsWorld world(3);
  live_through(world);
  EXPECT_GT(world.deeds(), 20);
}

TEST(LiqoUnits, SurviveAnyHarmAtAnyStep) {
  UnitsWorld calm(1);
  live_through(calm);
  for (const Harm harm :
       {Harm::kill_before, Harm::kill_after, Harm::buyer_away, Harm::seller_away}) {
    for (int64_t step = 0; step < calm.deeds(); ++step) {
      SCOPED_TRACE(fmt::format("deed {}: {}", step, to_text(harm)));
      UnitsWorld world(1, step, harm);
      live_through(world);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace spillway::fabric
