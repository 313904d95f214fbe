#include "rank/figures.h"

#include "rank/option.h"

namespace spillway::rank {

// A sum of five amounts, and a step that is added to it to round up.
static_assert(k_most_amount <= (INT64_MAX - model::k_max_price) / 5);

Figures figures_of(const Option& option, Duration failure_half_life, Instant now) {
  const model::Offer& offer = *option.offer;
  const Counted milliwatts = counted_milliwatts(offer.energy, offer.shape);
  const Counted carbon = counted_carbon(offer.energy, now);
  const Counted round_trip = counted_round_trip(option.round_trip, now);
  const Counted failures = counted_failures(option.failures, failure_half_life, now);
  const Counted silence = counted_silence(option.heard, now);
  Figures figures;
  figures.rate = hourly_rate(offer.price, offer.shape);
  figures.minimum_term_ms = offer.price.minimum_term.ms;
  figures.egress_gib_price = offer.network.egress_gib_price;
  figures.milliwatt_grams = milliwatts.value * carbon.value;  // at most 10^9 × 1,500
  figures.round_trip_us = round_trip.value;
  figures.failures_micros = failures.value;
  figures.silence_ms = silence.value;
  for (const Counted* counted : {&milliwatts, &carbon, &round_trip, &failures, &silence}) {
    figures.estimated += counted->estimated() ? 1 : 0;
  }
  return figures;
}

Holding holding_of(const Option& option, int32_t units, std::string workload_class, Instant now) {
  const model::Offer& offer = *option.offer;
  const Counted milliwatts = counted_milliwatts(offer.energy, offer.shape);
  const Counted carbon = counted_carbon(offer.energy, now);
  Holding holding;
  holding.workload_class = std::move(workload_class);
  holding.units = units;
  holding.currency = offer.price.currency;
  holding.rate = hourly_rate(offer.price, offer.shape);
  // What was stated where it is worse than what it counts as: a cap forgives nothing.
  holding.milliwatt_grams = std::max(milliwatts.value, milliwatts.said.value_or(0)) *
                            std::max(carbon.value, carbon.said.value_or(0));
  holding.started = now;
  holding.minimum_term = offer.price.minimum_term;
  return holding;
}

}  // namespace spillway::rank
