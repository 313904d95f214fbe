#include <gtest/gtest.h>

#include "fabric/liqo/cluster_objects.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/guests.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/namespaces.h"
#include "fabric/liqo/reader.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

using model::Node;

Node object(std::string_view text) { return model::parse_json(text, "test").value(); }

template <class T>
std::string refusal(const Result<T>& result) {
  return result ? "nothing is wrong" : result.error().message();
}

std::string quota_with(const std::string& spec) {
  return refusal(
      read_quota(object(R"({"metadata":{"name":"q","namespace":"n"},"spec":)" + spec + "}")));
}

TEST(LiqoReader, NamesTheObjectAndTheField) {
  const std::string said = quota_with(R"({"user":7})");
  EXPECT_NE(said.find("Quota n/q"), std::string::npos) << said;
  EXPECT_NE(said.find("spec.user: no string"), std::string::npos) << said;
}

TEST(LiqoReader, WhatIsNeededMustBeThere) {
  EXPECT_NE(quota_with("{}").find("spec.user: missing"), std::string::npos);
  EXPECT_NE(quota_with(R"({"user":""})").find("spec.user: missing"), std::string::npos);
  EXPECT_NE(
      refusal(read_tenant(object(R"({"metadata":{"name":"t"}})"))).find("spec.clusterID: missing"),
      std::string::npos);
  EXPECT_NE(refusal(read_slice(object("{}"))).find("metadata.name: missing"), std::string::npos);
}

TEST(LiqoReader, WhatIsUnknownIsNotLookedAt) {
  EXPECT_EQ(quota_with(R"({"user":"u","novelty":[{"deep":true}]})"), "nothing is wrong");
}

TEST(LiqoReader, AmountsAreExactOrRefused) {
  const auto amounts = [](const std::string& list) {
    return quota_with(R"({"user":"u","resources":)" + list + "}");
  };
  EXPECT_EQ(amounts(R"({"cpu":"1500m","memory":"3Gi","pods":"7","nvidia.com/gpu":2})"),
            "nothing is wrong");
  for (const char* bad : {R"({"cpu":"-1"})", R"({"memory":"1.5"})", R"({"cpu":"lots"})",
                          R"({"cpu":true})", R"({"pods":-1})", R"({"memory":"9000000Ti"})",
                          R"({"no name":"1"})", R"(["cpu"])", R"({"cpu":["1"]})"}) {
    EXPECT_NE(amounts(bad).find("spec.resources"), std::string::npos) << bad;
  }
}

TEST(LiqoReader, WordsAreKnownOnes) {
  EXPECT_NE(quota_with(R"({"user":"u","limitsEnforcement":"Firm"})")
                .find("spec.limitsEnforcement: \"Firm\""),
            std::string::npos);
}

TEST(LiqoReader, ThereIsALimitToEverything) {
  const std::string long_text(k_longest_text + 1, 'a');
  EXPECT_NE(quota_with(R"({"user":")" + long_text + R"("})").find("spec.user: 262145 bytes"),
            std::string::npos);
  std::string many = R"({"user":"u","resources":{)";
  for (size_t i = 0; i <= k_most_entries; ++i) many += fmt::format("\"r{}\":\"1\",", i);
  many.back() = '}';
  EXPECT_NE(quota_with(many + "}").find("at most 512"), std::string::npos);
  EXPECT_NE(refusal(read_quota(object(R"({"metadata":{"name":"Q q"},"spec":{"user":"u"}})")))
                .find("metadata.name"),
            std::string::npos);
}

// For what has to be ended whatever somebody writes into it.
TEST(LiqoReader, WhatIsSeenHasTheRestOfWhatCannotBeRead) {
  constexpr std::string_view k_word = "z.example/word";
  const auto seen = [&](const std::string& metadata, const std::string& memory) {
    return see_slice(
        object(R"({"metadata":{"name":"u","namespace":"n")" + metadata +
               R"(},"spec":{"consumerClusterID":"rome"},"status":{"resources":{"memory":)" +
               memory + "}}}"),
        {&k_word, 1});
  };
  EXPECT_EQ(seen("", R"("2Gi")").unreadable, "");
  const Slice odd = seen("", R"("1500m")");
  EXPECT_NE(odd.unreadable.find("status.resources"), std::string::npos) << odd.unreadable;
  EXPECT_EQ(odd.meta.name, "u");
  EXPECT_EQ(odd.buyer, "rome");
  std::string many = R"(,"labels":{)";
  for (int i = 0; i < 600; ++i) many += "\"a" + std::to_string(i) + R"(":"x",)";
  const Slice crowded = seen(many + R"("z.example/word":"said"})", R"("2Gi")");
  EXPECT_NE(crowded.unreadable.find("entries, at most"), std::string::npos) << crowded.unreadable;
  EXPECT_EQ(crowded.meta.label(k_word), "said");
  EXPECT_LE(crowded.meta.labels.size(), 600u);
}

TEST(LiqoReader, AnotherKindIsRefused) {
  const Node quota = object(R"({"apiVersion":"offloading.liqo.io/v1beta1","kind":"Quota",
                                "metadata":{"name":"q"},"spec":{"user":"u"}})");
  EXPECT_TRUE(read_quota(quota));
  EXPECT_NE(refusal(read_namespace_offloading(quota)).find("kind: \"Quota\""), std::string::npos);
  // Kubernetes has a ResourceSlice of its own.
  const Node other = object(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice",
                                "metadata":{"name":"s"}})");
  EXPECT_NE(refusal(read_slice(other)).find("apiVersion"), std::string::npos);
  EXPECT_FALSE(read_slice(object("[]")));
  EXPECT_FALSE(read_slice(object("7")));
}

TEST(LiqoReader, PartsAreReadWithTheirPath) {
  const auto slice = [](const char* status) {
    return refusal(
        read_slice(object(std::string(R"({"metadata":{"name":"s"},"status":)") + status + "}")));
  };
  EXPECT_NE(slice(R"({"conditions":[{"type":"A"},{"status":"B"}]})")
                .find("status.conditions[].type: missing"),
            std::string::npos);
  EXPECT_NE(slice(R"({"conditions":[7]})").find("status.conditions[]: no object"),
            std::string::npos);
  EXPECT_NE(slice(R"({"authParams":{"ca":"!"}})").find("status.authParams.ca: no base64"),
            std::string::npos);
  EXPECT_NE(slice(R"({"authParams":[]})").find("status.authParams: no object"), std::string::npos);
}

TEST(LiqoReader, TheLastConditionOfATypeCounts) {
  const Conditions twice{{"Node", "Creating", "", "", ""}, {"Node", "Running", "", "", ""}};
  EXPECT_EQ(status_of(twice, "Node"), "Running");
  EXPECT_EQ(status_of(twice, "Else"), "");
}

TEST(LiqoSlice, AReplicaHasTheLabelsOfOne) {
  Slice slice = new_slice({"unit", "b", "p", "csr", {}});
  EXPECT_FALSE(check_replica(slice, "b", "p")) << "it is the buyer's own";
  slice.meta.space = "liqo-tenant-b";
  slice.meta.labels = {{"liqo.io/replicated", "true"},
                       {"liqo.io/replication", "false"},
                       {"liqo.io/originID", "b"},
                       {"liqo.io/remote-cluster-id", "b"},
                       {"liqo.io/remoteID", "p"}};
  EXPECT_TRUE(check_replica(slice, "b", "p"));
  const auto bent = [&slice](auto bend) {
    Slice copy = slice;
    bend(copy);
    return check_replica(copy, "b", "p").has_value();
  };
  for (const auto& [key, value] : slice.meta.labels) {
    EXPECT_FALSE(bent([&key](Slice& s) { s.meta.labels[key] = "x"; })) << key;
    EXPECT_FALSE(bent([&key](Slice& s) { s.meta.labels.erase(key); })) << key;
  }
  EXPECT_FALSE(bent([](Slice& s) { s.buyer = "x"; }));
  EXPECT_FALSE(bent([](Slice& s) { s.provider = "x"; }));
  EXPECT_FALSE(bent([](Slice& s) { s.class_name = "default"; }));
  EXPECT_FALSE(bent([](Slice& s) { s.meta.space = "liqo-tenant-c"; }));
}

TEST(LiqoSlice, AGrantReplacesTheLastOne) {
  Slice replica = new_slice({"unit", "b", "p", "csr", {}});
  replica.meta.version = "7";
  replica.conditions = {{"Authentication", "Accepted", "r", "m", "2026-01-01T00:00:00Z"},
                        {"Resources", "Accepted", "Contract", "", "2026-01-02T00:00:00Z"}};
  replica.grant.amounts = {{"cpu", 1000}, {"example.com/fpga", 1}};
  replica.grant.node_labels = {{"old", "yes"}};
  replica.grant.storage = {{"fast", true}};
  Grant wanted;
  wanted.amounts = {{"cpu", 0}};
  wanted.ingress = {{"nginx", true}, {"other", false}};
  Node object = to_object(replica);
  const Node patch = grant_patch(replica, wanted, Instant{1'800'000'000'000});
  EXPECT_EQ(model::text_at(patch, {"metadata", "resourceVersion"}), "7");
  model::merge(object, patch);
  const Slice after = read_slice(object).value();
  EXPECT_EQ(after.grant, wanted);
  EXPECT_EQ(after.conditions, replica.conditions) << "accepted since then";
  const Node denied = denial_patch(replica, "NoContract", Instant{1'800'000'000'000});
  model::merge(object, denied);
  EXPECT_EQ(status_of(read_slice(object).value().conditions, "Resources"), "Denied");
}

TEST(LiqoNames, AreThoseThatLiqoHas) {
  EXPECT_EQ(tenant_namespace_name("b"), "liqo-tenant-b");
  EXPECT_EQ(peer_of_tenant_namespace("liqo-tenant-b"), "b");
  EXPECT_EQ(peer_of_tenant_namespace("default"), "");
  EXPECT_EQ(control_plane_identity_name("p"), "controlplane-p");
  EXPECT_EQ(kubeconfig_secret_name(slice_identity_name("u")), "kubeconfig-resourceslice-u");
  EXPECT_EQ(certificate_secret_name("u"), "liqo-remote-certificate-u");
  EXPECT_EQ(api_version(k_slices), "authentication.liqo.io/v1beta1");
  EXPECT_EQ(api_version(k_secrets), "v1");
}

TEST(LiqoAmounts, AllModelsOfGpusAreOneResource) {
  model::Resources shape{1500,           1024, 10, 0, {{"nvidia-a100", 1}, {"nvidia-t4", 2}},
                         {{"x.io/f", 1}}};
  EXPECT_EQ(
      amounts_of(shape, "nvidia.com/gpu"),
      (Amounts{
          {"cpu", 1500}, {"memory", 1024}, {"pods", 10}, {"nvidia.com/gpu", 3}, {"x.io/f", 1}}));
}

TEST(LiqoUnitNode, ANodeToAdoptHasLiqosTaintToo) {
  const Node node = node_to_adopt({"unit", "milan", "spillway://unit", {{"ours", "1", {}}}});
  EXPECT_EQ(
      model::to_json(node),
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"unit","labels":)"
      R"({"liqo.io/remote-cluster-id":"milan","liqo.io/type":"virtual-node"}},"spec":{"providerID":"spillway://unit","taints":[)"
      R"({"key":"ours","value":"1","effect":"NoSchedule"},)"
      R"({"key":"virtual-node.liqo.io/not-allowed","value":"true","effect":"NoExecute"}]}})");
}

TEST(LiqoForeignCluster, TheMarkOfDeathComesAndGoes) {
  Node object = model::object_node();
  model::merge(object, unreachable_patch(true));
  EXPECT_EQ(model::text_at(object, {"metadata", "annotations", k_unreachable_annotation}), "true");
  model::merge(object, unreachable_patch(false));
  EXPECT_EQ(model::look(object, {"metadata", "annotations", k_unreachable_annotation}), nullptr);
}

}  // namespace
}  // namespace spillway::fabric::liqo
