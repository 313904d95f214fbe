#include "services/fabric/wishes.h"

#include <algorithm>

#include "base/base64.h"
#include "demand/node_image.h"
#include "market/mutants.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

liqo::Amounts amounts_of_unit(const model::Contract& contract) {
  return liqo::amounts_of(demand::as_node_has(contract.shape), {});
}

// Liqo writes its own, and not with our words.
bool is_liqos(std::string_view label) { return label.starts_with("liqo.io/"); }

void dress(fabric::Purchase& purchase, const model::Offer& offer) {
  const demand::NodeImage image = demand::node_image(offer, "unit", {});
  for (const model::Label& label : image.labels) {
    if (is_liqos(label.key) || label.key == "kubernetes.io/hostname") continue;
    purchase.labels.emplace(label.key, label.value);
  }
  for (const model::Taint& taint : image.taints) {
    if (taint.key != liqo::k_taint) purchase.taints.push_back(taint);
  }
}

std::optional<Instant> drained_by(const model::Contract& contract, const FabricContract& kept,
                                  const std::string& unit, Duration drain) {
  const bool is_closing = contract.state == model::ContractState::closing;
  const auto ending = kept.ending.find(unit);
  if (ending == kept.ending.end()) {
    return is_closing ? std::optional(contract.deadline) : std::nullopt;
  }
  const Instant by = ending->second + drain;
  return is_closing ? std::min(by, contract.deadline) : by;
}

// What a broker alone says was bought gets nothing.
bool is_still_spare(const model::Contract& contract, const FabricContract& kept,
                    const model::Unit& unit) {
  if (market::mutant(market::Mutant::grant_spares)) return false;
  const auto& signed_for = kept.purchased;
  const bool is_signed =
      std::find(signed_for.begin(), signed_for.end(), unit.number) != signed_for.end();
  return contract.spare && !(unit.bought && is_signed);
}

}  // namespace

std::vector<std::string> unit_names(const model::Contract& contract) {
  std::vector<std::string> names;
  for (const model::Unit& unit : contract.units) {
    names.push_back(unit_name(contract.id, unit.number));
  }
  return names;
}

fabric::Sale sale_of(const model::Contract& contract, const FabricContract& kept) {
  fabric::Sale sale{contract.id, {}, {}, kept.request};
  sale.grant.amounts = amounts_of_unit(contract);
  if (market::mutant(market::Mutant::grant_double)) {
    for (auto& one : sale.grant.amounts) one.second *= 2;
  }
  for (const model::Unit& unit : contract.units) {
    sale.units.push_back(
        {unit_name(contract.id, unit.number), unit.live, is_still_spare(contract, kept, unit)});
  }
  sale.is_closing = contract.state == model::ContractState::closing;
  if (sale.is_closing) sale.zero_at = contract.deadline - contract.terms.drain;
  sale.fence = contract.terms.fence;
  sale.is_kept = contract.units.empty();
  sale.buyer_key = from_base64(kept.part.buyer_key).value_or("");
  sale.made = contract.created;
  return sale;
}

fabric::Purchase purchase_of(const model::Contract& contract, const FabricContract& kept,
                             const Buying& buying, const fabric::BuyerSight& seen) {
  fabric::Purchase purchase{.contract = contract.id,
                            .units = {},
                            .amounts = amounts_of_unit(contract),
                            .labels = {},
                            .annotations = {},
                            .taints = {},
                            .proof = kept.proof};
  purchase.is_kept = contract.units.empty();
  if (buying.has_identity) purchase.recorded = kept.recorded;
  purchase.is_bare = !kept.offer || kept.is_bare;
  if (kept.offer) dress(purchase, **kept.offer);
  for (const model::Unit& unit : contract.units) {
    if (!unit.live) continue;
    const std::string name = unit_name(contract.id, unit.number);
    const auto request = buying.requests.find(name);
    const auto sight = seen.units.find(name);
    const bool has_slice = sight != seen.units.end() && sight->second.slice;
    const bool may_be_made = request != buying.requests.end() && kept.offer;
    const auto ends = drained_by(contract, kept, name, buying.drain);
    if (!may_be_made && !has_slice && !ends) continue;
    purchase.units.push_back({name, request == buying.requests.end() ? "" : request->second,
                              unit_provider_id(contract.id, unit.number), ends,
                              contract.is_spare(unit), contract.terms.fence});
  }
  return purchase;
}

}  // namespace spillway::agent
