// explain: law 7 for scores. The amounts are those that were scored; the text says of every number
// who stated it, how old it is, and what it counts as if that is something else.
#include <fmt/format.h>

#include "rank/recommend.h"

namespace spillway::rank {
namespace {

// Whole parts of thousandths: 12400 → "12.4".
std::string from_thousandths(int64_t value) {
  const auto micros = try_multiply(value, 1000);
  return micros ? micros_to_text(*micros) : fmt::format("{}", value / 1000);
}

// "20 ms", "20 ms (counts as 80 ms)", "400 ms (not measured: assumed)".
std::string counts_as(const Counted& counted, const std::string& said, const std::string& value,
                      std::string_view unknown) {
  if (!counted.said) return value + std::string(unknown);
  if (*counted.said == counted.value) return said;
  return fmt::format("{} (counts as {})", said, value);
}

class Explainer {
 public:
  Explainer(const EffectivePolicy& policy, const Option& option, Instant now)
      : policy_(policy),
        option_(option),
        now_(now),
        figures_(figures_of(option, policy.failure_half_life, now)),
        amounts_(amounts_of(figures_, policy.expect)) {}

  TierVerdict verdict(const Tier& tier) const {
    TierVerdict verdict;
    verdict.step = tier.step;
    if (tier.money_permille > 0) verdict.terms.push_back(money(tier));
    if (tier.carbon_kg > 0) verdict.terms.push_back(carbon(tier));
    if (tier.round_trip_ms > 0) verdict.terms.push_back(round_trip(tier));
    if (tier.failure > 0) verdict.terms.push_back(failures(tier));
    if (tier.silence_minute > 0) verdict.terms.push_back(silence(tier));
    for (const Term& term : verdict.terms) verdict.exact += term.amount;
    if (option_.needed_permille != 1000 && verdict.exact > 0) {
      const int64_t whole = scaled_up<1000>(verdict.exact, option_.needed_permille);
      verdict.terms.push_back(
          {"more units", whole - verdict.exact,
           fmt::format("it takes {} times as many as the option that needs the fewest",
                       from_thousandths(option_.needed_permille)),
           false});
      verdict.exact = whole;
    }
    verdict.counted = in_steps(verdict.exact, tier.step);
    return verdict;
  }

 private:
  std::string worth(int64_t micros) const { return to_text(Money{micros, policy_.currency}); }
  std::string time() const { return to_text(policy_.expect.time); }

  Term money(const Tier& tier) const {
    const bool is_term = figures_.minimum_term_ms > policy_.expect.time.ms;
    std::string how = fmt::format(
        "{}/h × {}", worth(figures_.rate),
        is_term ? to_text(Duration{figures_.minimum_term_ms}) + " (minimum term)" : time());
    if (policy_.expect.egress_bytes > 0) {
      how += fmt::format(" + {}/GiB × {} MiB sent", worth(figures_.egress_gib_price),
                         (policy_.expect.egress_bytes + (1 << 20) - 1) >> 20);
    }
    if (tier.money_permille != 1000) {
      how = fmt::format("({}) × {}", how, from_thousandths(tier.money_permille));
    }
    return {"money", money_part(tier, amounts_), std::move(how), false};
  }

  Term carbon(const Tier& tier) const {
    const auto& energy = option_.offer->energy;
    const Counted power = counted_milliwatts(energy, option_.offer->shape);
    const Counted intensity = counted_carbon(energy, now_);
    std::string source = "not stated: assumed";
    if (intensity.said) {
      const bool measured = energy->provenance.evidence == model::Evidence::measured;
      source = fmt::format("{} by {}, {} old", measured ? "said to be measured" : "claimed",
                           energy->provenance.source, to_text(intensity.age));
    }
    std::string how =
        fmt::format("{} × {} [{}] × {} × {}/kg",
                    counts_as(power, from_thousandths(power.said.value_or(0)) + " W",
                              from_thousandths(power.value) + " W", " (not stated: assumed)"),
                    counts_as(intensity, fmt::format("{} g/kWh", intensity.said.value_or(0)),
                              fmt::format("{} g/kWh", intensity.value), ""),
                    source, time(), worth(tier.carbon_kg));
    return {"carbon", carbon_part(tier, amounts_), std::move(how),
            power.estimated() || intensity.estimated()};
  }

  Term round_trip(const Tier& tier) const {
    const Counted trip = counted_round_trip(option_.round_trip, now_);
    std::string said = from_thousandths(trip.said.value_or(0)) + " ms";
    if (trip.said) said += fmt::format(", measured {} ago", to_text(trip.age));
    return {"round trip", round_trip_part(tier, amounts_),
            fmt::format("{} × {} × {}/ms",
                        counts_as(trip, said, from_thousandths(trip.value) + " ms",
                                  " (not measured: assumed)"),
                        time(), worth(tier.round_trip_ms)),
            trip.estimated()};
  }

  Term failures(const Tier& tier) const {
    const Counted failures = counted_failures(option_.failures, policy_.failure_half_life, now_);
    return {
        "failures", failures_part(tier, amounts_),
        fmt::format("{} {} × {} each", micros_to_text(failures.value),
                    failures.said ? "remembered" : "(never tried: assumed)", worth(tier.failure)),
        failures.estimated()};
  }

  Term silence(const Tier& tier) const {
    const Counted silence = counted_silence(option_.heard, now_);
    return {"silence", silence_part(tier, amounts_),
            fmt::format("{} × {}/min",
                        counts_as(silence, to_text(silence.age), to_text(Duration{silence.value}),
                                  " (never heard of: assumed)"),
                        worth(tier.silence_minute)),
            silence.estimated()};
  }

  const EffectivePolicy& policy_;
  const Option& option_;
  Instant now_;
  Figures figures_;
  Amounts amounts_;
};

}  // namespace

std::vector<TierVerdict> explain(const EffectivePolicy& policy, const Option& option, Instant now) {
  const Explainer explainer(policy, option, now);
  std::vector<TierVerdict> tiers;
  for (const Tier& tier : policy.tiers) tiers.push_back(explainer.verdict(tier));
  return tiers;
}

}  // namespace spillway::rank
