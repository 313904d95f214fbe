// Random questions to the recommender, from small alphabets, so that amounts tie, rules bite and
// caps bind.
#pragma once

#include <algorithm>
#include <list>
#include <vector>

#include <rapidcheck.h>

#include "property/rank/random_market.h"
#include "rank/profiles.h"
#include "rank/recommend.h"

namespace spillway::rank {

struct Question {
  Policy policy;
  Workload workload;
  std::list<model::Offer> offers;  // options point to them
  std::vector<Option> options;
  std::vector<Holding> held;
};

inline Tier any_tier() {
  Tier tier;
  if (one_in(2)) tier.step = any<int64_t>(0, 500);
  if (one_in(2)) tier.money_permille = any<int64_t>(0, 2000);
  if (one_in(3)) tier.carbon_kg = any<int64_t>(0, 1'000'000);
  if (one_in(3)) tier.round_trip_ms = any<int64_t>(0, 100);
  if (one_in(3)) tier.failure = any<int64_t>(0, 1000);
  if (one_in(3)) tier.silence_minute = any<int64_t>(0, 1000);
  if (tier == Tier{.step = tier.step}) tier.money_permille = 1000;
  return tier;
}

inline PerWindow any_caps(int64_t most) {
  PerWindow caps;
  if (one_in(3)) caps.hour = any<int64_t>(0, most);
  if (one_in(3)) caps.day = any<int64_t>(0, 24 * most);
  if (one_in(3)) caps.month = any<int64_t>(0, 700 * most);
  return caps;
}

inline PolicyPart any_part() {
  PolicyPart part;
  if (one_in(3)) part.profile = k_profiles[any<size_t>(0, k_profiles.size() - 1)];
  if (!part.profile && !one_in(4)) {
    auto& tiers = part.tiers.emplace();
    do tiers.push_back(any_tier());
    while (tiers.size() < k_max_tiers && one_in(2));
  }
  if (one_in(3)) {
    Rules& rules = part.rules.emplace();
    if (one_in(3)) rules.labels = {any_label_constraint()};
    if (one_in(3)) rules.countries = {any_of(k_countries), "CH"};
    if (one_in(3)) rules.max_unit_hour = any<int64_t>(0, 3000);
    if (one_in(3)) rules.max_carbon = any(0, 1600);
    if (one_in(3)) rules.max_round_trip = milliseconds(any<int64_t>(0, 400));
    if (one_in(3)) rules.max_failures = any<int64_t>(0, 3'000'000);
    if (one_in(3)) rules.max_silence = minutes(any<int64_t>(0, 90));
    if (one_in(3)) rules.min_lease = hours(any(0, 4));
  }
  if (one_in(4)) part.providers = Providers{{}, {ClusterId("edge-1"), ClusterId("edge-3")}};
  if (one_in(2)) {
    part.expect = Expectation{minutes(any<int64_t>(1, 600)), any<int64_t>(0, 8) * k_gib};
  }
  if (one_in(2)) part.caps.money = any_caps(5000);
  if (one_in(2)) part.caps.carbon_kg = any_caps(200'000);
  return part;
}

inline Policy any_policy() {
  Policy policy;
  policy.failure_half_life = minutes(any<int64_t>(1, 600));
  policy.standard = any_part();
  if (one_in(2)) policy.classes.push_back({"batch", {"batch"}, {}, any_part()});
  if (one_in(3)) policy.classes.push_back({"labelled", {}, {any_label_constraint()}, any_part()});
  RC_ASSERT(validate(policy).has_value());
  return policy;
}

inline Option any_option(const model::Offer& offer) {
  Option option;
  option.offer = &offer;
  option.visible = !one_in(5);
  if (one_in(3)) option.free_units = any(0, 5);
  if (!one_in(3)) {
    option.round_trip = RoundTrip{any<int64_t>(0, 60) * 10'000, k_now - minutes(any(0, 1600))};
  }
  if (!one_in(3)) {
    option.failures = Failures{any<int64_t>(0, 3'000'000), k_now - minutes(any(0, 600))};
  }
  if (!one_in(3)) option.heard = k_now - minutes(any(-2, 90));
  return option;
}

inline Holding any_holding() {
  Holding holding;
  if (one_in(2)) holding.workload_class = "batch";
  holding.units = any(0, 4);
  holding.rate = any<int64_t>(0, 2000);
  holding.milliwatt_grams = any<int64_t>(0, 20'000'000);
  holding.started = k_now - minutes(any(0, 3000));
  if (one_in(3)) holding.ended = std::min(k_now, holding.started + minutes(any(0, 3000)));
  holding.minimum_term = minutes(any(0, 600));
  return holding;
}

inline model::Offer twin_of(model::Offer offer, const OfferId& id) {
  offer.id = id;
  offer.pool = PoolId(std::string(owner_of(id.text)) + "/pool");
  return offer;
}

inline Question any_question() {
  Question question;
  question.policy = any_policy();
  question.workload.kube_namespace = one_in(2) ? "batch" : "shop";
  question.workload.labels = any_labels();
  question.workload.units = any(1, 6);
  if (one_in(4)) question.workload.shape.cpu_millis = any<int64_t>(1, 2) * 1000;
  const int count = any(0, 12);
  for (int i = 0; i < count; ++i) {
    const OfferId id = any_offer_id();
    const bool is_there = std::any_of(question.offers.begin(), question.offers.end(),
                                      [&id](const model::Offer& offer) { return offer.id == id; });
    if (is_there) continue;
    // A third are twins of the one before, so that the id decides.
    const bool is_twin = !question.offers.empty() && one_in(3);
    question.offers.push_back(is_twin ? twin_of(question.offers.back(), id) : any_offer(id));
    if (is_twin) {
      question.options.push_back(question.options.back());
      question.options.back().offer = &question.offers.back();
      continue;
    }
    question.options.push_back(any_option(question.offers.back()));
  }
  while (one_in(2)) question.held.push_back(any_holding());
  return question;
}

inline Recommendation answer(const Question& question) {
  return recommend(question.policy, question.workload, question.options, question.held, k_now);
}

// The place of an offer among the choices; past the end when it is not there.
inline size_t place_of(const Recommendation& told, const OfferId& id) {
  const auto at = std::find_if(told.choices.begin(), told.choices.end(),
                               [&id](const Choice& choice) { return choice.offer == id; });
  return static_cast<size_t>(at - told.choices.begin());
}

}  // namespace spillway::rank
