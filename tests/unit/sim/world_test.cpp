#include "sim/world.h"

#include <gtest/gtest.h>

namespace spillway::sim {
namespace {

TEST(World, WhatIsDueAlreadyDoesNotTakeTimeBack) {
  World world(1);
  const Instant start = world.now();
  std::vector<int> order;
  world.after(seconds(5), [&] {
    world.after(seconds(-3), [&] { order.push_back(2); });
    order.push_back(1);
  });
  while (world.step()) EXPECT_GE(world.now(), start);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(world.now(), start + seconds(5));
}

}  // namespace
}  // namespace spillway::sim
