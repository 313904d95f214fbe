// A provider is cut off from its buyer at any moment, for any time, and comes back: work with
// identity never runs on both sides, whatever the clocks say within their skew and however late a
// renewal arrives; where the provider's own API server was down, not from its first look on. The
// buyer's agent may be killed anywhere; when all is over everything is as the
// contracts say, or nothing is left.
#include <deque>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fabric/mourning.h"
#include "property/fabric/both_machines.h"

namespace spillway::fabric {
namespace {

constexpr Duration k_fence = seconds(60);
constexpr Duration k_skew = seconds(15);
constexpr Duration k_doubt = seconds(5);
constexpr const char* k_at_home = "home";  // a node of the buyer's own

class Mortal : public Both {
 public:
  Mortal() : ahead_(seconds(below(31) - 15)) {
    contracts_[0].is_there = true;
    contracts_[0].spares.clear();
    RC_ASSERT(settle() >= 0);
    RC_ASSERT(!liqos_.buyer.all("nodes").empty());
    has_work_ = true;
  }

  void live_on() {
    switch (below(8)) {
      case 0:
        liqos_.is_cut_off = chance(liqos_.is_cut_off ? 85 : 50);
        is_asleep_ = liqos_.is_cut_off && (is_asleep_ || chance(30));
        if (chance(50)) be_heard();  // perhaps before the provider's agent has looked
        break;
      case 1:
      case 2:
        pass(seconds(1 + below(20)));
        break;
      case 3:
        start_agent();
        break;
      case 4:
        for (int i = below(4); i >= 0; --i) liqos_.work(static_cast<size_t>(below(1000)));
        break;
      case 5:
        if (memory_.is_dead && chance(5)) end(contracts_[0]);
        // Somebody moves it from here; where to, the scheduler says.
        if (db() != nullptr && node_of(*db()) == k_at_home && chance(30)) {
          liqos_.buyer.erase({"pods", "work", "db"});
        }
        if (chance(20)) {  // by somebody's hand
          liqos_.seller.erase({"leases", "liqo-tenant-rome", std::string(k_fence_name)});
        }
        break;
      default:
        do_some(plan_buyer(buyer_wish(), liqos_.buyer_sight(), now_), true, chance(50) ? 100 : 40);
        break;
    }
    if (chance(70)) work_of_others();
    sell();
    check_fence();
  }

  void come_back() {
    liqos_.is_cut_off = false;
    is_asleep_ = false;
    late_.clear();
    RC_ASSERT(settle() >= 0);
    check_fence();
    check();
    for (const auto& key : liqos_.buyer.all("nodes")) {
      RC_ASSERT(!is_closed(model::items_at(*liqos_.buyer.find(key), {"spec", "taints"})));
    }
  }
  void give_all_back() {
    has_work_ = false;
    liqos_.buyer.erase({"pods", "work", "db"});
    end_all();
    RC_ASSERT(settle() >= 0);
    check_nothing_left();
  }
  bool was_moved() const { return was_moved_; }

 protected:
  Duration seller_is_ahead() const override { return ahead_; }

  SellerWish seller_wish() override {
    SellerWish wish = Both::seller_wish();
    wish.skew = k_skew;
    for (Sale& sale : wish.sales) sale.fence = k_fence;
    return wish;
  }
  // As the host of the machine does it (services/fabric/fabric_death.cpp).
  BuyerWish buyer_wish() override {
    BuyerWish wish = Both::buyer_wish();
    for (Purchase& purchase : wish.purchases) {
      for (BoughtUnit& unit : purchase.units) unit.fence = k_fence;
    }
    Signs signs = signs_;
    signs.error = signs.silent;
    wish.life.life = judge(signs, memory_.is_dead, k_doubt, now_);
    if (wish.life.life == Life::dead) memory_.is_dead = true;
    if (wish.life.life == Life::alive) memory_.is_dead = false;
    wish.life.unheard = memory_.unheard.value_or(now_);
    wish.life.fence = k_fence;
    wish.life.margin = k_skew + k_skew;
    wish.life.is_given_up = memory_.is_given_up;
    if (memory_.is_dead && fence_over(wish.life, k_fence) <= now_) memory_.is_given_up = true;
    return wish;
  }
  // As Pulses does it.
  void be_heard() override {
    if (!late_.empty() && chance(30)) {
      liqos_.renew(late_.front().first, late_.front().second);
      late_.pop_front();
      sell();
    }
    if (liqos_.is_cut_off) {
      if (std::exchange(may_renew_, false)) {
        sent_ = now_;
        if (chance(50)) late_.emplace_back(now_, memory_.turns);
      }
      if (!signs_.silent) signs_.silent = now_;
      if (!memory_.unheard) memory_.unheard = sent_;
      return;
    }
    signs_.silent.reset();
    signs_.is_answered = true;
    if (!std::exchange(may_renew_, true)) {
      memory_.turns += memory_.is_given_up ? 1 : 0;
      memory_.is_given_up = false;
      memory_.unheard.reset();
    }
    sent_ = now_;
    liqos_.renew(now_, memory_.turns);
  }
  bool work_of_others() override {
    return has_work_ && (evict_by_taint() || reflect() || replace_db());
  }

 private:
  struct Memory {  // on disk
    std::optional<Instant> unheard;
    bool is_dead = false;
    bool is_given_up = false;
    int64_t turns = 0;
  };

  void start_agent() {
    signs_ = {};
    may_renew_ = false;
    sent_ = now_;
  }
  // What the fence stands on: while its API server is down nobody can stop anything there.
  void sell() {
    if (is_asleep_) return;
    for (int i = 0; i < 3; ++i) {
      do_some(plan_seller(seller_wish(), liqos_.seller_sight(), liqos_.now), false, 100);
    }
  }

  model::Node* db() { return liqos_.buyer.find({"pods", "work", "db"}); }
  static std::string node_of(const model::Node& pod) {
    return std::string(model::text_at(pod, {"spec", "nodeName"}));
  }
  model::Node* db_there() { return liqos_.seller.find({"shadowpods", "work-rome", "db"}); }

  // Kubernetes: who does not tolerate the taint is told to go, and waits for its kubelet.
  bool evict_by_taint() {
    model::Node* pod = db();
    if (pod == nullptr || test::Shelf::is_deleted(*pod)) return false;
    const model::Node* node = liqos_.buyer.find({"nodes", "", node_of(*pod)});
    if (node == nullptr) return false;
    const auto& taints = model::items_at(*node, {"spec", "taints"});
    const bool is_tainted = std::any_of(taints.begin(), taints.end(), [](const model::Node& one) {
      return model::text_at(one, {"key"}) == k_dead_taint &&
             model::text_at(one, {"effect"}) == "NoExecute";
    });
    if (!is_tainted || !tolerations_for(model::items_at(*pod, {"spec", "tolerations"}))) {
      return false;
    }
    if (memory_.is_given_up || !signs_.silent) return false;  // its time has come, or it is well
    RC_FAIL("work with identity was told to go");
  }
  // The virtual kubelet: what is here is there, and the other way round.
  bool reflect() {
    model::Node* pod = db();
    const bool is_ours = pod != nullptr && node_of(*pod) != k_at_home;
    if (liqos_.is_cut_off) return false;
    if (!is_ours && db_there() != nullptr) {
      liqos_.seller.erase({"shadowpods", "work-rome", "db"});
      return true;
    }
    if (!is_ours || db_there() != nullptr) return false;
    const model::Node* slice =
        liqos_.seller.find({"resourceslices", "liqo-tenant-rome", node_of(*pod)});
    const bool is_taken = slice != nullptr && model::text_at(*slice, {"metadata", "annotations",
                                                                      "liqo.io/cordon"}) != "true";
    if (!is_taken) return false;
    const model::Node kept = *pod;
    liqos_.add_pod(node_of(*pod), "db", true);
    liqos_.buyer.put({"pods", "work", "db"}, kept);
    return true;
  }
  // The StatefulSet: one of it, somewhere.
  bool replace_db() {
    if (db() != nullptr) return false;
    const auto nodes = liqos_.buyer.all("nodes");
    std::string node = k_at_home;
    for (const auto& key : nodes) {
      const model::Node& seen = *liqos_.buyer.find(key);
      const bool is_open = !is_closed(model::items_at(seen, {"spec", "taints"})) &&
                           !model::boolean_at(seen, {"spec", "unschedulable"});
      const bool is_ready = model::text_at(seen, {"status", "ready"}) == "True";
      if (is_open && is_ready && !memory_.is_dead && chance(70)) node = std::get<2>(key);
    }
    model::Node pod = model::object_node();
    model::put(model::ensure(pod, {"metadata", "labels"}), "statefulset.kubernetes.io/pod-name",
               model::text_node("db"));
    model::put(model::ensure(pod, {"spec"}), "nodeName", model::text_node(node));
    liqos_.buyer.put({"pods", "work", "db"}, std::move(pod));
    was_moved_ = was_moved_ || (node == k_at_home && memory_.is_given_up);
    return true;
  }
  void check_fence() {
    if (is_asleep_) return;  // from its first look on
    const bool is_here = db() != nullptr && node_of(*db()) == k_at_home;
    if (is_here && db_there() != nullptr) RC_LOG("work with identity runs on both sides\n");
    RC_ASSERT(!is_here || db_there() == nullptr);
  }

  Duration ahead_;
  Signs signs_;
  bool may_renew_ = false;
  Instant sent_ = k_start;
  std::deque<std::pair<Instant, int64_t>> late_;  // renewals that are still on their way
  Memory memory_;
  bool has_work_ = false;
  bool is_asleep_ = false;  // the provider's API server does not answer its own agent, either
  bool was_moved_ = false;
};

RC_GTEST_PROP(Death, NeverHasWorkWithIdentityOnBothSidesAndLeavesNothing, ()) {
  Mortal world;
  const int steps = 50 + below(400);
  for (int i = 0; i < steps; ++i) world.live_on();
  world.come_back();
  world.give_all_back();
  RC_CLASSIFY(world.was_moved(), "work with identity went elsewhere");
}

}  // namespace
}  // namespace spillway::fabric
