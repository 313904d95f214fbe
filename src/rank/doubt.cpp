#include "rank/doubt.h"

#include <algorithm>
#include <array>

#include "base/arithmetic.h"
#include "model/limits.h"

namespace spillway::rank {
namespace {

// 2^-(i/16) × 2^30, rounded to the nearest.
constexpr std::array<int64_t, 17> k_sixteenths = {
    1073741824, 1028218693, 984625594, 942880699, 902905651, 864625413,
    827968132,  792865000,  759250125, 727060411, 696235434, 666717336,
    638450708,  611382493,  585461881, 560640218, 536870912};
constexpr int64_t k_one = int64_t{1} << 30;

Duration age_of(Instant then, Instant now) { return then >= now ? Duration{0} : now - then; }

int64_t towards_worst(int64_t said, int64_t worst, Duration age, Duration fresh, Duration stale) {
  if (said >= worst || age >= stale) return worst;
  if (age <= fresh) return said;
  return said + multiply_divide_up(worst - said, age.ms - fresh.ms, stale.ms - fresh.ms);
}

// 2^-(part / whole) × 2^30, for a part of the whole.
int64_t halving(int64_t part, int64_t whole) {
  const Int128 sixteenths = static_cast<Int128>(part) * 16;
  const auto index = static_cast<size_t>(sixteenths / whole);
  const auto rest = static_cast<int64_t>(sixteenths % whole);
  const int64_t drop = k_sixteenths[index] - k_sixteenths[index + 1];
  return k_sixteenths[index] - checked_narrow(static_cast<Int128>(drop) * rest / whole);
}

}  // namespace

Counted counted_carbon(const std::optional<model::Energy>& energy, Instant now) {
  if (!energy || energy->provenance.as_of > now + k_clock_skew) return {{}, k_worst_carbon, {}};
  const int64_t said = carbon_at(*energy, now);
  const Duration age = age_of(energy->provenance.as_of, now);
  return {said, towards_worst(said, k_worst_carbon, age, k_carbon_fresh, k_carbon_stale), age};
}

Counted counted_milliwatts(const std::optional<model::Energy>& energy,
                           const model::Resources& shape) {
  Int128 worst = k_worst_milliwatts_per_unit +
                 static_cast<Int128>(shape.cpu_millis) * k_worst_milliwatts_per_core / 1000;
  for (const model::Count& gpu : shape.gpus) {
    worst += static_cast<Int128>(gpu.amount) * k_worst_milliwatts_per_gpu;
  }
  const auto bound = static_cast<int64_t>(std::min<Int128>(worst, model::k_max_milliwatts));
  if (!energy || !energy->unit_milliwatts) return {{}, bound, {}};
  return {*energy->unit_milliwatts, std::min(*energy->unit_milliwatts, bound), {}};
}

Counted counted_round_trip(const std::optional<RoundTrip>& reading, Instant now) {
  if (!reading || reading->micros < 0) return {{}, k_worst_round_trip_us, {}};
  const Duration age = age_of(reading->measured, now);
  const int64_t said = std::min(reading->micros, k_longest_round_trip_us);
  return {said,
          towards_worst(said, k_worst_round_trip_us, age, k_round_trip_fresh, k_round_trip_stale),
          age};
}

Counted counted_failures(const std::optional<Failures>& failures, Duration half_life, Instant now) {
  if (!failures) return {{}, k_untried_failures, {}};
  const Duration age = age_of(failures->as_of, now);
  const int64_t left = decayed(std::max<int64_t>(failures->micros, 0), age, half_life);
  return {left, left, age};
}

Counted counted_silence(const std::optional<Instant>& heard, Instant now) {
  if (!heard) return {{}, k_worst_silence.ms, {}};
  const Duration age = age_of(*heard, now);
  return {age.ms, std::min(age.ms, k_worst_silence.ms), age};
}

int64_t decayed(int64_t amount, Duration age, Duration half_life) {
  if (age.ms <= 0 || amount <= 0) return std::max<int64_t>(amount, 0);
  SPILLWAY_CHECK(half_life.ms > 0, "a half-life of nothing");
  const int64_t halvings = age.ms / half_life.ms;
  if (halvings >= 63) return 1;
  const int64_t left =
      multiply_divide_up(amount, halving(age.ms % half_life.ms, half_life.ms), k_one);
  return multiply_divide_up(left, 1, int64_t{1} << halvings);
}

Failures after_failure(const std::optional<Failures>& before, Duration half_life, Instant now) {
  Failures after = after_success(before, half_life, now);
  after.micros = try_add(after.micros, k_one_failure).value_or(after.micros);
  return after;
}

Failures after_success(const std::optional<Failures>& before, Duration half_life, Instant now) {
  if (!before) return {0, now};
  if (before->as_of >= now) return *before;
  return {counted_failures(before, half_life, now).value, now};
}

}  // namespace spillway::rank
