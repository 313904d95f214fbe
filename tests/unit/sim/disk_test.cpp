#include "sim/disk.h"

#include <gtest/gtest.h>

namespace spillway::sim {
namespace {

TEST(Disk, WhatWasAcknowledgedSurvivesAndWhatWasUnderWayMay) {
  World world(9);
  Process process(world);
  SimDisk disk(process);
  int there = 0;
  int lost = 0;
  for (int i = 0; i < 100; ++i) {
    bool acknowledged = false;
    while (!acknowledged) {
      disk.save(std::to_string(i),
                [&](const Status& status) { acknowledged = status.has_value(); });
      while (world.step()) {
      }
    }
    disk.save("next", [](const Status&) { FAIL() << "it has crashed"; });
    process.crash();
    disk.crash();
    process.restart();
    while (world.step()) {
    }
    const std::string text = *disk.load();
    EXPECT_TRUE(text == "next" || text == std::to_string(i)) << text;
    text == "next" ? ++there : ++lost;
  }
  EXPECT_GT(there, 0);
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace spillway::sim
