// The steps that real Liqo was recorded at (tests/e2e/record_liqo), played on two embedded
// clusters: after each of them every object is as the real one was, field by field as far as the
// fabric reads it. What differs is in one list, with its reason.
#include "unit/embedded/liqo_truth.h"

namespace spillway {
namespace {

class LiqoPlayed : public testing::Test {
 protected:
  static constexpr const char* k_at_buyer = "liqo-tenant-seller";
  static constexpr const char* k_at_seller = "liqo-tenant-buyer";

  void pass(Duration time = seconds(3)) { liqos.loop.run_for(time); }
  void create(embedded::Cluster& cluster, const codec::Kind& kind, const Node& object) {
    const std::string space(model::text_at(object, {"metadata", "namespace"}));
    const std::string name(model::text_at(object, {"metadata", "name"}));
    EXPECT_TRUE(liqos.carry_out(cluster, fabric::Create{{kind, space, name}, object})) << name;
  }
  void merge(embedded::Cluster& cluster, const fabric::Place& at, const Node& patch,
             bool of_status = false) {
    EXPECT_TRUE(liqos.carry_out(cluster, fabric::Merge{at, patch, of_status})) << at.name;
  }
  void remove(embedded::Cluster& cluster, const fabric::Place& at) {
    EXPECT_TRUE(liqos.carry_out(cluster, fabric::Remove{at, {}})) << at.name;
  }
  Node seen(embedded::Cluster& cluster, const codec::Kind& kind, const std::string& space,
            const std::string& name) {
    return liqos.get(cluster, {kind, space, name});
  }

  void peer();
  void add_unit_by_liqoctl(const std::string& name);
  void make_tenant_and_identity();
  void add_unit(const std::string& options = {});  // the name of a VkOptionsTemplate
  void offload();
  void grant(codec::Amounts amounts);

  const codec::Kind* kind_named(const std::string& name) {
    static const codec::Kind* k_kinds[] = {&codec::k_secrets,
                                           &codec::k_tenants,
                                           &codec::k_identities,
                                           &codec::k_slices,
                                           &codec::k_virtual_nodes,
                                           &codec::k_quotas,
                                           &codec::k_namespace_maps,
                                           &codec::k_nodes,
                                           &codec::k_foreign_clusters,
                                           &codec::k_namespaces,
                                           &codec::k_pods,
                                           &codec::k_shadow_pods,
                                           &codec::k_namespace_offloadings};
    for (const codec::Kind* kind : k_kinds) {
      if (kind->kind == name) return kind;
    }
    return nullptr;
  }

  void expect_as_recorded(const std::string& step, const std::set<std::string>& without = {}) {
    size_t compared = 0;
    for (const auto& [known, versions] : recorded_after(step)) {
      if (without.contains(known.kind) || without.contains(known.kind + " " + known.name)) continue;
      const codec::Kind* kind = kind_named(known.kind);
      ASSERT_NE(kind, nullptr) << known.kind;
      embedded::Cluster& cluster = known.side == "buyer" ? *liqos.buyer : *liqos.seller;
      compare(step, known, versions, seen(cluster, *kind, known.space, known.name));
      ++compared;
    }
    EXPECT_GT(compared, 3U) << step;
  }
  void compare(const std::string& step, const Known& known, const Versions& versions,
               const Node& ours) {
    const bool is_there = ours.kind == Node::Kind::object;
    std::optional<std::vector<std::string>> least;
    for (const auto& version : versions) {
      if (!version && !is_there) return;
      if (!version || !is_there) continue;
      auto found = differences(known.name, known.kind, *version, ours);
      if (found.empty()) return;
      if (!least || found.size() < least->size()) least = std::move(found);
    }
    const std::string what =
        fmt::format("{}: {} {} at the {}", step, known.kind, known.name, known.side);
    const std::string object = known.kind + " " + known.name;
    if (!is_there && std::regex_match(object, std::regex(k_gone_sooner))) return;
    if (!least) {
      ADD_FAILURE() << what << (is_there ? " should be gone" : " is not there");
      return;
    }
    ADD_FAILURE() << what << "\n" << fmt::format("{}", fmt::join(*least, "\n"));
  }

  test::EmbeddedLiqos liqos{"buyer", "seller", false};
};

void LiqoPlayed::peer() {
  create(*liqos.buyer, codec::k_namespaces, codec::tenant_namespace("seller"));
  create(*liqos.seller, codec::k_namespaces, codec::tenant_namespace("buyer"));
  create(*liqos.seller, codec::k_secrets, to_object(codec::new_nonce("buyer")));
  pass();
  const auto nonce = codec::read_nonce(
      seen(*liqos.seller, codec::k_secrets, k_at_seller, std::string(codec::k_nonce_secret)));
  create(*liqos.buyer, codec::k_secrets,
         to_object(codec::new_signed_nonce("seller", nonce.value().nonce)));
  pass();
  make_tenant_and_identity();
}

void LiqoPlayed::make_tenant_and_identity() {
  const auto proof = codec::read_signed_nonce(
      seen(*liqos.buyer, codec::k_secrets, k_at_buyer, std::string(codec::k_signed_nonce_secret)));
  const Node keys = seen(*liqos.buyer, codec::k_secrets, std::string(codec::k_namespace),
                         std::string(codec::k_keys_secret));
  const auto key = pki::Key::from_pem(codec::private_key_in(keys).value());
  const std::string request = pki::make_subject_request(*key, {"liqo.io", "buyer"}).value();
  create(*liqos.seller, codec::k_tenants,
         to_object(codec::new_tenant(
             "buyer", {pki::to_pem(key->public_key()), request, proof.value().signature})));
  pass();
  const auto tenant =
      codec::read_tenant(seen(*liqos.seller, codec::k_tenants, k_at_seller, "buyer"));
  ASSERT_TRUE(tenant.value().answer);
  create(*liqos.buyer, codec::k_identities,
         to_object(codec::new_identity("seller", *tenant->answer, tenant->space)));
  pass();
}

void LiqoPlayed::add_unit_by_liqoctl(const std::string& name) {
  codec::Slice slice = codec::new_slice(
      {name, "", "seller", "", {{"cpu", 1000}, {"memory", int64_t{2} << 30}, {"pods", 10}}});
  slice.class_name = "default";
  create(*liqos.buyer, codec::k_slices, to_object(slice));
  pass();
}

void LiqoPlayed::add_unit(const std::string& options) {
  const Node keys = seen(*liqos.buyer, codec::k_secrets, std::string(codec::k_namespace),
                         std::string(codec::k_keys_secret));
  const auto key = pki::Key::from_pem(codec::private_key_in(keys).value());
  const std::string request =
      pki::make_subject_request(*key, {"buyer", "unit-0-6dbd0f28d0d9"}).value();
  create(
      *liqos.buyer, codec::k_slices,
      to_object(codec::new_slice({"unit-0",
                                  "buyer",
                                  "seller",
                                  request,
                                  {{"cpu", 2000}, {"memory", int64_t{4} << 30}, {"pods", 20}}})));
  liqos.loop.run();
  const std::vector<model::Taint> taints = {
      {"spillway.io/bought", "true", model::TaintEffect::no_schedule}};
  create(*liqos.buyer, codec::k_virtual_nodes,
         to_object(codec::new_virtual_node({"unit-0",
                                            "seller",
                                            options,
                                            {{"spillway.io/unit", "unit-0"}},
                                            {{"spillway.io/contract", "ct-1"}},
                                            taints})));
  create(*liqos.buyer, codec::k_nodes,
         codec::node_to_adopt({"unit-0", "seller", "spillway://unit-0", taints}));
  pass();
}

void LiqoPlayed::offload() {
  for (const char* space : {"guests", "guests-by-liqoctl"}) {
    liqos.ask(*liqos.buyer, "POST", "/api/v1/namespaces",
              fmt::format(R"({{"metadata":{{"name":"{}"}}}})", space));
  }
  create(*liqos.buyer, codec::k_namespace_offloadings,
         to_object(codec::new_offloading("guests", "guests-buyer")));
  pass();
  const auto made = liqos.ask(
      *liqos.buyer, "POST",
      "/apis/offloading.liqo.io/v1beta1/namespaces/guests-by-liqoctl/namespaceoffloadings",
      R"({"metadata":{"name":"offloading"},"spec":{"clusterSelector":{"nodeSelectorTerms":[]},)"
      R"("namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"LocalAndRemote"}})");
  EXPECT_EQ(made.status, 201);
  pass();
  const auto pod = liqos.ask(*liqos.buyer, "POST", "/api/v1/namespaces/guests/pods",
                             R"({"metadata":{"name":"guest","labels":{"tape":"guest"}},"spec":{)"
                             R"("nodeSelector":{"kubernetes.io/hostname":"unit-0"},)"
                             R"("tolerations":[{"key":"spillway.io/bought","operator":"Exists"}],)"
                             R"("containers":[{"name":"main","image":"none","resources":{)"
                             R"("requests":{"cpu":"100m","memory":"64Mi"}}}]}})");
  EXPECT_EQ(pod.status, 201);
  pass();
}

void LiqoPlayed::grant(codec::Amounts amounts) {
  const auto replica =
      codec::read_slice(seen(*liqos.seller, codec::k_slices, k_at_seller, "unit-0"));
  const codec::Grant granted{std::move(amounts), {{"spillway.io/zone", "here"}}, {}, {}, {}, {}};
  merge(*liqos.seller, {codec::k_slices, k_at_seller, "unit-0"},
        codec::grant_patch(replica.value(), granted, liqos.loop.now()), true);
  pass();
}

TEST_F(LiqoPlayed, ItsWholeLifeIsAsRecorded) {
  peer();
  expect_as_recorded("01-peer");
  add_unit_by_liqoctl("unit-by-liqoctl");
  expect_as_recorded("02-unit-by-liqoctl");
  add_unit();
  expect_as_recorded("03-unit");
  grant({{"cpu", 1500}, {"memory", int64_t{3} << 30}, {"pods", 7}});
  expect_as_recorded("04-grant");
  offload();
  expect_as_recorded("05-guest");
  merge(*liqos.seller, {codec::k_slices, k_at_seller, "unit-0"}, codec::cordon_patch(true));
  pass();
  expect_as_recorded("06-cordon");
  grant({{"cpu", 0}, {"memory", 0}, {"pods", 0}});
  expect_as_recorded("07-zero");
  remove(*liqos.buyer, {codec::k_pods, "guests", "guest"});
  remove(*liqos.buyer, {codec::k_slices, k_at_buyer, "unit-0"});
  remove(*liqos.buyer, {codec::k_slices, k_at_buyer, "unit-by-liqoctl"});
  pass(seconds(30));
  expect_as_recorded("08-release");
  for (const char* space : {"guests", "guests-by-liqoctl"}) {
    remove(*liqos.buyer, {codec::k_namespace_offloadings, space, "offloading"});
  }
  pass();
  remove(*liqos.buyer, {codec::k_identities, k_at_buyer, "controlplane-seller"});
  pass();  // else the rights to take back what was copied would be gone
  remove(*liqos.seller, {codec::k_tenants, k_at_seller, "buyer"});
  pass();
  expect_as_recorded("09-unpeer");
  make_tenant_and_identity();
  add_unit_by_liqoctl("unit-1");
  expect_as_recorded("10-again");
  liqos.is_seller_dead = true;
  pass(seconds(20));
  expect_as_recorded("11-death");
  merge(*liqos.buyer, {codec::k_foreign_clusters, "", "seller"}, codec::unreachable_patch(true));
  remove(*liqos.buyer, {codec::k_slices, k_at_buyer, "unit-1"});
  pass(seconds(20));
  expect_as_recorded("12-forced-release");
  liqos.is_seller_dead = false;
  merge(*liqos.buyer, {codec::k_foreign_clusters, "", "seller"}, codec::unreachable_patch(false));
  pass(seconds(20));
  expect_as_recorded("13-resurrection");
}

// Not recorded, but tried on real Liqo: all slices that are there are cordoned, and released again.
TEST_F(LiqoPlayed, ATenantIsCordonedWithAllItsSlices) {
  peer();
  add_unit_by_liqoctl("unit-1");
  const auto is_cordoned = [this] {
    return codec::read_quota(
               seen(*liqos.seller, codec::k_quotas, k_at_seller, "unit-1-6dbd0f28d0d9"))
        .value()
        .cordoned;
  };
  EXPECT_FALSE(is_cordoned());
  for (const bool cordoned : {true, false}) {
    Node patch = model::object_node();
    model::put(model::ensure(patch, {"spec"}), "tenantCondition",
               model::text_node(cordoned ? "Cordoned" : "Active"));
    merge(*liqos.seller, {codec::k_tenants, k_at_seller, "buyer"}, patch);
    pass();
    EXPECT_EQ(is_cordoned(), cordoned);
  }
}

class LiqoLists : public LiqoPlayed {
 protected:
  void start(codec::Leaving leaving) {
    peer();
    const Node own = seen(*liqos.buyer, codec::k_vk_templates, std::string(codec::k_namespace),
                          std::string(codec::k_default_template));
    create(*liqos.buyer, codec::k_vk_templates, codec::options_template(own, k_at_buyer, leaving));
    add_unit(std::string(template_name(leaving)));
    grant({{"cpu", 1500}, {"memory", int64_t{3} << 30}, {"pods", 7}});
    offload();
    for (const char* name : {"plain", "listed", "hidden"}) {
      liqos.ask(*liqos.buyer, "POST", "/api/v1/namespaces/guests/secrets",
                fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"a":"YQ=="}}}})", name));
    }
    annotate("listed", codec::k_allow_annotation, R"("true")");
    annotate("hidden", codec::k_skip_annotation, R"("true")");
    pass();
  }
  void annotate(const std::string& secret, std::string_view annotation, const std::string& value) {
    const auto done =
        liqos.ask(*liqos.buyer, "PATCH", "/api/v1/namespaces/guests/secrets/" + secret,
                  fmt::format(R"({{"metadata":{{"annotations":{{"{}":{}}}}}}})", annotation, value),
                  "application/merge-patch+json");
    EXPECT_EQ(done.status, 200);
    pass();
  }
  std::set<std::string> copies() {
    std::set<std::string> names;
    for (const Node& one : liqos.list(*liqos.seller, codec::k_secrets, "guests-buyer")) {
      names.emplace(model::text_at(one, {"metadata", "name"}));
    }
    return names;
  }
};
using Names = std::set<std::string>;

// Not recorded, but tried on real Liqo: the list by which a virtual kubelet was made rules, and not
// what its options say later.
TEST_F(LiqoLists, ByTheListOnlyWhatSaysSoLeavesAndIsTakenBack) {
  start(codec::Leaving::listed);
  EXPECT_EQ(copies(), Names{"listed"});
  annotate("plain", codec::k_allow_annotation, R"("true")");
  EXPECT_EQ(copies(), (Names{"listed", "plain"}));
  annotate("listed", codec::k_allow_annotation, "null");
  EXPECT_EQ(copies(), Names{"plain"});
  remove(*liqos.buyer, {codec::k_secrets, "guests", "plain"});
  pass();
  EXPECT_EQ(copies(), Names{});
  Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec", "reflectorsConfig", "secret"}), "type",
             model::text_node("DenyList"));
  merge(*liqos.buyer, {codec::k_vk_templates, k_at_buyer, "spillway-listed"}, patch);
  annotate("listed", "any", R"("thing")");
  EXPECT_EQ(copies(), Names{});
}

TEST_F(LiqoLists, ElseAllLeavesThatDoesNotRefuse) {
  start(codec::Leaving::all);
  EXPECT_EQ(copies(), (Names{"listed", "plain"}));
  annotate("plain", codec::k_skip_annotation, R"("true")");
  EXPECT_EQ(copies(), Names{"listed"});
}

TEST_F(LiqoPlayed, WhatItsWebhooksDenyIsDenied) {
  peer();
  const auto refused = [this](embedded::Cluster& cluster, const codec::Kind& kind,
                              const Node& object) {
    const std::string space(model::text_at(object, {"metadata", "namespace"}));
    const std::string name(model::text_at(object, {"metadata", "name"}));
    return !liqos.carry_out(cluster, fabric::Create{{kind, space, name}, object});
  };
  codec::NamespaceOffloading other = codec::new_offloading("default", "default-buyer");
  other.meta.name = "another";
  EXPECT_TRUE(refused(*liqos.buyer, codec::k_namespace_offloadings, to_object(other)));
  create(*liqos.buyer, codec::k_nodes, codec::node_to_adopt({"unit-9", "seller", "", {}}));
  EXPECT_TRUE(refused(*liqos.buyer, codec::k_virtual_nodes,
                      to_object(codec::new_virtual_node({"unit-9", "seller", "", {}, {}, {}}))));
  EXPECT_TRUE(refused(*liqos.buyer, codec::k_virtual_nodes,
                      to_object(codec::new_virtual_node({"unit-8", "seller", "none", {}, {}, {}}))))
      << "without its options";
  create(*liqos.buyer, codec::k_namespace_offloadings,
         to_object(codec::new_offloading("default", "default-buyer")));
  Node renamed = model::object_node();
  model::put(model::ensure(renamed, {"spec"}), "remoteNamespaceName", model::text_node("other"));
  EXPECT_FALSE(liqos.carry_out(
      *liqos.buyer,
      fabric::Merge{{codec::k_namespace_offloadings, "default", "offloading"}, renamed, false}));
  Node tenant = to_object(codec::new_tenant("buyer", {"key", "request", "signature"}));
  model::put(model::ensure(tenant, {"metadata"}), "namespace", model::text_node("default"));
  EXPECT_TRUE(refused(*liqos.seller, codec::k_tenants, tenant));
  Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec"}), "tenantCondition", model::text_node("Gone"));
  EXPECT_FALSE(liqos.carry_out(
      *liqos.seller, fabric::Merge{{codec::k_tenants, k_at_seller, "buyer"}, patch, false}));
}

}  // namespace
}  // namespace spillway
