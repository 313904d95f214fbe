#include "rank/doubt.h"

#include <gtest/gtest.h>

#include "unit/rank/market.h"

namespace spillway::rank {
namespace {

TEST(Doubt, AClaimIsBelievedWhileFreshAndGrowsWorseWithAge) {
  model::Energy energy = make_energy(100);
  const auto counted = [&energy](Duration age) {
    return counted_carbon(energy, k_now + age).value;
  };
  EXPECT_EQ(counted(Duration{0}), 100);
  EXPECT_EQ(counted(hours(1)), 100);
  EXPECT_EQ(counted(minutes(60 + 23 * 30)), 800);  // half of the way
  EXPECT_EQ(counted(hours(24)), k_worst_carbon);
  EXPECT_EQ(counted(hours(24'000)), k_worst_carbon);
}

TEST(Doubt, AClaimDatedInTheFutureIsNone) {
  model::Energy energy = make_energy(100);
  energy.provenance.as_of = k_now + k_clock_skew;
  EXPECT_EQ(counted_carbon(energy, k_now).said, 100);
  energy.provenance.as_of.ms += 1;
  EXPECT_EQ(counted_carbon(energy, k_now), (Counted{{}, k_worst_carbon, {}}));
}

TEST(Doubt, SilenceNeverPays) {
  EXPECT_EQ(counted_carbon({}, k_now).value, k_worst_carbon);
  EXPECT_EQ(counted_carbon(make_energy(9'000), k_now).value, k_worst_carbon);  // no worse
  model::Resources shape;
  shape.cpu_millis = 2000;
  shape.gpus = {{"nvidia-a100", 1}};
  EXPECT_EQ(counted_milliwatts({}, shape).value, 25'000 + 50'000 + 1'000'000);
  EXPECT_EQ(counted_milliwatts(make_energy(1, 5'000), shape).value, 5'000);
  EXPECT_EQ(counted_milliwatts(make_energy(1, 9'000'000), shape).value, 1'075'000);
  EXPECT_EQ(counted_round_trip({}, k_now).value, k_worst_round_trip_us);
  EXPECT_EQ(counted_silence({}, k_now).value, k_worst_silence.ms);
  EXPECT_EQ(counted_failures({}, hours(1), k_now).value, k_one_failure);
}

TEST(Doubt, AReadingOfTheRoundTripAges) {
  const RoundTrip reading{10'000, k_now};
  EXPECT_EQ(counted_round_trip(reading, k_now + minutes(10)).value, 10'000);
  EXPECT_GT(counted_round_trip(reading, k_now + minutes(11)).value, 10'000);
  EXPECT_EQ(counted_round_trip(reading, k_now + hours(24)).value, k_worst_round_trip_us);
  EXPECT_EQ(counted_round_trip(reading, k_now - hours(1)).value, 10'000);  // a clock set back
}

TEST(Doubt, FailuresDecayByHalfLife) {
  EXPECT_EQ(decayed(1'000'000, Duration{0}, hours(6)), 1'000'000);
  EXPECT_EQ(decayed(1'000'000, hours(6), hours(6)), 500'000);
  EXPECT_EQ(decayed(1'000'000, hours(12), hours(6)), 250'000);
  EXPECT_NEAR(static_cast<double>(decayed(1'000'000, hours(3), hours(6))), 707'107, 220);
  EXPECT_NEAR(static_cast<double>(decayed(1'000'000, minutes(75), hours(6))), 865'537, 260);
  EXPECT_EQ(decayed(1'000'000, hours(24 * 365), hours(6)), 1);  // hardly anything, not nothing
}

TEST(Doubt, TriesAddUp) {
  const Failures first = after_failure({}, hours(6), k_now);
  EXPECT_EQ(first, (Failures{k_one_failure, k_now}));  // an untried one was only assumed to fail
  const Failures second = after_failure(first, hours(6), k_now + hours(6));
  EXPECT_EQ(second, (Failures{1'500'000, k_now + hours(6)}));
  EXPECT_EQ(after_success({}, hours(6), k_now), (Failures{0, k_now}));
  EXPECT_EQ(after_success(second, hours(6), k_now + hours(12)).micros, 750'000);
  EXPECT_EQ(after_failure(second, hours(6), k_now).micros, 2'500'000);  // a clock set back
}

}  // namespace
}  // namespace spillway::rank
