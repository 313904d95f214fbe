// A bought unit that ends: cordoned, drained, and then all of it at once.
#include <gtest/gtest.h>

#include "fabric/buyer.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_now{1'800'000'000'000};
constexpr const char* k_unit = "sw-01m7jvqwfj4xxt60c2xbz461h3-0";

struct UnitEnd : testing::Test {
  UnitEnd() {
    Purchase purchase;
    purchase.contract = ContractId("01m7jvqwfj4xxt60c2xbz461h3");
    purchase.units.push_back({k_unit, "request", "spillway://unit", k_now + minutes(5)});
    wish.purchases.push_back(std::move(purchase));
    sight.has_space = true;
    unit().slice = liqo::new_slice({k_unit, "rome", "milan", "request", {}}, true);
    unit().virtual_node = liqo::new_virtual_node({k_unit, "milan", {}, {}, {}, {}});
    unit().node = NodeSight{"uid", "spillway://unit", true, true};
  }
  BoughtSight& unit() { return sight.units[k_unit]; }

  // What is removed and changed, by its kind's plural.
  std::vector<std::string> deeds(Instant now = k_now) const {
    std::vector<std::string> all;
    for (const Deed& deed : plan_buyer(wish, sight, now).deeds) {
      if (const auto* remove = std::get_if<Remove>(&deed)) {
        all.push_back("remove " + std::string(remove->at.kind.plural));
      } else if (const auto* merge = std::get_if<Merge>(&deed)) {
        all.push_back("change " + std::string(merge->at.kind.plural));
      } else if (std::holds_alternative<Evict>(deed)) {
        all.push_back("evict");
      }
    }
    return all;
  }

  BuyerWish wish{"rome", "milan", {}, {}, k_now};
  BuyerSight sight;
};

using Deeds = std::vector<std::string>;

TEST_F(UnitEnd, NothingGoesBeforeTheNodeIsCordoned) {
  unit().node->is_cordoned = false;
  EXPECT_EQ(deeds(), Deeds{"change nodes"});
}

TEST_F(UnitEnd, WhatRunsThereIsEvictedFirst) {
  unit().pods.push_back({"shop", "web", false});
  EXPECT_EQ(deeds(), Deeds{"evict"});
}

TEST_F(UnitEnd, OfAnEmptyOneSliceAndVirtualNodeGoAtOnce) {
  EXPECT_EQ(deeds(), (Deeds{"remove resourceslices", "remove virtualnodes"}));
  unit().slice->meta.deleted = "2026-11-16T10:00:00Z";
  unit().virtual_node->meta.deleted = "2026-11-16T10:00:00Z";
  EXPECT_EQ(deeds(), Deeds{});
}

// Law 3: a disruption budget may refuse for ever, and then Liqo waits for ever.
TEST_F(UnitEnd, WhatHasHadItsTimeIsDeletedWithItsGrace) {
  unit().pods.push_back({"shop", "web", false, "uid"});
  unit().pods.push_back({"shop", "gone", true, "other"});
  const Plan plan = plan_buyer(wish, sight, k_now + minutes(5));
  const auto* remove = std::get_if<Remove>(&plan.deeds.at(0));
  ASSERT_NE(remove, nullptr);
  EXPECT_EQ(to_text(remove->at), to_text(Place{liqo::k_pods, "shop", "web"}));
  EXPECT_EQ(remove->uid, "uid");
  EXPECT_FALSE(remove->is_forced);
  EXPECT_EQ(deeds(k_now + minutes(5)), (Deeds{"remove pods", "change resourceslices"}));
}

TEST_F(UnitEnd, NothingIsDeletedThatCouldComeBack) {
  unit().pods.push_back({"shop", "web", false});
  unit().node->is_cordoned = false;
  EXPECT_EQ(deeds(k_now + minutes(5)), (Deeds{"change nodes", "change resourceslices"}));
}

TEST_F(UnitEnd, WhatNobodyPaysForHasNoTimeLeft) {
  unit().pods.push_back({"shop", "web", false});
  wish.purchases.clear();
  const Deeds all = deeds();
  EXPECT_EQ((Deeds{all.begin(), all.begin() + 2}), (Deeds{"remove pods", "change resourceslices"}));
}

// Liqo waits for what is left when the VirtualNode goes, and needs the slice's rights for it.
TEST_F(UnitEnd, WithoutTimeTheSliceOutlivesTheVirtualNode) {
  unit().pods.push_back({"shop", "web", true});
  const Instant late = k_now + minutes(5);
  EXPECT_EQ(deeds(late), Deeds{"change resourceslices"});
  unit().slice->meta.annotations[std::string(liqo::k_create_virtual_node_annotation)] = "false";
  EXPECT_EQ(deeds(late), Deeds{"remove virtualnodes"});
  unit().virtual_node.reset();
  EXPECT_EQ(deeds(late), Deeds{"remove resourceslices"});
}

// It comes back with its provider, unless its slice says that it is to end; that may have been
// written since it was seen.
TEST_F(UnitEnd, OfADeadProvidersTheSliceGoesAsItWasSeen) {
  wish.purchases[0].units[0].drained_by.reset();
  wish.life.life = Life::dead;
  wish.life.unheard = k_now - hours(1);
  wish.life.is_given_up = true;
  unit().node.reset();
  unit().virtual_node.reset();
  unit().slice = liqo::new_slice({k_unit, "rome", "milan", "request", {}}, false);
  unit().slice->meta.uid = "uid";
  unit().slice->meta.version = "7";
  const Plan begun = plan_buyer(wish, sight, k_now);
  const auto* remove = std::get_if<Remove>(&begun.deeds.at(0));
  ASSERT_NE(remove, nullptr);
  EXPECT_EQ(remove->at.kind.plural, "resourceslices");
  EXPECT_EQ(remove->version, "7");
  unit().slice->meta.deleted = to_text(k_now);
  unit().slice->meta.finalizers = {std::string(liqo::k_copy_finalizer)};
  unit().slice->meta.version = "8";
  const Plan freed = plan_buyer(wish, sight, k_now);
  const auto* merge = std::get_if<Merge>(&freed.deeds.at(0));
  ASSERT_NE(merge, nullptr);
  EXPECT_EQ(model::text_at(merge->patch, {"metadata", "resourceVersion"}), "8");
  // Whoever has said so need not be heard again.
  wish.purchases[0].units[0].drained_by = k_now;
  const Plan told = plan_buyer(wish, sight, k_now);
  merge = std::get_if<Merge>(&told.deeds.at(0));
  ASSERT_NE(merge, nullptr);
  EXPECT_EQ(model::text_at(merge->patch, {"metadata", "resourceVersion"}), "");
}

// Its provider lets the virtual kubelet into nothing any more, say.
TEST_F(UnitEnd, APodThatNobodyEndsGoesByForceButNotOneWithIdentity) {
  wish.purchases[0].units[0].drained_by = k_now;
  unit().node->is_cordoned = true;
  unit().pods = {{"shop", "web-0", true}, {"shop", "db-0", true}};
  for (PodSight& pod : unit().pods) pod.gone_by = k_now;
  unit().pods[1].has_identity = true;
  const auto forced = [this](Instant at) {
    std::vector<std::string> all;
    for (const Deed& deed : plan_buyer(wish, sight, at).deeds) {
      const auto* remove = std::get_if<Remove>(&deed);
      if (remove != nullptr && remove->at.kind.plural == "pods") {
        all.push_back((remove->is_forced ? "force " : "remove ") + remove->at.name);
      }
    }
    return all;
  };
  EXPECT_EQ(forced(k_now + seconds(59)), std::vector<std::string>());
  EXPECT_EQ(forced(k_now + seconds(60)), std::vector<std::string>{"force web-0"});
}

// Somebody removed its VirtualNode past Liqo's finalizer: no virtual kubelet tells of what ran
// there.
struct Bereft : UnitEnd {
  Bereft() {
    unit().virtual_node.reset();
    unit().node->is_cordoned = true;
    unit().node->is_silent = true;
    PodSight db{.space = "shop", .name = "db-0", .is_leaving = true, .has_identity = true};
    db.gone_by = k_now;
    unit().pods.push_back(std::move(db));
  }
  Plan late() const { return plan_buyer(wish, sight, k_now + hours(1)); }
  Deeds late_deeds() const { return deeds(k_now + hours(1)); }
  std::string troubles() const {
    std::string all;
    for (const Trouble& one : late().troubles) all += one.thing + ": " + one.reason + "\n";
    return all;
  }
};

// Law 6: without its Node Kubernetes would begin the pod elsewhere.
TEST_F(Bereft, ItsNodeStaysWhileAPodWithIdentityIsBoundToIt) {
  EXPECT_EQ(late_deeds(), Deeds{"change resourceslices"});
  unit().slice.reset();
  EXPECT_EQ(late_deeds(), Deeds());
  EXPECT_EQ(late().units.at(0).step, UnitStep::draining);
  EXPECT_NE(troubles().find("pod shop/db-0"), std::string::npos) << troubles();
  wish.purchases.clear();  // nor once nobody pays for it
  EXPECT_EQ(late_deeds(), Deeds());
  EXPECT_NE(troubles().find("pod shop/db-0"), std::string::npos) << troubles();
  unit().pods.clear();  // by somebody who knows
  EXPECT_EQ(late_deeds(), Deeds{"remove nodes"});
}

// With it the provider ends what runs there, and nobody pays for it any longer.
TEST_F(Bereft, ItsSliceGoesAllTheSame) {
  unit().slice = liqo::new_slice({k_unit, "rome", "milan", "request", {}}, false);
  EXPECT_EQ(late_deeds(), Deeds{"remove resourceslices"});
  EXPECT_EQ(late().units.at(0).step, UnitStep::draining);
  EXPECT_NE(troubles().find("pod shop/db-0"), std::string::npos) << troubles();
}

TEST_F(Bereft, WhatIsNotKnownYetMayHaveAnIdentity) {
  unit().slice.reset();
  unit().pods = {PodSight{}};
  EXPECT_EQ(late_deeds(), Deeds());
  EXPECT_EQ(late().units.at(0).step, UnitStep::draining);
  EXPECT_EQ(troubles(), "");
  unit().pods = {{.space = "shop", .name = "web", .is_leaving = true}};
  EXPECT_EQ(late_deeds(), Deeds{"remove nodes"});
}

// Or it goes as it should, and not all of that is seen yet.
TEST_F(Bereft, NobodyIsToldWhileItsVirtualKubeletIsHeard) {
  unit().slice.reset();
  unit().node->is_silent = false;
  EXPECT_EQ(troubles(), "");
  EXPECT_EQ(late_deeds(), Deeds());
}

// Law 3: the fence time is over, and with it whatever ran there.
TEST_F(Bereft, OfADeadProviderTheFenceTimeIsEnough) {
  unit().slice.reset();
  wish.life.life = Life::dead;
  wish.life.unheard = k_now;
  wish.life.is_given_up = true;
  EXPECT_EQ(late_deeds(), (Deeds{"remove pods", "change nodes"}));
  EXPECT_EQ(troubles().find("pod shop/db-0"), std::string::npos) << troubles();
  unit().pods.clear();
  EXPECT_EQ(late_deeds(), (Deeds{"change nodes", "remove nodes"}));
}

}  // namespace
}  // namespace spillway::fabric
