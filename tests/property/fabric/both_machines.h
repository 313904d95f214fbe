// Both machines on two clusters with Liqo, killed anywhere: of what a plan wants done any part is
// done, in any order; messages are late or lost; Liqo does its work when it likes; hands delete
// things. When all of that ends, what the contracts say is what is there, and another look finds
// nothing to do.
#pragma once

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/base64.h"
#include "model/json.h"
#include "model/tree.h"
#include "support/two_liqos.h"

namespace spillway::fabric {

using test::TwoLiqos;

inline constexpr Instant k_start{1'800'000'000'000};
inline constexpr int k_contracts = 3;
inline constexpr int k_units = 2;

inline int below(int n) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, n)); }
inline bool chance(int percent) { return below(100) < percent; }

// Requests stand for themselves: their hash is their text.
inline std::string as_is(std::string_view text) { return std::string(text); }

inline std::string describe(const Deed& deed) {
  const auto at = [](const Place& place) {
    return fmt::format("{} {}/{}", place.kind.plural, place.space, place.name);
  };
  if (const auto* one = std::get_if<Create>(&deed)) return "create " + at(one->at);
  if (const auto* one = std::get_if<Merge>(&deed)) {
    return fmt::format("merge {} {}", at(one->at), model::to_json(one->patch));
  }
  if (const auto* one = std::get_if<Remove>(&deed)) return "remove " + at(one->at);
  if (const auto* one = std::get_if<Evict>(&deed)) return "evict " + one->pod;
  const auto& said = std::get<Say>(deed);
  return fmt::format("say {} {}", said.step, said.body);
}

struct Contract {
  ContractId id;
  model::LiqoPart part;
  std::vector<std::string> units;
  bool is_there = false;
  std::set<std::string> ended;   // units that were given back
  std::set<std::string> spares;  // of those that live
  // What each side has heard: on disk.
  std::optional<RequestTalk> at_seller;
  std::optional<Proof> proof;
  std::optional<IdentityTalk> identity;
};

class Both {
 public:
  virtual ~Both() = default;
  Both() {
    for (int i = 0; i < k_contracts; ++i) {
      Contract made;
      made.id = make_contract_id(k_start + seconds(i), 1, static_cast<uint64_t>(i));
      made.part = {TwoLiqos::k_buyer, TwoLiqos::k_seller, "key", "control plane", {}};
      for (int u = 0; u < k_units; ++u) {
        made.units.push_back(unit_name(made.id, u));
        made.part.unit_requests.push_back("request of " + made.units.back());
        if (chance(25)) made.spares.insert(made.units.back());
      }
      contracts_.push_back(std::move(made));
    }
  }

  void step() {
    pass(seconds(1));
    switch (below(14)) {
      case 0:
        contracts_[static_cast<size_t>(below(k_contracts))].is_there = true;
        break;
      case 12:  // all of them are bought
        contracts_[static_cast<size_t>(below(k_contracts))].spares.clear();
        break;
      case 1:
        end_something();
        break;
      case 2:
      case 3:
        do_some(plan_buyer(buyer_wish(), liqos_.buyer_sight(), now_), true, chance(50) ? 100 : 40);
        break;
      case 4:
      case 5:
        do_some(plan_seller(seller_wish(), liqos_.seller_sight(), liqos_.now), false,
                chance(50) ? 100 : 40);
        break;
      case 6:
        deliver(chance(70));
        break;
      case 7:
        delete_by_hand();
        break;
      case 13:
        edit_by_hand();
        break;
      case 8:
        add_pod();
        break;
      default:
        for (int i = below(6); i >= 0; --i) liqos_.work(static_cast<size_t>(below(1000)));
        break;
    }
  }

  // Nothing goes wrong any more; what a disruption budget refuses it may refuse for ever. The
  // number of rounds that it took.
  int settle() {
    for (int round = 0; round < 400; ++round) {
      pass(seconds(1));
      bool quiet = true;
      for (int i = 0; i < 50 && liqos_.work(0); ++i) quiet = false;
      while (work_of_others()) quiet = false;
      const Plan at_buyer = plan_buyer(buyer_wish(), liqos_.buyer_sight(), now_);
      const Plan at_seller = plan_seller(seller_wish(), liqos_.seller_sight(), liqos_.now);
      quiet = quiet && at_buyer.deeds.empty() && at_seller.deeds.empty();
      if (quiet) return round;
      if (round == 399) {
        for (const Deed& deed : at_buyer.deeds) RC_LOG(describe(deed) + " at the buyer\n");
        for (const Deed& deed : at_seller.deeds) RC_LOG(describe(deed) + " at the seller\n");
      }
      do_some(at_buyer, true, 100);
      do_some(at_seller, false, 100);
      while (!liqos_.to_buyer.empty() || !liqos_.to_seller.empty()) deliver(true);
    }
    return -1;
  }

  void end_all() {
    for (Contract& contract : contracts_) end(contract);
    now_ = now_ + hours(2);  // also what is kept warm
  }

  void check() {
    for (const Contract& contract : contracts_) {
      for (const std::string& unit : contract.units) {
        if (contract.is_there && !contract.ended.contains(unit)) {
          check_there(unit, contract.spares.contains(unit));
        } else {
          check_gone(unit);
        }
      }
    }
  }
  void check_nothing_left() {
    for (const auto& [key, object] : liqos_.buyer.objects()) {
      RC_LOG(fmt::format("{} {} is left at the buyer\n", std::get<0>(key), std::get<2>(key)));
      RC_ASSERT(std::get<0>(key) == "namespaces");
    }
    for (const auto& [key, object] : liqos_.seller.objects()) {
      RC_LOG(fmt::format("{} {} is left at the seller\n", std::get<0>(key), std::get<2>(key)));
      RC_ASSERT(std::get<0>(key) == "namespaces");
    }
  }
  bool has_sold() const { return sold_; }

 protected:
  virtual SellerWish seller_wish() {
    SellerWish wish{TwoLiqos::k_seller, TwoLiqos::k_buyer, std::string(64, 'a'), {}, warm_until_};
    for (const Contract& contract : contracts_) {
      if (!contract.is_there) continue;
      Sale sale{contract.id, {}, {}, contract.at_seller};
      sale.grant.amounts = {{"cpu", 2000}, {"memory", 4}};
      for (const auto& unit : contract.units) {
        sale.units.push_back(
            {unit, !contract.ended.contains(unit), contract.spares.contains(unit)});
      }
      wish.sales.push_back(std::move(sale));
    }
    return wish;
  }
  virtual BuyerWish buyer_wish() {
    BuyerWish wish{TwoLiqos::k_buyer, TwoLiqos::k_seller, {}, {}, warm_until_};
    for (const Contract& contract : contracts_) {
      if (!contract.is_there) continue;
      Purchase purchase{.contract = contract.id,
                        .units = {},
                        .amounts = {{"cpu", 2000}},
                        .labels = {{"disk", "ssd"}},
                        .annotations = {},
                        .taints = {},
                        .proof = contract.proof};
      if (contract.identity) {
        purchase.recorded = contract.identity->units;
        wish.identity = contract.identity;
      }
      for (const auto& unit : contract.units) {
        BoughtUnit bought{unit, "request of " + unit, "spillway://" + unit};
        bought.is_spare = contract.spares.contains(unit);
        if (contract.ended.contains(unit)) bought.drained_by = drained_by_;
        purchase.units.push_back(std::move(bought));
      }
      wish.purchases.push_back(std::move(purchase));
    }
    return wish;
  }

  // The buyer's agent renews its Lease at the provider.
  virtual void be_heard() { liqos_.renew(now_, 0); }
  // What the rest of the two clusters does; false: nothing.
  virtual bool work_of_others() { return false; }
  virtual Duration seller_is_ahead() const { return {}; }

  void pass(Duration time) {
    now_ = now_ + time;
    liqos_.now = now_ + seller_is_ahead();
    be_heard();
  }

  void do_some(const Plan& plan, bool at_buyer, int percent) {
    for (const Deed& deed : plan.deeds) {
      if (!chance(percent)) continue;
      if (at_buyer) {
        if (const auto* say = std::get_if<Say>(&deed)) contract(say->contract).proof.reset();
        liqos_.do_at_buyer(deed);
      } else {
        check_grant(deed);
        liqos_.do_at_seller(deed);
      }
    }
  }

  // Nobody is granted what no contract says, at no time.
  void check_grant(const Deed& deed) {
    const auto* merge = std::get_if<Merge>(&deed);
    if (merge == nullptr || !merge->of_status) return;
    const auto cpu = model::text_at(merge->patch, {"status", "resources", "cpu"});
    if (cpu.empty() || cpu == "0") return;
    const bool is_sold =
        std::any_of(contracts_.begin(), contracts_.end(), [&](const Contract& one) {
          return one.is_there && !one.ended.contains(merge->at.name) &&
                 !one.spares.contains(merge->at.name) &&
                 std::find(one.units.begin(), one.units.end(), merge->at.name) != one.units.end();
        });
    RC_ASSERT(is_sold);
    sold_ = true;
  }

  void deliver(bool arrives) {
    if (!liqos_.to_seller.empty()) {
      const Say said = liqos_.to_seller.front();
      liqos_.to_seller.pop_front();
      if (arrives) seller_hears(said);
    }
    if (!liqos_.to_buyer.empty()) {
      const Say said = liqos_.to_buyer.front();
      liqos_.to_buyer.pop_front();
      if (arrives) buyer_hears(said);
    }
  }
  Contract& contract(const ContractId& id) {
    return *std::find_if(contracts_.begin(), contracts_.end(),
                         [&](const Contract& one) { return one.id == id; });
  }
  void seller_hears(const Say& said) {
    Contract& on = contract(said.contract);
    RequestTalk talk = read_request_talk(said.body).value();
    RC_ASSERT(check_request(talk, on.part, on.units, as_is).has_value());
    add_heard(on.at_seller, std::move(talk));
  }
  void buyer_hears(const Say& said) {
    Contract& on = contract(said.contract);
    if (said.step == k_nonce_step) {
      const NonceTalk talk = read_nonce_talk(said.body).value();
      on.proof = Proof{talk.nonce, to_base64("signed " + talk.nonce), "key", "control plane"};
    } else {
      on.identity = read_identity_talk(said.body).value();
    }
  }

  void end(Contract& contract) {
    contract.is_there = false;
    contract.at_seller.reset();
    contract.proof.reset();
    contract.identity.reset();
    for (const std::string& unit : contract.units) contract.ended.insert(unit);
  }
  void end_something() {
    Contract& one = contracts_[static_cast<size_t>(below(k_contracts))];
    if (!one.is_there) return;
    drained_by_ = now_ + seconds(below(30));
    if (chance(30)) return end(one);
    one.ended.insert(one.units[static_cast<size_t>(below(k_units))]);
  }

  void delete_by_hand() {
    test::Shelf& shelf = chance(50) ? liqos_.buyer : liqos_.seller;
    const auto& all = shelf.objects();
    if (all.empty()) return;
    const auto picked = std::next(all.begin(), below(static_cast<int>(all.size())))->first;
    const std::string plural = std::get<0>(picked);
    // With a namespace everything in it goes; Liqo's is not ours to make again.
    if (plural == "namespaces") return;
    const model::Node* object = shelf.find(picked);
    const bool is_forced = plural == "virtualnodes" && chance(50);
    if (is_forced || model::items_at(*object, {"metadata", "finalizers"}).empty()) {
      shelf.erase(picked);
    }
  }
  // Of what is right again when all is settled.
  void edit_by_hand() {
    struct Edit {
      bool is_at_buyer;
      const char* plural;
      const char* patch;
    };
    static constexpr Edit k_edits[] = {
        {true, "resourceslices", R"({"spec":{"resources":{"cpu":"64"}}})"},
        {true, "resourceslices", R"({"metadata":{"labels":{"spillway.dev/contract":null}}})"},
        {true, "virtualnodes", R"({"spec":{"labels":{"disk":"none"}}})"},
        {false, "resourceslices", R"({"status":{"resources":{"cpu":"64"}}})"},
        {false, "configmaps", R"({"data":null})"}};
    const Edit& edit = k_edits[below(static_cast<int>(std::size(k_edits)))];
    test::Shelf& shelf = edit.is_at_buyer ? liqos_.buyer : liqos_.seller;
    const auto all = shelf.all(edit.plural);
    if (all.empty()) return;
    model::Node* object = shelf.find(all[static_cast<size_t>(below(static_cast<int>(all.size())))]);
    model::merge(*object, model::parse_json(edit.patch, "edit").value());
    shelf.touch(*object);
  }
  void add_pod() {
    const auto nodes = liqos_.buyer.all("nodes");
    if (nodes.empty()) return;
    liqos_.is_refusing = chance(70);
    liqos_.add_pod(std::get<2>(nodes[static_cast<size_t>(below(static_cast<int>(nodes.size())))]),
                   fmt::format("pod-{}", ++pods_));
  }

  void check_there(const std::string& unit, bool is_spare) {
    const BuyerSight bought = liqos_.buyer_sight();
    const SellerSight sold = liqos_.seller_sight();
    RC_ASSERT(bought.units.contains(unit));
    RC_ASSERT(bought.units.at(unit).node.has_value());
    RC_ASSERT((is_spare || bought.units.at(unit).node->is_ready));
    RC_ASSERT(bought.units.at(unit).node->provider_id == "spillway://" + unit);
    RC_ASSERT(bought.units.at(unit).slice->wanted.at("cpu") == 2000);
    RC_ASSERT(!bought.units.at(unit).slice->meta.label(k_contract_label).empty());
    RC_ASSERT(bought.units.at(unit).virtual_node->labels.at("disk") == "ssd");
    RC_ASSERT(sold.record->units.contains(unit));
    RC_ASSERT(sold.slices.contains(unit));
    RC_ASSERT(sold.slices.at(unit).grant.amounts.at("cpu") == (is_spare ? 0 : 2000));
  }
  void check_gone(const std::string& unit) {
    for (const test::Shelf* shelf : {&liqos_.buyer, &liqos_.seller}) {
      for (const auto& [key, object] : shelf->objects()) {
        if (std::get<2>(key).find(unit) != std::string::npos) {
          RC_LOG(fmt::format("{} {} is left\n", std::get<0>(key), std::get<2>(key)));
        }
        RC_ASSERT(std::get<2>(key).find(unit) == std::string::npos);
      }
    }
    RC_ASSERT(!liqos_.seller_sight().guests.contains(liqo::unit_user(unit, std::string(64, 'a'))));
    const auto record = liqos_.seller_sight().record;
    RC_ASSERT((!record || !record->units.contains(unit)));
  }

  TwoLiqos liqos_;
  std::vector<Contract> contracts_;
  Instant now_ = k_start;
  Instant drained_by_ = k_start;
  Instant warm_until_ = k_start + hours(1);
  int pods_ = 0;
  bool sold_ = false;
};

}  // namespace spillway::fabric
