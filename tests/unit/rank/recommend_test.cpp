#include "rank/recommend.h"

#include <gmock/gmock.h>

#include "model/limits.h"
#include "rank/caps.h"
#include "rank/profiles.h"
#include "unit/rank/options.h"

namespace spillway::rank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Recommendation ask(const Policy& policy, const Options& options, const Workload& workload = {}) {
  return recommend(policy, workload, options.all, {}, k_now);
}

TEST(Recommend, PutsTheCheaperFirstAndTiesByOfferId) {
  Options options;
  options.add("b/x");
  options.add("a/x");
  options.add("c/x");
  options.offer("c/x").price.unit_hour = 300'000;
  EXPECT_THAT(order_of(ask(policy_of(Profile::cheapest), options)),
              ElementsAre("c/x", "a/x", "b/x"));
}

TEST(Recommend, CountsTheMinimumTermAndEgress) {
  Options options;
  options.add("long/x");
  options.add("far/x");
  options.add("plain/x");
  options.offer("long/x").price.unit_hour = 100'000;
  options.offer("long/x").price.minimum_term = hours(10);
  options.offer("far/x").price.unit_hour = 350'000;
  options.offer("far/x").network.egress_gib_price = 50'000;
  Workload workload;
  workload.egress_bytes = 4 * k_gib;
  const auto told = ask(policy_of(Profile::cheapest), options, workload);
  EXPECT_THAT(order_of(told), ElementsAre("plain/x", "far/x", "long/x"));
  EXPECT_EQ(told.choices[1].score.money, 550'000);
  EXPECT_EQ(told.choices[2].score.money, 1'000'000);
  EXPECT_EQ(told.choices[2].tiers[0].terms[0].how,
            "0.1 EUR/h × 10h (minimum term) + 0 EUR/GiB × 4096 MiB sent");
}

TEST(Recommend, ATierDecidesOnlyWhereThoseBeforeItFindNoDifference) {
  Options options;
  options.add("a/x");
  options.add("b/x").round_trip = RoundTrip{1'000, k_now};
  options.offer("a/x").price.unit_hour = 392'000;
  const Tier near{.step = 0, .round_trip_ms = 1'000};
  const Tier exactly{.step = 0, .money_permille = 1000};
  const Tier roughly{.step = 50'000, .money_permille = 1000};
  EXPECT_THAT(order_of(ask(policy_with({exactly, near}), options)), ElementsAre("a/x", "b/x"));
  EXPECT_THAT(order_of(ask(policy_with({roughly, near}), options)), ElementsAre("b/x", "a/x"));
  EXPECT_THAT(order_of(ask(policy_with({roughly}), options)), ElementsAre("a/x", "b/x"));
}

TEST(Recommend, FollowsEachProfile) {
  Options options;
  options.add("cheap/x");
  options.add("green/x");
  options.add("near/x").round_trip = RoundTrip{2'000, k_now};
  for (Option& option : options.all) option.failures = Failures{400'000, k_now};
  options.add("safe/x");
  options.offer("cheap/x").price.unit_hour = 380'000;
  options.offer("green/x").energy = make_energy(5, 10'000);
  const auto best = [&options](Profile profile) {
    return order_of(ask(policy_of(profile), options)).at(0);
  };
  EXPECT_EQ(best(Profile::cheapest), "cheap/x");
  EXPECT_EQ(best(Profile::greenest), "green/x");
  EXPECT_EQ(best(Profile::closest), "near/x");
  EXPECT_EQ(best(Profile::safest), "safe/x");
}

TEST(Recommend, ExplainsEveryTerm) {
  Options options;
  options.add("a/x").failures = Failures{k_one_failure, k_now - hours(6)};
  options.offer("a/x").energy->provenance.as_of = k_now - hours(2);
  const auto told = ask(policy_of(Profile::balanced), options);
  ASSERT_EQ(told.choices.size(), 1U);
  const TierVerdict& tier = told.choices[0].tiers.at(0);
  ASSERT_EQ(tier.terms.size(), 5U);
  EXPECT_EQ(tier.terms[0], (Term{"money", 400'000, "0.4 EUR/h × 1h", false}));
  EXPECT_EQ(tier.terms[1],
            (Term{"carbon", 161,
                  "10 W × 100 g/kWh (counts as 161 g/kWh) [claimed by datasheet, 2h old] × 1h × "
                  "0.1 EUR/kg",
                  false}));
  EXPECT_EQ(tier.terms[2],
            (Term{"round trip", 2'000, "20 ms, measured 0s ago × 1h × 0.0001 EUR/ms", false}));
  EXPECT_EQ(tier.terms[3], (Term{"failures", 25'000, "0.5 remembered × 0.05 EUR each", false}));
  EXPECT_EQ(tier.terms[4], (Term{"silence", 0, "0s × 0.005 EUR/min", false}));
  EXPECT_EQ(tier.exact, told.choices[0].score.exact[0]);
}

TEST(Recommend, SaysOfEveryNumberThatNobodyGaveThatItIsEstimated) {
  Options options;
  options.add("a/x");
  options.offer("a/x").energy.reset();
  options.all[0].round_trip.reset();
  options.all[0].failures.reset();
  options.all[0].heard.reset();
  const std::string text = to_text(ask(policy_of(Profile::balanced), options));
  EXPECT_THAT(text, HasSubstr("75 W (not stated: assumed) × 1500 g/kWh [not stated: assumed]"));
  EXPECT_THAT(text, HasSubstr("400 ms (not measured: assumed)"));
  EXPECT_THAT(text, HasSubstr("1 (never tried: assumed)"));
  EXPECT_THAT(text, HasSubstr("1h (never heard of: assumed)"));
  EXPECT_THAT(text, HasSubstr("(estimated)"));
}

TEST(Recommend, RulesOutWithASentence) {
  Options options;
  for (const char* id : {"a/x", "b/x", "c/x", "d/x", "e/x", "f/x"}) options.add(id);
  options.offer("b/x").price.unit_hour = 5'000'000;
  options.offer("c/x").place.country = "US";
  options.offer("e/x").energy.reset();
  options.all[5].heard = k_now - hours(1);
  Policy policy;
  policy.standard.providers = Providers{{}, {ClusterId("d")}};
  Rules& rules = policy.standard.rules.emplace();
  rules.countries = {"IT"};
  rules.max_unit_hour = 4'000'000;
  rules.max_carbon = 500;
  rules.max_silence = minutes(10);
  const auto told = ask(policy, options);
  EXPECT_THAT(order_of(told), ElementsAre("a/x"));
  EXPECT_EQ(
      told.excluded,
      (std::vector<Excluded>{
          {OfferId("b/x"), {Bar::price, "5 EUR/h, at most 4 wanted"}},
          {OfferId("c/x"), {Bar::country, "in \"US\", one of IT is wanted"}},
          {OfferId("d/x"), {Bar::denied, "d is denied by the policy"}},
          {OfferId("e/x"), {Bar::carbon, "states no carbon that counts, at most 500 g/kWh wanted"}},
          {OfferId("f/x"),
           {Bar::silence, "its provider was last heard of 1h ago, at most 10m wanted"}}}));
}

TEST(Recommend, RulesOutByLabelShapeLeaseRoundTripFailuresAndEnd) {
  Options options;
  for (const char* id : {"a/x", "b/x", "c/x", "d/x", "e/x", "f/x", "g/x"}) {
    options.add(id);
    options.offer(id).labels = {{"arch", "amd64"}};
  }
  options.offer("a/x").labels = {{"arch", "arm64"}};
  options.offer("b/x").shape.cpu_millis = 100;
  options.offer("c/x").terms.lease = minutes(5);
  options.all[3].round_trip = RoundTrip{90'500, k_now};
  options.all[4].failures = Failures{3 * k_one_failure, k_now};
  options.offer("f/x").until = k_now;
  options.all[6].free_units = 0;
  Policy policy;
  Rules& rules = policy.standard.rules.emplace();
  rules.labels = {{"arch", model::Operator::in, {"amd64"}}};
  rules.min_lease = minutes(10);
  rules.max_round_trip = milliseconds(50);
  rules.max_failures = 2'500'000;
  Workload workload;
  workload.shape.cpu_millis = 1000;
  std::vector<std::string> bars;
  const auto told = ask(policy, options, workload);
  EXPECT_THAT(told.choices, IsEmpty());
  for (const Excluded& excluded : told.excluded) {
    bars.push_back(fmt::format("{}: {}", to_text(excluded.why.bar), excluded.why.sentence));
  }
  EXPECT_THAT(bars, ElementsAre(HasSubstr("label arch is \"arm64\", one of amd64 is wanted"),
                                HasSubstr("too little cpu"), HasSubstr("a lease of 5m"),
                                HasSubstr("a round trip counts as 90.5 ms"),
                                HasSubstr("3 failures remembered, at most 2.5"),
                                HasSubstr("ended: on sale until"), HasSubstr("sold out")));
}

TEST(Recommend, TakesFewerUnitsThanWantedRatherThanBreakACap) {
  Options options;
  options.add("a/x");
  options.add("b/x").free_units = 2;
  options.offer("b/x").price.unit_hour = 0;
  Policy policy;
  policy.standard.caps.money.month = 4'000'000;
  Workload workload;
  workload.units = 5;
  const Instant end = window_at(Window::month, k_now).to - hours(2);
  for (Option& option : options.all) option.heard = end;
  const auto told = recommend(policy, workload, options.all, {}, end);
  ASSERT_EQ(told.choices.size(), 2U);
  EXPECT_EQ(told.choices[0].units, 2);
  EXPECT_EQ(told.choices[0].fewer, "only 2 free");
  EXPECT_EQ(told.choices[1].units, 5);  // 2 h × 0.4 × 5
  policy.standard.caps.money.month = 3'999'999;
  EXPECT_EQ(recommend(policy, workload, options.all, {}, end).choices[1].units, 4);
  policy.standard.caps.money.month = 1;
  const auto capped = recommend(policy, workload, options.all, {}, end);
  ASSERT_EQ(capped.excluded.size(), 1U);
  EXPECT_EQ(capped.excluded[0].why.bar, Bar::cap);
}

TEST(Recommend, AbsurdNumbersRankLastAndTakeNobodyDown) {
  Options options;
  options.add("a/x").failures = Failures{INT64_MAX, k_now};
  options.all[0].round_trip = RoundTrip{INT64_MAX, k_now};
  options.all[0].heard = Instant{0};
  model::Offer& absurd = options.offer("a/x");
  absurd.price.unit_hour = model::k_max_price;
  absurd.price.minimum_term = model::k_longest_term;
  absurd.network.egress_gib_price = model::k_max_price;
  absurd.energy = make_energy(model::k_max_carbon, model::k_max_milliwatts);
  options.add("b/x");
  constexpr int64_t k_much = model::k_max_price;
  Policy policy = policy_with({{k_much, model::k_max_permille, k_much, k_much, k_much, k_much}});
  policy.standard.expect = Expectation{k_longest_expectation, model::k_max_amount};
  ASSERT_TRUE(validate(policy));
  EXPECT_THAT(order_of(ask(policy, options)), ElementsAre("b/x", "a/x"));
  policy.standard.rules.emplace().max_round_trip = minutes(1);
  EXPECT_THAT(order_of(ask(policy, options)), ElementsAre("b/x"));
  policy.standard.rules.reset();
  policy.standard.caps = {{1, 1, 1}, {1, 1, 1}};
  const std::vector<Holding> held(3, holding_of(options.all[0], INT32_MAX, "", k_now));
  EXPECT_THAT(recommend(policy, {}, options.all, held, k_now).choices, IsEmpty());
}

TEST(Recommend, LeavesNoTraceOfWhatTheBuyerMayNotSee) {
  Options options;
  options.add("a/x");
  options.add("b/x").visible = false;
  const auto told = ask(Policy{}, options);
  EXPECT_THAT(order_of(told), ElementsAre("a/x"));
  EXPECT_THAT(told.excluded, IsEmpty());
  EXPECT_THAT(to_text(told), HasSubstr("1 of 1 offers"));
}

TEST(Recommend, ExplainsOnlyAsManyAsAsked) {
  Options options;
  options.add("a/x");
  options.add("b/x");
  const auto told = recommend(Policy{}, {}, options.all, {}, k_now, 1);
  EXPECT_EQ(told.choices[0].tiers.size(), 1U);
  EXPECT_THAT(told.choices[1].tiers, IsEmpty());
  EXPECT_THAT(to_text(told.choices[0], told.currency),
              HasSubstr("a/x, 1 unit; 0.4021 EUR = money 0.4 + carbon 0.0001 + round trip"));
}

}  // namespace
}  // namespace spillway::rank
