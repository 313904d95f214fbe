// A bought unit whose provider's cluster was installed anew: its virtual kubelet believes another
// authority than that cluster has now.
#include <gtest/gtest.h>

#include "fabric/buyer.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_now{1'800'000'000'000};
const std::string k_old = "0123456789abcdef";
const std::string k_new = "fedcba9876543210";
constexpr const char* k_unit = "sw-01m7jvqwfj4xxt60c2xbz461h3-0";

struct Astray : testing::Test {
  Astray() {
    Purchase purchase;
    purchase.contract = ContractId("01m7jvqwfj4xxt60c2xbz461h3");
    purchase.units.push_back({k_unit, "request", "spillway://unit"});
    wish.purchases.push_back(std::move(purchase));
    sight.has_space = true;
    unit().slice = liqo::new_slice({k_unit, "rome", "milan", "request", {}}, false);
    unit().slice->meta.labels.emplace(k_contract_label, "01m7jvqwfj4xxt60c2xbz461h3");
    unit().has_access = true;
    unit().virtual_node = liqo::new_virtual_node({k_unit, "milan", {}, {}, {}, {}});
    unit().virtual_node->labels.emplace(liqo::k_peer_label, "milan");
    unit().node = NodeSight{"uid", "spillway://unit", false, true};
    believes(k_old);
    unit().authorities = k_new;
  }
  BoughtSight& unit() { return sight.units[k_unit]; }
  void believes(const std::string& authorities) {
    unit().virtual_node->meta.annotations[std::string(k_authorities_annotation)] = authorities;
  }
  void add_pod(bool has_identity) {
    PodSight pod{"shop", "web", true};
    pod.has_identity = has_identity;
    unit().pods.push_back(std::move(pod));
  }
  Plan plan() const { return plan_buyer(wish, sight, k_now); }
  // What is removed and changed, by its kind's plural.
  std::vector<std::string> deeds() const {
    std::vector<std::string> all;
    for (const Deed& deed : plan().deeds) {
      if (const auto* remove = std::get_if<Remove>(&deed)) {
        const std::string how = remove->is_forced ? "force " : "remove ";
        all.push_back(how + std::string(remove->at.kind.plural));
      } else if (const auto* merge = std::get_if<Merge>(&deed)) {
        all.push_back("change " + std::string(merge->at.kind.plural));
      } else if (const auto* made = std::get_if<Create>(&deed)) {
        all.push_back("make " + std::string(made->at.kind.plural));
      }
    }
    return all;
  }
  std::string troubles() const {
    std::string all;
    for (const Trouble& one : plan().troubles) all += one.thing + ": " + one.reason + "\n";
    return all;
  }

  BuyerWish wish{"rome", "milan", {}, {}, k_now};
  BuyerSight sight;
};

using Deeds = std::vector<std::string>;

TEST_F(Astray, ItsVirtualNodeGoesWhenNothingIsBoundToIt) {
  EXPECT_EQ(deeds(), Deeds{"remove virtualnodes"});
  EXPECT_NE(troubles().find(std::string("unit ") + k_unit), std::string::npos) << troubles();
  EXPECT_EQ(plan().units.at(0).step, UnitStep::made);
}

TEST_F(Astray, NothingNewComesToIt) {
  unit().node->is_cordoned = false;
  EXPECT_EQ(deeds(), Deeds{"change nodes"});
}

TEST_F(Astray, LiqoIsKeptFromMakingItsOwn) {
  unit().slice = liqo::new_slice({k_unit, "rome", "milan", "request", {}}, true);
  unit().slice->meta.labels.emplace(k_contract_label, "01m7jvqwfj4xxt60c2xbz461h3");
  EXPECT_EQ(deeds(), Deeds{"change resourceslices"});
}

TEST_F(Astray, ItsPodsGoByForce) {
  add_pod(false);
  EXPECT_EQ(deeds(), Deeds{"force pods"});
}

TEST_F(Astray, APodWithIdentityIsNamedAndStays) {
  add_pod(true);
  EXPECT_EQ(deeds(), Deeds());
  EXPECT_NE(troubles().find("pod shop/web"), std::string::npos) << troubles();
}

TEST_F(Astray, WhatIsNotKnownYetMayHaveAnIdentity) {
  unit().pods.emplace_back();
  EXPECT_EQ(deeds(), Deeds());
}

TEST_F(Astray, WhenItEndsItIsNotDrained) {
  wish.purchases[0].units[0].drained_by = k_now + minutes(5);
  add_pod(false);
  EXPECT_EQ(deeds(), Deeds{"force pods"});
  unit().pods.clear();
  EXPECT_EQ(deeds(), (Deeds{"remove resourceslices", "remove virtualnodes"}));
}

TEST_F(Astray, ThatWhichItStillBelievesIsEnough) {
  for (const std::string& believed :
       {k_new, k_old + "." + k_new, k_new + "." + k_old, std::string()}) {
    believes(believed);
    EXPECT_EQ(troubles(), "") << believed;
  }
  believes(k_old);
  for (const std::string& known : {k_old, k_new + "." + k_old, std::string()}) {
    unit().authorities = known;
    EXPECT_EQ(troubles(), "") << known;
  }
}

// Its provider's authorities were changed one by one, and its virtual kubelet started again since.
TEST_F(Astray, OneThatReachesItsProviderIsNone) {
  unit().node->is_ready = true;
  EXPECT_EQ(troubles(), "");
  EXPECT_EQ(plan().units.at(0).step, UnitStep::ready);
}

TEST_F(Astray, WhatSomebodyWroteSaysNothing) {
  for (const char* written :
       {"x", "0123456789abcde", "0123456789ABCDEF", ".", "0123456789abcdef."}) {
    believes(written);
    unit().authorities = written == std::string("0123456789abcdef.") ? k_old : k_new;
    EXPECT_EQ(troubles(), "") << written;
  }
}

TEST_F(Astray, TheNextOneIsMadeForWhatIsThereNow) {
  unit().virtual_node.reset();
  unit().node.reset();
  std::string made_for;
  for (const Deed& deed : plan().deeds) {
    const auto* made = std::get_if<Create>(&deed);
    if (made == nullptr || made->at.kind.plural != liqo::k_virtual_nodes.plural) continue;
    made_for = liqo::read_virtual_node(made->object)->meta.annotation(k_authorities_annotation);
  }
  EXPECT_EQ(made_for, k_new);
}

}  // namespace
}  // namespace spillway::fabric
