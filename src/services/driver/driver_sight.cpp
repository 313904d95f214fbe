// What a driver sees of its units, and what follows from it by and by.
#include <algorithm>
#include <utility>

#include "services/agent/never.h"
#include "services/driver/driver.h"
#include "services/driver/orders.h"

namespace spillway::driver {

using agent::k_never;
using fabric::UnitStep;

std::string Driver::name_of_liqo(const std::string& id) const {
  std::string unlisted;
  for (const auto& [name, known] : book_.state.liqo_ids) {
    if (known != id) continue;
    if (find(name) != nullptr) return name;
    unlisted = name;
  }
  return unlisted;
}

// What was told by the old name is over for whoever follows, and begins by the new one.
void Driver::tell_renamed(const std::string& from, const std::string& to,
                          const std::string& liqo_id) {
  for (const auto& cluster : clusters_) {
    for (const auto& [peer, seen] : cluster->seen) {
      const auto& [id, is_bought] = peer;
      if (id != liqo_id) continue;
      const std::string& own = cluster->name;
      events_.add_troubles(is_bought ? own : from, is_bought ? from : own, seen.troubles, {});
      events_.add_troubles(is_bought ? own : to, is_bought ? to : own, {}, seen.troubles);
    }
  }
}

void Driver::looked(Cluster& cluster, const agent::PeerProgress& progress) {
  if (is_stopped_) return;
  agent::PeerProgress& seen = cluster.seen[{progress.peer, progress.is_bought}];
  if (const std::string other = name_of_liqo(progress.peer); !other.empty()) {
    events_.add_troubles(progress.is_bought ? cluster.name : other,
                         progress.is_bought ? other : cluster.name, seen.troubles,
                         progress.troubles);
  }
  seen = progress;
  if (progress.is_bought) {
    for (const fabric::UnitProgress& unit : progress.units) {
      note_ending(cluster, unit.unit);
      note_step(unit.unit, unit.step);
    }
  }
  if (progress.is_over) cluster.seen.erase({progress.peer, progress.is_bought});
  wake();
}

// Its Fabric has written down that its slice says so (fabric::k_end_annotation), and that cannot be
// taken back: the order would wait for ever for what never comes back. So it is over, as if whoever
// gave it had said so, and the provider hears of it, too. It is in the same document as what the
// Fabric wrote: a driver that is killed between them reads it there.
void Driver::note_ending(Cluster& cluster, const std::string& name) {
  const auto found = book_.state.units.find(name);
  if (found == book_.state.units.end() || found->second.ending) return;
  const auto& kept = cluster.dealings.state().contracts;
  const auto contract = kept.find(parse_unit(name).value().contract);
  if (contract == kept.end() || !contract->second.ending.contains(name)) return;
  if (!driver::end(book_.state, name, loop_.now())) return;
  saver_.touch();
  log_.write(services::Level::info, "a unit is to end, as its slice says",
             {{"unit", name}, {"consumer", cluster.name}});
}

// That it is gone is for both sides to say: until then it ends. Of one that is not to end, nothing
// is there any more, and it begins anew.
void Driver::note_step(const std::string& name, UnitStep step) {
  const auto found = book_.state.units.find(name);
  if (found == book_.state.units.end()) return;
  UnitRecord& unit = found->second;
  if (unit.is_gone()) return;
  if (step == UnitStep::gone) step = unit.ending ? UnitStep::ending : UnitStep::asked;
  if (!unit.steps.empty() && unit.step() == step) return;
  unit.steps.push_back({step, loop_.now()});
  if (unit.steps.size() > k_most_steps) unit.steps.erase(unit.steps.begin());
  saver_.touch();
  events_.add({.kind = EventKind::step,
               .consumer = unit.order.consumer,
               .provider = unit.order.provider,
               .unit = name,
               .step = step});
}

void Driver::settle() {
  if (is_stopped_) return;
  Instant next = k_never;
  bool is_changed = false;
  for (auto& [name, unit] : book_.state.units) {
    if (unit.ending && !unit.is_gone()) is_changed = settle_unit(name, unit, next) || is_changed;
  }
  settle_peerings(next, is_changed);
  forget_gone(next);
  if (is_changed) {
    saver_.touch();
    rebuild();
  }
  if (next < k_never) alarm_.wake_by(next);
}

// For all that is known. One that is not in the driver's file any more is not waited for: its
// operator said that it is gone (check_clusters).
bool Driver::may_have_any_of(const std::string& unit, const std::string& cluster) const {
  const Cluster* one = find(cluster);
  if (one == nullptr) return may_be_renamed(cluster);
  return !one->fabric || one->fabric->has_any_of(unit);
}

// A consumer that is away, or has not been seen yet, is not waited for any longer than a unit has
// to become empty. All clusters have the same time for that.
Instant Driver::longest_end(const UnitRecord& unit) const {
  const Cluster* one = find(unit.order.consumer);
  if (one == nullptr) one = find(unit.order.provider);
  const Duration drain = one == nullptr ? Duration{} : one->options.drain;
  return *unit.ending + drain + fabric::k_patience;
}

void Driver::end_at_consumer(const std::string& name, const UnitRecord& unit) {
  Cluster* consumer = find(unit.order.consumer);
  if (consumer == nullptr || !consumer->fabric) return;
  const auto& kept = book_.state.fabrics[consumer->name].contracts;
  const auto contract = kept.find(parse_unit(name).value().contract);
  const bool is_said = contract != kept.end() && contract->second.ending.contains(name);
  if (!is_said) consumer->fabric->end_unit(name, [](const Status&) {});
}

// True: what the fabrics are to want is something else now.
bool Driver::settle_unit(const std::string& name, UnitRecord& unit, Instant& next) {
  const bool is_left = may_have_any_of(name, unit.order.consumer);
  if (!unit.ended) {
    const Instant until = longest_end(unit);
    if (!is_left || until <= loop_.now()) {
      unit.ended = loop_.now();
      note_step(name, UnitStep::ending);
      return true;
    }
    next = std::min(next, until);
    end_at_consumer(name, unit);
    return false;
  }
  if (is_left || may_have_any_of(name, unit.order.provider)) return false;
  note_step(name, UnitStep::ending);
  unit.steps.push_back({UnitStep::gone, loop_.now()});
  saver_.touch();
  events_.add({.kind = EventKind::step,
               .consumer = unit.order.consumer,
               .provider = unit.order.provider,
               .unit = name,
               .step = UnitStep::gone});
  return false;
}

void Driver::settle_peerings(Instant& next, bool& is_changed) {
  const Instant now = loop_.now();
  for (auto at = book_.state.peerings.begin(); at != book_.state.peerings.end();) {
    const auto until = at->second.order.until;
    if (until && *until <= now) {
      at = book_.state.peerings.erase(at);
      is_changed = true;
      continue;
    }
    if (until) next = std::min(next, *until);
    ++at;
  }
  const auto closed = [this](const auto& one) { return is_closed(one.first); };
  if (std::erase_if(book_.state.closing, closed) > 0) saver_.touch();
}

// Asks both sides to, as soon as they see that nobody wants it. What cannot be asked yet is not
// closed: after a start no fabric is ours before its Lease is.
bool Driver::is_closed(const std::string& peering) {
  const std::string consumer(owner_of(peering));
  const std::string provider = peering.substr(consumer.size() + 1);
  bool is_left = false;
  const auto close_at = [&](const std::string& at, const std::string& with, bool is_bought) {
    Cluster* cluster = find(at);
    const auto id = book_.state.liqo_ids.find(with);
    if (cluster == nullptr) return;
    if (!cluster->fabric || id == book_.state.liqo_ids.end()) {
      is_left = true;
      return;
    }
    agent::FabricState& kept = book_.state.fabrics[at];
    const auto& peers = is_bought ? kept.bought_from : kept.sold_to;
    const auto memory = peers.find(id->second);
    if (memory == peers.end()) return;
    is_left = true;
    const auto idle = memory->second.idle_since;
    if (idle && *idle > k_first_instant) cluster->fabric->close_peering(id->second, is_bought);
  };
  close_at(consumer, provider, true);
  close_at(provider, consumer, false);
  return !is_left;
}

void Driver::forget_gone(Instant& next) {
  const Instant now = loop_.now();
  for (auto at = book_.state.units.begin(); at != book_.state.units.end();) {
    const UnitRecord& unit = at->second;
    if (!unit.is_gone()) {
      ++at;
      continue;
    }
    const Instant until = unit.steps.back().at + k_remember;
    if (until > now) {
      next = std::min(next, until);
      ++at;
      continue;
    }
    book_.state.over.emplace(at->first, now);
    at = book_.state.units.erase(at);
    saver_.touch();
  }
}

}  // namespace spillway::driver
