// The back end of real nodes alone, against an embedded cluster that knows what a slice is: what
// NodeMaker promises, where somebody else makes the nodes.
#include "services/autoscaler/fabric_nodes.h"

#include <gtest/gtest.h>

#include "fabric/buyer.h"
#include "live/live_cluster.h"
#include "support/comes_true.h"
#include "support/nouns.h"

namespace spillway::autoscaler {
namespace {

using test::comes_true;

const kube::Resource k_slice_kind{"authentication.liqo.io", "v1beta1", "resourceslices"};

class FabricNodesTest : public ::testing::Test {
 protected:
  FabricNodesTest() {
    create(kube::Resource{"apiextensions.k8s.io", "v1", "customresourcedefinitions", false},
           R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
               "metadata":{"name":"resourceslices.authentication.liqo.io"},
               "spec":{"group":"authentication.liqo.io","scope":"Namespaced",
                 "names":{"plural":"resourceslices","kind":"ResourceSlice"},
                 "versions":[{"name":"v1beta1","served":true,"storage":true,"schema":
                   {"openAPIV3Schema":{"type":"object",
                     "x-kubernetes-preserve-unknown-fields":true}}}]}})");
    home_.thread().run([&] {
      session_ = home_.open(home_.admin());
      nodes_ = std::make_unique<FabricNodes>(session_->api(), log_);
      return true;
    });
  }
  ~FabricNodesTest() override {
    home_.thread().run([this] {
      nodes_.reset();
      session_.reset();
      return true;
    });
  }

  void create(const kube::Resource& kind, const std::string& json) {
    const auto made = home_.thread().ask<Result<kube::Object>>(
        [&](auto then) { home_.api().create(kind, model::parse_json(json).value(), then); });
    ASSERT_TRUE(made) << made.error().message();
  }
  void start() {
    home_.thread().run([this] {
      nodes_->start([this] { ++changes_; });
      return true;
    });
    ASSERT_TRUE(comes_true([this] { return look("none") == NodeSight::absent; }));
  }
  void carry(const std::string& name) {
    create(k_slice_kind, fmt::format(R"({{"apiVersion":"authentication.liqo.io/v1beta1",
      "kind":"ResourceSlice","metadata":{{"name":"{}","namespace":"default",
      "labels":{{"spillway.dev/contract":"c"}}}}}})",
                                     name));
  }
  // One that never gets Ready: nobody plays its kubelet.
  void put_silent_node(const std::string& name, const std::string& type,
                       const std::string& taint = "example.com/any") {
    create(kube::k_nodes, fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}",
      "labels":{{"liqo.io/type":"{}"}}}},
      "spec":{{"taints":[{{"key":"{}","effect":"NoSchedule"}}]}}}})",
                                      name, type, taint));
  }
  // It was Ready, and is not any more.
  void lose(const std::string& name) {
    for (const char* word : {"True", "False"}) {
      const auto said = home_.thread().ask<Result<kube::Object>>([&](auto then) {
        home_.api().patch(
            kube::k_nodes, {"", name}, kube::PatchKind::merge,
            model::parse_json(
                fmt::format(R"({{"status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                            word))
                .value(),
            then, "status");
      });
      ASSERT_TRUE(said) << said.error().message();
    }
  }
  void put_node(const std::string& name) {
    create(kube::k_nodes, fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}",
      "labels":{{"liqo.io/type":"virtual-node"}},
      "annotations":{{"embedded.spillway.dev/kubelet":"on"}}}}}})",
                                      name));
  }
  // As the agent does once it has drained the unit.
  void take_down(const std::string& name) {
    for (const auto& [kind, at] : {std::pair{k_slice_kind, kube::Name{"default", name}},
                                   std::pair{kube::k_nodes, kube::Name{"", name}}}) {
      home_.thread().ask<Status>([&](auto then) { home_.api().remove(kind, at, {}, then); });
    }
  }
  void remove_slice(const std::string& name) {
    home_.thread().ask<Status>([&](auto then) {
      home_.api().remove(k_slice_kind, kube::Name{"default", name}, {}, then);
    });
  }
  std::string end_of(const std::string& name) {
    const auto slice = home_.thread().ask<Result<kube::Object>>([&](auto then) {
      home_.api().get(k_slice_kind, {"default", name}, then);
    });
    return slice ? std::string(kube::annotation_in(*slice, fabric::k_end_annotation)) : "gone";
  }
  void remove(const std::string& name) {
    home_.thread().run([&] {
      nodes_->remove(name,
                     [this](const Status& status) { answers_.push_back(status.has_value()); });
      return true;
    });
  }
  void claim(const std::string& name) {
    home_.thread().run([&] {
      nodes_->claim(name);
      return true;
    });
  }
  std::vector<std::string> names() {
    return home_.thread().run([this] { return nodes_->names(); });
  }
  std::vector<bool> answers() {
    return home_.thread().run([this] { return answers_; });
  }
  std::optional<int32_t> others_unready(const std::string& ours) {
    return home_.thread().run([&] {
      return nodes_->others_unready([&](const std::string& name) { return name == ours; });
    });
  }
  NodeSight look(const std::string& name) {
    return home_.thread().run([&] { return nodes_->look(name); });
  }

  test::LiveCluster home_;
  services::NoLog log_;
  std::unique_ptr<kube::Session> session_;
  std::unique_ptr<FabricNodes> nodes_;
  std::vector<bool> answers_;
  int changes_ = 0;
};

TEST_F(FabricNodesTest, SeesAUnitComeAndGetReady) {
  EXPECT_EQ(look("sw-1"), NodeSight::unknown);
  start();
  EXPECT_EQ(look("sw-1"), NodeSight::absent);
  carry("sw-1");
  EXPECT_TRUE(comes_true([this] { return look("sw-1") == NodeSight::coming; }));
  put_node("sw-1");
  EXPECT_TRUE(comes_true([this] { return look("sw-1") == NodeSight::ready; }));
}

TEST_F(FabricNodesTest, CallsOnlyThoseItsOwnThatTheLedgerHas) {
  start();
  carry("sw-1");
  carry("sw-2");  // bought by hand, or by us and we do not know it yet
  ASSERT_TRUE(comes_true(
      [this] { return look("sw-1") == NodeSight::coming && look("sw-2") == NodeSight::coming; }));
  EXPECT_TRUE(names().empty());
  claim("sw-1");
  claim("sw-1");
  claim("sw-3");  // which is not there
  EXPECT_TRUE(comes_true([this] { return names() == std::vector<std::string>{"sw-1"}; }));
}

TEST_F(FabricNodesTest, EndsAUnitByItsSliceAndWaitsUntilItIsGone) {
  start();
  carry("sw-1");
  put_node("sw-1");
  ASSERT_TRUE(comes_true([this] { return look("sw-1") == NodeSight::ready; }));
  remove("sw-1");
  remove("sw-1");
  EXPECT_TRUE(comes_true([this] { return end_of("sw-1") == "true"; }));
  EXPECT_TRUE(answers().empty()) << "it still drains";
  take_down("sw-1");
  EXPECT_TRUE(comes_true([this] { return answers() == std::vector<bool>{true, true}; }));
  EXPECT_TRUE(comes_true([this] { return look("sw-1") == NodeSight::absent; }));
}

TEST_F(FabricNodesTest, CountsAllUnreadyNodesButThoseOfTheLedgerAndThoseThatEnd) {
  EXPECT_EQ(others_unready("sw-1"), std::nullopt);
  start();
  put_silent_node("sw-1", "virtual-node");  // a spare of ours
  put_silent_node("sw-2", "virtual-node");  // one held by hand
  put_silent_node("sw-3", "virtual-node", "ToBeDeletedByClusterAutoscaler");
  put_silent_node("metal", "none");
  put_node("sw-4");
  ASSERT_TRUE(comes_true([this] { return look("sw-4") == NodeSight::ready; }));
  EXPECT_EQ(others_unready("none"), 0) << "they are only starting";
  for (const char* name : {"sw-1", "sw-2", "sw-3", "metal"}) lose(name);
  EXPECT_TRUE(comes_true([this] { return others_unready("sw-1") == 2; }));
  EXPECT_EQ(others_unready("none"), 3);
}

// The ledger forgets a unit when its slice has gone; Liqo takes its node down in its own time.
TEST_F(FabricNodesTest, ANodeThatOutlivesItsSliceIsStillOurs) {
  start();
  carry("sw-1");
  put_silent_node("sw-1", "virtual-node");
  lose("sw-1");
  claim("sw-1");
  ASSERT_TRUE(comes_true([this] { return names() == std::vector<std::string>{"sw-1"}; }));
  ASSERT_TRUE(comes_true([this] { return others_unready("none") == 1; }));
  remove_slice("sw-1");
  EXPECT_TRUE(comes_true([this] { return others_unready("none") == 0; }));
}

TEST_F(FabricNodesTest, WhatWasNeverMadeIsGone) {
  start();
  remove("sw-1");
  EXPECT_TRUE(comes_true([this] { return answers() == std::vector<bool>{true}; }));
}

}  // namespace
}  // namespace spillway::autoscaler
