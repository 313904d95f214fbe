// Bought units that have ended here, and that nobody has released.
#include "services/fabric/unreleased.h"

#include <gtest/gtest.h>

namespace spillway::agent {
namespace {

struct UnreleasedTest : testing::Test {
  UnreleasedTest() {
    contract.id = ContractId("01m7jvqwfj4xxt60c2xbz461h3");
    contract.state = model::ContractState::active;
    for (const int32_t number : {0, 7}) {
      contract.units.emplace_back().number = number;
      steps.push_back({unit_name(contract.id, number), fabric::UnitStep::ready});
    }
  }
  // The second of them was told to end, and has.
  void end_one() {
    kept.ending.emplace(steps[1].unit, began);
    steps[1].step = fabric::UnitStep::gone;
  }
  fabric::Plan look(Instant now) {
    fabric::Plan plan;
    plan.units = steps;
    Unreleased::Units units;
    Unreleased::add(contract, kept, plan, units);
    unreleased.tell(units, now, plan);
    return plan;
  }

  const Instant began{1'800'000'000'000};
  const Instant late = began + Unreleased::k_release_time;
  model::Contract contract;
  FabricContract kept;
  std::vector<fabric::UnitProgress> steps;
  Unreleased unreleased;
};

TEST_F(UnreleasedTest, OneThatStaysInItsContractIsNamedWithWhatToDo) {
  end_one();
  look(began);
  const auto troubles = look(late).troubles;
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0].thing, "unit sw-01m7jvqwfj4xxt60c2xbz461h3-7");
  EXPECT_NE(troubles[0].reason.find("still paid for"), std::string::npos);
  EXPECT_EQ(troubles[0].next, "spillway contracts release 01m7jvqwfj4xxt60c2xbz461h3 --unit 7");
}

// As an autoscaler does, which ends them in the same way.
TEST_F(UnreleasedTest, WhoeverReleasesItInTimeIsNotTold) {
  end_one();
  const fabric::Plan first = look(began);
  EXPECT_TRUE(first.troubles.empty());
  EXPECT_EQ(first.look_again, late);
  EXPECT_TRUE(look(late - milliseconds(1)).troubles.empty());
  contract.units[1].live = false;
  EXPECT_TRUE(look(late).troubles.empty());
}

TEST_F(UnreleasedTest, ItsTimeBeginsWhenNothingIsThereAnyMore) {
  end_one();
  steps[1].step = fabric::UnitStep::draining;
  look(began);
  steps[1].step = fabric::UnitStep::gone;
  EXPECT_TRUE(look(late).troubles.empty());
  EXPECT_EQ(look(late + Unreleased::k_release_time).troubles.size(), 1U);
}

// Its provider is dead, say: it comes back.
TEST_F(UnreleasedTest, WhatWasNotToldToEndIsNone) {
  steps[1].step = fabric::UnitStep::gone;
  look(began);
  EXPECT_TRUE(look(late).troubles.empty());
}

}  // namespace
}  // namespace spillway::agent
