#include "base/time.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

std::string refusal(std::string_view text) {
  const auto parsed = parse_instant(text);
  return parsed ? "accepted as " + to_text(*parsed) : parsed.error().message();
}

TEST(Instant, IsWrittenAsRfc3339InUtc) {
  EXPECT_EQ(to_text(Instant{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_text(Instant{1'769'851'800'250}), "2026-01-31T09:30:00.250Z");
  EXPECT_EQ(to_text(k_last_instant), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(to_text(Instant{-1}), "1969-12-31T23:59:59.999Z");
}

TEST(Instant, ShowsEvenWhatNoDocumentCanSay) {
  EXPECT_FALSE(parse_instant(to_text(Instant{INT64_MAX})));
  EXPECT_FALSE(parse_instant(to_text(Instant{INT64_MIN})));
}

TEST(Instant, ReadsOffsetsAndFractions) {
  EXPECT_EQ(parse_instant("2026-01-31T09:30:00.25Z")->ms, 1'769'851'800'250);
  EXPECT_EQ(parse_instant("2026-01-31t09:30:00.250000z")->ms, 1'769'851'800'250);
  EXPECT_EQ(parse_instant("2026-01-31T11:30:00.250+02:00")->ms, 1'769'851'800'250);
  EXPECT_EQ(parse_instant("2026-01-31T04:00:00.250-05:30")->ms, 1'769'851'800'250);
  EXPECT_EQ(parse_instant("2000-02-29T00:00:00Z")->ms, 951'782'400'000);
}

TEST(Instant, RefusesWhatIsNoTime) {
  EXPECT_EQ(refusal("2026-02-30T00:00:00Z"),
            "time: \"2026-02-30T00:00:00Z\" is no day of the calendar; write it as "
            "2026-01-31T09:30:00Z");
  EXPECT_EQ(refusal("2026-01-31T09:30:00"),
            "time: \"2026-01-31T09:30:00\" does not end in Z or an offset from UTC; write it as "
            "2026-01-31T09:30:00Z");
  EXPECT_NE(refusal("2026-01-31T09:30:00.0001Z").find("finer than a millisecond"),
            std::string::npos);
  for (const char* text : {"", "2026", "2026-01-31", "2026-01-31 09:30:00Z", "2026-1-31T09:30:00Z",
                           "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
                           "1900-02-29T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T23:60:00Z",
                           "2026-06-30T23:59:60Z", "2026-01-31T09:30:00.Z", "2026-01-31T09:30:00Zz",
                           "2026-01-31T09:30:00+24:00", "2026-01-31T09:30:00+0200",
                           "+2026-01-31T09:30:00Z", "20260131T093000Z", "now"}) {
    EXPECT_FALSE(parse_instant(text)) << text;
  }
}

TEST(Duration, IsWrittenLargestUnitFirst) {
  EXPECT_EQ(to_text(Duration{0}), "0s");
  EXPECT_EQ(to_text(minutes(90)), "1h30m");
  EXPECT_EQ(to_text(milliseconds(250)), "250ms");
  EXPECT_EQ(to_text(hours(49)), "2d1h");
  EXPECT_EQ(to_text(Duration{-1500}), "-1s500ms");
}

TEST(Duration, ReadsUnitsInOrderEachAtMostOnce) {
  EXPECT_EQ(parse_duration("1h30m")->ms, 5'400'000);
  EXPECT_EQ(parse_duration("90m")->ms, 5'400'000);
  EXPECT_EQ(parse_duration("1d2h3m4s5ms")->ms, 93'784'005);
  EXPECT_EQ(parse_duration("-45s")->ms, -45'000);
  EXPECT_EQ(parse_duration(to_text(Duration{INT64_MIN}))->ms, INT64_MIN);
  EXPECT_EQ(parse_duration(to_text(Duration{INT64_MAX}))->ms, INT64_MAX);
}

TEST(Duration, RefusesWhatIsNoDuration) {
  const auto backwards = parse_duration("30m1h");
  ASSERT_FALSE(backwards);
  EXPECT_EQ(backwards.error().message(),
            "duration: \"30m1h\" has \"h\" where no such unit can be; write it as 1h30m, with the "
            "units d h m s ms, largest first");
  for (const char* text : {"", "-", "1", "h", "1h1h", "1.5h", "1 h", "1y", "1H", "1h ", "1us",
                           "99999999999999999999s", "9223372036854775807d", "+1h", "1h-1m"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

}  // namespace
}  // namespace spillway
