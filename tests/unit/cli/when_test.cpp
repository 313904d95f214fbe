#include "cli/when.h"

#include <gtest/gtest.h>

namespace spillway::cli {
namespace {

constexpr Instant k_now{1'000'000'000'000};

TEST(When, TellsTheLargestUnitAndOfFewTheNextToo) {
  EXPECT_EQ(relative(k_now + minutes(4) + seconds(59), k_now), "in 4m59s");
  EXPECT_EQ(relative(k_now - hours(3), k_now), "3h ago");
  EXPECT_EQ(relative(k_now + hours(49), k_now), "in 2d1h");
  EXPECT_EQ(relative(k_now + minutes(90), k_now), "in 1h30m");
  EXPECT_EQ(relative(k_now - minutes(34) - seconds(20), k_now), "34m ago");
  EXPECT_EQ(relative(k_now + milliseconds(999), k_now), "now");
  EXPECT_EQ(relative(k_now - milliseconds(999), k_now), "now");
}

TEST(When, RoundsToTheNearest) {
  EXPECT_EQ(relative(k_now + minutes(5) - milliseconds(300), k_now), "in 5m") << "just made";
  EXPECT_EQ(relative(k_now + minutes(34) + seconds(40), k_now), "in 35m");
  EXPECT_EQ(relative(k_now + minutes(59) + seconds(40), k_now), "in 1h");
  EXPECT_EQ(relative(k_now + minutes(10) - milliseconds(1), k_now), "in 10m");
  EXPECT_EQ(relative(k_now + milliseconds(1400), k_now), "in 1s");
}

TEST(When, AnyTwoTimesHaveADistance) {
  EXPECT_TRUE(relative(Instant{INT64_MAX}, Instant{INT64_MIN}).starts_with("in "));
  EXPECT_TRUE(relative(Instant{INT64_MIN}, Instant{INT64_MAX}).ends_with(" ago"));
}

TEST(When, WideIsExact) {
  EXPECT_EQ((Clock{k_now, true})(k_now), "2001-09-09T01:46:40Z");
  EXPECT_EQ((Clock{k_now, false})(k_now + seconds(5)), "in 5s");
  EXPECT_EQ((Clock{k_now, false})(std::optional<Instant>()), "");
}

}  // namespace
}  // namespace spillway::cli
