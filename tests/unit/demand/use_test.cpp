#include "demand/use.h"

#include <gtest/gtest.h>

namespace spillway::demand {
namespace {

constexpr Instant k_hour{1'800'000'000'000 - 1'800'000'000'000 % 3'600'000};

Use use_from(Instant started) {
  Use use;
  use.rate = 1'000'000;
  use.milliwatt_grams = 100'000'000;  // 100 W at 1000 g/kWh: 100 g an hour
  use.started = started;
  return use;
}

int64_t money(const std::vector<PastHour>& past) {
  int64_t sum = 0;
  for (const PastHour& one : past) sum += one.money;
  return sum;
}

TEST(Use, IsAddedUpByTheHourThatItFellIn) {
  std::vector<PastHour> past;
  add_ended(past, use_from(k_hour + minutes(45)), k_hour + minutes(90));
  ASSERT_EQ(past.size(), 2u);
  EXPECT_EQ(past[0].hour, k_hour);
  EXPECT_EQ(past[0].money, 250'000);
  EXPECT_EQ(past[0].milligrams, 25'000);
  EXPECT_EQ(past[1].hour, k_hour + hours(1));
  EXPECT_EQ(past[1].money, 500'000);
  EXPECT_EQ(past[1].milligrams, 50'000);
}

TEST(Use, OfManyUnitsIsOneSumForAnHourAndAClass) {
  std::vector<PastHour> past;
  for (int i = 0; i < 1000; ++i) add_ended(past, use_from(k_hour), k_hour + minutes(6));
  Use batch = use_from(k_hour);
  batch.workload_class = "batch";
  add_ended(past, batch, k_hour + minutes(6));
  ASSERT_EQ(past.size(), 2u);
  EXPECT_EQ(past[0].money, 100'000'000);
  EXPECT_EQ(past[1].workload_class, "batch");
  EXPECT_EQ(past[1].money, 100'000);
}

TEST(Use, IsPaidForTheMinimumTermButEmitsOnlyWhileItRuns) {
  std::vector<PastHour> past;
  Use use = use_from(k_hour);
  use.minimum_term = hours(3);
  add_ended(past, use, k_hour + minutes(30));
  EXPECT_EQ(past.size(), 3u);
  EXPECT_EQ(money(past), 3'000'000);
  EXPECT_EQ(past[0].milligrams, 50'000);
  EXPECT_EQ(past[1].milligrams + past[2].milligrams, 0);
}

TEST(Use, OfATermOfYearsFillsNoState) {
  Use use = use_from(k_hour);
  use.minimum_term = hours(10 * 365 * 24);
  std::vector<PastHour> past;
  add_ended(past, use, k_hour + hours(1));
  EXPECT_EQ(past.size(), 1u + 32 * 24);
  EXPECT_EQ(past.back().money, 1'000'000);
}

TEST(Use, IsForgottenWhenNoWindowReachesIt) {
  std::vector<PastHour> past;
  add_ended(past, use_from(k_hour), k_hour + minutes(30));
  forget_before(past, k_hour + hours(31 * 24));
  EXPECT_EQ(past.size(), 1u);
  forget_before(past, k_hour + hours(33 * 24));
  EXPECT_TRUE(past.empty());
  add_ended(past, use_from(Instant{0}), k_hour);  // held for half a century
  EXPECT_LE(past.size(), 32u * 24 + 1);
}

}  // namespace
}  // namespace spillway::demand
