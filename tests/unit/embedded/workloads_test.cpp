// Deployments, disruption budgets and evictions, custom resources.
#include <gtest/gtest.h>

#include "support/embedded_world.h"

namespace spillway::test {
namespace {

const std::string k_deployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string k_budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const std::string k_definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string deployment_text(int replicas, std::string_view image) {
  return fmt::format(
      R"({{"metadata":{{"name":"web"}},"spec":{{"replicas":{},)"
      R"("selector":{{"matchLabels":{{"app":"web"}}}},"template":{{"metadata":{{"labels":)"
      R"({{"app":"web"}}}},"spec":{{"containers":[{{"name":"c","image":"{}"}}]}}}}}}}})",
      replicas, image);
}

std::string eviction_text(std::string_view name) {
  return fmt::format(R"({{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{}"}}}})",
                     name);
}

TEST(EmbeddedDeployments, RunTheirPodsAndReplaceThoseThatGo) {
  EmbeddedWorld world(with_nodes(2));
  EXPECT_EQ(world.post(k_deployments, deployment_text(3, "app:1")).status, 201);
  world.loop.run();
  const Told web = world.get(k_deployments + "/web");
  EXPECT_EQ(web.number({"status", "availableReplicas"}), 3);
  EXPECT_EQ(web.number({"status", "observedGeneration"}), 1);
  const Told pods = world.get(k_pods + "?labelSelector=app%3Dweb");
  ASSERT_EQ(pods.count({"items"}), 3U);
  const std::string name(
      model::text_at(model::items_at(pods.body, {"items"})[0], {"metadata", "name"}));
  world.erase(k_pods + "/" + name);
  world.loop.run();
  EXPECT_EQ(world.get(k_pods).count({"items"}), 3U);
  EXPECT_EQ(world.get(k_pods + "/" + name).status, 404);
}

TEST(EmbeddedDeployments, RollToANewTemplate) {
  EmbeddedWorld world(with_nodes(2));
  world.post(k_deployments, deployment_text(4, "app:1"));
  world.loop.run();
  world.ask("PATCH", k_deployments + "/web",
            R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"app:2"}]}}}})",
            "application/strategic-merge-patch+json");
  world.loop.run();
  const Told web = world.get(k_deployments + "/web");
  EXPECT_EQ(web.number({"status", "updatedReplicas"}), 4);
  EXPECT_EQ(web.number({"status", "replicas"}), 4);
  const Told pods = world.get(k_pods);
  ASSERT_EQ(pods.count({"items"}), 4U);
  for (const model::Node& pod : model::items_at(pods.body, {"items"})) {
    EXPECT_EQ(model::text_at(model::items_at(pod, {"spec", "containers"})[0], {"image"}), "app:2");
  }
}

TEST(EmbeddedDeployments, ScaleAndTakeTheirPodsWithThem) {
  EmbeddedWorld world(with_nodes(1));
  world.post(k_deployments, deployment_text(1, "app:1"));
  world.loop.run();
  const Told scale = world.merge(k_deployments + "/web/scale", R"({"spec":{"replicas":5}})");
  EXPECT_EQ(scale.text({"kind"}), "Scale");
  world.loop.run();
  EXPECT_EQ(world.get(k_pods).count({"items"}), 5U);
  EXPECT_EQ(world.erase(k_deployments + "/web").status, 200);
  world.loop.run();
  EXPECT_EQ(world.get(k_pods).count({"items"}), 0U);
}

TEST(EmbeddedDeployments, GoLastInAForegroundDeletion) {
  EmbeddedWorld world(with_nodes(1));
  world.post(k_deployments, deployment_text(2, "app:1"));
  world.loop.run();
  const Told going = world.erase(k_deployments + "/web",
                                 R"({"kind":"DeleteOptions","propagationPolicy":"Foreground"})");
  EXPECT_EQ(going.status, 202);
  EXPECT_EQ(world.get(k_deployments + "/web").status, 200);
  world.loop.run();
  EXPECT_EQ(world.get(k_deployments + "/web").status, 404);
  EXPECT_EQ(world.get(k_pods).count({"items"}), 0U);
}

TEST(EmbeddedEviction, IsRefusedWhileTheBudgetIsSpent) {
  EmbeddedWorld world(with_nodes(1));
  world.post(k_pods, pod_text("a", "", R"({"app":"db"})"));
  world.post(k_pods, pod_text("b", "", R"({"app":"db"})"));
  world.post(k_budgets, R"({"metadata":{"name":"db"},"spec":{"minAvailable":1,)"
                        R"("selector":{"matchLabels":{"app":"db"}}}})");
  world.loop.run();
  EXPECT_EQ(world.get(k_budgets + "/db").number({"status", "disruptionsAllowed"}), 1);
  const Told first = world.post(k_pods + "/a/eviction", eviction_text("a"));
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.text({"status"}), "Success");
  const Told second = world.post(k_pods + "/b/eviction", eviction_text("b"));
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.text({"reason"}), "TooManyRequests");
  EXPECT_EQ(second.text({"message"}),
            "Cannot evict pod as it would violate the pod's disruption budget.");
  const auto& causes = model::items_at(second.body, {"details", "causes"});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(model::text_at(causes[0], {"reason"}), "DisruptionBudget");
  world.loop.run();
  EXPECT_EQ(world.get(k_pods + "/a").status, 404);
}

TEST(EmbeddedEviction, NeedsNoBudgetForWhatDoesNotRun) {
  EmbeddedWorld world;
  world.post(k_pods, pod_text("a", "", R"({"app":"db"})"));
  world.post(k_budgets, R"({"metadata":{"name":"db"},"spec":{"minAvailable":1,)"
                        R"("selector":{"matchLabels":{"app":"db"}}}})");
  world.loop.run();
  EXPECT_EQ(world.post(k_pods + "/a/eviction", eviction_text("a")).status, 201);
  EXPECT_EQ(world.get(k_pods + "/a").status, 404);
}

TEST(EmbeddedWorkloads, AreTheSameWithTheSameSeed) {
  const auto story = [] {
    EmbeddedWorld world(with_nodes(3));
    world.post(k_deployments, deployment_text(5, "app:1"));
    world.loop.run_for(minutes(1));
    world.cluster.set_kubelet("node-2", false);
    world.merge(k_deployments + "/web/scale", R"({"spec":{"replicas":7}})");
    world.loop.run_for(minutes(10));
    world.erase(k_deployments + "/web");
    const auto all = world.send("GET", k_pods);
    return all->response->body;
  };
  EXPECT_EQ(story(), story());
}

std::string definition_text(std::string_view scope) {
  return fmt::format(
      R"({{"metadata":{{"name":"widgets.example.com"}},"spec":{{"group":"example.com","scope":"{}",)"
      R"("names":{{"plural":"widgets","kind":"Widget"}},"versions":[)"
      R"({{"name":"v1","served":true,"storage":true,"subresources":{{"status":{{}}}},"schema":)"
      R"({{"openAPIV3Schema":{{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}},)"
      R"({{"name":"v1alpha1","served":true,"storage":false}}]}}}})",
      scope);
}

TEST(EmbeddedDefinitions, AddAKindWithAStatusOfItsOwn) {
  EmbeddedWorld world;
  const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  EXPECT_EQ(world.get(widgets).status, 404);
  EXPECT_EQ(world.post(k_definitions, definition_text("Namespaced")).status, 201);
  world.loop.run();
  const Told made = world.post(
      widgets, R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},)"
               R"("spec":{"size":1},"status":{"phase":"Forged"}})");
  EXPECT_EQ(made.status, 201) << made.text({"message"});
  EXPECT_EQ(model::look(made.body, {"status"}), nullptr);
  EXPECT_EQ(world.merge(widgets + "/w/status", R"({"status":{"phase":"Ready"}})")
                .number({"metadata", "generation"}),
            1);
  EXPECT_EQ(
      world.merge(widgets + "/w", R"({"spec":{"size":2}})").number({"metadata", "generation"}), 2);
  const Told other = world.get("/apis/example.com/v1alpha1/namespaces/default/widgets/w");
  EXPECT_EQ(other.text({"apiVersion"}), "example.com/v1alpha1");
  EXPECT_EQ(other.text({"status", "phase"}), "Ready");
  EXPECT_EQ(
      world.ask("PATCH", widgets + "/w", "{}", "application/strategic-merge-patch+json").status,
      415);
}

TEST(EmbeddedDefinitions, TakeTheirObjectsWithThem) {
  EmbeddedWorld world;
  world.post(k_definitions, definition_text("Cluster"));
  world.loop.run();
  const std::string widgets = "/apis/example.com/v1/widgets";
  world.post(widgets, R"({"metadata":{"name":"w","finalizers":["example.com/x"]}})");
  world.erase(k_definitions + "/widgets.example.com");
  world.loop.run();
  EXPECT_EQ(world.get(k_definitions + "/widgets.example.com").status, 200);
  world.merge(widgets + "/w", R"({"metadata":{"finalizers":null}})");
  world.loop.run();
  EXPECT_EQ(world.get(k_definitions + "/widgets.example.com").status, 404);
  EXPECT_EQ(world.get(widgets).status, 404);
}

}  // namespace
}  // namespace spillway::test
