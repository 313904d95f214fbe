#include "rank/policy.h"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "rank/profiles.h"

namespace spillway::rank {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view k_least_policy = "noun: recommender-policy\nversion: 1\ncurrency: EUR\n";

std::string policy_refusal(const std::string& more) {
  const auto policy = policy_from_yaml(std::string(k_least_policy) + more, "policy.yaml");
  EXPECT_FALSE(policy) << more;
  return policy ? "" : policy.error().message();
}

Policy example_policy() {
  std::ifstream file("examples/recommender-policy.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto policy = policy_from_yaml(text, "examples/recommender-policy.yaml");
  EXPECT_TRUE(policy) << policy.error().message();
  return policy.value_or(Policy{});
}

Workload work_in(std::string kube_namespace, model::Labels labels = {}) {
  Workload workload;
  workload.kube_namespace = std::move(kube_namespace);
  workload.labels = std::move(labels);
  return workload;
}

TEST(RecommenderPolicy, NeedsACurrencyOnlyAndIsBalancedThen) {
  const auto policy = policy_from_yaml(k_least_policy);
  ASSERT_TRUE(policy) << policy.error().message();
  const EffectivePolicy effective = effective_policy(*policy, {});
  EXPECT_EQ(effective.tiers, tiers_of(Profile::balanced));
  EXPECT_EQ(effective.expect.time, hours(1));
  EXPECT_EQ(effective.cluster_caps, Caps{});
  EXPECT_EQ(effective.workload_class, "");
}

TEST(RecommenderPolicy, ReadsTheExample) {
  const Policy policy = example_policy();
  EXPECT_EQ(policy.standard.tiers->at(0).carbon_kg, 100'000);
  EXPECT_EQ(policy.standard.caps.carbon_kg.day, 25'000'000);
  EXPECT_EQ(policy.standard.providers->deny, std::vector{ClusterId("cheap-but-gone")});
  EXPECT_EQ(policy.classes.size(), 2U);
  EXPECT_EQ(policy_from_json(to_json(policy)).value(), policy);
  EXPECT_EQ(policy_from_yaml(to_yaml(policy)).value(), policy);
}

TEST(RecommenderPolicy, AClassReplacesWhatItNamesAndInheritsTheRest) {
  const EffectivePolicy batch = effective_policy(example_policy(), work_in("batch"));
  EXPECT_EQ(batch.workload_class, "batch");
  EXPECT_EQ(batch.tiers, tiers_of(Profile::greenest));
  EXPECT_EQ(batch.rules.max_unit_hour, 4'000'000);
  EXPECT_EQ(batch.expect, (Expectation{hours(12), 0}));  // the section as a whole
  EXPECT_EQ(batch.cluster_caps.money.day, 100'000'000);  // no class lifts what the cluster forbids
  EXPECT_EQ(batch.class_caps.money.day, 40'000'000);
}

TEST(RecommenderPolicy, TheFirstClassThatMatchesCounts) {
  const model::Labels frontend = {{"app.kubernetes.io/component", "frontend"}};
  const Policy policy = example_policy();
  EXPECT_EQ(effective_policy(policy, work_in("training", frontend)).workload_class, "batch");
  EXPECT_EQ(effective_policy(policy, work_in("shop", frontend)).workload_class, "interactive");
  EXPECT_EQ(effective_policy(policy, work_in("shop")).workload_class, "");
}

TEST(RecommenderPolicy, AWorkloadMayKnowBetterThanThePolicyWithinReason) {
  Workload workload;
  workload.time = hours(3);
  workload.egress_bytes = -1;
  const EffectivePolicy effective = effective_policy(Policy{}, workload);
  EXPECT_EQ(effective.expect, (Expectation{hours(3), 0}));
}

TEST(RecommenderPolicy, SaysWhereASlipIsAndWhatWasMeant) {
  EXPECT_THAT(policy_refusal("profil: cheapest\n"), HasSubstr("profile"));
  EXPECT_THAT(policy_refusal("profile: cheepest\n"), HasSubstr("cheapest"));
  EXPECT_THAT(policy_refusal("tiers:\n  - {mony: 100%}\n"), HasSubstr("policy.yaml line 5"));
  EXPECT_THAT(policy_refusal("tiers:\n  - {mony: 100%}\n"), HasSubstr("money"));
  EXPECT_THAT(policy_refusal("tiers: []\n"), HasSubstr("tiers"));
  EXPECT_THAT(policy_refusal("tiers: [{step: 1}]\n"), HasSubstr("tiers[0]"));
  EXPECT_THAT(policy_refusal("tiers: [{failure: -1}]\n"), HasSubstr("tiers[0].failure"));
  EXPECT_THAT(policy_refusal("profile: safest\ntiers: [{money: 1%}]\n"), HasSubstr("one of the"));
  EXPECT_THAT(policy_refusal("caps: {money: {day: -1}}\n"), HasSubstr("caps.money.day"));
  EXPECT_THAT(policy_refusal("caps: {money: {week: 1}}\n"), HasSubstr("week"));
  EXPECT_THAT(policy_refusal("rules: {countries: [it]}\n"), HasSubstr("rules.countries[0]"));
  EXPECT_THAT(policy_refusal("rules: {max_failures: -0.5}\n"), HasSubstr("rules.max_failures"));
  EXPECT_THAT(policy_refusal("rules: {max_round_trip: 2m}\n"), HasSubstr("rules.max_round_trip"));
  EXPECT_THAT(policy_refusal("expect: {time: 1s}\n"), HasSubstr("expect.time"));
  EXPECT_THAT(policy_refusal("failure_half_life: 0s\n"), HasSubstr("failure_half_life"));
  EXPECT_THAT(policy_refusal("providers: {allow: [a], deny: [a]}\n"),
              HasSubstr("providers.deny[0]"));
}

TEST(RecommenderPolicy, RefusesClassesThatAreAmbiguous) {
  EXPECT_THAT(policy_refusal("classes: [{name: a}]\n"), HasSubstr("matches all work"));
  EXPECT_THAT(policy_refusal("classes: [{name: A, namespaces: [a]}]\n"),
              HasSubstr("classes[0].name"));
  EXPECT_THAT(policy_refusal("classes: [{name: a, namespaces: [a]}, {name: a, namespaces: [b]}]\n"),
              HasSubstr("classes[1].name"));
  EXPECT_THAT(policy_refusal("classes: [{name: a, namespaces: [a], caps: {carbon_kg: {hour: x}}}]"),
              HasSubstr("classes[0].caps.carbon_kg.hour"));
}

TEST(Profiles, PrintWhatTheyExpandTo) {
  EXPECT_EQ(to_yaml(policy_of(Profile::greenest)), R"(noun: recommender-policy
version: 1
currency: EUR
tiers:
- step: "0.00001"
  carbon_kg: "1"
- money: "100%"
  carbon_kg: "0.1"
  round_trip_ms: "0.0001"
  failure: "0.05"
  silence_minute: "0.005"
)");
  for (const Profile profile : k_profiles) {
    const Policy policy = policy_of(profile);
    EXPECT_TRUE(validate(policy)) << to_text(profile);
    EXPECT_EQ(policy_from_yaml(to_yaml(policy)).value(), policy);
    EXPECT_EQ(parse_profile(to_text(profile)).value(), profile);
  }
  EXPECT_THAT(parse_profile("chepest").error().next, HasSubstr("cheapest"));
}

}  // namespace
}  // namespace spillway::rank
