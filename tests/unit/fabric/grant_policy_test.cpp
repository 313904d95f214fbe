#include "fabric/grant_policy.h"

#include <gtest/gtest.h>

#include "model/tree.h"

namespace spillway::fabric {
namespace {

GrantPolicy some_grant_policy() {
  GrantPolicy policy;
  policy.node_labels = {{"zone", "north"}};
  policy.node_selector = {{"pool", "lent"}};
  policy.ingress_classes = {"public", "inside"};
  policy.load_balancer_classes = {"metal"};
  policy.security = PodSecurity::restricted;
  policy.closed_networks = {"203.0.113.0/24"};
  return policy;
}

TEST(GrantPolicy, IsGrantedWithEveryUnit) {
  liqo::Grant grant;
  grant.amounts = {{"cpu", 2000}};
  add_to(grant, some_grant_policy());
  EXPECT_EQ(grant.amounts.at("cpu"), 2000);
  EXPECT_EQ(grant.node_labels, (liqo::Texts{{"zone", "north"}}));
  EXPECT_EQ(grant.node_selector, (liqo::Texts{{"pool", "lent"}}));
  EXPECT_EQ(grant.ingress, (std::vector<liqo::OfferedClass>{{"public", true}, {"inside", false}}));
  EXPECT_EQ(grant.load_balancer, (std::vector<liqo::OfferedClass>{{"metal", true}}));
}

TEST(GrantPolicy, SaysNothingThatBuyersRefuse) {
  GrantPolicy policy = some_grant_policy();
  EXPECT_TRUE(validate(policy));
  policy.node_labels = {{"topology.kubernetes.io/zone", "north"}};
  const Status refused = validate(policy);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("topology.kubernetes.io/zone"), std::string::npos)
      << refused.error().message();
}

TEST(GrantPolicy, HoldsGuestsByIt) {
  GuestWish guests{"rome", std::string(64, 'a'), {{"sw-x-0", {}}}};
  add_to(guests.units[0].grant, some_grant_policy());
  add_to(guests, some_grant_policy());
  std::string all;
  for (const Create& one : guest_space_objects(guests, "sw4-rome-shop", 7)) {
    all += model::to_json(one.object);
  }
  for (const char* part :
       {"restricted", "203.0.113.0/24", "169.254.0.0/16", "pool=lent", "metal"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part;
  }
}

TEST(GrantPolicy, WhatCannotBeIsRefused) {
  EXPECT_TRUE(validate(some_grant_policy()));
  GrantPolicy policy;
  policy.closed_networks = {"everywhere"};
  EXPECT_FALSE(validate(policy));
  policy = {};
  policy.ingress_classes = {"a,b"};
  EXPECT_FALSE(validate(policy));
}

}  // namespace
}  // namespace spillway::fabric
