// At the provider: guest namespaces get their limits, and keep them; who has rights there already
// becomes no tenant.
#include "fabric/guest_space.h"
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

namespace liqo_words = fabric::liqo;

constexpr const char* k_shop = "sw4-rome-shop";

class FabricGuests : public FabricTest {
 protected:
  void start() {
    seller.start();
    buyer.start();
    live(4);
  }
  void offload(const std::string& space) {
    const test::Told made = liqo.milan.create(
        "/api/v1/namespaces",
        fmt::format(
            R"({{"metadata":{{"name":"{}","labels":{{"liqo.io/remote-cluster-id":"rome"}}}}}})",
            space));
    ASSERT_EQ(made.status, 201) << model::to_json(made.body);
  }
  static std::string path(const liqo_words::Kind& kind, const std::string& space = k_shop) {
    return test::Place::path(kind, space, fabric::k_guests_name);
  }
  std::string mark_of(const std::string& space) {
    return std::string(liqo.milan.ask("GET", "/api/v1/namespaces/" + space)
                           .text({"metadata", "labels", liqo_words::k_guard_label}));
  }
  int64_t pods_of(const std::string& space) {
    const auto quota = liqo.milan.ask("GET", path(liqo_words::k_resource_quotas, space));
    return std::atoll(std::string(quota.text({"spec", "hard", "pods"})).c_str());
  }
  bool has_tenant() {
    return liqo.milan.has(test::Place::path(liqo_words::k_tenants, "liqo-tenant-rome", "rome"));
  }
  std::string trouble_with(std::string_view words) {
    for (const std::string& one : seller.agent->fabric()->status().troubles) {
      if (one.find(words) != std::string::npos) return one;
    }
    return {};
  }
  void bind(const std::string& name, const std::string& group) {
    const test::Told made = liqo.milan.create(
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"admin"}},"subjects":[{{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"{}"}}]}})",
            name, group));
    ASSERT_EQ(made.status, 201) << model::to_json(made.body);
  }
};

TEST_F(FabricGuests, AGuestNamespaceGetsItsLimitsAndThenTheGuardsLabel) {
  start();
  const model::Contract contract = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  offload(k_shop);
  ASSERT_TRUE(comes([&] { return mark_of(k_shop) == liqo_words::k_guard_edition; }));
  for (const auto& kind : {liqo_words::k_resource_quotas, liqo_words::k_limit_ranges,
                           liqo_words::k_network_policies}) {
    EXPECT_TRUE(liqo.milan.has(path(kind))) << kind.plural;
  }
  // What both units were granted, and no pod larger than one of them.
  const auto slice = fabric::liqo::read_slice(
      liqo.milan.ask("GET", slice_path(liqo.milan, unit_names(contract)[0])).body);
  ASSERT_TRUE(slice);
  EXPECT_GT(pods_of(k_shop), 0);
  EXPECT_EQ(pods_of(k_shop), 2 * slice->grant.amounts.at("pods"));
  // A second one shares with it.
  offload("sw4-rome-desk");
  ASSERT_TRUE(comes([&] { return mark_of("sw4-rome-desk") == liqo_words::k_guard_edition; }));
  EXPECT_LE(pods_of(k_shop) + pods_of("sw4-rome-desk"), 2 * slice->grant.amounts.at("pods"));
  // The tenant's own namespace is none of them.
  EXPECT_EQ(mark_of("liqo-tenant-rome"), "");
  EXPECT_FALSE(liqo.milan.has(path(liqo_words::k_resource_quotas, "liqo-tenant-rome")));
  EXPECT_TRUE(seller.agent->fabric()->status().troubles.empty());
}

TEST_F(FabricGuests, GuestsMayTolerateTheTaintsOfWhatWasBought) {
  start();
  wire::OfferPut tainted;
  tainted.offer = test::plain_offer();
  tainted.offer.taints = {{"dedicated", "gpu", model::TaintEffect::no_schedule}};
  seller.broker.offers[tainted.offer.id.text] = tainted;
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  offload(k_shop);
  EXPECT_TRUE(comes([&] {
    return liqo.milan.ask("GET", std::string("/api/v1/namespaces/") + k_shop)
               .text({"metadata", "annotations", liqo_words::k_tolerable_annotation}) ==
           "dedicated";
  }));
}

TEST_F(FabricGuests, WhatSomebodyEditsOrDeletesIsPutRight) {
  start();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  offload(k_shop);
  ASSERT_TRUE(comes([&] { return mark_of(k_shop) == liqo_words::k_guard_edition; }));
  const int64_t pods = pods_of(k_shop);
  liqo.milan.merge(path(liqo_words::k_resource_quotas),
                   R"({"metadata":{"labels":null},"spec":{"hard":{"pods":"9999"}}})");
  EXPECT_EQ(pods_of(k_shop), 9999);
  EXPECT_TRUE(comes([&] { return pods_of(k_shop) == pods; }));
  EXPECT_TRUE(
      comes([&] { return events(liqo.milan, "in sw4-rome-shop: somebody edited it") == 1; }));
  liqo.milan.remove(path(liqo_words::k_network_policies));
  EXPECT_TRUE(comes([&] {
    return liqo.milan.has(path(liqo_words::k_network_policies)) &&
           mark_of(k_shop) == liqo_words::k_guard_edition;
  }));
  liqo.milan.merge(
      std::string("/api/v1/namespaces/") + k_shop,
      R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}})");
  EXPECT_TRUE(comes([&] {
    return liqo.milan.ask("GET", std::string("/api/v1/namespaces/") + k_shop)
               .text({"metadata", "labels", "pod-security.kubernetes.io/enforce"}) == "baseline";
  }));
  EXPECT_TRUE(comes(
      [&] { return events(liqo.milan, "Namespace sw4-rome-shop: somebody edited it") == 1; }));
  // What is to be something else now was edited by nobody, nor was a second namespace's removed.
  const int told = events(liqo.milan, "somebody");
  offload("sw4-rome-more");
  trade_units(1);
  EXPECT_TRUE(comes([&] { return mark_of("sw4-rome-more") == liqo_words::k_guard_edition; }));
  // Nor what went with its namespace.
  liqo.milan.remove("/api/v1/namespaces/sw4-rome-more");
  for (const auto& kind : {liqo_words::k_resource_quotas, liqo_words::k_limit_ranges,
                           liqo_words::k_network_policies}) {
    liqo.milan.remove(path(kind, "sw4-rome-more"));
  }
  ASSERT_TRUE(comes([&] { return !liqo.milan.has("/api/v1/namespaces/sw4-rome-more"); }));
  live(8);
  offload("sw4-rome-more");
  EXPECT_TRUE(comes([&] { return mark_of("sw4-rome-more") == liqo_words::k_guard_edition; }));
  // And then nothing is written any more.
  live(80);
  EXPECT_EQ(events(liqo.milan, "somebody"), told);
  const auto before = liqo.milan.ask("GET", path(liqo_words::k_resource_quotas));
  live(200);
  EXPECT_TRUE(
      model::same(before.body, liqo.milan.ask("GET", path(liqo_words::k_resource_quotas)).body));
}

TEST_F(FabricGuests, NothingIsGrantedToThemWhenTheContractHasEnded) {
  start();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  offload(k_shop);
  ASSERT_TRUE(comes([&] { return pods_of(k_shop) > 0; }));
  tell_both(closed(contract), "contract-closed");
  EXPECT_TRUE(comes([&] {
    return liqo.milan.ask("GET", path(liqo_words::k_resource_quotas))
               .text({"spec", "hard", "pods"}) == "0";
  }));
}

TEST_F(FabricGuests, AnApiServerThatDoesNotShowLimitsIsToldAndKeepsNoContractFromBecomingReal) {
  liqo.milan.cluster.faults().add({.verb = "list", .resource = "limitranges", .code = 403});
  start();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  offload(k_shop);
  EXPECT_TRUE(comes([&] { return !trouble_with("agent-fabric-rights.yaml").empty(); }));
  EXPECT_EQ(mark_of(k_shop), "");
  liqo.milan.cluster.faults().clear();
  EXPECT_TRUE(comes([&] { return mark_of(k_shop) == liqo_words::k_guard_edition; }, 4000));
  EXPECT_EQ(trouble_with("agent-fabric-rights.yaml"), "");
}

TEST_F(FabricGuests, ABuyerWhoseIdHasRightsBecomesNoTenantUntilItHasNone) {
  bind("admins", "rome");
  start();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return !trouble_with("has rights here already").empty(); }));
  EXPECT_NE(trouble_with("ClusterRoleBinding admins"), "");
  loop.run_for(minutes(1));
  live(40);
  EXPECT_FALSE(has_tenant());
  EXPECT_NE(trouble_with("has rights here already"), "");
  liqo.milan.remove("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/admins");
  loop.run_for(Standings::k_fresh);
  EXPECT_TRUE(comes([&] { return all_ready(contract); }, 2400));
  EXPECT_TRUE(has_tenant());
  EXPECT_EQ(trouble_with("has rights here already"), "");
}

TEST_F(FabricGuests, ABuyerWhoseRightsCannotBeLookedAtBecomesNoTenant) {
  liqo.milan.cluster.faults().add({.verb = "list", .resource = "rolebindings", .code = 403});
  bind("others", "turin");
  start();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return !trouble_with("rolebindings").empty(); }));
  EXPECT_FALSE(has_tenant());
  liqo.milan.cluster.faults().clear();
  loop.run_for(Standings::k_fresh);
  EXPECT_TRUE(comes([&] { return all_ready(contract); }, 2400));
}

}  // namespace
}  // namespace spillway::agent
