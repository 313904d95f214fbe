#include "services/autoscaler/advisor.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "demand/best_of_class.h"
#include "rank/doubt.h"
#include "rank/figures.h"

namespace spillway::autoscaler {
namespace {

using demand::Ledger;

// Whatever there is, as far as caps and the provider go.
constexpr int32_t k_as_many_as_there_are = INT32_MAX / 4;

rank::Workload any_work(int32_t units) {
  rank::Workload work;
  work.units = units;
  return work;
}

rank::Holding holding_of_use(const demand::Use& use, int32_t units) {
  return {use.workload_class,  units,       use.currency, use.rate,
          use.milliwatt_grams, use.started, std::nullopt, use.minimum_term};
}

// An hour in which its sum was taken, by one unit.
rank::Holding holding_of_past(const demand::PastHour& past) {
  constexpr int64_t k_to_milliwatt_grams = 1000;
  const int64_t milligrams = std::min(past.milligrams, INT64_MAX / 8 / k_to_milliwatt_grams);
  return {past.workload_class,
          1,
          past.currency,
          past.money,
          milligrams * k_to_milliwatt_grams,
          past.hour,
          past.hour + hours(1),
          {}};
}

Error refusal_of(const OfferId& group, const rank::Barred& why) {
  const bool is_cap = why.bar == rank::Bar::cap;
  return {is_cap ? Code::over_budget : Code::denied, "group " + in_quotes(group.text), why.sentence,
          is_cap ? "raise the cap in the policy, give something back, or wait for the next window"
                 : "take another group, or change the policy"};
}

}  // namespace

std::vector<std::string> Advisor::classes() const {
  std::vector<std::string> names = {{}};
  for (const rank::WorkloadClass& one : policy_.classes) names.push_back(one.name);
  return names;
}

rank::Option Advisor::option_of(const model::Offer& offer) const {
  rank::Option option;
  option.offer = &offer;
  option.round_trip = senses_.round_trip(offer);
  option.heard = senses_.heard(offer.id);
  const auto& tried = ledger_.state().tried;
  const auto known = tried.find(ClusterId(std::string(owner_of(offer.id.text))));
  if (known != tried.end()) {
    option.failures = rank::Failures{known->second.failures_micros, known->second.as_of};
  }
  return option;
}

std::vector<rank::Option> Advisor::options_of(const std::vector<Seen>& seen) const {
  std::vector<rank::Option> options;
  options.reserve(seen.size());
  for (const Seen& one : seen) {
    rank::Option& option = options.emplace_back(option_of(one.offer));
    option.free_units = one.free_units;
  }
  return options;
}

// What is being given back is paid for until it is.
std::vector<rank::Holding> Advisor::held() const {
  std::vector<rank::Holding> all;
  for (const auto& [id, group] : ledger_.state().groups) {
    for (const demand::Ask& ask : group.asks) {
      if (!ask.is_for_spares) all.push_back(holding_of_use(ask.use, ask.asked));
    }
    for (const demand::HeldUnit& unit : group.units) all.push_back(holding_of_use(unit.use, 1));
  }
  for (const demand::PastHour& past : ledger_.state().past) all.push_back(holding_of_past(past));
  return all;
}

std::vector<rank::Recommendation> Advisor::views(const std::vector<Seen>& seen, int32_t units,
                                                 size_t explained) const {
  const std::vector<rank::Option> options = options_of(seen);
  const std::vector<rank::Holding> holdings = held();
  std::vector<rank::Recommendation> all;
  for (const std::string& name : classes()) {
    all.push_back(rank::recommend(rank::policy_of_class(policy_, name), any_work(units), options,
                                  holdings, loop_.now(), explained));
  }
  return all;
}

std::vector<Ledger::OnSale> Advisor::to_show(const std::vector<Seen>& seen, int32_t most) const {
  std::map<OfferId, const model::Offer*> offers;
  for (const Seen& one : seen) offers[one.offer.id] = &one.offer;
  const std::vector<rank::Recommendation> all = views(seen, k_as_many_as_there_are, 0);
  std::map<OfferId, int32_t> growth;  // by the class of work that may have the most
  for (const rank::Recommendation& view : all) {
    for (const rank::Choice& choice : view.choices) {
      int32_t& units = growth[choice.offer];
      units = std::max(units, choice.units);
    }
  }
  std::map<OfferId, Ledger::OnSale> shown;
  for (const rank::Recommendation& view : all) {
    std::vector<Ledger::OnSale> ordered;
    for (const rank::Choice& choice : view.choices) {
      ordered.push_back({*offers.at(choice.offer), growth.at(choice.offer)});
    }
    for (const rank::Excluded& one : view.excluded) {
      const bool is_shut = one.why.bar == rank::Bar::cap && !growth.contains(one.offer);
      if (is_shut) ordered.push_back({*offers.at(one.offer), 0});
    }
    for (Ledger::OnSale& one : demand::best_of_class(std::move(ordered), most)) {
      OfferId id = one.offer.id;
      shown.emplace(std::move(id), std::move(one));
    }
  }
  std::vector<Ledger::OnSale> list;
  for (auto& [id, one] : shown) list.push_back(std::move(one));
  return list;
}

std::vector<OfferId> Advisor::best(const std::vector<Seen>& seen) const {
  const auto told = rank::recommend(rank::policy_of_class(policy_, {}), any_work(1),
                                    options_of(seen), held(), loop_.now(), 0);
  std::vector<OfferId> order;
  for (const rank::Choice& choice : told.choices) order.push_back(choice.offer);
  return order;
}

const Advisor::Said* Advisor::said_of(const OfferId& group) const {
  const auto known = said_.find(group);
  const bool is_fresh = known != said_.end() && loop_.now() - known->second.at < k_choice_holds;
  return is_fresh ? &known->second : nullptr;
}

// Where an expander asks, a purchase that it has not asked about is one whose question was lost:
// nobody knows whose pods it is for, so the rules of all classes hold.
std::optional<rank::Barred> Advisor::bar_of_any_class(const Said* said,
                                                      const rank::Option& option) const {
  if (said != nullptr || !has_expander_) return std::nullopt;
  for (const std::string& name : classes()) {
    const auto policy = rank::policy_of_class(policy_, name);
    if (auto bar = rank::first_bar(policy, any_work(1), option, loop_.now())) return bar;
  }
  return std::nullopt;
}

Result<Permit> Advisor::permit(const demand::GroupState& group, int32_t wanted) const {
  const Said* said = said_of(group.offer.id);
  if (said != nullptr && said->refusal) {
    return tl::unexpected(refusal_of(group.offer.id, *said->refusal));
  }
  const rank::Option option = option_of(group.offer);
  if (auto bar = bar_of_any_class(said, option)) {
    return tl::unexpected(refusal_of(group.offer.id, *bar));
  }
  const rank::EffectivePolicy policy =
      rank::policy_of_class(policy_, said == nullptr ? std::string() : said->workload_class);
  const auto told =
      rank::recommend(policy, any_work(wanted), std::vector{option}, held(), loop_.now(), 0);
  if (told.choices.empty()) {
    return tl::unexpected(refusal_of(group.offer.id, told.excluded.front().why));
  }
  const rank::Holding unit = rank::holding_of(option, 1, policy.workload_class, loop_.now());
  return Permit{told.choices.front().units,
                told.choices.front().fewer,
                {unit.workload_class, unit.currency, unit.rate, unit.milliwatt_grams,
                 unit.minimum_term, unit.started}};
}

int64_t Advisor::price(const model::Offer& offer, int64_t money, Duration time) const {
  const rank::EffectivePolicy policy = rank::policy_of_class(policy_, {});
  const rank::Tier& tier = policy.tiers.front();
  const rank::Figures figures =
      rank::figures_of(option_of(offer), policy.failure_half_life, loop_.now());
  rank::Expectation expect{time, 0};
  if (policy.expect.time.ms > 0) {
    expect.egress_bytes =
        multiply_divide_up(policy.expect.egress_bytes, time.ms, policy.expect.time.ms);
  }
  rank::Figures sent = figures;
  sent.rate = 0;
  rank::Amounts amounts = rank::amounts_of(figures, expect);
  amounts.money = rank::add_amounts(money, rank::amounts_of(sent, expect).money);
  const int64_t sum = rank::money_part(tier, amounts) + rank::carbon_part(tier, amounts) +
                      rank::round_trip_part(tier, amounts) + rank::failures_part(tier, amounts) +
                      rank::silence_part(tier, amounts);
  return std::max<int64_t>(sum, 1);
}

demand::Tried Advisor::after_try(const ClusterId& provider, bool is_failure) const {
  const auto& tried = ledger_.state().tried;
  const auto known = tried.find(provider);
  std::optional<rank::Failures> before;
  if (known != tried.end()) {
    before = rank::Failures{known->second.failures_micros, known->second.as_of};
  }
  const rank::Failures after = (is_failure ? rank::after_failure : rank::after_success)(
      before, policy_.failure_half_life, loop_.now());
  return {after.micros, after.as_of};
}

}  // namespace spillway::autoscaler
