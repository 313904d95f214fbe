// Both machines of the fabric on two embedded clusters with Liqo, over the API of both, with what a
// host of theirs keeps and may lose.
#pragma once

#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "model/tree.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"
#include "support/embedded_liqos.h"

namespace spillway::fabric {

using test::EmbeddedLiqos;

enum class Harm { none, kill_before, kill_after, buyer_away, seller_away };

inline std::string to_text(Harm harm) {
  constexpr const char* k_words[] = {"nothing", "a kill before it", "a kill after it",
                                     "the buyer's API server going away",
                                     "the seller's API server going away"};
  return k_words[static_cast<int>(harm)];
}

struct TestContract {
  ContractId id;
  model::LiqoPart part;
  std::vector<std::string> units;
  std::map<std::string, std::string> requests;
  bool is_bought = false;  // what each side's papers say
  bool is_sold = false;    //
  bool is_spare = false;   //
  std::optional<Instant> drained_by;
  // What was heard: on disk.
  std::optional<RequestTalk> at_seller;
  std::optional<Proof> proof;
  std::optional<IdentityTalk> identity;
};

class UnitsWorld {
 public:
  // Something happens at the deed with that number.
  explicit UnitsWorld(int units, int64_t harm_at = -1, Harm harm = Harm::none)
      : harm_at_(harm_at), harm_(harm), key_(cluster_key()) {
    for (int i = 0; i < 2; ++i) contracts_.push_back(new_contract(i, units));
  }

  // One look of everybody.
  void round() {
    if (liqos.is_up(*liqos.buyer)) {
      do_all(plan_buyer(buyer_wish(), liqos.buyer_sight(), liqos.loop.now()), true);
    }
    if (liqos.is_up(*liqos.seller)) {
      do_all(plan_seller(seller_wish(), liqos.seller_sight(), liqos.loop.now()), false);
    }
    liqos.loop.run_for(milliseconds(200));
  }
  template <class Done>
  bool runs_until(Done done) {
    for (int i = 0; i < 1500; ++i) {  // five minutes
      const bool can_look = liqos.is_up(*liqos.buyer) && liqos.is_up(*liqos.seller);
      if (can_look && done()) return true;
      round();
    }
    return false;
  }
  // Nobody has anything left to do.
  bool is_quiet() {
    return plan_buyer(buyer_wish(), liqos.buyer_sight(), liqos.loop.now()).deeds.empty() &&
           plan_seller(seller_wish(), liqos.seller_sight(), liqos.loop.now()).deeds.empty();
  }

  bool is_ready(size_t contract) {
    const BuyerSight sight = liqos.buyer_sight();
    return std::all_of(contracts_[contract].units.begin(), contracts_[contract].units.end(),
                       [&](const std::string& unit) {
                         const auto found = sight.units.find(unit);
                         return found != sight.units.end() && found->second.node &&
                                found->second.node->is_ready &&
                                found->second.node->provider_id == "spillway://" + unit;
                       });
  }
  // At zero on both sides, with their nodes there.
  bool is_spare(size_t contract) {
    const BuyerSight bought = liqos.buyer_sight();
    const SellerSight sold = liqos.seller_sight();
    return std::all_of(
        contracts_[contract].units.begin(), contracts_[contract].units.end(),
        [&](const std::string& unit) {
          const auto node = bought.units.find(unit);
          const auto slice = sold.slices.find(unit);
          const bool is_there = node != bought.units.end() && node->second.node;
          const bool is_granted =
              slice != sold.slices.end() && slice->second.is_accepted(liqo::k_resources_condition);
          return is_there && is_granted && !node->second.node->is_ready &&
                 std::all_of(slice->second.grant.amounts.begin(), slice->second.grant.amounts.end(),
                             [](const auto& amount) { return amount.second == 0; });
        });
  }
  // Names of what is left of them, on either side.
  std::vector<std::string> left_of(size_t contract) {
    std::vector<std::string> left;
    for (embedded::Cluster* cluster : {liqos.buyer.get(), liqos.seller.get()}) {
      for (const liqo::Kind& kind :
           {liqo::k_slices, liqo::k_virtual_nodes, liqo::k_nodes, liqo::k_secrets,
            liqo::k_identities, liqo::k_leases, liqo::k_quotas}) {
        for (const model::Node& object : liqos.list(*cluster, kind)) {
          const std::string name(model::text_at(object, {"metadata", "name"}));
          for (const std::string& unit : contracts_[contract].units) {
            if (name.find(unit) == std::string::npos) continue;
            left.push_back(fmt::format("{} {} of {}", kind.plural, name, cluster->name()));
          }
        }
      }
    }
    return left;
  }

  TestContract& contract(size_t number) { return contracts_[number]; }
  int64_t deeds() const { return deeds_; }
  bool is_calm() const { return harm_ == Harm::none; }

  EmbeddedLiqos liqos;
  bool is_buyer_warm = true;
  bool is_seller_warm = true;
  ProviderLife life;  // as the buyer's host has found it

 private:
  pki::Key cluster_key() {
    const model::Node keys = liqos.get(
        *liqos.buyer,
        {liqo::k_secrets, std::string(liqo::k_namespace), std::string(liqo::k_keys_secret)});
    return pki::Key::from_pem(liqo::private_key_in(keys).value()).value();
  }
  TestContract new_contract(int number, int units) {
    TestContract made;
    made.id =
        make_contract_id(liqos.loop.now() + seconds(number), 1, static_cast<uint64_t>(number));
    const std::string control_plane =
        pki::make_subject_request(key_, {"liqo.io", liqos.buyer_id}).value();
    made.part = {liqos.buyer_id,
                 liqos.seller_id,
                 to_base64(pki::to_pem(key_.public_key())),
                 pki::sha256_hex(control_plane),
                 {}};
    for (int i = 0; i < units; ++i) {
      const std::string unit = unit_name(made.id, i);
      const std::string user = liqo::unit_user(unit, pki::sha256_hex(liqos.buyer_id));
      made.requests[unit] = pki::make_subject_request(key_, {liqos.buyer_id, user}).value();
      made.units.push_back(unit);
      made.part.unit_requests.push_back(pki::sha256_hex(made.requests[unit]));
    }
    return made;
  }

  Instant warm_until(bool is_warm) { return is_warm ? liqos.loop.now() + hours(1) : Instant{}; }

  BuyerWish buyer_wish() {
    BuyerWish wish{liqos.buyer_id, liqos.seller_id, {}, {}, warm_until(is_buyer_warm), life};
    for (const TestContract& one : contracts_) {
      if (!one.is_bought) continue;
      Purchase purchase{.contract = one.id,
                        .units = {},
                        .amounts = {{"cpu", 2000}, {"memory", int64_t{4} << 30}, {"pods", 20}},
                        .labels = {},
                        .annotations = {},
                        .taints = {},
                        .proof = one.proof};
      if (one.identity) {
        purchase.recorded = one.identity->units;
        wish.identity = one.identity;
      }
      for (const std::string& unit : one.units) {
        purchase.units.push_back(
            {unit, one.requests.at(unit), "spillway://" + unit, one.drained_by, one.is_spare});
      }
      wish.purchases.push_back(std::move(purchase));
    }
    return wish;
  }
  SellerWish seller_wish() {
    SellerWish wish{liqos.seller_id,
                    liqos.buyer_id,
                    pki::sha256_hex(liqos.buyer_id),
                    {},
                    warm_until(is_seller_warm)};
    for (const TestContract& one : contracts_) {
      if (!one.is_sold) continue;
      Sale sale{one.id, {}, {}, one.at_seller};
      sale.grant.amounts = {{"cpu", 1500}, {"memory", int64_t{3} << 30}, {"pods", 7}};
      for (const std::string& unit : one.units) sale.units.push_back({unit, true, one.is_spare});
      wish.sales.push_back(std::move(sale));
    }
    return wish;
  }

  void do_all(const Plan& plan, bool at_buyer) {
    for (const Deed& deed : plan.deeds) {
      const bool is_harmed = deeds_++ == harm_at_;
      if (is_harmed && (harm_ == Harm::buyer_away || harm_ == Harm::seller_away)) {
        (harm_ == Harm::buyer_away ? *liqos.buyer : *liqos.seller).restart(seconds(3));
      }
      if (is_harmed && harm_ == Harm::kill_before) return forget();
      if (const auto* say = std::get_if<Say>(&deed)) {
        tell(*say, at_buyer);
      } else {
        (void)liqos.carry_out(at_buyer ? *liqos.buyer : *liqos.seller, deed);
      }
      if (is_harmed && harm_ == Harm::kill_after) return forget();
    }
  }
  // All that a host remembers: what it has said.
  void forget() { said_.clear(); }

  // Once; again when it has changed, and after a while.
  void tell(const Say& say, bool at_buyer) {
    auto& [body, when] = said_[fmt::format("{} {} {}", at_buyer, say.contract.text, say.step)];
    if (body == say.body && liqos.loop.now() < when + seconds(10)) return;
    body = say.body;
    when = liqos.loop.now();
    TestContract& on =
        *std::find_if(contracts_.begin(), contracts_.end(),
                      [&](const TestContract& one) { return one.id == say.contract; });
    if (at_buyer) {
      on.proof.reset();
      RequestTalk talk = read_request_talk(say.body).value();
      const Status good = check_request(talk, on.part, on.units, pki::sha256_hex);
      ASSERT_TRUE(good) << good.error().message();
      return add_heard(on.at_seller, std::move(talk));
    }
    if (say.step == k_identity_step) {
      on.identity = read_identity_talk(say.body).value();
      return;
    }
    const NonceTalk talk = read_nonce_talk(say.body).value();
    on.proof = Proof{talk.nonce, to_base64(pki::sign_message(key_, talk.nonce).value()),
                     pki::to_pem(key_.public_key()),
                     pki::make_subject_request(key_, {"liqo.io", liqos.buyer_id}).value()};
  }

  int64_t harm_at_;
  Harm harm_;
  pki::Key key_;
  std::vector<TestContract> contracts_;
  std::map<std::string, std::pair<std::string, Instant>> said_;
  int64_t deeds_ = 0;
};

// Objects that a peering's end leaves: namespaces, one shared Lease; at the seller what Liqo thinks
// of its peer.
inline std::vector<std::string> left_of_peering(EmbeddedLiqos& liqos, bool at_seller) {
  std::vector<std::string> left;
  const auto look = [&](embedded::Cluster& cluster, const std::string& peer) {
    const std::string space = liqo::tenant_namespace_name(peer);
    for (const liqo::Kind& kind :
         {liqo::k_secrets, liqo::k_config_maps, liqo::k_leases, liqo::k_tenants, liqo::k_identities,
          liqo::k_renews, liqo::k_slices, liqo::k_virtual_nodes, liqo::k_quotas,
          liqo::k_namespace_maps}) {
      for (const model::Node& object : liqos.list(cluster, kind, space)) {
        const std::string name(model::text_at(object, {"metadata", "name"}));
        if (name != "virtual-kubelet-leader-election") {
          left.push_back(fmt::format("{} {} of {}", kind.plural, name, cluster.name()));
        }
      }
    }
  };
  look(*liqos.buyer, liqos.seller_id);
  if (at_seller) look(*liqos.seller, liqos.buyer_id);
  return left;
}

}  // namespace spillway::fabric
