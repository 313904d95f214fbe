#include "cli/sim_replay.h"

#include <gtest/gtest.h>

namespace spillway::cli {
namespace {

TEST(ReplayLine, IsSafeToPaste) {
  EXPECT_EQ(replay_line(7, "", "none"), "spillway sim --seed 7");
  EXPECT_EQ(replay_line(7, "sim/scenarios/rush.yaml", "lost-hold"),
            "spillway sim --seed 7 --scenario sim/scenarios/rush.yaml --mutant lost-hold");
  EXPECT_EQ(replay_line(7, "my rush; it's.yaml", "none"),
            "spillway sim --seed 7 --scenario 'my rush; it'\\''s.yaml'");
}

}  // namespace
}  // namespace spillway::cli
