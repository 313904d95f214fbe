#include "fabric/guest_space.h"

#include <gtest/gtest.h>

#include "fabric/pod_shares.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

using model::text_at;

const std::string k_hash(64, 'a');

GuestWish wish_of(std::vector<int64_t> pods) {
  GuestWish wish{"milan", k_hash, {}};
  for (const int64_t count : pods) {
    GuestUnit unit{"u-" + std::to_string(wish.units.size()), {}};
    unit.grant.amounts = {{"cpu", 1500}, {"memory", int64_t{4} << 30}, {"pods", count}};
    wish.units.push_back(unit);
  }
  return wish;
}

model::Node space_as_liqo_makes_it(std::string_view name, std::string_view buyer = "milan") {
  model::Node made = model::object_node();
  model::Node& meta = model::ensure(made, {"metadata"});
  model::put(meta, "name", model::text_node(name));
  model::put(model::ensure(meta, {"labels"}), liqo::k_peer_label, model::text_node(buyer));
  return made;
}

std::optional<model::Node>* part_of(GuestSpaceSight& sight, const liqo::Kind& kind) {
  if (kind.plural == liqo::k_resource_quotas.plural) return &sight.quota;
  if (kind.plural == liqo::k_limit_ranges.plural) return &sight.limits;
  if (kind.plural == liqo::k_network_policies.plural) return &sight.network;
  return nullptr;
}

const Instant k_now = *parse_instant("2026-01-01T00:00:00Z");

void count(GuestSpaceSight& one) {
  if (!one.quota) return;
  model::Node& used = model::ensure(*one.quota, {"status", "used"});
  for (const model::Node& limit : model::items_at(*one.quota, {"spec", "hard"})) {
    model::put(used, limit.key, model::text_node("0"));
  }
}

// An API server, as far as these objects need one.
void carry_out(const Plan& plan, std::vector<GuestSpaceSight>& spaces) {
  for (const Deed& deed : plan.deeds) {
    const auto* create = std::get_if<Create>(&deed);
    const auto* merge = std::get_if<Merge>(&deed);
    ASSERT_TRUE(create != nullptr || merge != nullptr);
    const Place& at = create != nullptr ? create->at : merge->at;
    for (GuestSpaceSight& one : spaces) {
      const auto name = text_at(one.space, {"metadata", "name"});
      if (name != (at.kind.is_namespaced ? at.space : at.name)) continue;
      auto* part = part_of(one, at.kind);
      if (create != nullptr) {
        ASSERT_NE(part, nullptr);
        *part = create->object;
      } else {
        model::merge(part == nullptr ? one.space : part->value(), merge->patch);
      }
    }
  }
}

void settle_all(const GuestWish& wish, std::vector<GuestSpaceSight>& spaces) {
  for (int looks = 0; looks < 5; ++looks) {
    std::for_each(spaces.begin(), spaces.end(), count);
    const Plan plan = plan_guest_spaces(wish, spaces, k_now);
    if (plan.deeds.empty()) return;
    carry_out(plan, spaces);
  }
  FAIL() << "it does not come to rest";
}

std::string_view mark_of(const GuestSpaceSight& one) {
  return text_at(one.space, {"metadata", "labels", liqo::k_guard_label});
}

TEST(GuestSpace, PodsThatNobodyCanHaveArePutRight) {
  const GuestWish wish = wish_of({20});
  for (const char* pods : {"9E", "9223372036854775807", "-9E"}) {
    std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")},
                                        {space_as_liqo_makes_it("sw5-milan-till")}};
    settle_all(wish, spaces);
    for (GuestSpaceSight& one : spaces) {
      model::put(model::ensure(*one.quota, {"spec", "hard"}), "pods", model::text_node(pods));
    }
    settle_all(wish, spaces);
    for (const GuestSpaceSight& one : spaces) {
      EXPECT_EQ(text_at(*one.quota, {"spec", "hard", "pods"}), "10") << pods;
    }
  }
}

TEST(GuestSpace, GetsItsLimitsFirstAndItsLabelThen) {
  const GuestWish wish = wish_of({7, 13});
  std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")}};
  carry_out(plan_guest_spaces(wish, spaces, k_now), spaces);
  ASSERT_TRUE(spaces[0].quota && spaces[0].limits && spaces[0].network);
  EXPECT_EQ(mark_of(spaces[0]), "");
  settle_all(wish, spaces);
  EXPECT_EQ(mark_of(spaces[0]), liqo::k_guard_edition);
  EXPECT_EQ(text_at(*spaces[0].quota, {"spec", "hard", "pods"}), "20");
  EXPECT_EQ(text_at(spaces[0].space, {"metadata", "labels", "pod-security.kubernetes.io/enforce"}),
            "baseline");
}

// An API server has 1k where 1000 was written: what is compared as text must not differ for ever.
TEST(GuestSpace, WritesThousandsAsAnApiServerDoes) {
  const GuestWish wish = wish_of({1000, 2000});
  std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")}};
  settle_all(wish, spaces);
  EXPECT_EQ(text_at(*spaces[0].quota, {"spec", "hard", "pods"}), "3k");
  spaces.push_back({space_as_liqo_makes_it("sw5-milan-desk")});
  carry_out(plan_guest_spaces(wish, spaces, k_now), spaces);
  EXPECT_EQ(text_at(*spaces[1].quota, {"spec", "hard", "pods"}), "0");  // all are dealt out
}

// A guest that is told to end runs for minutes yet, and Liqo counts it no more.
TEST(GuestSpace, LimitsWhatGuestsAskForToWhatWasGrantedTogether) {
  GuestWish wish = wish_of({1, 2});
  const auto hard = [&wish](std::string_view resource) {
    const auto made = guest_space_objects(wish, "sw5-milan-shop", 3);
    return std::string(text_at(made[0].object, {"spec", "hard", resource}));
  };
  EXPECT_EQ(hard("requests.cpu"), "3");
  EXPECT_EQ(hard("requests.memory"), "8Gi");
  EXPECT_EQ(hard("requests.nvidia.com/gpu"), "");
  wish.units[0].grant.amounts["cpu"] = 250;
  wish.units[0].grant.amounts["nvidia.com/gpu"] = 2;
  wish.units[1].grant.amounts["nvidia.com/gpu"] = 1;
  wish.units[1].grant.amounts["ephemeral-storage"] = int64_t{20} << 30;
  wish.units[1].grant.amounts["hugepages-2Mi"] = int64_t{4} << 20;
  wish.units[1].grant.amounts["example.kubernetes.io/odd"] = 1;  // no quota could count it
  wish.units[1].grant.amounts["storage"] = 1;
  EXPECT_EQ(hard("requests.cpu"), "1750m");
  EXPECT_EQ(hard("requests.nvidia.com/gpu"), "3");
  EXPECT_EQ(hard("requests.ephemeral-storage"), "20Gi");
  EXPECT_EQ(hard("requests.hugepages-2Mi"), "4Mi");
  EXPECT_EQ(hard("requests.example.kubernetes.io/odd"), "");
  wish.units[0].grant.amounts["cpu"] = wish.units[1].grant.amounts["cpu"] = 500'000;
  EXPECT_EQ(hard("requests.cpu"), "1k") << "as an API server writes a thousand";
  wish.units[0].grant.amounts["memory"] = wish.units[1].grant.amounts["memory"] = INT64_MAX;
  EXPECT_EQ(hard("requests.memory"), std::to_string(INT64_MAX));
  wish.units.clear();
  EXPECT_EQ(hard("requests.cpu"), "0");
  EXPECT_EQ(hard("requests.memory"), "0");
}

// So that a guest of any namespace fits, whatever others have.
TEST(GuestSpace, EachNamespaceMayAskForAllOfIt) {
  const GuestWish wish = wish_of({10, 10});
  std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")},
                                      {space_as_liqo_makes_it("sw5-milan-desk")}};
  settle_all(wish, spaces);
  for (const GuestSpaceSight& one : spaces) {
    EXPECT_EQ(text_at(*one.quota, {"spec", "hard", "requests.cpu"}), "3");
  }
}

TEST(GuestSpace, WhatWasEditedIsPutRight) {
  const GuestWish wish = wish_of({10});
  std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")}};
  settle_all(wish, spaces);
  const GuestSpaceSight good = spaces[0];
  model::put(model::ensure(*spaces[0].quota, {"spec", "hard"}), "services.nodeports",
             model::text_node("99"));
  model::put(model::ensure(*spaces[0].network, {"spec"}), "egress", model::array_node());
  model::put(model::ensure(*spaces[0].limits, {"spec"}), "limits", model::array_node());
  model::put(model::ensure(spaces[0].space, {"metadata", "annotations"}),
             liqo::k_tolerable_annotation, model::text_node("dedicated"));
  EXPECT_EQ(plan_guest_spaces(wish, spaces, k_now).deeds.size(), 4U);
  settle_all(wish, spaces);
  EXPECT_TRUE(model::same(*spaces[0].quota, *good.quota));
  EXPECT_TRUE(model::same(*spaces[0].network, *good.network));
  EXPECT_TRUE(model::same(*spaces[0].limits, *good.limits));
  EXPECT_TRUE(model::same(spaces[0].space, good.space));
}

TEST(GuestSpace, NoGuestStartsWhileSomethingIsMissing) {
  const GuestWish wish = wish_of({10});
  std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")}};
  settle_all(wish, spaces);
  spaces[0].network.reset();
  carry_out(plan_guest_spaces(wish, spaces, k_now), spaces);
  EXPECT_EQ(mark_of(spaces[0]), "");
  settle_all(wish, spaces);
  EXPECT_EQ(mark_of(spaces[0]), liqo::k_guard_edition);
}

// Kubernetes refuses what it has not counted, and Liqo takes a guest for running that was refused
// so late: our own policy refuses it before.
TEST(GuestSpace, NoGuestStartsBeforeItsQuotaIsCounted) {
  const GuestWish wish = wish_of({10});
  std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")}};
  carry_out(plan_guest_spaces(wish, spaces, k_now), spaces);
  model::put(model::ensure(*spaces[0].quota, {"metadata"}), "creationTimestamp",
             model::text_node("2026-01-01T00:00:00Z"));
  carry_out(plan_guest_spaces(wish, spaces, k_now), spaces);
  EXPECT_EQ(mark_of(spaces[0]), "");
  count(spaces[0]);
  model::erase(model::ensure(*spaces[0].quota, {"status", "used"}),
               "count/shadowpods.offloading.liqo.io");
  const Plan early = plan_guest_spaces(wish, spaces, k_now + seconds(59));
  EXPECT_TRUE(early.deeds.empty());
  EXPECT_TRUE(early.troubles.empty());
  EXPECT_EQ(early.look_again, k_now + minutes(1));
  const Plan late = plan_guest_spaces(wish, spaces, k_now + minutes(1));
  ASSERT_EQ(late.troubles.size(), 1U);
  EXPECT_EQ(late.troubles[0].thing, "guests in sw5-milan-shop");
  EXPECT_EQ(late.troubles[0].reason,
            "Kubernetes has not counted count/shadowpods.offloading.liqo.io in ResourceQuota "
            "spillway-guests, and none is let in until it has");
  count(spaces[0]);
  settle_all(wish, spaces);
  EXPECT_EQ(mark_of(spaces[0]), liqo::k_guard_edition);
  // Guests that are let in stay so, whatever is counted then.
  model::erase(*spaces[0].quota, "status");
  EXPECT_TRUE(plan_guest_spaces(wish, spaces, k_now).deeds.empty());
}

TEST(GuestSpace, OthersNamespacesAreLeftAlone) {
  model::Node tenants = space_as_liqo_makes_it("liqo-tenant-milan");
  model::put(model::ensure(tenants, {"metadata", "labels"}), liqo::k_tenant_namespace_label,
             model::text_node("true"));
  model::Node ending = space_as_liqo_makes_it("sw5-milan-old");
  model::put(model::ensure(ending, {"metadata"}), "deletionTimestamp",
             model::text_node("2026-01-01T00:00:00Z"));
  const Plan plan = plan_guest_spaces(
      wish_of({10}), {{space_as_liqo_makes_it("sw5-turin-shop", "turin")}, {tenants}, {ending}},
      k_now);
  EXPECT_TRUE(plan.deeds.empty());
}

TEST(GuestSpace, SaysWhatEachUnitWasGranted) {
  GuestWish wish = wish_of({1, 2});
  wish.units[1].grant.node_selector = {{"pool", "small"}, {"zone", "a"}};
  wish.units[0].grant.storage = {{"slow", true}, {"fast", false}};
  wish.tolerable = {"a/b", "c"};
  const auto made = guest_space_objects(wish, "sw5-milan-shop", 3);
  const model::Node& space = made.back().object;
  const auto note = [&space](std::string_view key) {
    return text_at(space, {"metadata", "annotations", key});
  };
  EXPECT_EQ(note(liqo::k_selectors_annotation), "u-1-aaaaaaaaaaaa:pool=small,zone=a");
  EXPECT_EQ(note(liqo::k_storage_annotation), "fast,slow");
  EXPECT_EQ(note(liqo::k_tolerable_annotation), "a/b,c");
  EXPECT_EQ(note(liqo::k_ingress_annotation), "");
  EXPECT_EQ(text_at(made[0].object, {"spec", "hard", "persistentvolumeclaims"}), "32");
  EXPECT_EQ(text_at(made[0].object, {"spec", "hard", "services.loadbalancers"}), "0");
}

TEST(GuestSpace, GuestsReachNeitherPrivateNetworksNorTheMetadataService) {
  const auto made = guest_space_objects(wish_of({1}), "sw5-milan-shop", 1);
  std::string text = model::to_json(made[2].object);
  for (const std::string& network : private_networks()) {
    EXPECT_NE(text.find('"' + network + '"'), std::string::npos) << network;
  }
  EXPECT_EQ(model::items_at(made[2].object, {"spec", "policyTypes"}).size(), 2U);
}

TEST(PodShares, OneNamespaceHasAll) {
  EXPECT_EQ(deal_pods(20, {{false, 0, 0, 0}}), std::vector<int64_t>{20});
  EXPECT_EQ(deal_pods(20, {{true, 20, 20, 7}}), std::vector<int64_t>{20});
}

TEST(PodShares, ASecondWaitsForWhatTheFirstGivesUp) {
  EXPECT_EQ(deal_pods(20, {{true, 20, 20, 4}, {}}), (std::vector<int64_t>{12, 0}));
  // Written, and not yet followed.
  EXPECT_EQ(deal_pods(20, {{true, 12, 20, 4}, {}}), (std::vector<int64_t>{12, 0}));
  EXPECT_EQ(deal_pods(20, {{true, 12, 12, 4}, {}}), (std::vector<int64_t>{12, 8}));
}

TEST(PodShares, WhatRunsKeepsItsPlaceWhenLessIsGranted) {
  EXPECT_EQ(deal_pods(5, {{true, 10, 10, 8}, {true, 10, 10, 0}}), (std::vector<int64_t>{8, 0}));
}

TEST(PodShares, NothingIsWrittenWhileAllHaveRoom) {
  EXPECT_EQ(deal_pods(20, {{true, 12, 12, 3}, {true, 8, 8, 5}}), (std::vector<int64_t>{12, 8}));
}

// As Liqo calls them: endpoints by the buyer's own word, packets by what it is called here.
TEST(GuestSpace, ABuyersNetworkIsOpenWhileItIsConnectedAndNoLonger) {
  GuestWish wish = wish_of({7});
  std::vector<GuestSpaceSight> spaces{{space_as_liqo_makes_it("sw5-milan-shop")}};
  const auto endpoints = [&] {
    return text_at(spaces[0].space, {"metadata", "annotations", liqo::k_endpoints_annotation});
  };
  const auto is_open = [&](const std::string& range) {
    const std::string policy = model::to_json(*spaces[0].network);
    return policy.find("\"cidr\":\"" + range + "\"") != std::string::npos;
  };
  settle_all(wish, spaces);
  EXPECT_EQ(endpoints(), "");
  EXPECT_FALSE(is_open("10.81.0.0/16"));
  wish.ranges_there = {"10.20.0.0/16", "10.70.0.0/16"};
  wish.ranges_here = {"10.20.0.0/16", "10.81.0.0/16"};
  settle_all(wish, spaces);
  EXPECT_EQ(endpoints(), "10.20.0.0/16,10.70.0.0/16");
  EXPECT_TRUE(is_open("10.81.0.0/16"));
  wish.ranges_there = wish.ranges_here = {};
  settle_all(wish, spaces);
  EXPECT_EQ(endpoints(), "");
  EXPECT_FALSE(is_open("10.81.0.0/16"));
}

}  // namespace
}  // namespace spillway::fabric
