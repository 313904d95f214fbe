#include "services/fabric/fabric.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "market/mutants.h"
#include "pki/hash.h"
#include "services/agent/never.h"

namespace spillway::agent {
namespace {

bool is_answered(const fabric::SellerSight& sight) { return sight.tenant && sight.tenant->answer; }

bool is_sweep(const fabric::Deed& deed) {
  const auto* remove = std::get_if<fabric::Remove>(&deed);
  return remove != nullptr && remove->at.kind.plural == fabric::liqo::k_shadow_pods.plural;
}

bool is_real(const model::Contract& contract) {
  return contract.state == model::ContractState::active ||
         contract.state == model::ContractState::closing;
}

}  // namespace

Fabric::Fabric(Dealings& dealings, kube::Api& api, services::Log& log, FabricOptions options)
    : dealings_(dealings),
      api_(api),
      log_(log),
      options_(std::move(options)),
      tellings_(api, log),
      sights_(api, log,
              {[this](const std::string& peer) { change(peer); }, [this] { find_peers(); },
               [this] { guests_known(); },
               [this](const auto& peer, const auto& space) { space_is_gone(peer, space); }}),
      standings_(api, [this](const std::string& buyer) { change(buyer); }),
      templates_(
          api, log, options_.template_name,
          {[this](const std::string& peer) { change(peer); }, [this] { templates_changed(); }}),
      spaces_(api, log, tellings_, in_flight_, options_.own_space),
      pulses_(
          api, log, options_.pulse, options_.api_servers,
          {[this](const std::string& peer, Instant unheard) { provider_silenced(peer, unheard); },
           [this](const std::string& peer, int64_t turns) { provider_answered(peer, turns); }}),
      networks_(dealings, api, log, tellings_, in_flight_, options_.network,
                [this](const std::string& peer) { change(peer); }),
      handouts_(api, options_.handshake, [this](const std::string& peer) { change(peer); }),
      visits_(api, options_.pulse.dial,
              {[this](const std::string& nonce) { return own_tenant(nonce); },
               [this](const auto& order, const auto& tenant) { visit_answered(order, tenant); },
               [this](const auto& order, const Error& why) { visit_failed(order, why); }}),
      alarm_(api.loop(), [this] { step(); }),
      back_(api.when_back([this] { server_is_back(); })) {}

void Fabric::start() {
  using Hear = void (Fabric::*)(const Received&);
  const auto hear = [this](std::string_view step, Hear how) {
    dealings_.hear(std::string(step),
                   life_.guard([this, how](const Received& message) { (this->*how)(message); }));
  };
  hear(fabric::k_nonce_step, &Fabric::hear_of_nonce);
  hear(fabric::k_request_step, &Fabric::hear_of_request);
  hear(fabric::k_identity_step, &Fabric::hear_of_identity);
  hear(fabric::k_network_step, &Fabric::hear_of_network);
  hear(fabric::k_kubeconfig_step, &Fabric::hear_of_kubeconfig);
  sights_.start(handouts_.is_on());
  templates_.start();
  spaces_.start();
  networks_.start();
  spaces_.set_policy(options_.offload);
  share_offers();
  contracts_changed();
}

const model::Contract* Fabric::contract(const ContractId& id) const {
  const auto& all = dealings_.contracts();
  const auto found = all.find(id);
  return found == all.end() || !is_real(found->second) ? nullptr : &found->second;
}

void Fabric::know_self(LiqoHome self) {
  self_ = std::move(self);
  requests_.clear();  // they are signed by its key
  spaces_.know_self(self_->id());
  contracts_changed();
}

void Fabric::contracts_changed() {
  are_contracts_changed_ = true;
  alarm_.wake_by(now() + k_gather);
}

void Fabric::set_holding(bool is_holding) {
  is_holding_ = is_holding;
  spaces_.set_holding(is_holding);
  if (is_holding) alarm_.wake_by(now());
}

void Fabric::change(const std::string& peer) {
  changed_.insert(peer);
  alarm_.wake_by(now() + k_gather);
}

// What could not be done while it was away is not to wait for its own time: guests with identity
// may run that are to be stopped. Not at every answer of one that fails half of the time.
void Fabric::server_is_back() {
  const bool is_again = hurried_ && *hurried_ <= now() && now() - *hurried_ < host::k_longest_wait;
  if (is_again) return;
  hurried_ = now();
  for (const auto& [peer, with] : sides_) {
    with->doings.hurry();
    change(peer.first);
  }
}

void Fabric::step() {
  if (std::exchange(are_contracts_changed_, false)) look_at_contracts();
  prepare();
  Instant next = k_never;
  const Instant time = now();
  for (auto at = due_.begin(); at != due_.end();) {
    if (at->second <= time) {
      changed_.insert(at->first);
      at = due_.erase(at);
    } else {
      ++at;
    }
  }
  if (sights_.is_known() && self_ && is_holding_) {
    for (const std::string& peer : std::exchange(changed_, {})) {
      const Instant due = decide(peer);
      due_.erase(peer);
      if (due < k_never) due_[peer] = due;
    }
  }
  for (const auto& [peer, due] : due_) next = std::min(next, due);
  if (next < k_never) alarm_.wake_by(next);
}

// ---- machines ------------------------------------------------------------------------------

Instant Fabric::decide(const std::string& peer) {
  if (find_peer(peer)) return k_never;
  Instant next = connect(peer);
  const auto bought = state().bought_from.find(peer);
  if (bought != state().bought_from.end() && !is_waiting_for(peer, Role::buyer)) {
    next = std::min(next, buy(peer, bought->second));
  }
  const auto sold = state().sold_to.find(peer);
  if (sold != state().sold_to.end() && !is_waiting_for(peer, Role::seller)) {
    next = std::min(next, sell(peer, sold->second));
  }
  return next;
}

bool Fabric::is_unverified(std::string_view unit) const {
  const auto of = contract_of_unit(unit);
  return of && contract(*of) != nullptr && !state().contracts.contains(*of) &&
         !disputed_.contains(*of);
}

// Something of that peer is not known or not written down yet, and will be soon.
bool Fabric::is_waiting_for(const std::string& peer, Role role) {
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr || peer_of(*row, kept.part) != peer) continue;
    if (is_bought(*row) != (role == Role::buyer)) continue;
    if (unsaved_.contains(id)) return true;
    if (role == Role::buyer && !requests_.contains(id)) return true;
  }
  if (role == Role::buyer) {
    if (!pinned_) return true;
    const auto& units = sights_.buyer(peer).units;
    return std::any_of(units.begin(), units.end(),
                       [this](const auto& one) { return is_unverified(one.first); });
  }
  const auto& slices = sights_.seller(peer).slices;
  return std::any_of(slices.begin(), slices.end(),
                     [this](const auto& one) { return is_unverified(one.first); });
}

Instant Fabric::warm_until(const PeerMemory& memory) const {
  return memory.idle_since ? *memory.idle_since + options_.warm : k_never;
}

Instant Fabric::buy(const std::string& peer, PeerMemory& memory) {
  const fabric::BuyerSight& sight = sights_.buyer(peer);
  note_endings(peer, sight);
  if (is_waiting_for(peer, Role::buyer)) return k_never;
  const fabric::liqo::Leaving leaving = leaving_to(peer);
  watch_over(peer, memory, sight);
  fabric::BuyerWish wish{self_->id(),
                         peer,
                         std::string(template_name(leaving)),
                         {},
                         warm_until(memory),
                         life_of(peer, memory, sight)};
  const bool is_current = sight.identity && memory.identity &&
                          sight.identity->access.certificate == memory.identity->access.certificate;
  if (is_current) waiting_.erase(peer);
  wish.is_waiting = waiting_.contains(peer);
  // Of what ends, and of who may be dead, all pods must be known: they are evicted, or wait.
  const bool is_doubted = wish.life.life >= fabric::Life::doubted;
  std::set<std::string> draining = sights_.nodes_of(peer);
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr || !is_bought(*row) || kept.part.provider != peer) continue;
    if (kept.part.buyer != self_->id()) continue;  // told when it was adopted
    if (market::mutant(market::Mutant::end_with_lease) && row->deadline <= now()) continue;
    wish.purchases.push_back(purchase_of(
        *row, kept, {requests_.at(id), options_.drain, memory.identity.has_value()}, sight));
    if (wish.purchases.back().recorded) wish.identity = memory.identity;
    dealings_.dress(wish.purchases.back());
    for (fabric::BoughtUnit& unit : wish.purchases.back().units) {
      const auto seen = sight.units.find(unit.name);
      if (seen != sight.units.end()) unit.misled = misled(peer, memory, seen->second);
      const bool is_served =
          seen != sight.units.end() && seen->second.virtual_node && !is_astray(seen->second);
      if (is_served && !unit.drained_by && !is_doubted) draining.erase(unit.name);
    }
  }
  sights_.follow_pods(peer, draining);
  if (market::mutant(market::Mutant::skip_fence)) {
    wish.life.margin = {};
    for (fabric::Purchase& purchase : wish.purchases) {
      for (fabric::BoughtUnit& unit : purchase.units) unit.fence = {};
    }
  }
  const Instant given_up = give_up(peer, memory, wish);
  fabric::Plan plan = plan_buyer(wish, sight, now());
  for (const fabric::Purchase& purchase : wish.purchases) {
    tell_of_other_key(*contract(purchase.contract), plan);
  }
  tell_of_unreleased(peer, wish, plan);
  templates_.keep(peer, leaving, !wish.purchases.empty(), sight, plan);
  networks_.hold_back(peer, memory.identity ? memory.identity->access.proxy : "", plan);
  plan.look_by(given_up);
  tell_of_refusal(peer, plan);
  tell_of_refusals(peer, Role::buyer, plan);
  side(peer, Role::buyer).life = wish.life.life;
  const bool is_over = wish.purchases.empty() && plan.deeds.empty() && is_clear(sight) &&
                       templates_.is_clear(peer) && (warm_until(memory) <= now() || memory.dead);
  if (!is_over) return do_plan(peer, Role::buyer, plan);
  pulses_.forget(peer);
  errors_.erase(peer);
  waiting_.erase(peer);
  tellings_.set("bought from " + peer, {}, {});
  state().bought_from.erase(peer);
  forget_side(peer, Role::buyer);
  dealings_.touch();
  return k_never;
}

// Liqo makes a unit's kubeconfig of what the provider writes into its slice, not of what was heard;
// and leaves it as it is when the provider takes that back: both are looked at. The proxy that was
// heard was looked at then, and holds while the network is not seen.
std::string Fabric::misled(const std::string& peer, const PeerMemory& memory,
                           const fabric::BoughtSight& seen) const {
  std::vector<fabric::liqo::AuthParams> ways;
  if (seen.slice && seen.slice->access) ways.push_back(*seen.slice->access);
  if (seen.has_access) ways.push_back({{}, {}, seen.server, seen.proxy});
  for (const fabric::liqo::AuthParams& way : ways) {
    const bool is_heard = memory.identity && way.proxy == memory.identity->access.proxy;
    const Status may =
        check_way(way, options_.api_servers, is_heard ? way.proxy : networks_.in_band(peer));
    if (!may) return fmt::format("{}: {}", may.error().thing, may.error().reason);
  }
  return {};
}

Instant Fabric::sell(const std::string& peer, PeerMemory& memory) {
  const fabric::SellerSight& sight = sights_.seller(peer);
  fabric::SellerWish wish{self_->id(),        peer,         pki::sha256_hex(peer), {},
                          warm_until(memory), options_.skew};
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr || is_bought(*row) || kept.part.buyer != peer) continue;
    if (kept.part.provider != self_->id()) continue;
    wish.sales.push_back(sale_of(*row, kept));
    add_to(wish.sales.back().grant, options_.grant);
  }
  wish.proxy = proxy_for(peer);
  wish.hand_out = handouts_.of(peer, sight);
  fabric::Plan plan = plan_seller(wish, sight, now());
  tell_of_refusals(peer, Role::seller, plan);
  if (market::mutant(market::Mutant::keep_guests)) std::erase_if(plan.deeds, is_sweep);
  if (!is_others_peering(sight)) {
    limit_guests(wish, plan);
    check_newcomer(wish, plan);
    handouts_.issue(sight, peer, plan);
  }
  const bool is_over =
      wish.sales.empty() && plan.deeds.empty() && is_clear(sight) && warm_until(memory) <= now();
  if (!is_over) return do_plan(peer, Role::seller, plan);
  state().sold_to.erase(peer);
  handouts_.forget(peer);
  forget_side(peer, Role::seller);
  dealings_.touch();
  return k_never;
}

// Written down before anything follows: once the slice is gone, nothing else would say that the
// unit was not lost.
void Fabric::note_endings(const std::string& peer, const fabric::BuyerSight& sight) {
  for (const auto& [name, seen] : sight.units) {
    if (!seen.slice || seen.slice->meta.annotation(fabric::k_end_annotation).empty()) continue;
    const auto of = contract_of_unit(name);
    const auto kept = of ? state().contracts.find(*of) : state().contracts.end();
    if (kept == state().contracts.end() || kept->second.part.provider != peer) continue;
    if (market::mutant(market::Mutant::forget_endings)) {
      kept->second.ending.emplace(name, now());
    } else if (kept->second.ending.emplace(name, now()).second) {
      save_then_look(*of);
    }
  }
}

Fabric::Side& Fabric::side(const std::string& peer, Role role) {
  auto& found = sides_[{peer, role}];
  if (found) return *found;
  Doings::Calls calls;
  calls.answered = [this, peer] { change(peer); };
  calls.removed = [this, peer, role](const fabric::Place& at) { note_removed(peer, role, at); };
  calls.made = [this, peer, role](const fabric::Place& at) { note_made(peer, role, at); };
  calls.labelled = [this, peer](const fabric::Place& at, const std::string& labels) {
    note_labelled(peer, at, labels);
  };
  // In place: none of its parts can be moved.
  // NOLINTNEXTLINE(modernize-make-unique)
  found = std::unique_ptr<Side>(new Side{
      Doings(api_, in_flight_, std::move(calls)),
      Sayings(api_.loop(), dealings_, [this](const fabric::Say& said) { on_said(said); })});
  return *found;
}

Instant Fabric::do_plan(const std::string& peer, Role role, const fabric::Plan& plan) {
  Side& with = side(peer, role);
  note_present(peer, role, plan);
  with.units = plan.units;
  Instant next = plan.look_again.value_or(k_never);
  next = std::min(next, with.doings.want(plan.deeds));
  next = std::min(next, with.sayings.want(plan.deeds));
  for (const fabric::Trouble& edit : with.edits.find(plan.kept)) {
    tellings_.tell_once(fabric::liqo::tenant_namespace_name(peer), edit);
  }
  std::vector<fabric::Trouble> troubles = plan.troubles;
  for (fabric::Trouble& trouble : with.doings.troubles()) troubles.push_back(std::move(trouble));
  for (fabric::Trouble& trouble : troubles) cut_to(trouble.reason, Tellings::k_longest);
  tellings_.set((role == Role::buyer ? "bought from " : "sold to ") + peer,
                fabric::liqo::tenant_namespace_name(peer), troubles);
  with.troubles = std::move(troubles);
  with.is_open = role == Role::buyer ? sights_.buyer(peer).identity.has_value()
                                     : is_answered(sights_.seller(peer));
  looked_(progress_of({peer, role}, with));
  return next;
}

// A provider that still wants a proof asks again, with a nonce of its own time.
void Fabric::on_said(const fabric::Say& said) {
  const auto kept = state().contracts.find(said.contract);
  const bool has_proof = kept != state().contracts.end() && kept->second.proof;
  if (said.step != fabric::k_request_step || !has_proof) return;
  kept->second.proof.reset();
  dealings_.touch();
}

FabricStatus Fabric::status() const {
  FabricStatus status;
  status.is_seeing = sights_.is_known() && sights_.trouble() == nullptr;
  for (const auto& [peer, with] : sides_) {
    auto& units = peer.second == Role::buyer ? status.bought : status.sold;
    for (const fabric::UnitProgress& unit : with->units) units[unit.step] += 1;
    if (peer.second == Role::buyer) status.providers[with->life] += 1;
  }
  status.networks = networks_.steps();
  status.peers = static_cast<int64_t>(sides_.size());
  status.refused = refused_;
  status.troubles = tellings_.all();
  return status;
}

}  // namespace spillway::agent
