#include "demand/ledger.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "demand/ledger_codec.h"
#include "demand/placeholder.h"
#include "support/any_below.h"
#include "support/nouns.h"

namespace spillway::demand {
namespace {

using test::any_below;

// A ledger and, beside it, what really happened, kept the plain way.
struct Play {
  Ledger ledger{{ClusterId("home"), 0, {}}};
  std::vector<model::Offer> offers;
  std::map<int64_t, std::pair<OfferId, Ask>> open;         // asks without an outcome
  std::map<int64_t, std::set<int32_t>> dropped;            // of these
  std::map<std::pair<ContractId, int32_t>, OfferId> held;  // and not deleted by the caller
  std::set<std::pair<ContractId, int32_t>> leaving;
  std::map<std::pair<ContractId, int32_t>, OfferId> spares;  // that nobody has asked for
  int64_t time = 0;

  Instant now() { return Instant{1'800'000'000'000 + ++time}; }
  OfferId any_group() { return offers[static_cast<size_t>(any_below(2))].id; }

  void increase() {
    const OfferId group = any_group();
    const auto asks = ledger.increase(group, any_below(6) - 1, now());
    if (!asks) return;
    for (const Ask& ask : *asks) {
      for (const int32_t number : ask.units) {
        RC_ASSERT(spares.at({ask.contract, number}) == group);
        spares.erase({ask.contract, number});
      }
      open[ask.generation] = {group, ask};
    }
  }
  void keep() {
    const OfferId group = any_group();
    if (ledger.find(group) == nullptr) return;
    const Ask ask = ledger.keep_spares(group, 1 + any_below(2), now(), {});
    if (any_below(3) == 0) return ledger.refused(group, ask.generation);
    const ContractId id = make_contract_id(now(), 0, static_cast<uint64_t>(ask.generation));
    ledger.granted(group, ask.generation, test::contract_of_units(id, ask.asked), now());
    for (int32_t i = 0; i < ask.asked; ++i) spares[{id, i}] = group;
  }
  // Given back, or lost.
  void drop_spares() {
    if (spares.empty()) return;
    const auto [unit, group] = *spares.rbegin();
    if (any_below(2) == 0) {
      ledger.failed(unit.first, unit.second, {"x", "y", true}, now());
      spares.erase(unit);
      ledger.gone(unit.first, unit.second, now());
      return;
    }
    ledger.drop_spares(group, 100, now());
    for (const auto& [other, home] : std::map(spares)) {
      if (home != group) continue;
      spares.erase(other);
      ledger.gone(other.first, other.second, now());
    }
  }
  void resolve_purchase(const OfferId& group, const Ask& ask) {
    const std::set<int32_t> unwanted = std::exchange(dropped[ask.generation], {});
    dropped.erase(ask.generation);
    const int came = any_below(3);
    if (came == 0) ledger.refused(group, ask.generation);
    if (came == 1) ledger.refused_for_good(group, ask.generation, now());
    if (came == 2) ledger.granted(group, ask.generation, {}, now());
    for (int32_t i = 0; i < ask.asked; ++i) {
      const std::pair unit{ask.contract, ask.units[static_cast<size_t>(i)]};
      if (came == 0) spares[unit] = group;
      if (came == 1) ledger.gone(unit.first, unit.second, now());
      if (came == 2 && unwanted.contains(i)) leaving.insert(unit);
      if (came == 2 && !unwanted.contains(i)) held[unit] = group;
    }
  }
  void resolve() {
    if (open.empty()) return;
    const auto at = std::next(open.begin(), any_below(static_cast<int>(open.size())));
    const auto [group, ask] = at->second;
    const int64_t generation = at->first;
    const auto units = static_cast<int32_t>(any_below(ask.asked + 1));
    open.erase(at);
    if (ask.is_purchase()) return resolve_purchase(group, ask);
    if (units == 0) {
      ledger.refused(group, generation);
    } else {
      const ContractId id = make_contract_id(now(), 0, static_cast<uint64_t>(generation));
      const auto wanted = ask.asked - static_cast<int32_t>(dropped[generation].size());
      ledger.granted(group, generation, test::contract_of_units(id, units), now());
      for (int32_t i = 0; i < units; ++i) {
        if (i < wanted) held[{id, i}] = group;
        if (i >= wanted) leaving.insert({id, i});
      }
    }
    dropped.erase(generation);
  }
  void remove() {
    const OfferId group = any_group();
    const auto all = ledger.instances(group);
    if (all.empty()) return;
    const auto one = all[static_cast<size_t>(any_below(static_cast<int>(all.size())))];
    for (int twice = 0; twice < 2; ++twice) {
      RC_ASSERT(ledger.remove(group, std::vector<NodeRef>{{one.provider_id, {}}}, now()));
    }
    note_removed(one.provider_id);
  }
  void note_removed(const std::string& provider_id) {
    for (const auto& [unit, group] : held) {
      if (unit_provider_id(unit.first, unit.second) != provider_id) continue;
      leaving.insert(unit);
      held.erase(unit);
      return;
    }
    for (const auto& [generation, entry] : open) {
      for (int32_t i = 0; i < entry.second.asked; ++i) {
        if (placeholder_id(entry.second, i) == provider_id) dropped[generation].insert(i);
      }
    }
  }
  void hear() {
    if (held.empty()) return;
    const auto at = std::next(held.begin(), any_below(static_cast<int>(held.size())));
    const auto [contract, number] = at->first;
    if (any_below(3) == 0) return ledger.failed(contract, number, {"x", "y", true}, now());
    ledger.running(contract, number, now());
  }
  void leave() {
    if (leaving.empty()) return;
    const auto unit = *leaving.begin();
    leaving.erase(leaving.begin());
    ledger.gone(unit.first, unit.second, now());
  }
  void cancel() {
    const OfferId group = any_group();
    std::set<std::string> before;
    for (const Instance& one : ledger.instances(group)) {
      if (one.state != UnitState::deleting) before.insert(one.provider_id);
    }
    if (!ledger.cancel(group, -any_below(4), now())) return;
    for (const Instance& one : ledger.instances(group)) {
      if (one.state != UnitState::deleting) before.erase(one.provider_id);
    }
    for (const std::string& id : before) note_removed(id);
  }
  void show() {
    std::vector<Ledger::OnSale> on_sale;
    for (const model::Offer& offer : offers) {
      if (any_below(4) > 0) on_sale.push_back({offer, static_cast<int32_t>(any_below(8))});
    }
    ledger.show(on_sale);
  }
  void restart() {
    auto read = ledger_from_json(to_json(ledger.state()));
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == ledger.state());
    ledger = Ledger(std::move(*read));
  }

  int32_t expected(const OfferId& group) {
    int32_t sum = 0;
    for (const auto& [unit, home] : held) sum += home == group ? 1 : 0;
    for (const auto& [generation, entry] : open) {
      if (entry.first != group) continue;
      sum += entry.second.asked - static_cast<int32_t>(dropped[generation].size());
    }
    return sum;
  }
  void check() {
    for (const model::Offer& offer : offers) {
      const GroupState* group = ledger.find(offer.id);
      RC_ASSERT((group == nullptr ? 0 : group->target()) == expected(offer.id));
      std::set<std::string> seen;
      int32_t wanted = 0;
      for (const Instance& one : ledger.instances(offer.id)) {
        RC_ASSERT(seen.insert(one.provider_id).second);
        RC_ASSERT(ledger.group_of({one.provider_id, {}}) == offer.id);
        wanted += one.state == UnitState::deleting ? 0 : 1;
      }
      RC_ASSERT(wanted == expected(offer.id));
      if (group != nullptr) RC_ASSERT(group->most() >= group->target());
    }
    for (const auto& [unit, group] : spares) {
      RC_ASSERT(!ledger.group_of({unit_provider_id(unit.first, unit.second), {}}));
      RC_ASSERT(ledger.knows(unit_name(unit.first, unit.second)));
    }
    for (const auto& unit : leaving) {
      RC_ASSERT(ledger.group_of({unit_provider_id(unit.first, unit.second), {}}).has_value());
    }
  }
};

// After every step the target is what is really held and wanted, or may be; nothing that was
// granted is lost before it is given back; and a restart changes nothing.
RC_GTEST_PROP(Ledger, CountsWhatIsHeldWhateverHappens, ()) {
  Play play;
  play.offers = {test::plain_offer(), test::plain_offer()};
  play.offers[1].id = OfferId(std::string(owner_of(play.offers[0].id.text)) + "/other");
  play.show();
  for (int steps = any_below(80); steps > 0; --steps) {
    switch (any_below(12)) {
      case 10:
        play.keep();
        break;
      case 11:
        if (any_below(3) == 0) play.drop_spares();
        break;
      case 0:
      case 1:
      case 2:
        play.increase();
        break;
      case 3:
      case 4:
        play.resolve();
        break;
      case 5:
        play.remove();
        break;
      case 6:
        play.hear();
        break;
      case 7:
        play.leave();
        break;
      case 8:
        play.cancel();
        break;
      default:
        any_below(2) == 0 ? play.show() : play.restart();
        break;
    }
    play.check();
  }
}

}  // namespace
}  // namespace spillway::demand
