#include "supply/hours.h"

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

Instant at(std::string_view text) { return parse_instant(text).value(); }
Window window(std::vector<Weekday> days, int32_t from_hour, int32_t to_hour) {
  return {std::move(days), {from_hour * 60}, {to_hour * 60}};
}

TEST(Hours, AreAlwaysWithoutAWindow) {
  EXPECT_TRUE(is_open({}, k_monday_noon));
  EXPECT_FALSE(next_change({}, k_monday_noon));
}

TEST(Hours, OpenAtTheirBeginAndCloseAtTheirEnd) {
  const Hours hours{window({}, 9, 17)};
  EXPECT_FALSE(is_open(hours, at("2026-01-19T08:59:59.999Z")));
  EXPECT_TRUE(is_open(hours, at("2026-01-19T09:00:00Z")));
  EXPECT_FALSE(is_open(hours, at("2026-01-19T17:00:00Z")));
  EXPECT_EQ(next_change(hours, k_monday_noon), at("2026-01-19T17:00:00Z"));
  EXPECT_EQ(next_change(hours, at("2026-01-19T17:00:00Z")), at("2026-01-20T09:00:00Z"));
}

TEST(Hours, OverMidnightBelongToTheDayTheyBeganOn) {
  const Hours hours{window({Weekday::fri}, 20, 6)};
  EXPECT_FALSE(is_open(hours, at("2026-01-23T05:00:00Z")));  // a Friday
  EXPECT_TRUE(is_open(hours, at("2026-01-23T20:00:00Z")));
  EXPECT_TRUE(is_open(hours, at("2026-01-24T05:59:00Z")));
  EXPECT_FALSE(is_open(hours, at("2026-01-24T20:00:00Z")));
  EXPECT_EQ(next_change(hours, at("2026-01-24T06:00:00Z")), at("2026-01-30T20:00:00Z"));
}

TEST(Hours, ThatTouchAreOne) {
  const Hours hours{window({Weekday::mon}, 9, 24), window({Weekday::tue}, 0, 8)};
  EXPECT_EQ(next_change(hours, k_monday_noon), at("2026-01-20T08:00:00Z"));
}

TEST(Hours, OfWholeDaysOnAllDaysNeverChange) {
  const Hours hours{window({}, 0, 24)};
  EXPECT_TRUE(is_open(hours, at("2026-01-20T00:00:00Z")));
  EXPECT_FALSE(next_change(hours, k_monday_noon));
}

TEST(Hours, KnowDaysBeforeTheEpoch) {
  EXPECT_TRUE(is_open({window({Weekday::wed}, 0, 24)}, Instant{-1}));
  EXPECT_TRUE(is_open({window({Weekday::thu}, 0, 24)}, Instant{0}));
}

TEST(Hours, RefuseAWindowThatEndsWhenItBegins) {
  EXPECT_FALSE(validate(window({}, 9, 9)));
  EXPECT_FALSE(validate(window({}, 24, 9)));
  EXPECT_TRUE(validate(window({}, 0, 24)));
}

}  // namespace
}  // namespace spillway::supply
