#include "rank/recommend.h"

#include <algorithm>

#include <fmt/format.h>

#include "rank/caps.h"

namespace spillway::rank {
namespace {

struct Ranked {
  Choice choice;
  const Option* option = nullptr;
};

// How many units may be had: as wanted, as are free, as the caps allow; and why fewer.
void fit_units(const Workload& workload, const Option& option, const CapRooms& caps,
               const Holding& unit, Choice& choice) {
  choice.units = std::max(workload.units, 1);
  if (option.free_units && *option.free_units < choice.units) {
    choice.units = *option.free_units;
    choice.fewer = fmt::format("only {} free", choice.units);
  }
  const CapRooms::Allowed allowed = caps.allowed(unit, choice.units);
  if (allowed.bound == nullptr) return;
  choice.units = allowed.units;
  choice.fewer = caps.sentence(*allowed.bound, unit);
}

// Fills in the choice; an answer is what rules it out.
std::optional<Barred> consider(const EffectivePolicy& policy, const Workload& workload,
                               const Option& option, const CapRooms& caps, Instant now,
                               Choice& choice) {
  if (auto bar = first_bar(policy, workload, option, now)) return bar;
  choice.offer = option.offer->id;
  fit_units(workload, option, caps, holding_of(option, 1, policy.workload_class, now), choice);
  if (choice.units == 0) return Barred{Bar::cap, std::move(choice.fewer)};
  choice.score =
      score_of(figures_of(option, policy.failure_half_life, now), policy.expect, policy.tiers);
  multiply_score(choice.score, option.needed_permille, policy.tiers);
  return std::nullopt;
}

bool comes_first(const Ranked& a, const Ranked& b) {
  if (a.choice.score != b.choice.score) return a.choice.score < b.choice.score;
  return a.choice.offer < b.choice.offer;
}

}  // namespace

Recommendation recommend(const Policy& policy, const Workload& workload,
                         std::span<const Option> options, std::span<const Holding> held,
                         Instant now, size_t explained) {
  return recommend(effective_policy(policy, workload), workload, options, held, now, explained);
}

Recommendation recommend(const EffectivePolicy& effective, const Workload& workload,
                         std::span<const Option> options, std::span<const Holding> held,
                         Instant now, size_t explained) {
  const CapRooms caps(effective, held, now);
  Recommendation answer{effective.workload_class, effective.currency, effective.expect, {}, {}};
  std::vector<Ranked> ranked;
  ranked.reserve(options.size());
  for (const Option& option : options) {
    if (!option.visible) continue;
    Ranked entry{{}, &option};
    if (auto bar = consider(effective, workload, option, caps, now, entry.choice)) {
      answer.excluded.push_back({option.offer->id, *std::move(bar)});
    } else {
      ranked.push_back(std::move(entry));
    }
  }
  std::sort(ranked.begin(), ranked.end(), comes_first);
  std::sort(answer.excluded.begin(), answer.excluded.end(),
            [](const Excluded& a, const Excluded& b) { return a.offer < b.offer; });
  answer.choices.reserve(ranked.size());
  for (Ranked& entry : ranked) {
    if (answer.choices.size() < explained) {
      entry.choice.tiers = explain(effective, *entry.option, now);
    }
    answer.choices.push_back(std::move(entry.choice));
  }
  return answer;
}

}  // namespace spillway::rank
