#include "services/agent/agent_policy.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace spillway::agent {
namespace {

Result<AgentPolicy> example(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return agent_policy_from_yaml(text.str(), path);
}

TEST(AgentPolicy, OneSellsTheOtherLetsNamespacesLeaveAndAFileMayDoBoth) {
  const auto seller = example("examples/agent-policy.yaml");
  ASSERT_TRUE(seller) << seller.error().message();
  EXPECT_TRUE(seller->offering);
  EXPECT_EQ(seller->offload, fabric::OffloadPolicy{});
  const auto buyer = example("examples/offload-policy.yaml");
  ASSERT_TRUE(buyer) << buyer.error().message();
  EXPECT_FALSE(buyer->offering);
  EXPECT_FALSE(buyer->offload.namespaces.empty());
  std::stringstream both;
  both << std::ifstream("examples/agent-policy.yaml").rdbuf()
       << "\noffload: {namespaces: [shop]}\n";
  const auto whole = agent_policy_from_yaml(both.str());
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->offering, seller->offering);
  EXPECT_EQ(whole->offload.namespaces, std::vector<std::string>{"shop"});
}

TEST(AgentPolicy, ABuyersHasNothingButWhatMayLeave) {
  const auto policy = agent_policy_from_yaml(R"(
noun: policy
version: 1
offload:
  namespaces: [shop]
  labels: [{key: spill, operator: exists}]
  pods: remote
  trusted: {clusters: [milan], pinned: true}
)");
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_FALSE(policy->offering);
  EXPECT_EQ(policy->offload.namespaces, std::vector<std::string>{"shop"});
  EXPECT_EQ(policy->offload.pods, fabric::PodPlaces::remote);
  EXPECT_EQ(policy->offload.trusted.clusters, std::vector<ClusterId>{ClusterId("milan")});
  EXPECT_TRUE(policy->offload.trusted.pinned);
}

TEST(AgentPolicy, WhatIsGrantedMayStandAlone) {
  const auto policy = agent_policy_from_yaml(
      "noun: policy\nversion: 1\ngrant: {security: restricted, node_selector: {pool: lent}}\n");
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_FALSE(policy->offering);
  EXPECT_EQ(policy->grant.security, fabric::PodSecurity::restricted);
  EXPECT_EQ(policy->grant.node_selector, (model::Labels{{"pool", "lent"}}));
}

std::string refusal(const std::string& yaml) {
  const auto policy = agent_policy_from_yaml(yaml, "p.yaml");
  return policy ? std::string() : policy.error().message();
}

TEST(AgentPolicy, WhatIsWrongIsToldWithItsLine) {
  EXPECT_NE(refusal("version: 1\noffload:\n  namespaces:\n    - kube-system\n").find("line 4"),
            std::string::npos);
  EXPECT_NE(refusal("version: 1\noffload:\n  namespace: [shop]\n").find("namespaces"),
            std::string::npos)
      << "what was probably meant";
  EXPECT_NE(refusal("version: 1\noffload: {pods: local}\n").find("local-and-remote"),
            std::string::npos);
  // Whoever speaks of a sale says all that it takes.
  EXPECT_NE(
      refusal("version: 1\noffload: {}\nprice: {currency: EUR, cpu_hour: 1}\n").find("ladder"),
      std::string::npos);
  EXPECT_NE(refusal("version: 1\ngrant: {closed_networks: [here]}\n").find("203.0.113.0/24"),
            std::string::npos);
  EXPECT_NE(refusal("version: 1\nofload: {}\n").find("offload"), std::string::npos);
}

}  // namespace
}  // namespace spillway::agent
