// What the seller's side does beyond its machine: guest namespaces get their limits, and nobody who
// has rights here by name becomes a tenant.
#include <algorithm>
#include <utility>

#include "fabric/guest_space.h"
#include "services/agent/never.h"
#include "services/fabric/fabric.h"

namespace spillway::agent {
namespace {

// Or lets the buyer make it.
bool makes_tenant(const fabric::Deed& deed) {
  const auto* made = std::get_if<fabric::Create>(&deed);
  if (made != nullptr) return made->at.kind.plural == fabric::liqo::k_tenants.plural;
  const auto* said = std::get_if<fabric::Say>(&deed);
  return said != nullptr && said->step == fabric::k_kubeconfig_step;
}

}  // namespace

// Whoever buys machines with taints has guests that tolerate them.
std::vector<std::string> Fabric::tolerable_by(const std::string& buyer) {
  std::set<std::string> keys;
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr || is_bought(*row) || kept.part.buyer != buyer || !kept.tolerable) continue;
    keys.insert(kept.tolerable->begin(), kept.tolerable->end());
  }
  return {keys.begin(), keys.end()};
}

// Also without the guard: they do no harm, and the guard may come later.
void Fabric::limit_guests(const fabric::SellerWish& wish, fabric::Plan& plan) {
  const GuestSights& seen = sights_.guest_spaces();
  if (!seen.is_known()) {
    if (const Error* why = seen.trouble()) {
      plan.troubles.push_back(
          {"guests of " + wish.buyer,
           "the limits of their namespaces cannot be kept: " + why->message(),
           "give the agent the rights of the chart's agent-fabric-rights.yaml"});
    }
    return;
  }
  fabric::GuestWish guests{wish.buyer, wish.buyer_hash, {}, tolerable_by(wish.buyer)};
  for (const fabric::Sale& sale : wish.sales) {
    for (const fabric::SoldUnit& unit : sale.units) {
      if (unit.is_live && !unit.is_spare) guests.units.push_back({unit.name, sale.grant});
    }
  }
  add_to(guests, options_.grant);
  open_ranges(wish.buyer, guests);
  fabric::Plan limits = plan_guest_spaces(guests, seen.of(wish.buyer), now());
  std::move(limits.deeds.begin(), limits.deeds.end(), std::back_inserter(plan.deeds));
  std::move(limits.kept.begin(), limits.kept.end(), std::back_inserter(plan.kept));
  std::move(limits.troubles.begin(), limits.troubles.end(), std::back_inserter(plan.troubles));
  if (limits.look_again) plan.look_by(*limits.look_again);
}

// Once it is a tenant its certificates are made, and the id in them is whoever has it here.
void Fabric::check_newcomer(const fabric::SellerWish& wish, fabric::Plan& plan) {
  const std::string& buyer = wish.buyer;
  const bool is_new = !wish.sales.empty() && !sights_.seller(buyer).tenant;
  if (!is_new) return;
  // Already while it is being greeted: the answer is there when its proof comes.
  const Standings::Answer answer = standings_.ask(buyer);
  if (answer.has_none) return;
  const bool is_let_in = std::erase_if(plan.deeds, makes_tenant) > 0;
  if (!std::exchange(plan.needs_token, false) && !is_let_in) return;
  if (answer.why)
    plan.troubles.push_back({answer.why->thing, answer.why->reason, answer.why->next});
  if (answer.look_again < k_never) plan.look_by(answer.look_again);
}

void Fabric::set_grant(fabric::GrantPolicy policy) {
  options_.grant = std::move(policy);
  contracts_changed();
}

void Fabric::guests_known() {
  for (const auto& [buyer, memory] : state().sold_to) change(buyer);
}

}  // namespace spillway::agent
