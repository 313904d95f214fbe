// What somebody edits of a unit is put right and told; what a provider grants is held against what
// was bought.
#include "fabric/mending.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "fabric/buyer.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_mend_now{1'800'000'000'000};
constexpr const char* k_mended = "sw-01m7jvqwfj4xxt60c2xbz461h3-0";
const liqo::Amounts k_mend_amounts = {{"cpu", 2000}, {"memory", int64_t{4} << 30}, {"pods", 20}};

// A unit that stands, with nothing left to do.
struct Mending : testing::Test {
  Mending() {
    Purchase purchase;
    purchase.contract = ContractId("01m7jvqwfj4xxt60c2xbz461h3");
    purchase.units.push_back({k_mended, "request", "spillway://unit"});
    purchase.amounts = k_mend_amounts;
    purchase.labels = {{"disk", "ssd"}};
    purchase.taints = {{"spot", "true", model::TaintEffect::no_schedule}};
    wish.purchases.push_back(std::move(purchase));
    sight.has_space = true;
    BoughtSight& unit = sight.units[k_mended];
    unit.slice = liqo::new_slice({k_mended, "rome", "milan", "request", k_mend_amounts}, true);
    unit.slice->meta.labels.emplace(k_contract_label, "01m7jvqwfj4xxt60c2xbz461h3");
    unit.slice->meta.version = "7";
    unit.slice->conditions = {{"Resources", "Accepted", "", "", ""}};
    unit.slice->grant.amounts = k_mend_amounts;
    unit.has_access = true;
    unit.virtual_node = liqo::new_virtual_node(
        {k_mended,
         "milan",
         {},
         {{"disk", "ssd"}, {"theirs", "stays"}, {"liqo.io/remote-cluster-id", "milan"}},
         {},
         {{"spot", "true", model::TaintEffect::no_schedule}}});
    unit.virtual_node->meta.version = "8";
    unit.node = NodeSight{"uid", "spillway://unit", true};
  }
  liqo::Slice& slice() { return *sight.units[k_mended].slice; }
  liqo::VirtualNode& virtual_node() { return *sight.units[k_mended].virtual_node; }
  Plan plan() const { return plan_buyer(wish, sight, k_mend_now); }
  // The one deed, which has to be a patch.
  model::Node patch(const Plan& made) const {
    EXPECT_EQ(made.deeds.size(), 1U);
    const auto* merge = made.deeds.empty() ? nullptr : std::get_if<Merge>(&made.deeds[0]);
    EXPECT_NE(merge, nullptr);
    return merge == nullptr ? model::Node{} : merge->patch;
  }

  BuyerWish wish{"rome", "milan", {}, {}, k_mend_now};
  BuyerSight sight;
};

TEST_F(Mending, WhatStandsIsLeftAloneWithWhatOthersAdded) {
  EXPECT_TRUE(plan().deeds.empty());
  EXPECT_TRUE(plan().troubles.empty());
}

TEST_F(Mending, ASliceIsPutRightAndWhatWasEditedIsNamed) {
  slice().wanted["cpu"] = 64000;
  slice().meta.labels.erase(std::string(liqo::k_destination_label));
  const Plan made = plan();
  const model::Node patched = patch(made);
  EXPECT_EQ(model::text_at(patched, {"metadata", "resourceVersion"}), "7");
  EXPECT_EQ(model::text_at(patched, {"spec", "resources", "cpu"}), "2");
  EXPECT_EQ(model::look(patched, {"status"}), nullptr);
  EXPECT_EQ(model::look(patched, {"metadata", "annotations"}), nullptr);
  ASSERT_EQ(made.troubles.size(), 1U);
  EXPECT_NE(made.troubles[0].reason.find("spec.resources.cpu"), std::string::npos);
  EXPECT_NE(made.troubles[0].reason.find("labels."), std::string::npos);
}

TEST_F(Mending, AVirtualNodeGetsBackWhatItLostAndKeepsTheRest) {
  virtual_node().labels.erase("disk");
  virtual_node().taints = {{"theirs", "", model::TaintEffect::no_execute}};
  const model::Node patched = patch(plan());
  EXPECT_EQ(model::text_at(patched, {"spec", "labels", "disk"}), "ssd");
  EXPECT_EQ(model::look(patched, {"spec", "clusterID"}), nullptr);
  const auto taints = model::items_at(patched, {"spec", "taints"});
  ASSERT_EQ(taints.size(), 2U);
  EXPECT_EQ(model::text_at(taints[0], {"key"}), "theirs");
  EXPECT_EQ(model::text_at(taints[1], {"key"}), "spot");
}

TEST_F(Mending, AProviderThatGrantsSomethingElseIsNamed) {
  slice().grant.amounts["cpu"] = 1500;
  const Plan made = plan();
  EXPECT_TRUE(made.deeds.empty());
  ASSERT_EQ(made.troubles.size(), 1U);
  EXPECT_NE(made.troubles[0].reason.find("cpu 1500m of 2000m"), std::string::npos);
  slice().grant.amounts = {{"cpu", 0}, {"memory", 0}, {"pods", 0}};  // on its way, or ending
  EXPECT_TRUE(plan().troubles.empty());
}

TEST_F(Mending, MoreThanWasBoughtIsNoLessALie) {
  EXPECT_EQ(misgranted(k_mend_amounts, {{"cpu", 4000}, {"memory", int64_t{4} << 30}, {"pods", 20}}),
            "cpu 4000m of 2000m");
  EXPECT_EQ(misgranted(k_mend_amounts, {{"cpu", 2000}, {"memory", int64_t{4} << 30}}),
            "pods 0 of 20");
}

TEST_F(Mending, WhatWasNotBoughtIsNoLessALie) {
  liqo::Amounts granted = k_mend_amounts;
  granted["nvidia.com/gpu"] = 8;
  EXPECT_EQ(misgranted(k_mend_amounts, granted), "nvidia.com/gpu 8 of none");
  granted["nvidia.com/gpu"] = 0;
  EXPECT_EQ(misgranted(k_mend_amounts, granted), "");
}

// A label that is taken out of a VirtualNode goes from its node.
TEST_F(Mending, WhatItsKubeletSaysIsPutRightAndNotRemoved) {
  virtual_node().labels["kubernetes.io/hostname"] = k_mended;
  EXPECT_TRUE(plan().deeds.empty());
  virtual_node().labels["kubernetes.io/hostname"] = "another";
  virtual_node().labels["liqo.io/type"] = "x";
  const model::Node patched = patch(plan());
  EXPECT_EQ(model::text_at(patched, {"spec", "labels", "kubernetes.io/hostname"}), k_mended);
  EXPECT_EQ(model::text_at(patched, {"spec", "labels", "liqo.io/type"}), "virtual-node");
}

TEST_F(Mending, OfOneThatCannotBeReadLabelsAreMendedAndNothingElse) {
  virtual_node().unreadable = "spec.resourceQuota.hard: memory";
  virtual_node().labels = {{"disk", "hdd"}, {"node-role.kubernetes.io/control-plane", ""}};
  virtual_node().taints.clear();
  const model::Node patched = patch(plan());
  EXPECT_EQ(model::text_at(patched, {"spec", "labels", "disk"}), "ssd");
  const model::Node* labels = model::look(patched, {"spec", "labels"});
  ASSERT_NE(labels, nullptr);
  const model::Node* role = labels->find("node-role.kubernetes.io/control-plane");
  ASSERT_NE(role, nullptr);
  EXPECT_EQ(role->kind, model::Node::Kind::null);
  EXPECT_EQ(model::look(patched, {"spec", "taints"}), nullptr);
  virtual_node().labels = {{"disk", "ssd"}};
  EXPECT_TRUE(plan().deeds.empty()) << "others may be there, unread";
}

// Else Liqo would copy what nobody could look at.
TEST_F(Mending, NothingIsFilledInFromASliceThatCannotBeRead) {
  slice().unreadable = "status.nodeLabels: 513 entries";
  EXPECT_EQ(model::text_at(patch(plan()),
                           {"metadata", "annotations", liqo::k_create_virtual_node_annotation}),
            "false");
  slice().meta.annotations[std::string(liqo::k_create_virtual_node_annotation)] = "false";
  EXPECT_TRUE(plan().deeds.empty());
}

TEST_F(Mending, WithoutItsRequestAUnitIsGuardedAllTheSame) {
  wish.purchases[0].units[0].request.clear();
  slice().grant.node_labels = {{"node-role.kubernetes.io/control-plane", ""}};
  EXPECT_EQ(model::text_at(patch(plan()),
                           {"metadata", "annotations", liqo::k_create_virtual_node_annotation}),
            "false");
}

// An agent that has lost its state asks for the offer, and may not get it any more.
TEST_F(Mending, WhileItsOfferIsNotKnownANodeKeepsWhatWasBought) {
  wish.purchases[0].is_bare = true;
  wish.purchases[0].labels.clear();
  wish.purchases[0].taints.clear();
  virtual_node().labels["topology.kubernetes.io/region"] = "eu-north";
  EXPECT_TRUE(plan().deeds.empty());
  slice().grant.node_labels = {{"node-role.kubernetes.io/control-plane", ""}};
  virtual_node().labels["node-role.kubernetes.io/control-plane"] = "";
  const Plan made = plan();
  ASSERT_EQ(made.deeds.size(), 2U);
  const model::Node& labels =
      *model::look(std::get<Merge>(made.deeds[0]).patch, {"spec", "labels"});
  EXPECT_EQ(labels.items.size(), 1U);
}

// Whoever wrote many of them is not repeated.
TEST_F(Mending, WhatWasEditedIsNamedInAFewWords) {
  for (int i = 0; i < 500; ++i) {
    virtual_node().labels[fmt::format("{}.kubernetes.io/{}", std::string(400, 'a'), i)] = "x";
  }
  const Plan made = plan();
  ASSERT_EQ(made.troubles.size(), 1U);
  EXPECT_LT(made.troubles[0].reason.size(), 8000U);
}

// Liqo makes a unit's kubeconfig of what its provider writes.
TEST_F(Mending, AVirtualKubeletDoesNotGoWhereItMayNot) {
  wish.purchases[0].units[0].misled = "https://elsewhere.example";
  Plan made = plan();
  EXPECT_EQ(model::text_at(patch(made),
                           {"metadata", "annotations", liqo::k_create_virtual_node_annotation}),
            "false");
  ASSERT_EQ(made.troubles.size(), 1U);
  EXPECT_NE(made.troubles[0].reason.find("elsewhere.example"), std::string::npos);
  slice().meta.annotations[std::string(liqo::k_create_virtual_node_annotation)] = "false";
  made = plan();
  ASSERT_EQ(made.deeds.size(), 1U);
  EXPECT_EQ(std::get<Remove>(made.deeds[0]).at.kind.plural, liqo::k_virtual_nodes.plural);
  sight.units[k_mended].virtual_node.reset();
  sight.units[k_mended].node.reset();
  EXPECT_TRUE(plan().deeds.empty()) << "no other is made";
}

// Liqo would put them on the node as often as they are taken away.
TEST_F(Mending, LabelsThatAreNotForAGrantAreKeptFromTheNode) {
  slice().grant.node_labels = {{"zone", "north"}, {"node-role.kubernetes.io/control-plane", ""}};
  virtual_node().labels.insert(slice().grant.node_labels.begin(), slice().grant.node_labels.end());
  Plan made = plan();
  ASSERT_EQ(made.deeds.size(), 2U);
  const auto& mended = std::get<Merge>(made.deeds[0]);
  EXPECT_EQ(mended.at.kind.plural, liqo::k_virtual_nodes.plural);
  model::Node object = to_object(virtual_node());
  model::merge(object, mended.patch);
  virtual_node() = *liqo::read_virtual_node(object);
  EXPECT_EQ(virtual_node().labels.count("node-role.kubernetes.io/control-plane"), 0U);
  EXPECT_EQ(virtual_node().labels.count("zone"), 1U);
  EXPECT_EQ(std::get<Merge>(made.deeds[1]).at.kind.plural, liqo::k_slices.plural);
  slice().meta.annotations[std::string(liqo::k_create_virtual_node_annotation)] = "false";
  EXPECT_NE(made.troubles.back().reason.find("control-plane"), std::string::npos);
  EXPECT_TRUE(plan().deeds.empty());
  EXPECT_FALSE(plan().troubles.empty());
  // When it grants what it may, it is filled in again.
  slice().grant.node_labels.clear();
  made = plan();
  EXPECT_EQ(model::text_at(patch(made),
                           {"metadata", "annotations", liqo::k_create_virtual_node_annotation}),
            "true");
  EXPECT_TRUE(made.troubles.empty());
}

// What Liqo makes by itself copies every Secret: it must not stay.
TEST_F(Mending, AVirtualNodeThatLiqoMadeAnewDoesNotGoByLiqosOwnTemplate) {
  wish.template_name = "spillway-listed";
  virtual_node().template_name = "";
  const Plan made = plan();
  const bool is_ended = std::any_of(made.deeds.begin(), made.deeds.end(), [](const Deed& deed) {
    const auto* remove = std::get_if<Remove>(&deed);
    return remove != nullptr && remove->at.kind.plural == liqo::k_virtual_nodes.plural;
  });
  const bool is_told_not_to = std::any_of(made.deeds.begin(), made.deeds.end(), [](const Deed& d) {
    const auto* merge = std::get_if<Merge>(&d);
    return merge != nullptr && merge->at.kind.plural == liqo::k_slices.plural;
  });
  EXPECT_TRUE(is_ended || is_told_not_to);
}

TEST_F(Mending, AUnitThatLiqoDeniesIsNamed) {
  slice().conditions = {{"Authentication", "Denied", "", "", ""}};
  slice().grant.amounts.clear();
  EXPECT_FALSE(plan().troubles.empty());
}

// Liqo takes the Node away with its VirtualNode, and makes none where a Node is.
TEST_F(Mending, ANodeWhoseVirtualNodeWasRemovedByForceGoesSoThatBothCanBeMade) {
  BoughtSight& unit = sight.units[k_mended];
  unit.virtual_node.reset();
  for (const Deed& deed : plan().deeds) {
    EXPECT_FALSE(std::holds_alternative<Remove>(deed)) << "it may only not have been seen yet";
  }
  unit.node->is_silent = true;
  const Plan made = plan();
  ASSERT_EQ(made.deeds.size(), 1U);
  EXPECT_EQ(std::get<Remove>(made.deeds[0]).uid, "uid");
  unit.node.reset();
  const Plan next = plan();
  ASSERT_EQ(next.deeds.size(), 1U);
  EXPECT_EQ(std::get<Create>(next.deeds[0]).at.kind.plural, liqo::k_virtual_nodes.plural);
}

TEST_F(Mending, ButNotWhileWorkWithIdentityMayStillRunBehindIt) {
  BoughtSight& unit = sight.units[k_mended];
  unit.virtual_node.reset();
  unit.node->is_silent = true;
  unit.pods = {PodSight{}};  // not known yet
  EXPECT_TRUE(plan().deeds.empty());
  unit.pods = {PodSight{.space = "shop", .name = "db-0", .has_identity = true}};
  const Plan made = plan();
  EXPECT_TRUE(made.deeds.empty());
  ASSERT_FALSE(made.troubles.empty());
  EXPECT_EQ(made.troubles.back().thing, "pod shop/db-0");
}

// Liqo was forbidden to copy it once, by an API server that had not read yet who may do what.
TEST_F(Mending, ASliceThatIsNotAnsweredIsTouchedOnceAWhile) {
  slice().conditions = liqo::Conditions();
  slice().meta.annotations[std::string(k_asked_again_annotation)] = to_text(k_mend_now);
  EXPECT_TRUE(plan().deeds.empty());
  EXPECT_EQ(plan().look_again, k_mend_now + seconds(30));
  slice().meta.annotations[std::string(k_asked_again_annotation)] =
      to_text(k_mend_now - seconds(30));
  const model::Node touched = patch(plan());
  EXPECT_EQ(
      model::text_at(touched, {"metadata", "annotations", std::string(k_asked_again_annotation)}),
      to_text(k_mend_now));
}

// It was denied while its provider knew another key of ours. Liqo looks again only when it changes.
TEST_F(Mending, ADeniedSliceIsTouchedOnceAWhile) {
  slice().conditions = {{"Authentication", "Denied", "", "", ""}};
  const model::Node touched = patch(plan());
  const std::string at(
      model::text_at(touched, {"metadata", "annotations", std::string(k_asked_again_annotation)}));
  slice().meta.annotations[std::string(k_asked_again_annotation)] = at;
  const Plan waiting = plan();
  EXPECT_TRUE(waiting.deeds.empty());
  EXPECT_EQ(waiting.look_again, k_mend_now + seconds(30));
  slice().meta.annotations[std::string(k_asked_again_annotation)] =
      to_text(k_mend_now - seconds(30));
  EXPECT_EQ(plan().deeds.size(), 1U);
}

}  // namespace
}  // namespace spillway::fabric
