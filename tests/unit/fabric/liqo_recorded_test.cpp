// Every object that real Liqo showed is read, and what we would write is what it, or liqoctl,
// wrote.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "fabric/liqo/cluster_objects.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/guests.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/namespaces.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"
#include "fabric/see.h"
#include "support/liqo_recordings.h"

namespace spillway::fabric::liqo {
namespace {

using model::Node;

constexpr std::string_view k_buyer_hash =  // SHA-256 of "buyer"
    "6dbd0f28d0d97656768b7b4ed96255e67fd11740a44b1c4b575191b06e9e3a35";

// What is in `part` is in `whole`, with the same value; members more do not matter.
void expect_within(const Node& part, const Node& whole, const std::string& path) {
  if (part.kind != Node::Kind::object) {
    EXPECT_TRUE(model::same(part, whole))
        << path << ": " << model::to_json(part) << " and " << model::to_json(whole);
    return;
  }
  for (const Node& member : part.items) {
    const Node* other = whole.find(member.key);
    ASSERT_NE(other, nullptr) << path << "." << member.key << " is not there";
    expect_within(member, *other, path + "." + member.key);
  }
}

void expect_within(const Node& part, const Node& whole) { expect_within(part, whole, "object"); }

template <class T>
T good(Result<T> result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result ? std::move(*result) : T{};
}

// Read, written and read again, it is the same.
template <class T>
Status returns(Result<T> (*read)(const Node&), const Node& object) {
  const Result<T> first = read(object);
  if (!first) return tl::unexpected(first.error());
  const Result<T> again = read(to_object(*first));
  if (!again) return tl::unexpected(again.error());
  EXPECT_EQ(*first, *again);
  return {};
}

Status read_any_secret(const Node& object) {
  const auto meta = read_remnant(object, k_secrets);
  if (!meta) return tl::unexpected(meta.error());
  const auto has = [&](std::string_view label) {
    return !model::text_at(object, {"metadata", "labels", label}).empty();
  };
  if (has(k_nonce_label)) return returns(read_nonce, object);
  if (has(k_signed_nonce_label)) return returns(read_signed_nonce, object);
  if (meta->name == k_keys_secret) {
    return private_key_in(object).map([](const std::string&) {});
  }
  EXPECT_FALSE(model::text_at(object, {"data", "kubeconfig"}).empty());
  return {};
}

Status read_any(const Recorded& one) {
  const std::string_view kind = one.kind();
  if (kind == "Secret") return read_any_secret(one.object);
  if (kind == "Tenant") return returns(read_tenant, one.object);
  if (kind == "Identity") return returns(read_identity, one.object);
  if (kind == "ResourceSlice") return returns(read_slice, one.object);
  if (kind == "VirtualNode") return returns(read_virtual_node, one.object);
  if (kind == "Quota") return returns(read_quota, one.object);
  if (kind == "NamespaceOffloading") return returns(read_namespace_offloading, one.object);
  if (kind == "NamespaceMap") return returns(read_namespace_map, one.object);
  if (kind == "ForeignCluster") return returns(read_foreign_cluster, one.object);
  if (kind == "Namespace") return returns(read_space, one.object);
  std::string said;  // what only one that was seen says
  if (kind == "ShadowPod") said = see_guest(one.object).creator;
  if (kind == "Node") said = see_node(one.object).uid;
  if (kind == "Pod") said = see_pod(one.object).value_or(PodSight{}).uid;
  EXPECT_NE(said, "") << kind;
  return {};
}

TEST(LiqoRecorded, EveryVersionOfEveryObjectIsRead) {
  ASSERT_GT(recordings().size(), 100U);
  for (const Recorded& one : recordings()) {
    const Status read = read_any(one);
    EXPECT_TRUE(read) << one.step << ": " << (read ? "" : read.error().message());
  }
}

TEST(LiqoRecorded, TheNonceGoesFromTheProviderToTheBuyerAndBack) {
  const auto at_provider = versions("01-peer", "seller", "Secret", "liqo-nonce");
  ASSERT_EQ(at_provider.size(), 2U);
  EXPECT_TRUE(model::same(*to_object(new_nonce("buyer")).find("metadata")->find("labels"),
                          *at_provider[0].find("metadata")->find("labels")));
  EXPECT_EQ(good(read_nonce(at_provider[0])).nonce, "");
  const std::string nonce = good(read_nonce(at_provider[1])).nonce;
  EXPECT_EQ(from_base64(nonce).value_or("").size(), 64U);

  const auto at_buyer = versions("01-peer", "buyer", "Secret", "liqo-signed-nonce");
  ASSERT_EQ(at_buyer.size(), 2U);
  expect_within(to_object(new_signed_nonce("seller", nonce)), at_buyer[0]);
  const SignedNonce answered = good(read_signed_nonce(at_buyer[1]));
  EXPECT_EQ(answered.nonce, nonce);
  EXPECT_EQ(answered.signature.size(), 64U);
}

TEST(LiqoRecorded, OurTenantIsTheOneThatLiqoctlMakes) {
  const Node first = versions("01-peer", "seller", "Tenant", "buyer").front();
  const Node last = versions("01-peer", "seller", "Tenant", "buyer").back();
  const Tenant theirs = good(read_tenant(first));
  EXPECT_FALSE(theirs.answer);
  expect_within(
      to_object(new_tenant("buyer", {theirs.public_key, theirs.request, theirs.signature})), first);
  const Tenant accepted = good(read_tenant(last));
  ASSERT_TRUE(accepted.answer);
  EXPECT_EQ(accepted.space, tenant_namespace_name("buyer"));
  EXPECT_TRUE(accepted.answer->api_server.starts_with("https://"));
  EXPECT_TRUE(accepted.answer->certificate.starts_with("-----BEGIN CERTIFICATE-----"));

  const Node identity = versions("01-peer", "buyer", "Identity", "controlplane-seller").front();
  expect_within(to_object(new_identity("seller", *accepted.answer, accepted.space)), identity);
}

TEST(LiqoRecorded, OurTenantNamespaceIsTheOneThatLiqoctlMakes) {
  expect_within(tenant_namespace("seller"),
                versions("01-peer", "buyer", "Namespace", "liqo-tenant-seller").front());
}

TEST(LiqoRecorded, OurSliceHasWhatLiqoctlsHas) {
  const Node theirs =
      versions("02-unit-by-liqoctl", "buyer", "ResourceSlice", "unit-by-liqoctl").back();
  const Slice read = good(read_slice(theirs));
  EXPECT_EQ(read.class_name, "default");
  EXPECT_EQ(read.wanted.at("cpu"), 1000);
  EXPECT_EQ(read.wanted.at("memory"), int64_t{2} << 30);
  Slice ours = new_slice({"unit-by-liqoctl", "buyer", "seller", read.request, read.wanted});
  ours.class_name = read.class_name;
  expect_within(to_object(ours), theirs);
}

TEST(LiqoRecorded, AUnitIsAuthenticatedBeforeItIsGrantedAnything) {
  const Slice asked =
      good(read_slice(versions("03-unit", "seller", "ResourceSlice", "unit-0").back()));
  EXPECT_TRUE(check_replica(asked, "buyer", "seller"));
  EXPECT_TRUE(asked.is_accepted(k_authentication_condition));
  EXPECT_FALSE(asked.is_accepted(k_resources_condition));
  EXPECT_TRUE(asked.access);

  const Slice granted =
      good(read_slice(versions("04-grant", "seller", "ResourceSlice", "unit-0").back()));
  EXPECT_TRUE(granted.is_accepted(k_resources_condition));
  const Amounts amounts{{"cpu", 1500}, {"memory", int64_t{3} << 30}, {"pods", 7}};
  EXPECT_EQ(granted.grant.amounts, amounts);
  const Quota quota =
      good(read_quota(versions("04-grant", "seller", "Quota", "unit-0-6dbd0f28d0d9").back()));
  EXPECT_EQ(quota.amounts, amounts);
  EXPECT_EQ(quota.user, unit_user("unit-0", k_buyer_hash));
  EXPECT_EQ(good(read_virtual_node(versions("04-grant", "buyer", "VirtualNode", "unit-0").back()))
                .amounts,
            amounts);
}

// What we patch into the one that was asked for is what the granted one has.
TEST(LiqoRecorded, OurGrantMakesOfTheAskedTheGranted) {
  Node object = versions("03-unit", "seller", "ResourceSlice", "unit-0").back();
  const Slice asked = good(read_slice(object));
  const Slice granted =
      good(read_slice(versions("04-grant", "seller", "ResourceSlice", "unit-0").back()));
  model::merge(object, grant_patch(asked, granted.grant, Instant{1'800'000'000'500}));
  const Slice ours = good(read_slice(object));
  EXPECT_EQ(ours.grant, granted.grant);
  EXPECT_EQ(ours.conditions.size(), 2U);
  EXPECT_EQ(ours.conditions[0], asked.conditions[0]) << "Liqo's own stays as it is";
  EXPECT_TRUE(ours.is_accepted(k_resources_condition));
}

TEST(LiqoRecorded, CordonAndZeroAreSeenInTheQuota) {
  const auto quota = [](std::string_view step) {
    return good(read_quota(versions(step, "seller", "Quota", "unit-0-6dbd0f28d0d9").back()));
  };
  EXPECT_FALSE(quota("04-grant").cordoned);
  EXPECT_TRUE(quota("06-cordon").cordoned);
  EXPECT_EQ(quota("07-zero").amounts, (Amounts{{"cpu", 0}, {"memory", 0}, {"pods", 0}}));
  Node object = versions("04-grant", "seller", "ResourceSlice", "unit-0").back();
  model::merge(object, cordon_patch(true));
  expect_within(*object.find("metadata")->find("annotations"),
                *versions("06-cordon", "seller", "ResourceSlice", "unit-0")
                     .back()
                     .find("metadata")
                     ->find("annotations"));
}

TEST(LiqoRecorded, OurVirtualNodeIsAdoptedAsWeMadeIt) {
  const Node adopted = versions("04-grant", "buyer", "VirtualNode", "unit-0").back();
  const VirtualNode ours =
      new_virtual_node({"unit-0",
                        "seller",
                        "",
                        {{"spillway.io/unit", "unit-0"}},
                        {{"spillway.io/contract", "ct-1"}},
                        {{"spillway.io/bought", "true", model::TaintEffect::no_schedule}}});
  expect_within(to_object(ours), adopted);
  EXPECT_EQ(good(read_virtual_node(adopted)).meta.owners.at(0).kind, "ResourceSlice");
}

TEST(LiqoRecorded, OurNodeIsAdoptedWithItsProviderIdAndTaints) {
  const Node made = node_to_adopt(
      {"unit-0", "seller", "spillway://unit-0", {{"spillway.io/bought", "true", {}}}});
  const NodeSight ours = see_node(made);
  ASSERT_FALSE(ours.taints.empty());
  const auto at_first = versions("03-unit", "buyer", "Node", "unit-0").front();
  const auto granted = versions("04-grant", "buyer", "Node", "unit-0").back();
  expect_within(*made.find("metadata"), *granted.find("metadata"));
  for (const Node& object : {at_first, granted}) {
    const NodeSight node = see_node(object);
    EXPECT_EQ(node.provider_id, "spillway://unit-0");
    for (const Node& taint : ours.taints) {
      const auto is_it = [&](const Node& one) { return model::same(one, taint); };
      EXPECT_EQ(std::count_if(node.taints.begin(), node.taints.end(), is_it), 1)
          << model::to_json(taint);
    }
  }
}

TEST(LiqoRecorded, ANodeIsReadyWithWhatIsGrantedAndNotWithZero) {
  const auto node = [](std::string_view step) {
    return versions(step, "buyer", "Node", "unit-0").back();
  };
  EXPECT_FALSE(see_node(node("03-unit")).is_ready);
  EXPECT_TRUE(see_node(node("04-grant")).is_ready);
  EXPECT_EQ(model::to_json(*model::look(node("04-grant"), {"status", "allocatable"})),
            R"({"cpu":"1500m","memory":"3Gi","pods":"7"})");
  EXPECT_FALSE(see_node(node("07-zero")).is_ready);
}

TEST(LiqoRecorded, GuestsLiveInTheirBuyersNamespaces) {
  const Space guests =
      good(read_space(versions("05-guest", "seller", "Namespace", "guests-buyer").back()));
  EXPECT_EQ(guests.peer(), "buyer");
  EXPECT_FALSE(guests.is_tenants());
  EXPECT_TRUE(good(read_space(tenant_namespace("buyer"))).is_tenants());
}

TEST(LiqoRecorded, OurOffloadingFindsItsClusters) {
  NamespaceOffloading last;
  for (const Node& one : versions("05-guest", "buyer", "NamespaceOffloading", "offloading")) {
    if (model::text_at(one, {"metadata", "namespace"}) != "guests") continue;  // liqoctl's
    expect_within(to_object(new_offloading("guests", "guests-buyer")), one);
    last = good(read_namespace_offloading(one));
  }
  EXPECT_EQ(last.phase, "Ready");
  EXPECT_EQ(last.remote_space, "guests-buyer");
}

TEST(LiqoRecorded, ADeadProviderIsSeenAndLeftWithoutIt) {
  const auto at = [](std::string_view step) {
    return good(read_foreign_cluster(versions(step, "buyer", "ForeignCluster", "seller").back()));
  };
  EXPECT_TRUE(at("10-again").is_reachable());
  EXPECT_FALSE(at("11-death").is_reachable());
  EXPECT_EQ(at("12-forced-release").meta.annotation(k_unreachable_annotation), "true");
  EXPECT_TRUE(at("13-resurrection").is_reachable());
  EXPECT_EQ(at("13-resurrection").meta.annotation(k_unreachable_annotation), "");
  const Slice gone =
      good(read_slice(versions("12-forced-release", "buyer", "ResourceSlice", "unit-1").back()));
  EXPECT_FALSE(gone.meta.deleted.empty());
}

TEST(LiqoRecorded, AGuestIsKnownByItsCreator) {
  const Node guest = versions("05-guest", "seller", "ShadowPod", "guest").back();
  EXPECT_EQ(see_guest(guest), (GuestSight{unit_user("unit-0", k_buyer_hash), false}));
  EXPECT_EQ(model::text_at(guest, {"metadata", "labels", k_node_name_label}), "unit-0");
  EXPECT_EQ(model::text_at(guest, {"metadata", "labels", k_guest_origin_label}), "buyer");
  const NamespaceMap map =
      good(read_namespace_map(versions("05-guest", "seller", "NamespaceMap", "seller").back()));
  EXPECT_EQ(map.wanted.at("guests"), "guests-buyer");
  EXPECT_EQ(map.there.at("guests").phase, "Accepted");
}

TEST(LiqoRecorded, EachSideKnowsWhatThePeerIsToIt) {
  const ForeignCluster at_buyer =
      good(read_foreign_cluster(versions("01-peer", "buyer", "ForeignCluster", "seller").back()));
  EXPECT_EQ(at_buyer.role, PeerRole::provider);
  EXPECT_EQ(status_of(at_buyer.conditions, k_api_server_condition), "Established");
  EXPECT_EQ(status_of(at_buyer.authentication.conditions, k_identity_condition), "Ready");
  EXPECT_TRUE(at_buyer.is_reachable());
  const ForeignCluster at_seller =
      good(read_foreign_cluster(versions("01-peer", "seller", "ForeignCluster", "buyer").back()));
  EXPECT_EQ(at_seller.role, PeerRole::consumer);
  EXPECT_EQ(status_of(at_seller.authentication.conditions, k_tenant_condition), "Ready");
}

TEST(LiqoRecorded, ForeignClustersAndNoncesOutliveAPeering) {
  for (const Recorded& one : recordings()) {
    if (one.step != "09-unpeer" || one.event != "DELETED") continue;
    EXPECT_NE(one.kind(), "ForeignCluster");
    EXPECT_FALSE(one.name().ends_with("nonce"));
  }
}

}  // namespace
}  // namespace spillway::fabric::liqo
