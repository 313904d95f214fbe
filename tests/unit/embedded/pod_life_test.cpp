// Pods find a node, run, end and go; nodes that fall silent are noticed.
#include <gtest/gtest.h>

#include "embedded/annotations.h"
#include "support/embedded_world.h"

namespace spillway::test {
namespace {

std::string wanting(std::string_view cpu) {
  return fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{"containers":[{{"name":"c",)"
                     R"("image":"app","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
                     cpu);
}

std::string message_of(const Told& pod) {
  for (const model::Node& condition : model::items_at(pod.body, {"status", "conditions"})) {
    if (model::text_at(condition, {"type"}) == "PodScheduled") {
      return std::string(model::text_at(condition, {"message"}));
    }
  }
  return {};
}

TEST(EmbeddedPods, AreBoundAndRun) {
  EmbeddedWorld world(with_nodes(2));
  world.post(k_pods, pod_text("p"));
  world.loop.run();
  const Told pod = world.get(k_pods + "/p");
  EXPECT_EQ(pod.text({"spec", "nodeName"}), "node-1");
  EXPECT_EQ(pod.text({"status", "phase"}), "Running");
  EXPECT_FALSE(pod.text({"status", "podIP"}).empty());
  ASSERT_EQ(pod.count({"status", "containerStatuses"}), 1U);
  EXPECT_EQ(pod.count({"status", "conditions"}), 5U);
}

TEST(EmbeddedPods, AreSpreadByWhatIsLeft) {
  EmbeddedWorld world(with_nodes(2));
  for (const char* name : {"a", "b"}) {
    world.post(k_pods, fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[)"
                                   R"({{"name":"c","image":"app","resources":{{"requests":)"
                                   R"({{"cpu":"2"}}}}}}]}}}})",
                                   name));
  }
  world.loop.run();
  EXPECT_NE(world.get(k_pods + "/a").text({"spec", "nodeName"}),
            world.get(k_pods + "/b").text({"spec", "nodeName"}));
}

TEST(EmbeddedPods, WaitWithTheSchedulersReasonUntilThereIsRoom) {
  EmbeddedWorld world(with_nodes(1));
  world.post(k_pods, wanting("5"));
  world.loop.run();
  const Told pod = world.get(k_pods + "/p");
  EXPECT_EQ(pod.text({"status", "phase"}), "Pending");
  EXPECT_EQ(message_of(pod),
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
            "0/1 nodes are available: 1 No preemption victims found for incoming pod.");
  ASSERT_TRUE(world.cluster.add_node({.name = "large", .cpu = "8"}));
  world.loop.run();
  EXPECT_EQ(world.get(k_pods + "/p").text({"spec", "nodeName"}), "large");
}

TEST(EmbeddedPods, AreNotPutOnCordonedOrTaintedNodes) {
  EmbeddedWorld world(with_nodes(2));
  world.loop.run();
  world.merge("/api/v1/nodes/node-1", R"({"spec":{"unschedulable":true}})");
  world.merge("/api/v1/nodes/node-2",
              R"({"spec":{"taints":[{"key":"gpu","value":"x","effect":"NoSchedule"}]}})");
  world.post(k_pods, pod_text("p"));
  world.post(k_pods, pod_text("tolerant", R"(,"tolerations":[{"key":"gpu","operator":"Exists"}])"));
  world.loop.run();
  EXPECT_EQ(message_of(world.get(k_pods + "/p")),
            "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were "
            "unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 "
            "Preemption is not helpful for scheduling.");
  EXPECT_EQ(world.get(k_pods + "/tolerant").text({"spec", "nodeName"}), "node-2");
}

TEST(EmbeddedPods, FollowNodeSelectorsAndAffinity) {
  EmbeddedWorld world(with_nodes(1));
  ASSERT_TRUE(world.cluster.add_node({.name = "green", .labels = {{"zone", "b"}}}));
  world.post(k_pods, pod_text("selected", R"(,"nodeSelector":{"zone":"b"})"));
  world.post(k_pods, pod_text("refused", R"(,"affinity":{"nodeAffinity":{)"
                                         R"("requiredDuringSchedulingIgnoredDuringExecution":{)"
                                         R"("nodeSelectorTerms":[{"matchExpressions":[)"
                                         R"({"key":"zone","operator":"In","values":["c"]}]}]}}})"));
  world.loop.run();
  EXPECT_EQ(world.get(k_pods + "/selected").text({"spec", "nodeName"}), "green");
  EXPECT_NE(message_of(world.get(k_pods + "/refused"))
                .find("2 node(s) didn't match Pod's node affinity/selector"),
            std::string::npos);
}

TEST(EmbeddedPods, KeepApartFromThoseTheyMind) {
  EmbeddedWorld world(with_nodes(2));
  const std::string apart =
      R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"db"}}}]}})";
  for (const char* name : {"a", "b", "c"}) {
    world.post(k_pods, pod_text(name, apart, R"({"app":"db"})"));
  }
  world.loop.run();
  EXPECT_NE(world.get(k_pods + "/a").text({"spec", "nodeName"}),
            world.get(k_pods + "/b").text({"spec", "nodeName"}));
  EXPECT_NE(
      message_of(world.get(k_pods + "/c")).find("2 node(s) didn't match pod anti-affinity rules"),
      std::string::npos);
}

TEST(EmbeddedPods, EndByThemselvesWhenToldSo) {
  EmbeddedWorld world(with_nodes(1));
  world.post(k_pods,
             R"({"metadata":{"name":"job","annotations":{)"
             R"("embedded.spillway.dev/run-for":"5s"}},)"
             R"("spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"a"}]}})");
  world.loop.run_for(seconds(4));
  EXPECT_EQ(world.get(k_pods + "/job").text({"status", "phase"}), "Running");
  world.loop.run_for(seconds(2));
  EXPECT_EQ(world.get(k_pods + "/job").text({"status", "phase"}), "Succeeded");
}

TEST(EmbeddedPods, AreGivenTimeToStop) {
  EmbeddedWorld world(with_nodes(1));
  world.post(k_pods, R"({"metadata":{"name":"slow","annotations":{)"
                     R"("embedded.spillway.dev/stop-after":"20s"}},)"
                     R"("spec":{"containers":[{"name":"c","image":"a"}]}})");
  world.loop.run();
  const Told going = world.erase(k_pods + "/slow");
  EXPECT_EQ(going.status, 200);
  EXPECT_EQ(going.number({"metadata", "deletionGracePeriodSeconds"}), 30);
  world.loop.run_for(seconds(19));
  EXPECT_EQ(world.get(k_pods + "/slow").status, 200);
  world.loop.run_for(seconds(2));
  EXPECT_EQ(world.get(k_pods + "/slow").status, 404);
}

TEST(EmbeddedPods, GoAtOnceWhenTheyHaveNoNode) {
  EmbeddedWorld world;
  world.post(k_pods, pod_text("p"));
  world.loop.run();
  EXPECT_EQ(world.erase(k_pods + "/p").status, 200);
  EXPECT_EQ(world.get(k_pods + "/p").status, 404);
}

TEST(EmbeddedNodes, ReportThatTheyAreReadyAndGoOnDoingSo) {
  EmbeddedWorld world(with_nodes(1));
  world.loop.run();
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1";
  const std::string first(world.get(lease).text({"spec", "renewTime"}));
  world.loop.run_for(minutes(10));
  EXPECT_GT(world.get(lease).text({"spec", "renewTime"}), first);
  const Told node = world.get("/api/v1/nodes/node-1");
  EXPECT_EQ(node.count({"spec", "taints"}), 0U);
  EXPECT_EQ(node.text({"status", "allocatable", "cpu"}), "4");
}

TEST(EmbeddedNodes, AreUnreachableAfterTheirKubeletFallsSilentAndLoseTheirPods) {
  EmbeddedWorld world(with_nodes(2));
  world.post(k_pods, pod_text("p"));
  world.loop.run();
  ASSERT_EQ(world.get(k_pods + "/p").text({"spec", "nodeName"}), "node-1");
  world.cluster.set_kubelet("node-1", false);
  world.loop.run_for(seconds(45));
  EXPECT_EQ(world.get("/api/v1/nodes/node-1").count({"spec", "taints"}), 0U);
  world.loop.run_for(seconds(15));
  EXPECT_EQ(world.get("/api/v1/nodes/node-1").count({"spec", "taints"}), 2U);
  EXPECT_EQ(model::look(world.get(k_pods + "/p").body, {"metadata", "deletionTimestamp"}), nullptr);
  world.loop.run_for(seconds(310));
  EXPECT_NE(model::look(world.get(k_pods + "/p").body, {"metadata", "deletionTimestamp"}), nullptr);
  world.cluster.set_kubelet("node-1", true);
  world.loop.run_for(seconds(1));
  EXPECT_EQ(world.get(k_pods + "/p").status, 404);
  // Ready, and still tainted until the controller comes round: as on the real thing.
  EXPECT_EQ(world.get("/api/v1/nodes/node-1").count({"spec", "taints"}), 1U);
  world.loop.run_for(seconds(5));
  EXPECT_EQ(world.get("/api/v1/nodes/node-1").count({"spec", "taints"}), 0U);
}

TEST(EmbeddedNodes, LeaveNoPodsBehindWhenTheyAreDeleted) {
  EmbeddedWorld world(with_nodes(1));
  world.post(k_pods, pod_text("p"));
  world.loop.run();
  world.erase("/api/v1/nodes/node-1");
  world.loop.run_for(seconds(30));
  EXPECT_EQ(world.get(k_pods + "/p").status, 200);
  world.loop.run_for(seconds(60));
  EXPECT_EQ(world.get(k_pods + "/p").status, 404);
}

TEST(EmbeddedNodes, AreHeardOfByTheirStatusToo) {
  EmbeddedWorld world;
  world.post("/api/v1/nodes", R"({"metadata":{"name":"own"}})");
  for (int i = 0; i < 6; ++i) {
    world.merge("/api/v1/nodes/own/status",
                fmt::format(R"({{"status":{{"conditions":[{{"type":"Ready","status":"True",)"
                            R"("lastHeartbeatTime":"2026-01-31T09:3{}:00Z"}}]}}}})",
                            i));
    world.loop.run_for(seconds(30));
  }
  EXPECT_EQ(world.get("/api/v1/nodes/own").count({"spec", "taints"}), 0U);
  world.loop.run_for(seconds(60));
  EXPECT_EQ(world.get("/api/v1/nodes/own").count({"spec", "taints"}), 2U);
}

TEST(EmbeddedNamespaces, EmptyThemselvesAndThenGo) {
  EmbeddedWorld world(with_nodes(1));
  world.post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  world.loop.run();
  EXPECT_EQ(world.get("/api/v1/namespaces/team/serviceaccounts/default").status, 200);
  world.post("/api/v1/namespaces/team/configmaps",
             R"({"metadata":{"name":"held","finalizers":["example.com/x"]}})");
  world.post("/api/v1/namespaces/team/pods", pod_text("p"));
  world.loop.run();
  const Told going = world.erase("/api/v1/namespaces/team");
  EXPECT_EQ(going.text({"status", "phase"}), "Terminating");
  world.loop.run();
  EXPECT_EQ(world.get("/api/v1/namespaces/team/pods/p").status, 404);
  const Told late = world.post("/api/v1/namespaces/team/configmaps", config_text("late"));
  EXPECT_EQ(late.status, 403);
  EXPECT_EQ(late.text({"message"}),
            R"(configmaps "late" is forbidden: unable to create new content in namespace team )"
            "because it is being terminated");
  world.merge("/api/v1/namespaces/team/configmaps/held", R"({"metadata":{"finalizers":null}})");
  world.loop.run();
  EXPECT_EQ(world.get("/api/v1/namespaces/team").status, 404);
  EXPECT_EQ(world.erase("/api/v1/namespaces/default").status, 403);
}

TEST(EmbeddedGarbage, GoesWithItsOwner) {
  EmbeddedWorld world;
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const std::string uid(world.post(maps, config_text("owner")).text({"metadata", "uid"}));
  world.post(maps, fmt::format(R"({{"metadata":{{"name":"owned","ownerReferences":[{{"apiVersion":)"
                               R"("v1","kind":"ConfigMap","name":"owner","uid":"{}"}}]}}}})",
                               uid));
  world.loop.run();
  EXPECT_EQ(world.get(maps + "/owned").status, 200);
  world.erase(maps + "/owner");
  world.loop.run();
  EXPECT_EQ(world.get(maps + "/owned").status, 404);
}

}  // namespace
}  // namespace spillway::test
