// Agent and autoscaler that live in their cluster as one member: the autoscaler buys with the
// identity and the papers of the agent, which makes virtual nodes of it. All of them are processes,
// on embedded clusters with Liqo.
#include <fstream>

#include "cluster_autoscaler/cloud_client.h"
#include "integration/cli/federation.h"
#include "live/autoscaler_process.h"
#include "live/seen_cluster.h"

namespace spillway::cli {
namespace {

using cluster_autoscaler::CloudClient;
using testing::Contains;
using testing::Each;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const std::string k_member_policy =
    "noun: policy\n"
    "version: 1\n"
    "ladder:\n"
    "  - {name: small, shape: {cpu: 1, memory: 1Gi, pods: 5}}\n"
    "price: {currency: EUR, cpu_hour: 0.02}\n"
    "place: {latitude: 45.46, longitude: 9.19, country: IT}\n"
    "visibility: everyone\n";

class OneMember : public Federation {
 protected:
  void SetUp() override {
    Federation::SetUp();
    for (const std::string name : {"milan", "rome"}) {
      run(name + "-cluster",
          {"cluster", "run", name, "--liqo", "--kubeconfig", kubeconfig(name), "--nodes", "2"});
      ASSERT_TRUE(programs.back()->says("listens on")) << log_of(name + "-cluster");
    }
    join("milan", "provider");
    std::ofstream(folder / "policy.yaml") << k_member_policy;
    run("milan-agent", {"agent", "--dir", folder / "milan", "--policy", folder / "policy.yaml",
                        "--kubeconfig", kubeconfig("milan"), "--fabric", "liqo"});
    rome = std::make_unique<test::SeenCluster>(kubeconfig("rome"));
  }
  void TearDown() override { rome.reset(); }

  std::string kubeconfig(const std::string& name) const { return folder / (name + ".kubeconfig"); }
  std::string log_of(const std::string& name) const { return text_of(folder / (name + ".err")); }
  void run(const std::string& name, const std::vector<std::string>& words) {
    programs.push_back(
        std::make_unique<Running>(words, folder / (name + ".out"), folder / (name + ".err")));
  }
  void start_autoscaler() {
    run("autoscaler", {"autoscaler", "--in-cluster", "rome-autoscaler", "--identity-of",
                       "rome-agent", "--kubeconfig", kubeconfig("rome"), "--backend", "liqo",
                       "--plaintext", "--listen", "127.0.0.1:" + std::to_string(calls_port)});
  }
  void start_agent() {
    const Ended token =
        run_spillway("token create --cluster rome --roles consumer -o plain" + ada());
    ASSERT_TRUE(pki::write_private(folder / "token", token.out));
    run("agent", {"agent", "--in-cluster", "rome-agent", "--kubeconfig", kubeconfig("rome"),
                  "--fabric", "liqo", "--join", url(), "--token-file", folder / "token"});
  }
  bool autoscaler_says(const std::string& what) const {
    return test::comes_true([&] { return log_of("autoscaler").find(what) != std::string::npos; });
  }
  std::string first_group(CloudClient& cloud) const {
    std::string group;
    EXPECT_TRUE(test::comes_to(cloud, [&] {
      const auto groups = cloud.groups();
      if (groups && !groups->empty()) group = groups->front().id;
      return !group.empty();
    })) << log_of("autoscaler");
    return group;
  }
  bool has_nodes(size_t ready) {
    return test::comes_true([&] { return test::provider_ids(*rome).size() == ready; });
  }
  std::vector<std::string> names(const kube::Resource& kind) {
    std::vector<std::string> found;
    for (const kube::Object& object : rome->list(kind, "")) {
      const std::string name(kube::name_in(object));
      if (name.starts_with("rome-")) found.push_back(name);
    }
    return found;
  }

  uint16_t calls_port = free_port();
  std::vector<std::unique_ptr<Running>> programs;
  std::unique_ptr<test::SeenCluster> rome;
};

TEST_F(OneMember, WhatTheAutoscalerBuysTheAgentMakesANodeOf) {
  start_autoscaler();
  ASSERT_TRUE(autoscaler_says("there is no identity in it yet")) << log_of("autoscaler");
  start_agent();
  ASSERT_TRUE(autoscaler_says("autoscaler started")) << log_of("autoscaler") << log_of("agent");
  test::StraightCalls calls({.port = calls_port});
  CloudClient cloud = calls.cloud();
  const std::string group = first_group(cloud);
  // Until Liqo is known on both sides nothing can be bought for a fabric.
  ASSERT_TRUE(test::comes_to(cloud, [&] { return cloud.increase(group, 2).has_value(); }))
      << log_of("autoscaler");
  ASSERT_TRUE(has_nodes(2)) << log_of("autoscaler") << log_of("agent");
  EXPECT_THAT(test::provider_ids(*rome), Each(StartsWith("spillway://")));
  EXPECT_TRUE(test::comes_to(cloud, [&] {
    const auto nodes = cloud.nodes(group);
    return nodes && nodes->size() == 2 && nodes->at(0).state == 1 && nodes->at(1).state == 1;
  }));
  // One identity and one set of papers: the agent's.
  EXPECT_THAT(
      names(kube::k_secrets),
      UnorderedElementsAre("rome-agent-identity", "rome-agent-state", "rome-autoscaler-state"));
  EXPECT_THAT(names(kube::k_config_maps), Each(StartsWith("rome-agent-")));
  EXPECT_THAT(names(kube::k_config_maps), Contains(StartsWith("rome-agent-paper-")));

  EXPECT_THAT(run_spillway("contracts -o plain" + dir("milan")).out, Not(IsEmpty()));
  std::vector<demand::NodeRef> nodes;
  for (const std::string& id : test::provider_ids(*rome)) nodes.push_back({id, ""});
  ASSERT_TRUE(cloud.remove(group, nodes).has_value()) << log_of("autoscaler");
  EXPECT_TRUE(has_nodes(0));
  const auto is_released = [](const Ended& seen) { return seen.out.empty(); };
  EXPECT_THAT(run_until("contracts -o plain" + dir("milan"), is_released).out, IsEmpty())
      << log_of("autoscaler");
}

// The same with a folder; and somebody buys by hand under that name.
TEST_F(OneMember, WhatWasBoughtByHandIsNotTheAutoscalersToEnd) {
  join("rome", "consumer");
  run("agent",
      {"agent", "--dir", folder / "rome", "--kubeconfig", kubeconfig("rome"), "--fabric", "liqo"});
  run("autoscaler",
      {"autoscaler", "--dir", folder / "rome", "--kubeconfig", kubeconfig("rome"), "--backend",
       "liqo", "--plaintext", "--listen", "127.0.0.1:" + std::to_string(calls_port)});
  ASSERT_TRUE(autoscaler_says("autoscaler started")) << log_of("autoscaler");
  test::StraightCalls calls({.port = calls_port});
  CloudClient cloud = calls.cloud();
  const std::string group = first_group(cloud);
  const Ended held = run_until("hold " + group + " --confirm --fabric liqo --kubeconfig '" +
                                   kubeconfig("rome") + "'" + dir("rome"),
                               [](const Ended& ended) { return ended.code == 0; });
  ASSERT_EQ(held.code, 0) << held.err;
  ASSERT_TRUE(has_nodes(1)) << log_of("agent");
  const std::string by_hand = test::provider_ids(*rome).front();
  ASSERT_TRUE(cloud.increase(group, 1).has_value()) << log_of("autoscaler");
  ASSERT_TRUE(has_nodes(2)) << log_of("agent");
  for (const std::string& id : test::provider_ids(*rome)) {
    if (id == by_hand) continue;
    EXPECT_TRUE(cloud.remove(group, demand::NodeRef{id, ""}).has_value());
  }
  EXPECT_TRUE(has_nodes(1));
  EXPECT_THAT(test::provider_ids(*rome), testing::ElementsAre(by_hand));
}

}  // namespace
}  // namespace spillway::cli
