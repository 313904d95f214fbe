// What a driver tells of its units and peerings.
#include "services/driver/driver.h"
#include "services/driver/orders.h"

namespace spillway::driver {

std::vector<fabric::Trouble> Driver::troubles_of(const std::string& consumer,
                                                 const std::string& provider) const {
  std::vector<fabric::Trouble> all;
  if (saver_.trouble()) {
    const Error why = unsaved();
    all.push_back({why.thing, why.reason, why.next});
  }
  for (const std::string& name : {consumer, provider}) {
    const Cluster* cluster = find(name);
    if (cluster == nullptr) continue;
    if (const std::string owner = id_owner_of(*cluster); !owner.empty()) {
      all.push_back(
          {"cluster " + name,
           fmt::format("its Liqo id, {}, is that of {}", cluster->liqo.home()->id(), owner),
           "install Liqo anew there, with an id of its own; or if it is that cluster, list "
           "it by a name that is new"});
    } else if (const Cluster* other = find_twin(*cluster)) {
      all.push_back(
          {"cluster " + name,
           fmt::format("{} has the same Liqo id, {}", other->name, cluster->liqo.home()->id()),
           "install Liqo anew in one of them, with an id of its own"});
    }
    if (!cluster->fabric) {
      const bool is_asked_for = cluster->holder.has_value();  // not before the state is saved
      all.push_back({"cluster " + name,
                     "its fabric is not ours: " +
                         (is_asked_for ? cluster->holder->why_not() : "nothing is saved yet"),
                     fmt::format("units there wait; see the Lease {} in namespace {}",
                                 agent::k_fabric_lease, fabric::liqo::k_namespace)});
      continue;
    }
    if (const Error* why = cluster->fabric->blindness()) {
      all.push_back({"cluster " + name, why->message(), "what is there goes on; nothing begins"});
    } else if (!cluster->liqo.home()) {
      all.push_back({"cluster " + name, "its Liqo is not known yet", "install Liqo there"});
    }
    const bool is_consumer = name == consumer;
    const auto id = book_.state.liqo_ids.find(is_consumer ? provider : consumer);
    if (id == book_.state.liqo_ids.end()) continue;
    const auto seen = cluster->seen.find({id->second, is_consumer});
    if (seen == cluster->seen.end()) continue;
    all.insert(all.end(), seen->second.troubles.begin(), seen->second.troubles.end());
  }
  return all;
}

UnitDocument Driver::document_of(const std::string& name, const UnitRecord& unit) const {
  UnitDocument document{name, unit.order, unit.step(), unit.ordered, unit.ending, unit.steps};
  if (!unit.steps.empty()) document.since = unit.steps.back().at;
  document.order.provider_id = provider_id_of(name, unit.order);
  if (unit.is_gone()) return document;
  // What is another unit's trouble alone is none of this one's.
  for (fabric::Trouble& trouble : troubles_of(unit.order.consumer, unit.order.provider)) {
    const bool is_others = trouble.thing.starts_with("unit ") && trouble.thing != "unit " + name;
    if (!is_others) document.troubles.push_back(std::move(trouble));
  }
  return document;
}

std::optional<UnitDocument> Driver::unit(const std::string& name) const {
  const auto found = book_.state.units.find(name);
  if (found == book_.state.units.end()) return std::nullopt;
  return document_of(name, found->second);
}

std::vector<UnitDocument> Driver::units(const Which& which) const {
  std::vector<UnitDocument> all;
  const auto end = book_.state.units.end();
  for (auto at = book_.state.units.upper_bound(which.after); at != end; ++at) {
    if (all.size() == which.most) break;
    const UnitOrder& order = at->second.order;
    if (!which.is_wanted(order.consumer, order.provider)) continue;
    all.push_back(document_of(at->first, at->second));
  }
  return all;
}

std::set<std::string> Driver::peering_names() const {
  std::set<std::string> names;
  const DriverState& state = book_.state;
  for (const auto& [name, kept] : state.peerings) names.insert(name);
  for (const auto& [name, since] : state.closing) names.insert(name);
  for (const auto& [name, unit] : state.units) {
    if (!unit.is_gone()) names.insert(peering_name(unit.order.consumer, unit.order.provider));
  }
  for (const auto& [consumer, fabric] : state.fabrics) {
    for (const auto& [peer, memory] : fabric.bought_from) {
      const std::string provider = name_of_liqo(peer);
      if (!provider.empty()) names.insert(peering_name(consumer, provider));
    }
  }
  return names;
}

std::optional<PeeringDocument> Driver::peering(const std::string& consumer,
                                               const std::string& provider) const {
  const std::string name = peering_name(consumer, provider);
  if (!peering_names().contains(name)) return std::nullopt;
  return document_of(consumer, provider, units_of(book_.state, name));
}

PeeringDocument Driver::document_of(const std::string& consumer, const std::string& provider,
                                    std::vector<std::string> units) const {
  const std::string name = peering_name(consumer, provider);
  PeeringDocument document{consumer, provider};
  const auto kept = book_.state.peerings.find(name);
  document.kept = kept != book_.state.peerings.end();
  if (document.kept) document.until = kept->second.order.until;
  document.closing = book_.state.closing.contains(name);
  document.units = std::move(units);
  document.troubles = troubles_of(consumer, provider);
  const Cluster* cluster = find(consumer);
  const auto id = book_.state.liqo_ids.find(provider);
  if (cluster == nullptr || id == book_.state.liqo_ids.end()) return document;
  const auto seen = cluster->seen.find({id->second, true});
  if (seen == cluster->seen.end()) return document;
  document.open = seen->second.is_open;
  document.life = seen->second.life;
  return document;
}

std::vector<PeeringDocument> Driver::peerings(const Which& which) const {
  std::vector<PeeringDocument> all;
  const std::set<std::string> names = peering_names();
  auto units = units_by_peering(book_.state);
  for (auto at = names.upper_bound(which.after); at != names.end(); ++at) {
    if (all.size() == which.most) break;
    const std::string consumer(owner_of(*at));
    const std::string provider = at->substr(consumer.size() + 1);
    if (!which.is_wanted(consumer, provider)) continue;
    all.push_back(document_of(consumer, provider, std::move(units[*at])));
  }
  return all;
}

}  // namespace spillway::driver
