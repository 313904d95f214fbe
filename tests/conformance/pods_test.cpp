// Where pods go, how they live and how they are sent away.
#include "conformance/cluster_under_test.h"

namespace spillway::conformance {
namespace {

using kube::k_deployments;
using kube::k_disruption_budgets;
using kube::k_leases;
using kube::k_nodes;
using kube::k_pods;
using model::text_at;

class Pods : public ConformanceTest {
 protected:
  std::string node_of(const std::string& name) {
    const auto read = cluster_.read(k_pods, named(name));
    return read ? std::string(text_at(*read, {"spec", "nodeName"})) : read.error().message();
  }
  void make(const Object& pod) {
    const auto made = cluster_.create(k_pods, pod);
    ASSERT_TRUE(made) << made.error().message();
  }
  size_t running(const std::string& app) {
    const auto all = cluster_.list(k_pods, {.space = space_, .labels = "app=" + app});
    size_t count = 0;
    for (const Object& one : *all) {
      count +=
          text_at(one, {"status", "phase"}) == "Running" && !kube::is_being_deleted(one) ? 1U : 0U;
    }
    return count;
  }
  Object deployment(const std::string& name, int replicas) const {
    Object made = kube::new_object(k_deployments, "Deployment", named(name));
    Object& spec = model::ensure(made, {"spec"});
    model::put(spec, "replicas", model::integer_node(replicas));
    model::merge(spec, parsed(R"({"selector":{"matchLabels":{"app":"web"}},
                                  "template":{"metadata":{"labels":{"app":"web"}}}})"));
    model::put(model::ensure(spec, {"template"}), "spec", *model::look(pod("any"), {"spec"}));
    return made;
  }
  bool wait_available(const std::string& name, int replicas) {
    return cluster_.wait_until(k_deployments, named(name), [&](const Object* seen) {
      return seen != nullptr &&
             model::integer_at(*seen, {"status", "availableReplicas"}) == replicas &&
             model::integer_at(*seen, {"status", "replicas"}) == replicas;
    });
  }
};

TEST_F(Pods, RunOnANodeThatHasRoom) {
  const std::string node = add_node("2");
  make(pod("a", "1500m"));
  EXPECT_TRUE(wait_running("a"));
  EXPECT_EQ(node_of("a"), node);
  make(pod("b", "600m"));
  EXPECT_TRUE(wait_unschedulable("b"));
  ASSERT_TRUE(cluster_.remove(k_pods, named("a")));
  EXPECT_TRUE(wait_running("b"));  // as soon as there is room
}

TEST_F(Pods, InitContainersAndOverheadOfTimeCountAsTheSchedulerCountsThem) {
  add_node("2");
  // The largest init container counts, not the sum; a sidecar counts with the containers.
  make(pod("fits", "1", R"({"initContainers":[
    {"name":"one","image":"none","resources":{"requests":{"cpu":"1900m"}}},
    {"name":"two","image":"none","resources":{"requests":{"cpu":"1900m"}}}]})"));
  EXPECT_TRUE(wait_running("fits"));
  ASSERT_TRUE(cluster_.remove(k_pods, named("fits")));
  ASSERT_TRUE(cluster_.wait_gone(k_pods, named("fits")));
  make(pod("sidecar", "1500m", R"({"initContainers":[
    {"name":"side","image":"none","restartPolicy":"Always","resources":{"requests":{"cpu":"600m"}}}]})"));
  EXPECT_TRUE(wait_unschedulable("sidecar"));
}

TEST_F(Pods, MayAskForNextToNothingAndForMoreThanAnyNodeHas) {
  add_node("4");
  make(pod("tiny", "1n"));
  const auto tiny = cluster_.read(k_pods, named("tiny"));
  ASSERT_TRUE(tiny) << tiny.error().message();
  EXPECT_EQ(text_at(model::items_at(*tiny, {"spec", "containers"}).front(),
                    {"resources", "requests", "cpu"}),
            "1m");
  EXPECT_TRUE(wait_running("tiny"));
  const auto owed = cluster_.create(k_pods, pod("owed", "-1n"));
  ASSERT_FALSE(owed);
  EXPECT_EQ(owed.error().code, Code::invalid);
  make(pod("huge", "100m", R"({"initContainers":[
    {"name":"one","image":"none","resources":{"requests":{"memory":"1E"}}}]})"));
  EXPECT_TRUE(wait_unschedulable("huge"));
  // More than 63 bits hold is taken, too; real schedulers then place it by what is left of it.
  make(pod("beyond", "100m", R"({"initContainers":[
    {"name":"one","image":"none","resources":{"requests":{"memory":"10E"}}}]})"));
}

TEST_F(Pods, StayOffTaintedNodesUnlessTheyTolerateIt) {
  add_node("4", R"({"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]})");
  make(pod("plain"));
  EXPECT_TRUE(wait_unschedulable("plain"));
  make(pod("tolerant", "100m",
           R"({"tolerations":[{"key":"gpu","operator":"Exists","effect":"NoSchedule"}]})"));
  EXPECT_TRUE(wait_running("tolerant"));
}

TEST_F(Pods, StayOffCordonedNodes) {
  const std::string node = add_node("4");
  ASSERT_TRUE(cluster_.patch(k_nodes, {"", node}, kube::PatchKind::strategic,
                             R"({"spec":{"unschedulable":true}})"));
  make(pod("a"));
  EXPECT_TRUE(wait_unschedulable("a"));
  ASSERT_TRUE(cluster_.patch(k_nodes, {"", node}, kube::PatchKind::strategic,
                             R"({"spec":{"unschedulable":null}})"));
  EXPECT_TRUE(wait_running("a"));
}

TEST_F(Pods, GoWhereTheirAffinitySays) {
  const std::string first = add_node("4");
  const std::string second = add_node("4");
  const std::string to_second = fmt::format(
      R"({{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":
        {{"nodeSelectorTerms":[{{"matchExpressions":[
          {{"key":"kubernetes.io/hostname","operator":"NotIn","values":["{}"]}}]}}]}}}}}}}})",
      first);
  make(pod("a", "100m", to_second));
  ASSERT_TRUE(wait_running("a"));
  EXPECT_EQ(node_of("a"), second);
  make(pod("apart", "100m", R"({"affinity":{"podAntiAffinity":
    {"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",
      "labelSelector":{"matchLabels":{"app":"web"}}}]}}})"));
  ASSERT_TRUE(wait_running("apart"));
  EXPECT_EQ(node_of("apart"), first);
}

TEST_F(Pods, WhatTheyNeedCannotChangeLater) {
  add_node();
  make(pod("a"));
  ASSERT_TRUE(wait_running("a"));
  const auto changed = cluster_.patch(k_pods, named("a"), kube::PatchKind::strategic,
                                      R"({"spec":{"nodeSelector":{"other":"node"}}})");
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::invalid) << changed.error().message();
}

TEST_F(Pods, WithoutContainersAreRefused) {
  const auto made = cluster_.create(k_pods, pod("a", "1", R"({"containers":null})"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::invalid) << made.error().message();
}

TEST_F(Pods, AreEvictedUnlessABudgetForbidsIt) {
  add_node();
  ASSERT_TRUE(cluster_.create(k_deployments, deployment("web", 2)));
  ASSERT_TRUE(wait_available("web", 2));
  Object budget = kube::new_object(k_disruption_budgets, "PodDisruptionBudget", named("web"));
  model::put(budget, "spec",
             parsed(R"({"minAvailable":2,"selector":{"matchLabels":{"app":"web"}}})"));
  ASSERT_TRUE(cluster_.create(k_disruption_budgets, budget));
  ASSERT_TRUE(cluster_.wait_until(k_disruption_budgets, named("web"), [](const Object* seen) {
    return seen != nullptr && model::integer_at(*seen, {"status", "currentHealthy"}) == 2;
  }));
  const auto pods = cluster_.list(k_pods, {.space = space_, .labels = "app=web"});
  ASSERT_EQ(pods->size(), 2U);
  const Name victim = kube::key_of(pods->front());
  const auto refused = cluster_.evict(victim);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::taken) << refused.error().message();
  ASSERT_TRUE(cluster_.patch(k_disruption_budgets, named("web"), kube::PatchKind::merge,
                             R"({"spec":{"minAvailable":1}})"));
  ASSERT_TRUE(cluster_.wait_until(k_disruption_budgets, named("web"), [](const Object* seen) {
    return seen != nullptr && model::integer_at(*seen, {"status", "disruptionsAllowed"}) == 1;
  }));
  EXPECT_TRUE(cluster_.evict(victim));
  EXPECT_TRUE(cluster_.wait_gone(k_pods, victim));
  EXPECT_EQ(cluster_.evict(victim).error().code, Code::not_found);
}

TEST_F(Pods, AreCountedByAQuota) {
  add_node();
  const kube::Resource quotas{"", "v1", "resourcequotas", true};
  Object quota = kube::new_object(quotas, "ResourceQuota", named("few"));
  model::put(quota, "spec", parsed(R"({"hard":{"pods":"9","count/pods":"9","services":"9",
      "services.nodeports":"9","services.loadbalancers":"9","count/ingresses.networking.k8s.io":"9",
      "persistentvolumeclaims":"9","requests.storage":"9","count/trees.nobody.has":"9",
      "requests.cpu":"9","requests.memory":"9Gi","requests.nvidia.com/gpu":"9"}})"));
  ASSERT_TRUE(cluster_.create(quotas, quota));
  const auto comes = [&](const char* pods, const char* all, const char* cpu, const char* memory) {
    return cluster_.wait_until(quotas, named("few"), [&](const Object* seen) {
      if (seen == nullptr) return false;
      const auto used = [seen](const char* what) {
        return text_at(*seen, {"status", "used", what});
      };
      return used("pods") == pods && used("count/pods") == all && used("services") == "0" &&
             used("requests.cpu") == cpu && used("requests.memory") == memory &&
             used("requests.nvidia.com/gpu") == "0" && used("services.nodeports") == "0" &&
             used("services.loadbalancers") == "0" &&
             used("count/ingresses.networking.k8s.io") == "0" && used("requests.storage") == "0" &&
             used("persistentvolumeclaims") == "0" && used("count/trees.nobody.has").empty() &&
             text_at(*seen, {"status", "hard", "count/trees.nobody.has"}) == "9";
    });
  };
  EXPECT_TRUE(comes("0", "0", "0", "0"));
  make(pod("a", "400m"));
  EXPECT_TRUE(comes("1", "1", "400m", "64Mi"));
  make(pod("b", "600m"));
  EXPECT_TRUE(comes("2", "2", "1", "128Mi"));
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(wait_running(name));
    ASSERT_TRUE(cluster_.remove(k_pods, named(name)));
  }
  EXPECT_TRUE(comes("0", "0", "0", "0"));
}

TEST_F(Pods, OfADeploymentComeAndGoWithIt) {
  add_node();
  ASSERT_TRUE(cluster_.create(k_deployments, deployment("web", 3)));
  EXPECT_TRUE(wait_available("web", 3));
  EXPECT_EQ(running("web"), 3U);
  ASSERT_TRUE(cluster_.patch(k_deployments, named("web"), kube::PatchKind::merge,
                             R"({"spec":{"replicas":1}})"));
  EXPECT_TRUE(wait_available("web", 1));
  const auto left = cluster_.list(k_pods, {.space = space_, .labels = "app=web"});
  ASSERT_FALSE(left->empty());
  ASSERT_TRUE(cluster_.remove(k_deployments, named("web"), {.propagation = "Background"}));
  for (const Object& one : *left) EXPECT_TRUE(cluster_.wait_gone(k_pods, kube::key_of(one)));
}

TEST_F(Pods, NodesSayThatTheyAreAlive) {
  const std::string node = add_node();
  // Its lease lasts for forty seconds: who renews it only in the second half is nearly given up.
  constexpr std::chrono::seconds k_half{20};
  std::string first;
  std::string then;
  EXPECT_TRUE(cluster_.wait_until(
      k_leases, {"kube-node-lease", node},
      [&](const Object* lease) {
        if (lease == nullptr) return false;
        EXPECT_EQ(model::integer_at(*lease, {"spec", "leaseDurationSeconds"}), 2 * k_half.count());
        then = text_at(*lease, {"spec", "renewTime"});
        if (first.empty()) first = then;
        return then != first;
      },
      k_half));
  EXPECT_LT(first, then);  // of one form, so their order is that of time
}

TEST_F(Pods, AreListedByTheNodeThatTheyAreOn) {
  const std::string node = add_node();
  make(pod("a"));
  ASSERT_TRUE(wait_running("a"));
  const auto found = cluster_.list(k_pods, {.fields = "spec.nodeName=" + node});
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(kube::name_in(found->front()), "a");
}

}  // namespace
}  // namespace spillway::conformance
