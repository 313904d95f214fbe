#include "supply/policy.h"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view k_least = R"(noun: policy
version: 1
ladder:
  - {name: small, shape: {cpu: 2, memory: 8Gi, pods: 20}}
price: {currency: EUR, cpu_hour: 0.02}
place: {latitude: 45, longitude: 7}
)";

std::string refusal(const std::string& more) {
  const auto policy = policy_from_yaml(std::string(k_least) + more, "policy.yaml");
  EXPECT_FALSE(policy) << more;
  return policy ? "" : policy.error().message();
}

TEST(Policy, NeedsLadderPriceAndPlaceOnly) {
  const auto policy = policy_from_yaml(k_least);
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->quota.share_permille, 1000);
  EXPECT_EQ(policy->guests, GuestRule{});
  EXPECT_TRUE(policy->hours.empty());
  EXPECT_EQ(policy->visibility, model::Visibility{});  // unlisted is denied
}

TEST(Policy, ReadsTheExample) {
  std::ifstream file("examples/agent-policy.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto policy = policy_from_yaml(text, "examples/agent-policy.yaml");
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->ladder.size(), 3U);
  EXPECT_EQ(policy->headroom.share_permille, 50);
  EXPECT_EQ(policy->headroom.amount.cpu_millis, 500);
  EXPECT_EQ(policy->quota.most.cpu_millis, 200'000);
  EXPECT_TRUE(policy->hours.empty()) << "who tries it at noon sees nothing on sale";
  EXPECT_FALSE(policy->taints.at(1).pass);
  EXPECT_EQ(policy->gpu_models.at("NVIDIA-A100-SXM4-40GB"), "nvidia-a100");
  EXPECT_EQ(policy_from_json(to_json(*policy)).value(), *policy);
}

TEST(Policy, ReadsTheHoursThatTheExampleShowsInAComment) {
  std::ifstream file("examples/agent-policy.yaml");
  std::string text;
  for (std::string line; std::getline(file, line);) {
    const bool is_hours = line.starts_with("# hours:") || line.starts_with("#   - {days:");
    text += (is_hours ? line.substr(2) : line) + "\n";
  }
  const auto policy = policy_from_yaml(text, "examples/agent-policy.yaml");
  ASSERT_TRUE(policy) << policy.error().message();
  ASSERT_EQ(policy->hours.size(), 2U);
  EXPECT_EQ(policy->hours[0].from.minutes, 18 * 60);
  EXPECT_EQ(policy->hours[1].to.minutes, 24 * 60);
}

TEST(Policy, SaysWhereASlipIs) {
  EXPECT_THAT(refusal("hours:\n  - {from: 25:00}\n"), HasSubstr("policy.yaml line 8"));
  EXPECT_THAT(refusal("hours:\n  - {from: 9:00}\n"), HasSubstr("is no time of day"));
  EXPECT_THAT(refusal("hours: [{days: [monday]}]\n"), HasSubstr("mon"));
  EXPECT_THAT(refusal("headrom: {cpu: 1}\n"), HasSubstr("headroom"));
  EXPECT_THAT(refusal("headroom: {share: 101%}\n"),
              HasSubstr("headroom.share: 101% is out of range; use 0% to 100%"));
  EXPECT_THAT(refusal("quota: {share: 100.1%}\n"), HasSubstr("quota.share: 100.1% is"));
  EXPECT_THAT(refusal("quota: {most: {cpu: -1}}\n"), HasSubstr("negative"));
  EXPECT_THAT(refusal("nodes: [{key: zone}]\n"), HasSubstr("nodes[0].values"));
  EXPECT_THAT(refusal("taints: [{key: 'a b'}]\n"), HasSubstr("taints[0].key"));
  EXPECT_THAT(refusal("labels: {pass: [zone], add: {zone: a}}\n"), HasSubstr("labels.pass[0]"));
  EXPECT_THAT(refusal("gpu_models: {X: ''}\n"), HasSubstr("gpu_models"));
  EXPECT_THAT(refusal("guests: {namespaces: [A]}\n"), HasSubstr("guests.namespaces[0]"));
}

TEST(Policy, RefusesALadderThatSellsNothing) {
  const auto with = [](std::vector<Step> ladder) {
    OfferingPolicy policy = plain_policy();
    policy.ladder = std::move(ladder);
    const Status status = validate(policy);
    return status ? std::string() : status.error().message();
  };
  EXPECT_THAT(with({}), HasSubstr("ladder"));
  EXPECT_THAT(with({step("small", 2, 8, 0)}), HasSubstr("pods"));
  EXPECT_THAT(with({step("small", 2, 8), step("small", 4, 8)}), HasSubstr("ladder[1].name"));
  EXPECT_THAT(with({step("Small", 2, 8)}), HasSubstr("ladder[0].name"));
  Step dear = step("dear", 2, 8);
  dear.price.emplace().cpu_hour = model::k_max_price;
  EXPECT_THAT(with({dear}), HasSubstr("cost more"));
}

TEST(Policy, TellsWhenRowsMustBeMadeAnew) {
  OfferingPolicy other = plain_policy();
  other.headroom.share_permille = 7;
  EXPECT_FALSE(needs_new_rows(plain_policy(), other));
  other.guests.namespaces = {"guests"};
  EXPECT_TRUE(needs_new_rows(plain_policy(), other));
}

}  // namespace
}  // namespace spillway::supply
