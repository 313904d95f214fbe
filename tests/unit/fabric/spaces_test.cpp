#include "fabric/spaces.h"

#include <gtest/gtest.h>

#include "fabric/liqo/guard.h"
#include "model/json.h"
#include "model/tree.h"
#include "support/settled_spaces.h"

namespace spillway::fabric {
namespace {

using test::settle;

SpacesWish wish_for(std::vector<std::string> spaces) {
  SpacesWish wish{"rome", {}, "agents"};
  wish.policy.namespaces = std::move(spaces);
  return wish;
}

SpacesSight sight_of(std::vector<std::string> spaces) {
  SpacesSight sight;
  for (std::string& one : spaces) sight.spaces[std::move(one)] = {};
  return sight;
}

template <class T>
std::vector<const T*> deeds_of(const Plan& plan) {
  std::vector<const T*> found;
  for (const Deed& deed : plan.deeds) {
    if (const auto* one = std::get_if<T>(&deed)) found.push_back(one);
  }
  return found;
}

TEST(Spaces, ANamespaceThatIsNamedGetsAnOffloadingThatSelectsOurUnits) {
  SpacesSight sight = sight_of({"shop", "desk"});
  const Plan plan = plan_spaces(wish_for({"shop"}), sight);
  ASSERT_EQ(plan.deeds.size(), 1U);
  const auto& made = std::get<Create>(plan.deeds[0]);
  EXPECT_EQ(made.at.space, "shop");
  EXPECT_EQ(made.at.name, "offloading");
  const auto read = liqo::read_namespace_offloading(made.object).value();
  EXPECT_EQ(read.remote_name, "sw4-rome-shop");
  EXPECT_EQ(read.mapping, liqo::Mapping::selected_name);
  EXPECT_EQ(read.placement, liqo::Placement::local_and_remote);
  ASSERT_EQ(read.selector.size(), 1U);
  EXPECT_EQ(read.selector[0].requirements[0],
            (liqo::Requirement{"spillway.dev/provider", "Exists", {}}));
  EXPECT_EQ(read.meta.label(k_owner_label), k_owner_fabric);
  settle(plan, sight);
  EXPECT_TRUE(plan_spaces(wish_for({"shop"}), sight).deeds.empty());
}

TEST(Spaces, LabelsChooseToo) {
  SpacesSight sight = sight_of({"shop", "desk"});
  sight.spaces["shop"].labels = {{"team", "sales"}, {"spill", "yes"}};
  sight.spaces["desk"].labels = {{"team", "sales"}};
  SpacesWish wish = wish_for({});
  wish.policy.labels = {{"team", model::Operator::in, {"sales"}},
                        {"spill", model::Operator::exists, {}}};
  const Plan plan = plan_spaces(wish, sight);
  ASSERT_EQ(plan.deeds.size(), 1U);
  EXPECT_EQ(std::get<Create>(plan.deeds[0]).at.space, "shop");
}

TEST(Spaces, NothingIsOffloadedByDefault) {
  SpacesSight sight = sight_of({"shop", "default"});
  sight.waiting.push_back({"shop", "web", "u", "7"});
  EXPECT_TRUE(plan_spaces(wish_for({}), sight).deeds.empty());
}

// By labels they could be chosen; those of peers are other people's work.
TEST(Spaces, SomeAreNeverOffloaded) {
  SpacesSight sight = sight_of({"kube-system", "liqo", "liqo-tenant-milan", "spillway",
                                "spillway-system", "agents", "sw5-turin-web", "shop"});
  sight.spaces["sw5-turin-web"].labels = {{std::string(liqo::k_peer_label), "turin"}};
  SpacesWish wish = wish_for({});
  wish.policy.labels = {{"secret", model::Operator::absent, {}}};
  const Plan plan = plan_spaces(wish, sight);
  ASSERT_EQ(plan.deeds.size(), 1U);
  EXPECT_EQ(std::get<Create>(plan.deeds[0]).at.space, "shop");
}

TEST(Spaces, OursIsPutRightAndGoesWithThePolicy) {
  SpacesSight sight = sight_of({"shop"});
  settle(plan_spaces(wish_for({"shop"}), sight), sight);
  auto& ours = *sight.spaces["shop"].offloading;
  ours.meta.uid = "u1";
  ours.placement = liqo::Placement::local;
  ours.selector.clear();
  const Plan mended = plan_spaces(wish_for({"shop"}), sight);
  ASSERT_EQ(deeds_of<Merge>(mended).size(), 1U);
  settle(mended, sight);
  EXPECT_TRUE(plan_spaces(wish_for({"shop"}), sight).deeds.empty());
  const Plan dropped = plan_spaces(wish_for({}), sight);
  ASSERT_EQ(deeds_of<Remove>(dropped).size(), 1U);
  EXPECT_EQ(deeds_of<Remove>(dropped)[0]->uid, "u1");
}

// Liqo refuses another name later.
TEST(Spaces, OursOfAnotherNameIsMadeAnew) {
  SpacesSight sight = sight_of({"shop"});
  settle(plan_spaces(wish_for({"shop"}), sight), sight);
  SpacesWish renamed = wish_for({"shop"});
  renamed.self = "roma";
  const Plan plan = plan_spaces(renamed, sight);
  ASSERT_EQ(deeds_of<Remove>(plan).size(), 1U);
  settle(plan, sight);
  settle(plan_spaces(renamed, sight), sight);
  EXPECT_EQ(sight.spaces["shop"].offloading->remote_name, "sw4-roma-shop");
}

TEST(Spaces, OneThatSomebodyElseMadeIsLeftAloneAndNamedIfItCannotWork) {
  SpacesSight sight = sight_of({"shop"});
  sight.spaces["shop"].offloading = liqo::new_offloading("shop", "sw4-rome-shop");
  EXPECT_TRUE(plan_spaces(wish_for({"shop"}), sight).troubles.empty());
  sight.spaces["shop"].offloading = liqo::new_offloading("shop", "shop-rome");
  const Plan plan = plan_spaces(wish_for({"shop"}), sight);
  EXPECT_TRUE(plan.deeds.empty());
  ASSERT_EQ(plan.troubles.size(), 1U);
  EXPECT_EQ(plan.troubles[0].thing, "namespace shop");
  EXPECT_NE(plan.troubles[0].reason.find("sw4-rome-shop"), std::string::npos);
  EXPECT_TRUE(plan_spaces(wish_for({}), sight).deeds.empty());
}

TEST(Spaces, ANameThatIsTooLongThereIsRefusedByName) {
  const std::string name(55, 'a');
  const Plan plan = plan_spaces(wish_for({name}), sight_of({name}));
  EXPECT_TRUE(plan.deeds.empty());
  ASSERT_EQ(plan.troubles.size(), 1U);
  EXPECT_EQ(plan.troubles[0].thing, "namespace " + name);
  EXPECT_NE(plan.troubles[0].reason.find("63"), std::string::npos);
  SpacesWish odd = wish_for({"shop"});
  odd.self = "Rome!";
  const Plan refused = plan_spaces(odd, sight_of({"shop"}));
  ASSERT_EQ(refused.troubles.size(), 1U);
  EXPECT_NE(refused.troubles[0].reason.find("Rome!"), std::string::npos);
}

// One more would be refused together with all the others: providers see one map.
TEST(Spaces, NoMoreThanProvidersTakeAndWhatIsOffloadedStays) {
  SpacesWish wish = wish_for({});
  SpacesSight sight;
  for (int i = 0; i < 16; ++i) wish.policy.namespaces.push_back("s" + std::to_string(i));
  for (const std::string& one : wish.policy.namespaces) sight.spaces[one] = {};
  settle(plan_spaces(wish, sight), sight);
  wish.policy.namespaces.push_back("a-new-one");
  sight.spaces["a-new-one"] = {};
  const Plan plan = plan_spaces(wish, sight);
  EXPECT_TRUE(plan.deeds.empty());
  ASSERT_EQ(plan.troubles.size(), 1U);
  EXPECT_EQ(plan.troubles[0].thing, "namespace a-new-one");
  EXPECT_EQ(liqo::k_most_guest_spaces, 16U);
}

model::Node tolerations(const std::string& json) {
  return model::parse_json(json, "tolerations").value();
}

TEST(Spaces, APodThatFoundNoNodeToleratesVirtualOnesOnceItsNamespaceIsOffloaded) {
  SpacesSight sight = sight_of({"shop", "desk"});
  sight.waiting.push_back({"shop", "web", "u1", "7", tolerations(R"([{"key":"gpu"}])")});
  sight.waiting.push_back({"desk", "web", "u2", "8"});
  const Plan first = plan_spaces(wish_for({"shop"}), sight);
  EXPECT_TRUE(deeds_of<Merge>(first).empty()) << "a pod on a unit would have nowhere to go";
  settle(first, sight);
  const Plan plan = plan_spaces(wish_for({"shop"}), sight);
  ASSERT_EQ(plan.deeds.size(), 1U);
  const auto& merge = std::get<Merge>(plan.deeds[0]);
  EXPECT_EQ(merge.at.space, "shop");
  EXPECT_EQ(merge.at.name, "web");
  EXPECT_EQ(model::to_json(merge.patch),
            R"({"metadata":{"resourceVersion":"7"},"spec":{"tolerations":[{"key":"gpu"},)"
            R"({"key":"virtual-node.liqo.io/not-allowed","operator":"Exists",)"
            R"("effect":"NoExecute"}]}})");
  sight.waiting[0].tolerations = *model::look(merge.patch, {"spec", "tolerations"});
  EXPECT_TRUE(plan_spaces(wish_for({"shop"}), sight).deeds.empty());
}

TEST(Spaces, WhatToleratesVirtualNodes) {
  const auto does = [](const char* json) { return tolerates_virtual_nodes(tolerations(json)); };
  EXPECT_TRUE(does(R"([{"operator":"Exists"}])"));
  EXPECT_TRUE(does(R"([{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists"}])"));
  EXPECT_TRUE(does(R"([{"key":"virtual-node.liqo.io/not-allowed","value":"true"}])"));
  EXPECT_FALSE(does(R"([{"key":"virtual-node.liqo.io/not-allowed","value":"no"}])"));
  EXPECT_FALSE(does(
      R"([{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists","effect":"NoSchedule"}])"));
  EXPECT_FALSE(does(R"([{"key":"gpu","operator":"Exists"}])"));
  EXPECT_FALSE(does("[]"));
}

TEST(OffloadPolicy, WhatIsNeverOffloadedCannotBeNamed) {
  OffloadPolicy policy;
  policy.namespaces = {"shop", "kube-system"};
  const Status refused = validate(policy);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().thing, "namespaces[1]");
  policy.namespaces = {"shop", "shop"};
  EXPECT_FALSE(validate(policy));
  policy.namespaces = {"Shop"};
  EXPECT_FALSE(validate(policy));
  policy.namespaces = {"kubernetes-news", "liqor"};
  EXPECT_TRUE(validate(policy));
}

TEST(OffloadPolicy, NobodyIsTrustedUnlessItSaysSo) {
  OffloadPolicy policy;
  EXPECT_FALSE(is_trusted(policy, ClusterId("milan"), true));
  policy.trusted.clusters = {ClusterId("milan")};
  EXPECT_TRUE(is_trusted(policy, ClusterId("milan"), false));
  EXPECT_FALSE(is_trusted(policy, ClusterId("turin"), true));
  policy.trusted.pinned = true;
  EXPECT_TRUE(is_trusted(policy, ClusterId("turin"), true));
  EXPECT_FALSE(is_trusted(policy, ClusterId("turin"), false));
}

}  // namespace
}  // namespace spillway::fabric
