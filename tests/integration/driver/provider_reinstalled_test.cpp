// A provider under the same Liqo id, with another key: its cluster was installed anew, with another
// authority, or Liqo alone; or somebody else's cluster answers in its place.
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

namespace liqo = fabric::liqo;

class ProviderReinstalled : public DriverTest {
 protected:
  ProviderReinstalled() {
    create("/api/v1/namespaces", R"({"metadata":{"name":"shop"}})");
    create("/apis/offloading.liqo.io/v1beta1/namespaces/shop/namespaceoffloadings",
           R"({"metadata":{"name":"offloading"},"spec":{)"
           R"("namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"Remote",)"
           R"("clusterSelector":{"nodeSelectorTerms":[{"matchExpressions":[)"
           R"({"key":"liqo.io/remote-cluster-id","operator":"Exists"}]}]}}})");
    create("/apis/apps/v1/namespaces/shop/deployments",
           R"({"metadata":{"name":"web"},"spec":{"replicas":1,)"
           R"("selector":{"matchLabels":{"app":"web"}},)"
           R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{)"
           R"("nodeSelector":{"liqo.io/type":"virtual-node"},"containers":[)"
           R"({"name":"main","image":"none","resources":{"requests":{"cpu":"100m"}}}]}}}})");
    put(old);
    EXPECT_TRUE(comes_to(old, "ready"));
    EXPECT_TRUE(comes([this] { return is_at_work(); }));
    live(20);
  }
  void create(const std::string& path, const std::string& body) {
    const auto made = liqos.ask(*liqos.buyer, "POST", path, body);
    EXPECT_EQ(made.status, 201) << model::to_json(made.body);
  }
  // Of StatefulSets, as far as we go by it.
  void add_pod_with_identity(const std::string& name) {
    create("/api/v1/namespaces/shop/pods",
           fmt::format(R"({{"metadata":{{"name":"{0}","labels":)"
                       R"({{"statefulset.kubernetes.io/pod-name":"{0}"}}}},"spec":{{)"
                       R"("nodeSelector":{{"liqo.io/type":"virtual-node"}},"containers":)"
                       R"([{{"name":"main","image":"none"}}]}}}})",
                       name));
  }
  // The deployment has a pod at its provider, and nothing of it lingers here.
  bool is_at_work() {
    const auto pods = liqos.list(*liqos.buyer, liqo::k_pods, "shop");
    return pods.size() == 1 && is_running(pods[0]) &&
           !liqos.list(*liqos.seller, liqo::k_shadow_pods).empty();
  }
  static bool is_running(const model::Node& pod) {
    return model::text_at(pod, {"status", "phase"}) == "Running" &&
           model::text_at(pod, {"metadata", "deletionTimestamp"}).empty();
  }
  // Its operator gives the driver the new kubeconfig, which it reads at its start.
  void reinstall_cluster() {
    kill();
    liqos.reinstall_seller();
    start();
  }
  // All that is Liqo's and ours but for guests' namespaces: the cluster's own authority stays.
  void reinstall_liqo() {
    for (const auto& kind :
         {liqo::k_slices, liqo::k_tenants, liqo::k_identities, liqo::k_renews, liqo::k_quotas,
          liqo::k_shadow_pods, liqo::k_namespace_maps, liqo::k_foreign_clusters}) {
      liqos.purge(*liqos.seller, kind);
    }
    remove_space("liqo-tenant-rome");
    liqos.replace_key(*liqos.seller);
  }
  void remove_space(const std::string& name) {
    liqos.carry_out(*liqos.seller, fabric::Remove{{liqo::k_namespaces, {}, name}, {}});
  }
  void kill_again_and_again() {
    for (int moment = 0; moment < 40; ++moment) {
      live(2 * moment);
      kill();
      start();
    }
  }
  bool is_ready_again() {
    return comes([this] { return step_of(old) == "ready" && is_ready(*liqos.buyer, old); }, 6000);
  }
  void expect_it_ends_and_the_next_works() {
    ask("DELETE", "/v1/units/" + old);
    ASSERT_TRUE(comes_to(old, "gone")) << step_of(old) << ": " << troubles_of(old);
    EXPECT_EQ(left_of(old), std::vector<std::string>());
    put(next);
    ASSERT_TRUE(comes_to(next, "ready")) << step_of(next) << ": " << troubles_of(next);
    EXPECT_TRUE(comes([this] { return is_at_work(); }));
    EXPECT_EQ(troubles_of(next), "");
  }

  const std::string old = unit_of(0);
  const std::string next = unit_of(0, 2);
};

TEST_F(ProviderReinstalled, AUnitIsMadeAnewByAnotherHandshake) {
  reinstall_cluster();
  ASSERT_TRUE(comes([this] { return step_of(old) != "ready"; }));
  ASSERT_TRUE(is_ready_again()) << step_of(old) << ": " << troubles_of(old);
  EXPECT_TRUE(comes([this] { return is_at_work(); }, 6000)) << "what ran there runs there again";
  EXPECT_EQ(troubles_of(old), "");
  for (const model::Node& event : liqos.list(*liqos.buyer, {"", "v1", "events", "Event"})) {
    const auto said = model::text_at(event, {"message"});
    EXPECT_EQ(said.find("somebody removed"), std::string_view::npos) << said;
  }
  expect_it_ends_and_the_next_works();
}

TEST_F(ProviderReinstalled, ADriverKilledMeanwhileGoesOn) {
  reinstall_cluster();
  kill_again_and_again();
  ASSERT_TRUE(is_ready_again()) << step_of(old) << ": " << troubles_of(old);
  expect_it_ends_and_the_next_works();
}

TEST_F(ProviderReinstalled, WithLiqoAloneADriverKilledMeanwhileGoesOn) {
  reinstall_liqo();
  remove_space("shop-rome");
  kill_again_and_again();
  EXPECT_TRUE(comes([this] { return is_at_work(); }, 6000)) << "what ran there runs there again";
  expect_it_ends_and_the_next_works();
}

// Whether the old cluster still runs its guest nobody can tell.
TEST_F(ProviderReinstalled, APodWithIdentityIsNamedAndWaitedFor) {
  add_pod_with_identity("db-0");
  const auto pod = [this] { return liqos.get(*liqos.buyer, {liqo::k_pods, "shop", "db-0"}); };
  ASSERT_TRUE(comes([&] { return is_running(pod()); }));
  live(20);
  reinstall_cluster();
  ASSERT_TRUE(comes([this] { return is_told(old, "nothing tells whether its guest still runs"); }))
      << troubles_of(old);
  EXPECT_NE(troubles_of(old).find("had another authority"), std::string::npos) << troubles_of(old);
  EXPECT_EQ(step_of(old), "made");
  live(4000);
  EXPECT_FALSE(pod().items.empty());
  // Whoever knows that it has ended says so.
  liqos.carry_out(*liqos.buyer, fabric::Remove{{liqo::k_pods, "shop", "db-0"}, {}, true});
  ASSERT_TRUE(is_ready_again()) << step_of(old) << ": " << troubles_of(old);
  expect_it_ends_and_the_next_works();
}

TEST_F(ProviderReinstalled, AUnitThatIsToEndMeanwhileLeavesNothing) {
  reinstall_cluster();
  ask("DELETE", "/v1/units/" + old);
  ASSERT_TRUE(comes([this] { return step_of(old) == "gone"; }, 20'000))
      << step_of(old) << ": " << troubles_of(old);
  EXPECT_EQ(left_of(old), std::vector<std::string>());
  put(next);
  ASSERT_TRUE(comes_to(next, "ready")) << step_of(next) << ": " << troubles_of(next);
  EXPECT_TRUE(comes([this] { return is_at_work(); }));
}

TEST_F(ProviderReinstalled, WithLiqoAloneAUnitGoesOnUnderANewTenant) {
  const std::string before(
      model::text_at(liqos.get(*liqos.seller, {liqo::k_tenants, "liqo-tenant-rome", "rome"}),
                     {"metadata", "uid"}));
  reinstall_liqo();
  remove_space("shop-rome");
  ASSERT_TRUE(comes([&] {
    const auto tenant = liqos.get(*liqos.seller, {liqo::k_tenants, "liqo-tenant-rome", "rome"});
    const auto uid = model::text_at(tenant, {"metadata", "uid"});
    return !uid.empty() && uid != before;
  })) << troubles_of(old);
  ASSERT_TRUE(is_ready_again()) << step_of(old) << ": " << troubles_of(old);
  EXPECT_TRUE(comes([this] { return is_at_work(); }, 6000)) << "what ran there runs there again";
  expect_it_ends_and_the_next_works();
}

// Rights that nobody remembers giving are not added to.
TEST_F(ProviderReinstalled, WithLiqoAloneRightsThatItLeftAreNamedAndWaitedFor) {
  kill();
  reinstall_liqo();
  start();
  ASSERT_TRUE(is_told(old, "has rights here already, by the RoleBinding shop-rome/"))
      << troubles_of(old);
  remove_space("shop-rome");
  EXPECT_TRUE(comes([this] { return is_at_work(); }, 20'000)) << troubles_of(old);
  EXPECT_EQ(step_of(old), "ready");
  expect_it_ends_and_the_next_works();
}

// Its operator has told the driver of no other authority: neither the driver nor Liqo speaks to it.
TEST_F(ProviderReinstalled, AnImpostorIsNotSpokenToAndTold) {
  liqos.reinstall_seller();
  ASSERT_TRUE(is_told(old, "is dead")) << troubles_of(old);
  EXPECT_EQ(step_of(old), "made");
  const Told told = ask("GET", "/v1/peerings/rome/milan");
  EXPECT_EQ(told.text({"life"}), "dead") << model::to_json(told.body);
  live(4000);
  EXPECT_TRUE(liqos.get(*liqos.seller, {liqo::k_namespaces, {}, "liqo-tenant-rome"}).items.empty());
  EXPECT_TRUE(liqos.list(*liqos.seller, liqo::k_slices).empty());
  EXPECT_TRUE(liqos.list(*liqos.seller, liqo::k_leases, "liqo").empty());
  // What its consumer has of the unit goes all the same; for the rest the true one is waited for.
  ask("DELETE", "/v1/units/" + old);
  EXPECT_TRUE(comes([this] { return node(*liqos.buyer, old).items.empty(); }, 20'000));
  EXPECT_EQ(step_of(old), "ending");
  const std::string waits = model::to_json(ask("GET", "/v1/units/" + old).body);
  EXPECT_NE(waits.find("cluster milan"), std::string::npos) << waits;
}

}  // namespace
}  // namespace spillway::driver
