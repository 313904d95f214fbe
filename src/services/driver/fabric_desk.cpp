#include "services/driver/fabric_desk.h"

#include <set>
#include <utility>

#include "services/driver/driver.h"
#include "services/driver/orders.h"

namespace spillway::driver {
namespace {

Error made_by_contracts(std::string thing) {
  return {Code::conflict, std::move(thing), "contracts make units here, not orders",
          "buy one: spillway hold, or let spillway autoscaler do it; a `spillway driver` takes "
          "orders"};
}

}  // namespace

FabricDesk::FabricDesk(host::Loop& loop, const agent::Dealings& dealings)
    : loop_(loop), dealings_(dealings), events_(loop) {
  events_.start();
}

void FabricDesk::attach(agent::Fabric& fabric) {
  fabric_ = &fabric;
  fabric.when_looked(
      life_.guard([this](const agent::PeerProgress& progress) { looked(progress); }));
  for (const agent::PeerProgress& one : fabric.progress()) looked(one);
}

void FabricDesk::detach() {
  fabric_ = nullptr;
  units_.clear();
  peerings_.clear();
  peers_.clear();
}

void FabricDesk::looked(const agent::PeerProgress& progress) {
  if (fabric_ == nullptr) return;
  std::set<std::string> named;
  for (const fabric::UnitProgress& unit : progress.units) {
    take(progress, unit);
    if (unit.step != fabric::UnitStep::gone) named.insert(unit.unit);
  }
  take_peering(progress);
  // What no contract names is shown until nothing is left of it.
  std::erase_if(units_, [&](const auto& one) {
    const auto name = parse_unit(one.first);
    const bool is_live = name && dealings_.contracts().contains(name->contract);
    return !is_live && !named.contains(one.first) && !fabric_->has_any_of(one.first);
  });
}

// Of a unit without a contract nobody could say whose it is: it ends, and that is all.
void FabricDesk::take(const agent::PeerProgress& progress, const fabric::UnitProgress& unit) {
  const auto name = parse_unit(unit.unit);
  const auto& contracts = dealings_.contracts();
  const auto contract = name ? contracts.find(name->contract) : contracts.end();
  const auto known = units_.find(unit.unit);
  if (contract == contracts.end() && known == units_.end()) return;
  UnitDocument& document = known == units_.end() ? units_[unit.unit] : known->second;
  if (contract != contracts.end()) {
    const model::Contract& row = contract->second;
    document.unit = unit.unit;
    document.order.consumer = row.buyer.text;
    document.order.provider = row.provider.text;
    document.order.resources = row.shape;
    document.order.fence = row.terms.fence;
    document.order.provider_id = unit_provider_id(name->contract, name->number);
    for (const model::Unit& one : row.units) {
      if (one.number == name->number) document.order.spare = row.is_spare(one);
    }
  }
  document.troubles.clear();
  for (const fabric::Trouble& trouble : progress.troubles) {
    const bool is_others =
        trouble.thing.starts_with("unit ") && trouble.thing != "unit " + unit.unit;
    if (!is_others) document.troubles.push_back(trouble);
  }
  const std::string name_of_both = peering_name(document.order.consumer, document.order.provider);
  peers_[{progress.peer, progress.is_bought}] = name_of_both;
  PeeringDocument& peering = peerings_[name_of_both];
  peering.consumer = document.order.consumer;
  peering.provider = document.order.provider;
  if (!document.steps.empty() && document.step == unit.step) return;
  document.step = unit.step;
  document.since = loop_.now();
  if (unit.step == fabric::UnitStep::draining && !document.ending) document.ending = loop_.now();
  document.steps.push_back({unit.step, loop_.now()});
  if (document.steps.size() > Driver::k_most_steps) document.steps.erase(document.steps.begin());
  events_.add({.kind = EventKind::step,
               .consumer = document.order.consumer,
               .provider = document.order.provider,
               .unit = unit.unit,
               .step = unit.step});
}

// Only its units say who a peer is; it may outlive them.
void FabricDesk::take_peering(const agent::PeerProgress& progress) {
  const auto peer = peers_.find({progress.peer, progress.is_bought});
  const auto found = peer == peers_.end() ? peerings_.end() : peerings_.find(peer->second);
  if (found == peerings_.end()) return;
  PeeringDocument& peering = found->second;
  peering.open = progress.is_open;
  peering.life = progress.life;
  events_.add_troubles(peering.consumer, peering.provider, peering.troubles, progress.troubles);
  peering.troubles = progress.troubles;
  if (!progress.is_over) return;
  peerings_.erase(found);
  peers_.erase(peer);
}

std::optional<UnitDocument> FabricDesk::unit(const std::string& name) const {
  const auto found = units_.find(name);
  return found == units_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<UnitDocument> FabricDesk::units(const Which& which) const {
  std::vector<UnitDocument> all;
  for (auto at = units_.upper_bound(which.after); at != units_.end(); ++at) {
    if (all.size() == which.most) break;
    const UnitOrder& order = at->second.order;
    if (which.is_wanted(order.consumer, order.provider)) all.push_back(at->second);
  }
  return all;
}

void FabricDesk::order(const std::string& name, const UnitOrder&, const MaySee&,
                       Then<UnitDocument> then) {
  then(tl::unexpected(made_by_contracts("unit " + name)));
}

void FabricDesk::end(const std::string& name, Then<UnitDocument> then) {
  if (fabric_ == nullptr) {
    return then(fail(Code::unavailable, "fabric", "another process has it, or it is not known who",
                     "ask that one, or try again"));
  }
  fabric_->end_unit(name, life_.guard([this, name, then = std::move(then)](const Status& ended) {
    if (!ended) return then(tl::unexpected(ended.error()));
    const auto found = units_.find(name);
    if (found == units_.end()) {
      return then(fail(Code::gone, "unit " + name, "it has ended",
                       "there is nothing to end; `spillway contracts` shows what you have"));
    }
    if (!found->second.ending) found->second.ending = loop_.now();
    then(found->second);
  }));
}

std::optional<PeeringDocument> FabricDesk::peering(const std::string& consumer,
                                                   const std::string& provider) const {
  const auto found = peerings_.find(peering_name(consumer, provider));
  if (found == peerings_.end()) return std::nullopt;
  PeeringDocument document = found->second;
  for (const auto& [name, unit] : units_) {
    const UnitOrder& order = unit.order;
    if (order.consumer == consumer && order.provider == provider) document.units.push_back(name);
  }
  return document;
}

std::vector<PeeringDocument> FabricDesk::peerings(const Which& which) const {
  std::vector<PeeringDocument> all;
  for (auto at = peerings_.upper_bound(which.after); at != peerings_.end(); ++at) {
    if (all.size() == which.most) break;
    const PeeringDocument& of = at->second;
    if (which.is_wanted(of.consumer, of.provider))
      all.push_back(*peering(of.consumer, of.provider));
  }
  return all;
}

void FabricDesk::keep(const std::string& consumer, const std::string& provider, const PeeringOrder&,
                      Then<PeeringDocument> then) {
  then(tl::unexpected(made_by_contracts("peering " + peering_name(consumer, provider))));
}

void FabricDesk::close(const std::string& consumer, const std::string& provider,
                       Then<PeeringDocument> then) {
  then(fail(Code::conflict, "peering " + peering_name(consumer, provider),
            "it stays as long as there are contracts, and --fabric-warm after",
            "release the contracts"));
}

}  // namespace spillway::driver
