// What somebody deletes or edits by hand, on either side: it is put right, and told.
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

class FabricHands : public FabricTest {
 protected:
  FabricHands() {
    seller.start();
    buyer.start();
    live(4);
  }
  std::string text(test::Place& at, const std::string& path, model::Path field) {
    return std::string(at.ask("GET", path).text(field));
  }
};

TEST_F(FabricHands, WhatIsRemovedOrEditedByHandComesBackWithAnEvent) {
  const model::Contract contract = trade_units(1);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  live(60);
  const std::string virtual_node =
      test::Place::path(fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit);
  liqo.rome.merge(virtual_node, R"({"spec":{"labels":{"disk":"none"}}})");
  EXPECT_TRUE(comes([&] {
    return liqo.rome.ask("GET", virtual_node).text({"spec", "labels", "disk"}) == "ssd";
  }));
  live(4);
  EXPECT_EQ(events(liqo.rome, "somebody edited spec.labels.disk"), 1);

  const std::string tenant = test::Place::path(fabric::liqo::k_tenants, "liqo-tenant-rome", "rome");
  liqo.milan.remove(tenant);
  EXPECT_TRUE(comes([&] { return liqo.milan.has(tenant); }, 1200));
  live(4);
  EXPECT_EQ(events(liqo.milan, "Tenant rome in liqo-tenant-rome: somebody removed it"), 1);
  EXPECT_TRUE(is_ready(unit));
}

// It is seen by its labels; without them it is in the way of another.
TEST_F(FabricHands, ATenantNamespaceWithoutItsLabelsGetsThemAgain) {
  for (test::Place* at : {&liqo.rome, &liqo.milan}) {
    const std::string peer = at == &liqo.rome ? "milan" : "rome";
    const std::string space = "/api/v1/namespaces/liqo-tenant-" + peer;
    for (const std::string label : {"liqo.io/remote-cluster-id", "liqo.io/tenant-namespace"}) {
      const model::Contract contract = trade_units(1);
      ASSERT_TRUE(comes([&] { return all_ready(contract); }));
      const int told = events(*at, "labels that it is known by: " + label);
      at->merge(space, fmt::format(R"({{"metadata":{{"labels":{{"{}":null}}}}}})", label));
      const model::Contract next = trade_units(1);
      EXPECT_TRUE(comes([&] { return all_ready(next); })) << space << " without " << label;
      EXPECT_FALSE(text(*at, space, {"metadata", "labels", label}).empty()) << space;
      tell_both(closed(contract), "contract-closed");
      EXPECT_TRUE(comes([&] { return left_of(unit_names(contract)[0]).empty(); })) << space;
      live(4);
      EXPECT_EQ(events(*at, "labels that it is known by: " + label), told + (told == 0 ? 1 : 0));
    }
  }
}

TEST_F(FabricHands, SomebodysOwnNamespaceWithAPeersLabelsStopsNothing) {
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  for (test::Place* at : {&liqo.rome, &liqo.milan}) {
    at->create("/api/v1/namespaces",
               fmt::format(R"({{"metadata":{{"name":"mine","labels":{{"liqo.io/remote-cluster-id":)"
                           R"("{}","liqo.io/tenant-namespace":"true"}}}}}})",
                           at == &liqo.rome ? "milan" : "rome"));
  }
  live(8);
  const model::Contract next = trade_units(1);
  EXPECT_TRUE(comes([&] { return all_ready(next); }));
  tell_both(closed(contract), "contract-closed");
  EXPECT_TRUE(comes([&] { return left_of(unit_names(contract)[0]).empty(); }));
}

TEST_F(FabricHands, WhatLiqoBelievesOfABuyerIsPutRight) {
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  const std::string tenant = test::Place::path(fabric::liqo::k_tenants, "liqo-tenant-rome", "rome");
  const std::string request = text(liqo.milan, tenant, {"spec", "csr"});
  liqo.milan.merge(
      tenant, R"({"spec":{"authzPolicy":"TolerateNoHandshake","clusterID":"x","csr":"ZWRpdGVk"}})");
  EXPECT_TRUE(comes([&] {
    return text(liqo.milan, tenant, {"spec", "authzPolicy"}) == "KeysExchange" &&
           text(liqo.milan, tenant, {"spec", "clusterID"}) == "rome" &&
           text(liqo.milan, tenant, {"spec", "csr"}) == request;
  }));
  live(4);
  EXPECT_EQ(events(liqo.milan,
                   "Tenant rome: somebody edited spec.authzPolicy, spec.clusterID, "
                   "spec.csr"),
            1);
}

TEST_F(FabricHands, AVirtualNodeIsPutRightInAllThatWasWrittenIntoIt) {
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  const std::string node = test::Place::path(fabric::liqo::k_virtual_nodes, "liqo-tenant-milan",
                                             unit_names(contract)[0]);
  const auto before = liqo.rome.ask("GET", node).body;
  liqo.rome.merge(node, R"({"spec":{"createNode":false,"disableNetworkCheck":false,)"
                        R"("kubeconfigSecretRef":{"name":"other"}}})");
  EXPECT_TRUE(comes([&] {
    const auto now = liqo.rome.ask("GET", node).body;
    return model::same(*model::look(now, {"spec"}), *model::look(before, {"spec"}));
  }));
  live(4);
  EXPECT_EQ(events(liqo.rome,
                   "somebody edited spec.createNode, spec.disableNetworkCheck, "
                   "spec.kubeconfigSecretRef"),
            1);
}

TEST_F(FabricHands, AnIdentityThatWasEditedIsMadeAnew) {
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  const std::string identity =
      test::Place::path(fabric::liqo::k_identities, "liqo-tenant-milan", "controlplane-milan");
  const std::string server = text(liqo.rome, identity, {"spec", "authParams", "apiServer"});
  liqo.rome.merge(identity, R"({"spec":{"authParams":{"apiServer":"https://elsewhere:6443"}}})");
  EXPECT_TRUE(comes(
      [&] {
        return text(liqo.rome, identity, {"spec", "authParams", "apiServer"}) == server;
      },
      4000));
  EXPECT_EQ(events(liqo.rome, "it is not, or no longer, as its provider says"), 1);
}

TEST_F(FabricHands, ARightThatWasWidenedIsMadeAnewAndTold) {
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  const std::string role = test::Place::path(fabric::liqo::k_roles, "liqo-tenant-rome",
                                             std::string(fabric::k_fence_name));
  ASSERT_TRUE(liqo.milan.has(role));
  const std::string rules =
      model::to_json(*model::look(liqo.milan.ask("GET", role).body, {"rules"}));
  liqo.milan.merge(role, R"({"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["*"]}]})");
  EXPECT_TRUE(comes([&] {
    const model::Node now = liqo.milan.ask("GET", role).body;
    const model::Node* seen = model::look(now, {"rules"});
    return seen != nullptr && model::to_json(*seen) == rules;
  }));
  live(4);
  EXPECT_EQ(events(liqo.milan, "somebody edited what it allows"), 1);
}

// Law 6: without its Node Kubernetes would begin the pod elsewhere, and nothing tells whether its
// guest has ended.
TEST_F(FabricHands, AUnitWhoseVirtualNodeWasForcedAwayKeepsItsNodeForAPodWithIdentity) {
  const model::Contract contract = trade_units(1);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  const std::string pod = "/api/v1/namespaces/default/pods/db-0";
  const std::string node = "/api/v1/nodes/" + unit;
  liqo.rome.create("/api/v1/namespaces/default/pods",
                   test::pod_text("db-0", fmt::format(R"(,"nodeName":"{}")", unit),
                                  R"({"statefulset.kubernetes.io/pod-name":"db-0"})"));
  live(8);
  const std::string virtual_node =
      test::Place::path(fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit);
  liqo.rome.merge(node + "/status",
                  R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})");
  liqo.rome.merge(virtual_node, R"({"metadata":{"finalizers":null}})");
  liqo.rome.remove(virtual_node);
  ASSERT_FALSE(liqo.rome.has(virtual_node));
  tell_both(closed(contract), "contract-closed");
  EXPECT_TRUE(comes([&] { return !liqo.rome.has(slice_path(liqo.rome, unit)); }));
  EXPECT_TRUE(comes([&] { return events(liqo.rome, "removed the VirtualNode of " + unit) == 1; }));
  loop.run_for(minutes(20));
  live(40);
  EXPECT_TRUE(liqo.rome.has(node));
  EXPECT_TRUE(liqo.rome.has(pod));
  liqo.rome.remove(pod + "?gracePeriodSeconds=0");  // by somebody who knows
  EXPECT_TRUE(comes([&] { return left_of(unit).empty(); }));
}

}  // namespace
}  // namespace spillway::agent
