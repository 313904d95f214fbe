// When a provider is dead, and what its units get and lose then, look by look.
#include "fabric/death.h"

#include <gtest/gtest.h>

#include "fabric/mourning.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_death_now{1'800'000'000'000};
constexpr Duration k_doubt = seconds(5);

Entries entries_of(std::string_view json) { return model::parse_json(json, "test")->items; }
std::string text_of_list(const Entries& list) {
  model::Node all = model::array_node();
  all.items = list;
  return model::to_json(all);
}

TEST(Death, NeedsBothSignsForAWhile) {
  EXPECT_EQ(judge({}, false, k_doubt, k_death_now), Life::unknown);
  EXPECT_EQ(judge({true, {}, k_death_now}, false, k_doubt, k_death_now + hours(1)), Life::alive);
  EXPECT_EQ(judge({true, k_death_now, {}}, false, k_doubt, k_death_now + hours(1)), Life::doubted);
  const Signs both{true, k_death_now, k_death_now + seconds(8)};
  EXPECT_EQ(judge(both, false, k_doubt, k_death_now + seconds(12)), Life::doubted);
  EXPECT_EQ(judge(both, false, k_doubt, k_death_now + seconds(13)), Life::dead);
  EXPECT_EQ(judged_again(both, k_doubt), k_death_now + seconds(13));
}

TEST(Death, LastsUntilAnAnswer) {
  EXPECT_EQ(judge({}, true, k_doubt, k_death_now), Life::dead);  // we were started anew
  EXPECT_EQ(judge({false, k_death_now, {}}, true, k_doubt, k_death_now), Life::dead);
  EXPECT_EQ(judge({true, {}, k_death_now}, true, k_doubt, k_death_now),
            Life::alive);  // Liqo is slower
}

TEST(Death, TaintsAreAddedToWhatIsThereAndTakenFromIt) {
  const Entries before = entries_of(R"([{"key":"disk","value":"slow","effect":"NoSchedule"}])");
  const auto closed = taints_for(before, Mourning::closed, k_death_now);
  ASSERT_TRUE(closed);
  EXPECT_TRUE(is_closed(*closed));
  EXPECT_EQ(closed->size(), 2U);
  EXPECT_FALSE(taints_for(*closed, Mourning::closed, k_death_now));
  const auto evicting = taints_for(*closed, Mourning::evicting, k_death_now);
  ASSERT_TRUE(evicting);
  EXPECT_EQ(evicting->size(), 4U);
  EXPECT_NE(text_of_list(*evicting).find("ToBeDeletedByClusterAutoscaler"), std::string::npos);
  EXPECT_EQ(text_of_list(taints_for(*evicting, Mourning::none, k_death_now).value()),
            text_of_list(before));
  EXPECT_FALSE(taints_for(before, Mourning::none, k_death_now));
}

TEST(Death, TheClusterAutoscalersTaintComesBackAndIsLeftAloneOnOtherNodes) {
  Entries taints = *taints_for({}, Mourning::evicting, k_death_now);
  std::erase_if(taints, [](const model::Node& one) {
    return model::text_at(one, {"key"}) == k_deleted_taint;
  });
  EXPECT_EQ(taints_for(taints, Mourning::evicting, k_death_now)->size(), 3U);
  const Entries its_own =
      entries_of(R"([{"key":"ToBeDeletedByClusterAutoscaler","value":"1","effect":"NoSchedule"}])");
  EXPECT_FALSE(taints_for(its_own, Mourning::none, k_death_now));
}

TEST(Death, PodsThatWaitTolerateOurTaintAndSilenceWithoutEnd) {
  const Entries before = entries_of(
      R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},)"
      R"({"key":"other","operator":"Exists","tolerationSeconds":7}])");
  const auto wanted = tolerations_for(before);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(text_of_list(*wanted),
            R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"},)"
            R"({"key":"other","operator":"Exists","tolerationSeconds":7},)"
            R"({"key":"spillway.dev/provider-dead","operator":"Exists"}])");
  EXPECT_FALSE(tolerations_for(*wanted));
}

// Kubernetes takes the shortest time of all tolerations that match.
TEST(Death, ATimedTolerationThatAPodBringsIsNoneOfOurs) {
  const auto wanted_of = [](const std::string& before) {
    const auto wanted = tolerations_for(entries_of(before));
    EXPECT_FALSE(wanted && tolerations_for(*wanted)) << before;
    return wanted ? text_of_list(*wanted) : "as it is";
  };
  const std::string ours = R"({"key":"spillway.dev/provider-dead","operator":"Exists"})";
  EXPECT_EQ(
      wanted_of(
          R"([{"key":"spillway.dev/provider-dead","operator":"Exists","tolerationSeconds":1}])"),
      "[" + ours + "]");
  EXPECT_EQ(wanted_of(R"([{"operator":"Exists","tolerationSeconds":1}])"),
            R"([{"operator":"Exists"},)" + ours + "]");
  for (const std::string lacking :
       {R"({"key":"spillway.dev/provider-dead","operator":"Exists","effect":"NoSchedule"})",
        R"({"key":"spillway.dev/provider-dead","operator":"Equal","value":"other"})"}) {
    EXPECT_EQ(wanted_of("[" + lacking + "]"), "[" + lacking + "," + ours + "]");
  }
  for (const std::string enough :
       {R"({"key":"spillway.dev/provider-dead","operator":"Exists","effect":"NoExecute"})",
        R"({"key":"spillway.dev/provider-dead","operator":"Equal","value":"true"})"}) {
    EXPECT_EQ(wanted_of("[" + enough + "]"), "as it is");
  }
}

class Mourned : public ::testing::Test {
 protected:
  Mourned() {
    seen.node = NodeSight{"node-uid", "spillway://x/0", true, false, "7", {}};
    PodSight web{"shop", "web", false, "web-uid", "1"};
    PodSight db{"shop", "db-0", false, "db-uid", "2"};
    db.has_identity = true;
    db.grace = seconds(10);
    seen.pods = {web, db};
    life.life = Life::dead;
    life.unheard = k_death_now;
  }
  std::vector<Deed> look(Instant now) {
    plan = {};
    holds = mourn(life, "sw-x-0", minutes(5), seen, now, plan);
    return plan.deeds;
  }
  const Merge& merge(size_t at) { return std::get<Merge>(plan.deeds.at(at)); }
  void follow() {  // what was wanted is so
    for (const Deed& deed : plan.deeds) {
      const auto* one = std::get_if<Merge>(&deed);
      if (one == nullptr) continue;
      if (one->at.kind.plural == "nodes") {
        seen.node->taints = model::items_at(one->patch, {"spec", "taints"});
      } else {
        seen.pods[1].tolerations = model::items_at(one->patch, {"spec", "tolerations"});
      }
    }
  }

  ProviderLife life;
  BoughtSight seen;
  Plan plan;
  bool holds = false;
};

TEST_F(Mourned, NothingIsTaintedForGoodBeforeThoseThatWaitTolerateIt) {
  ASSERT_EQ(look(k_death_now).size(), 2U);
  EXPECT_EQ(merge(0).at.name, "db-0");
  EXPECT_EQ(model::text_at(merge(0).patch, {"metadata", "resourceVersion"}), "2");
  const auto closed = model::items_at(merge(1).patch, {"spec", "taints"});
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(model::text_at(closed[0], {"effect"}), "NoSchedule");
  follow();
  ASSERT_EQ(look(k_death_now).size(), 1U);
  EXPECT_EQ(model::items_at(merge(0).patch, {"spec", "taints"}).size(), 3U);
  follow();
  EXPECT_TRUE(look(k_death_now).empty());
  EXPECT_TRUE(holds);
}

TEST_F(Mourned, WhatHasIdentityGoesAfterFenceClocksAndItsOwnGrace) {
  look(k_death_now), follow(), look(k_death_now), follow();
  const Instant end = k_death_now + minutes(5) + seconds(30) + seconds(10);
  life.is_given_up = true;
  EXPECT_TRUE(look(end - milliseconds(1)).empty());
  EXPECT_EQ(plan.look_again, end);
  life.is_given_up = false;
  EXPECT_TRUE(look(end).empty());  // it is not written down yet
  life.is_given_up = true;
  ASSERT_EQ(look(end).size(), 1U);
  const auto& gone = std::get<Remove>(plan.deeds[0]);
  EXPECT_TRUE(gone.is_forced);
  EXPECT_EQ(gone.uid, "db-uid");
}

TEST_F(Mourned, PodsThatAreNotKnownYetHoldEverything) {
  seen.pods = {PodSight{{}, {}, true}};
  ASSERT_EQ(look(k_death_now).size(), 1U);
  EXPECT_EQ(model::items_at(merge(0).patch, {"spec", "taints"}).size(), 1U);
  EXPECT_TRUE(holds);
}

// Law 3: who releases a unit of a dead provider waits for nobody, unless for the fence.
class Released : public ::testing::Test {
 protected:
  Released() {
    wish.life.life = Life::dead;
    wish.life.unheard = k_death_now;
    sight.has_space = true;
    BoughtSight& unit = sight.units["sw-x-0"];
    unit.slice = liqo::Slice{};
    unit.slice->meta.name = "sw-x-0";
    unit.slice->meta.finalizers = {std::string(liqo::k_copy_finalizer)};
    unit.node = NodeSight{"node-uid", "spillway://x/0", true, false, "7", {}};
  }
  Plan plan(Instant now) { return plan_buyer(wish, sight, now); }

  BuyerWish wish{"rome", "milan", {}, {}, {}, {}};
  BuyerSight sight;
};

TEST_F(Released, GoesWithoutTheProvidersWord) {
  sight.units["sw-x-0"].pods = {PodSight{"shop", "web", true, "web-uid", "1"}};
  Plan first = plan(k_death_now);
  const bool is_forced = std::any_of(first.deeds.begin(), first.deeds.end(), [](const Deed& deed) {
    const auto* one = std::get_if<Remove>(&deed);
    return one != nullptr && one->at.name == "web" && one->is_forced;
  });
  EXPECT_TRUE(is_forced);
  sight.units["sw-x-0"].pods.clear();
  sight.units["sw-x-0"].slice->meta.deleted = to_text(k_death_now);
  const Plan second = plan(k_death_now);
  const bool is_freed = std::any_of(second.deeds.begin(), second.deeds.end(), [](const Deed& deed) {
    const auto* one = std::get_if<Merge>(&deed);
    return one != nullptr && one->at.kind.plural == liqo::k_slices.plural;
  });
  EXPECT_TRUE(is_freed);
}

TEST_F(Released, WaitsForTheFenceOfWhatHasIdentity) {
  PodSight db{"shop", "db-0", true, "db-uid", "2"};
  db.has_identity = true;
  sight.units["sw-x-0"].pods = {db};
  const Plan waiting = plan(k_death_now + minutes(4));
  for (const Deed& deed : waiting.deeds) EXPECT_FALSE(std::holds_alternative<Remove>(deed));
  ASSERT_EQ(waiting.units.size(), 1U);
  EXPECT_EQ(waiting.units[0].step, UnitStep::draining);
}

TEST_F(Released, ThePeeringOfADeadProviderIsTakenApartByForce) {
  sight.units.clear();
  sight.map = liqo::Meta{};
  sight.identity = liqo::Identity{};
  sight.identity->meta.name = "controlplane-milan";
  sight.identity->meta.labels = {{std::string(k_owner_label), std::string(k_owner_fabric)}};
  sight.foreign = liqo::ForeignCluster{};
  sight.foreign->role = liqo::PeerRole::provider;
  wish.warm_until = k_death_now + hours(1);
  const Plan forced = plan(k_death_now);
  ASSERT_EQ(forced.deeds.size(), 1U);
  EXPECT_EQ(std::get<Merge>(forced.deeds[0]).at.kind.plural, "foreignclusters");
  sight.map.reset();
  sight.foreign->meta.annotations[std::string(liqo::k_unreachable_annotation)] = "true";
  const Plan unpeered = plan(k_death_now);
  ASSERT_EQ(unpeered.deeds.size(), 1U);
  EXPECT_EQ(std::get<Remove>(unpeered.deeds[0]).at.name, "controlplane-milan");
  sight.identity.reset();
  EXPECT_FALSE(is_clear(sight));
  const Plan last = plan(k_death_now);
  ASSERT_EQ(last.deeds.size(), 1U);
  EXPECT_EQ(std::get<Remove>(last.deeds[0]).at.kind.plural, "foreignclusters");
  // Where the peer buys from us, it stays.
  sight.foreign->role = liqo::PeerRole::consumer;
  EXPECT_TRUE(is_clear(sight));
  EXPECT_TRUE(plan(k_death_now).deeds.empty());
}

// What a death left half taken down is opened to nothing before it is made anew.
TEST(Return, OpensOnlyNodesThatAVirtualKubeletStaysFor) {
  BuyerWish wish{"rome", "milan", {}, {}, {}, {}};
  wish.life.life = Life::alive;
  Purchase purchase;
  purchase.units = {{"sw-x-0", "request", "spillway://x/0"}};
  wish.purchases = {purchase};
  BuyerSight sight;
  sight.has_space = true;
  BoughtSight& unit = sight.units["sw-x-0"];
  unit.slice = liqo::Slice{};
  unit.slice->meta.name = "sw-x-0";
  unit.node = NodeSight{
      "uid", "spillway://x/0", true, false, "7", *taints_for({}, Mourning::evicting, k_death_now)};
  const auto is_opened = [&] {
    const Plan plan = plan_buyer(wish, sight, k_death_now);
    return std::any_of(plan.deeds.begin(), plan.deeds.end(), [](const Deed& deed) {
      const auto* one = std::get_if<Merge>(&deed);
      return one != nullptr && one->at.kind.plural == liqo::k_nodes.plural;
    });
  };
  EXPECT_FALSE(is_opened());
  unit.virtual_node = liqo::VirtualNode{};
  unit.virtual_node->meta.deleted = to_text(k_death_now);
  EXPECT_FALSE(is_opened());
  unit.virtual_node->meta.deleted.clear();
  EXPECT_TRUE(is_opened());
}

}  // namespace
}  // namespace spillway::fabric
