#include "rank/rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "model/price.h"
#include "rank/doubt.h"

namespace spillway::rank {
namespace {

constexpr std::array<std::string_view, 15> k_bar_names = {
    "ended", "currency", "shape",      "denied",   "not allowed", "label",    "country", "price",
    "lease", "carbon",   "round trip", "failures", "silence",     "sold out", "cap"};

template <class T>
bool lists(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string wish(const model::LabelConstraint& wanted) {
  switch (wanted.op) {
    case model::Operator::in:
      return "one of " + joined(wanted.values) + " is wanted";
    case model::Operator::not_in:
      return "none of " + joined(wanted.values) + " is wanted";
    case model::Operator::exists:
      return "it must be there";
    case model::Operator::absent:
      return "it must not be there";
  }
  return {};
}

std::string label_sentence_of(const model::LabelConstraint& wanted, const model::Labels& labels) {
  const std::string* value = model::find_label(labels, wanted.key);
  return fmt::format("label {} {}, {}", wanted.key,
                     value == nullptr ? "is not there" : "is " + in_quotes(*value), wish(wanted));
}

using Answer = std::optional<Barred>;

Answer bar_of_offer(const EffectivePolicy& policy, const Workload& workload,
                    const model::Offer& offer, Instant now) {
  if (offer.until && now >= *offer.until) {
    return Barred{Bar::ended, "on sale until " + to_text(*offer.until) + " only"};
  }
  if (offer.price.currency != policy.currency) {
    return Barred{Bar::currency, fmt::format("priced in {}, the policy is in {}",
                                             offer.price.currency.text(), policy.currency.text())};
  }
  if (!offer.shape.covers(workload.shape)) {
    return Barred{Bar::shape, fmt::format("too little {}: a unit is {}, {} is wanted",
                                          offer.shape.first_short(workload.shape),
                                          to_text(offer.shape), to_text(workload.shape))};
  }
  return std::nullopt;
}

Answer bar_of_provider(const Providers& providers, const ClusterId& provider) {
  if (lists(providers.deny, provider)) {
    return Barred{Bar::denied, provider.text + " is denied by the policy"};
  }
  if (!providers.allow.empty() && !lists(providers.allow, provider)) {
    return Barred{Bar::not_allowed, provider.text + " is not among those that the policy allows"};
  }
  return std::nullopt;
}

Answer bar_of_statement(const Rules& rules, const model::Offer& offer, Currency currency) {
  for (const model::LabelConstraint& wanted : rules.labels) {
    if (!holds(wanted, offer.labels)) {
      return Barred{Bar::label, label_sentence_of(wanted, offer.labels)};
    }
  }
  if (!rules.countries.empty() && !lists(rules.countries, offer.place.country)) {
    return Barred{Bar::country,
                  fmt::format("in {}, one of {} is wanted", in_quotes(offer.place.country),
                              joined(rules.countries))};
  }
  const int64_t rate = hourly_rate(offer.price, offer.shape);
  if (rules.max_unit_hour && rate > *rules.max_unit_hour) {
    return Barred{Bar::price, fmt::format("{}/h, at most {} wanted", to_text(Money{rate, currency}),
                                          micros_to_text(*rules.max_unit_hour))};
  }
  if (rules.min_lease && offer.terms.lease < *rules.min_lease) {
    return Barred{Bar::lease, fmt::format("a lease of {}, at least {} wanted",
                                          to_text(offer.terms.lease), to_text(*rules.min_lease))};
  }
  return std::nullopt;
}

Answer bar_of_carbon(int32_t most, const model::Offer& offer, Instant now) {
  const Counted carbon = counted_carbon(offer.energy, now);
  if (!carbon.said) {
    return Barred{Bar::carbon,
                  fmt::format("states no carbon that counts, at most {} g/kWh wanted", most)};
  }
  if (std::max(*carbon.said, carbon.value) <= most) return std::nullopt;
  if (*carbon.said > most) {
    return Barred{Bar::carbon, fmt::format("{} g/kWh, at most {} wanted", *carbon.said, most)};
  }
  return Barred{Bar::carbon, fmt::format("{} g/kWh, stated {} ago, counts as {}; at most {} wanted",
                                         *carbon.said, to_text(carbon.age), carbon.value, most)};
}

Answer bar_of_round_trip(Duration most, const Option& option, Instant now) {
  const Counted trip = counted_round_trip(option.round_trip, now);
  if (!trip.said) {
    return Barred{Bar::round_trip,
                  fmt::format("no round trip was measured, at most {} wanted", to_text(most))};
  }
  const int64_t counted = std::max(*trip.said, trip.value);
  if (counted <= most.ms * 1000) return std::nullopt;
  return Barred{Bar::round_trip,
                fmt::format("a round trip counts as {} ms, measured {} ago as {} ms; at most {} "
                            "wanted",
                            micros_to_text(counted * 1000), to_text(trip.age),
                            micros_to_text(*trip.said * 1000), to_text(most))};
}

Answer bar_of_conduct(const EffectivePolicy& policy, const Option& option, Instant now) {
  const Rules& rules = policy.rules;
  if (rules.max_failures) {
    const Counted failures = counted_failures(option.failures, policy.failure_half_life, now);
    if (failures.value > *rules.max_failures) {
      return Barred{Bar::failures,
                    fmt::format("{} failures {}, at most {} wanted", micros_to_text(failures.value),
                                failures.said ? "remembered" : "assumed, for it was never tried",
                                micros_to_text(*rules.max_failures))};
    }
  }
  if (!rules.max_silence) return std::nullopt;
  const Counted silence = counted_silence(option.heard, now);
  if (!silence.said) {
    return Barred{Bar::silence, "its provider was never heard of"};
  }
  if (*silence.said <= rules.max_silence->ms) return std::nullopt;
  return Barred{Bar::silence,
                fmt::format("its provider was last heard of {} ago, at most {} wanted",
                            to_text(silence.age), to_text(*rules.max_silence))};
}

}  // namespace

std::string_view to_text(Bar bar) { return k_bar_names[static_cast<size_t>(bar)]; }

std::optional<Barred> first_bar(const EffectivePolicy& policy, const Workload& workload,
                                const Option& option, Instant now) {
  const model::Offer& offer = *option.offer;
  if (auto bar = bar_of_offer(policy, workload, offer, now)) return bar;
  const ClusterId provider{std::string(owner_of(offer.id.text))};
  if (auto bar = bar_of_provider(policy.providers, provider)) return bar;
  const Rules& rules = policy.rules;
  if (auto bar = bar_of_statement(rules, offer, policy.currency)) return bar;
  if (rules.max_carbon) {
    if (auto bar = bar_of_carbon(*rules.max_carbon, offer, now)) return bar;
  }
  if (rules.max_round_trip) {
    if (auto bar = bar_of_round_trip(*rules.max_round_trip, option, now)) return bar;
  }
  if (auto bar = bar_of_conduct(policy, option, now)) return bar;
  if (option.free_units && *option.free_units <= 0) {
    return Barred{Bar::sold_out, "nothing is free of it now"};
  }
  return std::nullopt;
}

}  // namespace spillway::rank
