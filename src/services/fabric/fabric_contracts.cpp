// Which contracts are the fabric's, and what has to be had before they can be made real.
#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "pki/hash.h"
#include "services/fabric/fabric.h"

namespace spillway::agent {
namespace {

// Of one that nobody knows any more: its nodes have what the contract says, and no labels.
model::Offer bare_offer(const model::Contract& contract) {
  model::Offer bare;
  bare.id = contract.offer;
  bare.pool = contract.pool;
  bare.price = contract.price;
  bare.shape = contract.shape;
  return bare;
}

// One copy of what is alike.
void share_offer(std::map<ContractId, FabricContract>& contracts, const ContractId& id) {
  std::optional<SharedOffer>& own = contracts.at(id).offer;
  for (const auto& [other, kept] : contracts) {
    if (other != id && kept.offer && own->share_with(*kept.offer)) return;
  }
}

}  // namespace

// As they were read: each contract has its own. Looked for among a few, for every order of a driver
// may differ from every other.
void Fabric::share_offers() {
  constexpr size_t k_most_compared = 32;
  std::vector<SharedOffer> known;
  for (auto& [id, kept] : state().contracts) {
    if (!kept.offer) continue;
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const SharedOffer& one) {
      return kept.offer->share_with(one);
    });
    if (!is_known && known.size() < k_most_compared) known.push_back(*kept.offer);
  }
}

void Fabric::look_at_contracts() {
  read_pins();
  adopt();
  note_purchases();
  forget_ended();
  note_peers();
  for (const auto* peers : {&state().bought_from, &state().sold_to}) {
    for (const auto& [peer, memory] : *peers) changed_.insert(peer);
  }
}

void Fabric::adopt() {
  for (const auto& [id, row] : dealings_.contracts()) {
    if (contract(id) == nullptr) continue;
    const model::LiqoPart* part = dealings_.part(id);
    const auto known = state().contracts.find(id);
    const bool is_known = known != state().contracts.end();
    if (part == nullptr || (is_known && known->second.part == *part)) continue;
    const bool is_with_another =
        !is_known || peer_of(row, known->second.part) != peer_of(row, *part);
    if (is_with_another && !takes_liqo_id(row, *part)) continue;
    FabricContract& kept = state().contracts[id];
    // Whatever was said was of the key that Liqo had then.
    if (is_known && kept.part.buyer_key != part->buyer_key) kept.forget_talk();
    kept.part = *part;
    requests_.erase(id);  // there may be more of them now
    save_then_look(id);
  }
}

// Each member signs for whatever Liqo id it likes, and it is by these that everything is kept here:
// a second one would be sent to, and answered for, in the place of the first. First is whoever has
// something here, else whoever was taken up before; how old a contract is only a broker says. So an
// agent that has lost its state waits until it sees: contracts are verified in any order.
bool Fabric::takes_liqo_id(const model::Contract& row, const model::LiqoPart& part) {
  const std::string& peer = peer_of(row, part);
  std::set<ContractId> others;
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* other = contract(id);
    if (other == nullptr || peer_of(*other, kept.part) != peer) continue;
    if (other_of(*other) != other_of(row)) others.insert(id);
  }
  if (others.empty()) {
    disputed_.erase(row.id);
    return true;
  }
  if (!sights_.is_known()) return false;
  const bool is_first = is_here(row, peer) &&
                        std::none_of(others.begin(), others.end(),
                                     [&](const auto& id) { return is_here(*contract(id), peer); });
  if (!is_first) {
    disputed_.insert_or_assign(row.id, other_of(*contract(*others.begin())));
    return false;
  }
  forget_if([&others](const ContractId& id) { return others.contains(id); });
  for (const ContractId& id : others) disputed_.insert_or_assign(id, other_of(row));
  disputed_.erase(row.id);
  const auto bought = state().bought_from.find(peer);
  if (bought != state().bought_from.end()) bought->second.identity.reset();  // it was theirs
  return true;
}

bool Fabric::is_here(const model::Contract& row, const std::string& peer) {
  const std::vector<std::string> units = unit_names(row);
  return std::any_of(units.begin(), units.end(), [&](const std::string& unit) {
    return is_bought(row) ? sights_.buyer(peer).units.contains(unit)
                          : sights_.seller(peer).slices.contains(unit);
  });
}

// Written down before anything is granted for it, so that a restart takes nothing back.
void Fabric::note_purchases() {
  for (auto& [id, kept] : state().contracts) {
    const std::vector<int32_t>* purchased = dealings_.purchased(id);
    if (purchased == nullptr || *purchased == kept.purchased) continue;
    kept.purchased = *purchased;
    save_then_look(id);
  }
}

void Fabric::forget_ended() {
  const auto& live = dealings_.contracts();
  forget_if([&live](const ContractId& id) { return !live.contains(id); });
}

void Fabric::forget_if(const std::function<bool(const ContractId&)>& is_over) {
  const auto is_of_it = [&is_over](const auto& one) { return is_over(one.first); };
  if (std::erase_if(state().contracts, is_of_it) > 0) dealings_.touch();
  std::erase_if(requests_, is_of_it);
  std::erase_if(offered_, is_of_it);
  std::erase_if(disputed_, is_of_it);
  std::erase_if(refusals_, is_of_it);
  std::erase_if(offers_, is_over);  // asked for anew, should it be taken up again
}

void Fabric::note_peers() {
  std::set<std::string> bought;
  std::set<std::string> sold;
  std::vector<fabric::Trouble> troubles;
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr) continue;
    (is_bought(*row) ? bought : sold).insert(peer_of(*row, kept.part));
    const std::string& own = is_bought(*row) ? kept.part.buyer : kept.part.provider;
    if (self_ && own != self_->id()) {
      troubles.push_back(
          {"contract " + id.text,
           fmt::format("it is for Liqo cluster {}, and this is {}", own, self_->id()),
           "release it, and buy or sell anew"});
    }
  }
  for (const auto& [id, holder] : disputed_) {
    const model::Contract* row = contract(id);
    if (row == nullptr) continue;
    const std::string by = is_bought(*row) ? "release it" : "its buyer should release it";
    troubles.push_back({"contract " + id.text,
                        fmt::format("its Liqo cluster is that of {} here", holder.text),
                        by + "; or wait until all contracts with that one have ended"});
  }
  tellings_.set("contracts", std::string(fabric::liqo::k_namespace), troubles);
  bool is_changed = false;
  const auto note = [&](std::map<std::string, PeerMemory>& memory,
                        const std::set<std::string>& present) {
    for (const std::string& peer : present) {
      const auto [at, is_new] = memory.try_emplace(peer);
      is_changed = is_changed || is_new || at->second.idle_since;
      at->second.idle_since.reset();
    }
    for (auto& [peer, one] : memory) {
      if (present.contains(peer) || one.idle_since) continue;
      one.idle_since = now();
      is_changed = true;
    }
  };
  note(state().bought_from, bought);
  note(state().sold_to, sold);
  if (is_changed) dealings_.touch();
}

// Whose state was lost has left things behind that only names and records tell of; so has what was
// asked of an API server, and done long after everything else had gone.
bool Fabric::find_peer(const std::string& peer) {
  bool is_new = false;
  const fabric::BuyerSight& seen = sights_.buyer(peer);
  // Others may peer by hand.
  const bool has_identity =
      seen.identity && seen.identity->meta.label(fabric::k_owner_label) == fabric::k_owner_fabric;
  const bool has_bought = has_identity || !seen.units.empty() || templates_.has_any(peer);
  if (has_bought) is_new = state().bought_from.try_emplace(peer).second;
  const fabric::SellerSight& sold = sights_.seller(peer);
  // No contract waits until fences are seen: one may be seen when its buyer was forgotten already.
  // Liqo may write a certificate when its slice is gone.
  const bool has_certificate =
      std::any_of(sold.certificates.begin(), sold.certificates.end(),
                  [](const std::string& unit) { return contract_of_unit(unit).has_value(); });
  // A map that was on its way when the buyer lost its tenant. Of who peered by hand, and never
  // bought from us, no namespace says that we sell there.
  const bool has_map = !sold.maps.empty() && !sold.tenant && !sold.provider.empty();
  const bool has_sold = !is_others_peering(sold) &&
                        (sold.record || sold.fence.has_any() || has_certificate || has_map);
  if (has_sold) is_new = state().sold_to.try_emplace(peer).second || is_new;
  if (is_new) contracts_changed();
  return is_new;
}

void Fabric::find_peers() {
  for (const std::string& peer : sights_.peers()) find_peer(peer);
  contracts_changed();
}

// ---- what has to be had first --------------------------------------------------------------

void Fabric::prepare() {
  if (!self_) return;
  for (auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr) continue;
    if (is_bought(*row)) {
      if (!requests_.contains(id)) make_requests(*row, kept);
      if (!kept.nonce.empty()) prove(id, kept);
    }
    const bool has_offer = is_bought(*row) ? kept.offer.has_value() : kept.tolerable.has_value();
    if (!has_offer && offers_.insert(id).second) find_offer(*row);
  }
}

// Those whose hashes were signed, and no others: a Liqo that was installed anew has another key.
void Fabric::make_requests(const model::Contract& row, const FabricContract& kept) {
  UnitRequests fitting;
  const std::vector<std::string> units = unit_names(row);
  const auto& hashes = kept.part.unit_requests;
  for (size_t i = 0; i < std::min(units.size(), hashes.size()); ++i) {
    auto made = self_->unit_request(units[i]);
    if (made && pki::sha256_hex(*made) == hashes[i]) fitting.emplace(units[i], std::move(*made));
  }
  requests_[row.id] = std::move(fitting);
  changed_.insert(kept.part.provider);
}

void Fabric::tell_of_other_key(const model::Contract& row, fabric::Plan& plan) const {
  const UnitRequests& fitting = requests_.at(row.id);
  for (const model::Unit& unit : row.units) {
    const std::string name = unit_name(row.id, unit.number);
    if (!unit.live || fitting.contains(name)) continue;
    plan.troubles.push_back({"unit " + name, "Liqo's key here is another than it was bought with",
                             "it runs on while it is there; release it, and buy anew"});
  }
}

void Fabric::tell_of_unreleased(const std::string& peer, const fabric::BuyerWish& wish,
                                fabric::Plan& plan) {
  if (dealings_.gives_back()) return;
  Unreleased::Units units;
  for (const fabric::Purchase& purchase : wish.purchases) {
    Unreleased::add(*contract(purchase.contract), state().contracts.at(purchase.contract), plan,
                    units);
  }
  side(peer, Role::buyer).unreleased.tell(units, now(), plan);
}

void Fabric::tell_of_refusals(const std::string& peer, Role role, fabric::Plan& plan) const {
  for (const auto& [id, refusal] : refusals_) {
    const model::Contract* row = contract(id);
    const auto kept = state().contracts.find(id);
    if (row == nullptr || kept == state().contracts.end()) continue;
    const bool is_of_role = is_bought(*row) == (role == Role::buyer);
    if (is_of_role && peer_of(*row, kept->second.part) == peer) plan.troubles.push_back(refusal);
  }
}

void Fabric::find_offer(const model::Contract& wanted) {
  const auto take = [this, id = wanted.id](const Result<model::Offer>& told) {
    const auto kept = state().contracts.find(id);
    const model::Contract* row = contract(id);
    if (kept == state().contracts.end() || row == nullptr) return;
    if (is_bought(*row)) {
      kept->second.offer = told ? *told : bare_offer(*row);
      kept->second.is_bare = !told;
      share_offer(state().contracts, id);
    } else {
      auto& keys = kept->second.tolerable.emplace();
      if (told) {
        for (const model::Taint& taint : told->taints) keys.push_back(taint.key);
      }
    }
    dealings_.touch();
    change(peer_of(*row, kept->second.part));
  };
  dealings_.find_offer(wanted, life_.guard(take));
}

void Fabric::prove(const ContractId& id, FabricContract& kept) {
  const std::string nonce = std::exchange(kept.nonce, {});
  const auto request = self_->control_plane_request();
  const auto signature = self_->sign(nonce);
  dealings_.touch();
  if (request && offered_.contains(id)) {  // it asks for a kubeconfig, and signs nothing
    kept.proof = fabric::Proof{{}, {}, self_->public_key(), *request};
    changed_.insert(kept.part.provider);
    return;
  }
  if (!request || !signature) {  // never: the key was good enough for a contract
    log_.write(services::Level::error, "Liqo's key cannot be used", {{"contract", id.text}});
    return;
  }
  kept.proof = fabric::Proof{nonce, to_base64(*signature), self_->public_key(), *request};
  changed_.insert(kept.part.provider);
}

void Fabric::save_then_look(const ContractId& id) {
  unsaved_[id] += 1;
  dealings_.touch();
  dealings_.flush(life_.guard([this, id] {
    if (--unsaved_[id] == 0) unsaved_.erase(id);
    contracts_changed();
  }));
}

// What was heard need not be saved before this side acts on it: killed meanwhile, it hears it again
// (it was not acknowledged), or finds what it has made. An answer is saved with it, at once, before
// it is sent.
void Fabric::look_now(const std::string& peer) {
  dealings_.touch();
  changed_.insert(peer);
  step();
}

}  // namespace spillway::agent
