#include "rank/recommend.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/rank/random_options.h"
#include "rank/caps.h"

namespace spillway::rank {
namespace {

RC_GTEST_PROP(Recommend, AnswersTheSameWhateverTheOrderOfOptions, ()) {
  Question question = any_question();
  const std::string before = to_text(answer(question));
  for (size_t i = question.options.size(); i > 1; --i) {
    std::swap(question.options[i - 1], question.options[any<size_t>(0, i - 1)]);
  }
  std::reverse(question.held.begin(), question.held.end());
  RC_ASSERT(to_text(answer(question)) == before);
}

// A twin that is the same but for a lower price and a greater id.
RC_GTEST_PROP(Recommend, NeverPutsTheCheaperOfTwoThatAreAlikeLower, ()) {
  Question question = any_question();
  model::Offer dear = any_offer(OfferId("edge-5/dear"));
  dear.price.unit_hour += any<int64_t>(1, 400);
  model::Offer cheap = dear;
  cheap.id = OfferId("edge-5/very-cheap");
  cheap.price.unit_hour -= any<int64_t>(1, dear.price.unit_hour);
  Option option = any_option(dear);
  question.options.push_back(option);
  option.offer = &cheap;
  question.options.push_back(option);
  question.options.erase(std::remove_if(question.options.begin(), question.options.end() - 2,
                                        [](const Option& other) {
                                          return other.offer->id.text.starts_with("edge-5/");
                                        }),
                         question.options.end() - 2);
  const Recommendation told = answer(question);
  RC_CLASSIFY(!told.choices.empty());
  const size_t place = place_of(told, dear.id);
  if (place < told.choices.size()) RC_ASSERT(place_of(told, cheap.id) < place);
}

// Lowering one price never makes its offer rank lower, nor rules it out, nor allows fewer units.
RC_GTEST_PROP(Recommend, ALowerPriceNeverCostsAPlace, ()) {
  Question question = any_question();
  RC_PRE(!question.options.empty());
  const size_t which = any<size_t>(0, question.options.size() - 1);
  const OfferId id = question.options[which].offer->id;
  model::Offer cheaper = *question.options[which].offer;
  const Recommendation before = answer(question);
  const size_t place = place_of(before, id);
  RC_PRE(place < before.choices.size());
  cheaper.price.unit_hour = any<int64_t>(0, cheaper.price.unit_hour);
  cheaper.price.cpu_hour = any<int64_t>(0, cheaper.price.cpu_hour);
  question.options[which].offer = &cheaper;
  const Recommendation after = answer(question);
  RC_ASSERT(place_of(after, id) <= place);
  RC_ASSERT(after.choices[place_of(after, id)].units >= before.choices[place].units);
}

RC_GTEST_PROP(Recommend, IsBlindToWhatTheBuyerMayNotSee, ()) {
  Question question = any_question();
  const std::string with = to_text(answer(question));
  question.options.erase(std::remove_if(question.options.begin(), question.options.end(),
                                        [](const Option& option) { return !option.visible; }),
                         question.options.end());
  RC_ASSERT(to_text(answer(question)) == with);
}

// By the plain way: what is held after the choice was taken, summed up in each window.
Int128 plainly_taken(const std::vector<Holding>& held, WindowSpan span, bool is_money,
                     const std::string& workload_class) {
  Int128 sum = 0;
  for (const Holding& holding : held) {
    if (!workload_class.empty() && holding.workload_class != workload_class) continue;
    sum += taken_by(holding, span, is_money);
  }
  return sum;
}

// Over a cap already: then nothing that takes anything of it is recommended.
void check_caps(const Caps& caps, const Question& question, const Holding& more,
                const std::string& workload_class) {
  std::vector<Holding> after = question.held;
  after.push_back(more);
  for (const bool is_money : {true, false}) {
    const PerWindow& per = is_money ? caps.money : caps.carbon_kg;
    const std::pair<Window, std::optional<int64_t>> all[] = {
        {Window::hour, per.hour}, {Window::day, per.day}, {Window::month, per.month}};
    for (const auto& [window, cap] : all) {
      if (!cap) continue;
      const WindowSpan span = window_at(window, k_now);
      const Int128 taken = plainly_taken(after, span, is_money, workload_class);
      RC_ASSERT(taken <= *cap || taken_by(more, span, is_money) == 0);
    }
  }
}

RC_GTEST_PROP(Recommend, NoChoiceExceedsACap, ()) {
  Question question = any_question();
  // Most caps above are far from what is wanted; this one is near.
  (one_in(2) ? question.policy.standard.caps.money : question.policy.standard.caps.carbon_kg).hour =
      any<int64_t>(0, one_in(2) ? 2000 : 60'000);
  const EffectivePolicy effective = effective_policy(question.policy, question.workload);
  const Recommendation told = answer(question);
  for (const Choice& choice : told.choices) {
    RC_ASSERT(choice.units >= 1);
    RC_ASSERT(choice.units <= question.workload.units);
    for (const Option& option : question.options) {
      if (option.offer->id != choice.offer) continue;
      const Holding more = holding_of(option, choice.units, told.workload_class, k_now);
      check_caps(effective.cluster_caps, question, more, {});
      if (!told.workload_class.empty()) {
        check_caps(effective.class_caps, question, more, told.workload_class);
      }
    }
  }
}

RC_GTEST_PROP(Recommend, TheExplanationSumsUpToTheScore, ()) {
  for (const Choice& choice : answer(any_question()).choices) {
    for (size_t i = 0; i < choice.tiers.size(); ++i) {
      int64_t sum = 0;
      for (const Term& term : choice.tiers[i].terms) sum += term.amount;
      RC_ASSERT(sum == choice.score.exact[i]);
      RC_ASSERT(choice.tiers[i].counted == choice.score.counted[i]);
    }
  }
}

// Taking away what is known of an option never lets it score better.
RC_GTEST_PROP(Recommend, NobodyWinsBySilence, ()) {
  const EffectivePolicy policy = effective_policy(any_policy(), {});
  model::Offer open = any_offer(OfferId("edge-1/a"));
  if (!open.energy) open.energy = any_energy();
  open.energy->carbon_now = any(0, 10'000);
  open.energy->unit_milliwatts = any<int64_t>(0, 100'000'000);
  Option told = any_option(open);
  if (told.failures) told.failures->micros = any<int64_t>(0, k_untried_failures);  // good data
  model::Offer closed = open;
  Option silent = told;
  silent.offer = &closed;
  if (one_in(2)) closed.energy->unit_milliwatts.reset();
  if (one_in(2)) closed.energy.reset();
  if (one_in(2)) silent.round_trip.reset();
  if (one_in(2)) silent.failures.reset();
  if (one_in(2)) silent.heard.reset();
  const auto score = [&policy](const Option& option) {
    return score_of(figures_of(option, policy.failure_half_life, k_now), policy.expect,
                    policy.tiers);
  };
  RC_ASSERT(score(told) <= score(silent));
}

RC_GTEST_PROP(RecommenderPolicy, ReadsBackWhatItWrote, ()) {
  const Policy policy = any_policy();
  RC_ASSERT(policy_from_json(to_json(policy)).value() == policy);
  RC_ASSERT(policy_from_yaml(to_yaml(policy)).value() == policy);
}

RC_GTEST_PROP(Doubt, FailuresOnlyFade, ()) {
  const int64_t amount = any<int64_t>(0, int64_t{1} << any(0, 50));
  const Duration half_life{any<int64_t>(1, int64_t{1} << any(0, 33))};
  const Duration age{any<int64_t>(0, int64_t{1} << any(0, 40))};
  const Duration older = age + Duration{any<int64_t>(0, int64_t{1} << any(0, 30))};
  RC_ASSERT(decayed(amount, older, half_life) <= decayed(amount, age, half_life));
  RC_ASSERT(decayed(amount, age + half_life, half_life) <= decayed(amount, age, half_life) / 2 + 2);
}

}  // namespace
}  // namespace spillway::rank
