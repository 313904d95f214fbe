#include "sim/fabric_laws.h"

#include <algorithm>
#include <charconv>

#include "demand/node_image.h"
#include "embedded/document.h"
#include "fabric/fence.h"
#include "fabric/liqo/guests.h"
#include "fabric/record.h"
#include "fabric/spaces.h"
#include "model/tree.h"
#include "sim/stated_point.h"

namespace spillway::sim {
namespace {

namespace liqo = fabric::liqo;
using embedded::Change;
using embedded::Object;
using embedded::ObjectPtr;

constexpr Duration k_look_every = seconds(1);
// So long a provider takes after a hindrance before it is at its post again.
constexpr Duration k_recovers = seconds(30);
constexpr Duration k_recovers_in_foul_weather = FabricParty::k_looks_within;
// A release never takes longer: Liqo's own patience, that of the fabric with a peer that does not
// answer, and the longest fence of all with what clocks may differ.
constexpr Duration k_gone_within = minutes(6);

// So late what was asked of an API server may still be done: longer than any message takes.
constexpr Duration k_word_takes = seconds(15);
// So long after a provider was found alive again what was wanted of its units may still be done.
constexpr Duration k_mourned_for = minutes(1);
// So long what somebody's hand has deleted may take the rest of its unit with it: a slice waits for
// its copy while the line is cut, and its virtual node for the slice.
constexpr Duration k_removal_works_for = minutes(8);
// So long an edit stays once nothing hinders the agent any more.
constexpr Duration k_edit_stays = minutes(1);

const embedded::Kind& kind_of(FabricParty& at, const liqo::Kind& named) {
  return at.cluster().live().objects().registry.built_in(named.plural, named.group);
}

const embedded::Shelf& shelf_of(FabricParty& at, const liqo::Kind& named) {
  return at.cluster().live().objects().table.shelf(kind_of(at, named));
}

ObjectPtr find_in(FabricParty& at, const liqo::Kind& named, const embedded::Key& key) {
  return at.cluster().live().objects().table.find(kind_of(at, named), key);
}

bool is_kind(const Object& object, const liqo::Kind& named) {
  return object.kind->plural == named.plural && object.kind->group == named.group;
}

bool is_unit(const std::string& name) { return name.starts_with("sw-"); }

// "sw-<contract>-<number>-<hash>" → "sw-<contract>-<number>".
std::string unit_of_user(const std::string& user) { return user.substr(0, user.rfind('-')); }

liqo::Amounts amounts_in(const Object* quota) {
  if (quota == nullptr) return {};
  const auto read = liqo::read_quota(quota->document());
  return read ? read->amounts : liqo::Amounts{};
}

bool is_nothing(const liqo::Amounts& amounts) {
  return std::all_of(amounts.begin(), amounts.end(),
                     [](const auto& one) { return one.second == 0; });
}

// What a namespace of that buyer is called at its providers.
std::string twin_of(const std::string& buyer) {
  fabric::SpacesWish wish;
  wish.self = buyer;
  return fabric::offloading_of(wish, FabricWork::k_space)->remote_name;
}

bool is_running(const ObjectPtr& pod) {
  return pod != nullptr && *embedded::find_pair(pod->fields, "status.phase") == "Running";
}

}  // namespace

FabricLaws::FabricLaws(World& world, Network& network, Laws& laws)
    : world_(world), network_(network), laws_(laws), limits_(world) {}

void FabricLaws::watch(FabricParty& party) {
  parties_.push_back(&party);
  party.cluster().live().objects().table.listen(
      [this, &party](const Change& change) { on_change(party, change); });
}

void FabricLaws::begin() {
  world_.after(k_look_every, [this] {
    look();
    begin();
  });
}

FabricParty* FabricLaws::find(const ClusterId& id) const {
  const auto found = std::find_if(parties_.begin(), parties_.end(),
                                  [&](FabricParty* one) { return one->id() == id; });
  return found == parties_.end() ? nullptr : *found;
}

FabricLaws::Unit FabricLaws::unit_of(const std::string& name) const {
  Unit made{name};
  const auto contract = agent::contract_of_unit(name);
  if (!contract) return made;
  made.row = laws_.rows().get<model::Contract>(market::key_of(*contract));
  if (made.row == nullptr) return made;
  for (const model::Unit& unit : made.row->units) {
    if (unit_name(*contract, unit.number) == name) made.unit = &unit;
  }
  return made;
}

void FabricLaws::on_change(FabricParty& at, const Change& change) {
  const Object& object = *change.object;
  if (is_kind(object, liqo::k_pods)) {
    if (!FabricWork::has_identity(object.key.name)) return;
    for (FabricParty* buyer : parties_) check_fenced(*buyer, object.key.name);
  } else if (is_kind(object, liqo::k_quotas)) {
    on_quota(at, change);
  } else if (is_kind(object, liqo::k_nodes)) {
    if (is_unit(object.key.name) && object.is_ready) ready_.insert(object.key.name);
  }
  const bool is_made_by_us = is_kind(object, liqo::k_slices) ||
                             is_kind(object, liqo::k_virtual_nodes) ||
                             is_kind(object, liqo::k_nodes);
  if (!is_made_by_us || !is_unit(object.key.name)) return;
  if (change.type == Change::Type::added && is_kind(object, liqo::k_slices)) on_made(at, object);
  const bool was_going = change.before != nullptr && change.before->is_deleting;
  const bool is_going = change.type == Change::Type::deleted || object.is_deleting;
  if (is_going && !was_going) on_going(at, object);
}

// ---- 1 cover -------------------------------------------------------------------------------

void FabricLaws::on_quota(FabricParty& at, const Change& change) {
  const std::string unit = unit_of_user(change.object->key.name);
  const liqo::Amounts before = amounts_in(change.before.get());
  if (change.type == Change::Type::deleted) return;
  const liqo::Amounts after = amounts_in(change.object.get());
  const bool grows = std::any_of(after.begin(), after.end(), [&](const auto& one) {
    const auto was = before.find(one.first);
    return one.second > (was == before.end() ? 0 : was->second);
  });
  if (grows) check_granted(at, change.object->key.space, unit, after);
  if (!is_nothing(before) && is_nothing(after)) check_calm(at, unit, "grant");
}

void FabricLaws::check_granted(FabricParty& at, const std::string& space, const std::string& unit,
                               const std::map<std::string, int64_t, std::less<>>& amounts) {
  const Unit sold = unit_of(unit);
  const model::Contract* known = sold.row == nullptr ? nullptr : at.last_known(sold.row->id);
  laws_.expect(sold.unit != nullptr && sold.row->provider == at.id() && sold.row->started, 1,
               fmt::format("{} grants something for {}, which it never sold", at.id().text, unit));
  if (sold.unit == nullptr) return;
  laws_.expect(space == liqo::tenant_namespace_name(sold.row->buyer.text), 1,
               fmt::format("{} grants {} to another than its buyer", at.id().text, unit));
  // It may not have heard yet that it has ended; then it goes by what it knows.
  const bool lives = sold.unit->live && sold.row->is_live();
  const bool is_believed = known != nullptr && known->is_live();
  laws_.expect(lives || is_believed, 1,
               fmt::format("{} grants something for {}, which has ended", at.id().text, unit));
  laws_.expect(!sold.row->spare || sold.unit->bought, 1,
               fmt::format("{} grants something for the spare {}, which nobody has bought",
                           at.id().text, unit));
  // Somebody else has written it, just now.
  if (at.hand().has_edited_since(unit, world_.now())) return;
  const liqo::Amounts most = liqo::amounts_of(demand::as_node_has(sold.row->shape), {});
  for (const auto& [resource, amount] : amounts) {
    const auto of = most.find(resource);
    laws_.expect(of != most.end() && amount <= of->second, 1,
                 fmt::format("{} grants {} {} for {}: more than was sold", at.id().text, amount,
                             resource, unit));
  }
}

// ---- 4 calm --------------------------------------------------------------------------------

bool FabricLaws::may_end(FabricParty& at, const Unit& unit) const {
  if (unit.unit == nullptr || !unit.unit->live) return true;
  const model::Contract& row = *unit.row;
  if (row.state != model::ContractState::active) return true;
  const Instant now = at.process().now();
  const model::Contract* known = at.last_known(row.id);
  const bool is_over = stated_point(row) <= now || known == nullptr || stated_point(*known) <= now;
  if (is_over) return true;
  FabricParty* buyer = find(row.buyer);
  FabricParty* provider = find(row.provider);
  if (buyer == nullptr || provider == nullptr) return true;
  const Instant since = world_.now() - k_removal_works_for;
  return buyer->told_to_end(unit.name) || buyer->hand().has_removed_since(unit.name, since) ||
         provider->hand().has_removed_since(unit.name, since);
}

void FabricLaws::check_calm(FabricParty& at, const std::string& name, std::string_view what) {
  const Unit unit = unit_of(name);
  if (may_end(at, unit)) return laws_.expect(true, 4, {});
  laws_.expect(false, 4,
               fmt::format("the {} of {} goes at {}, and its contract lives until {}", what, name,
                           at.id().text, to_text(stated_point(*unit.row))));
}

// A node goes with its virtual node, and that with its slice, which may have waited for its copy
// for as long as a line is cut: whether it might go was looked at when it was told to.
bool FabricLaws::is_gone_with_another(FabricParty& at, const Unit& unit, const Object& object) {
  if (is_kind(object, liqo::k_slices)) return false;
  const liqo::Kind& owner = is_kind(object, liqo::k_nodes) ? liqo::k_virtual_nodes : liqo::k_slices;
  const ObjectPtr made =
      find_in(at, owner, {liqo::tenant_namespace_name(unit.row->provider.text), object.key.name});
  return made == nullptr || made->is_deleting;
}

void FabricLaws::on_going(FabricParty& at, const Object& object) {
  const Unit unit = unit_of(object.key.name);
  const bool is_buyers = unit.row != nullptr && unit.row->buyer == at.id();
  const std::string_view what = object.kind->name;
  if (!is_buyers) {
    // Its buyer's Liqo takes down what its buyer has taken down.
    FabricParty* buyer = unit.row == nullptr ? nullptr : find(unit.row->buyer);
    if (buyer == nullptr) return;
    const ObjectPtr theirs = find_in(*buyer, liqo::k_slices,
                                     {liqo::tenant_namespace_name(at.id().text), object.key.name});
    if (theirs == nullptr || theirs->is_deleting) return;
    // Just made anew there: word of the end of the one before was on its way.
    const bool is_anew = ended_.contains(object.key.name);
    const auto made = made_.find(object.key.name);
    if (is_anew && made != made_.end() && made->second + k_word_takes > world_.now()) return;
    return check_calm(at, object.key.name, what);
  }
  if (is_kind(object, liqo::k_slices)) ended_[object.key.name] = world_.now();
  if (is_gone_with_another(at, unit, object)) return;
  if (at.last_mourned() + k_mourned_for > world_.now()) return;
  check_calm(at, object.key.name, what);
}

// What was told to end, and went, does not come back.
void FabricLaws::on_made(FabricParty& at, const Object& slice) {
  const std::string& unit = slice.key.name;
  const Unit known = unit_of(unit);
  const bool is_buyers = known.row != nullptr && known.row->buyer == at.id();
  const Instant before = is_buyers ? std::exchange(made_[unit], world_.now()) : Instant{};
  const auto told = at.told_to_end(unit);
  // Whoever deletes a slice by hand may delete what its agent has not read; also what is written on
  // it while it still waits for its copy, for that write lets it go.
  const bool is_lost = told && at.hand().has_removed_since(unit, std::min(before, *told));
  laws_.expect(!told || !ended_.contains(unit) || is_lost, 2,
               fmt::format("{} was told to end at {}, and is made again", unit, at.id().text));
}

// ---- 6 fenced ------------------------------------------------------------------------------

bool FabricLaws::runs_at_home(FabricParty& buyer, const std::string& pod) const {
  const ObjectPtr own = find_in(buyer, liqo::k_pods, {FabricWork::k_space, pod});
  return is_running(own) && !is_unit(*embedded::find_pair(own->fields, "spec.nodeName"));
}

bool FabricLaws::runs_at(FabricParty& provider, FabricParty& buyer, const std::string& pod) const {
  return is_running(find_in(provider, liqo::k_pods, {twin_of(buyer.id().text), pod}));
}

void FabricLaws::check_fenced(FabricParty& buyer, const std::string& pod) {
  const std::pair key(buyer.id().text, pod);
  int places = runs_at_home(buyer, pod) ? 1 : 0;
  FabricParty* late = nullptr;  // who had its time to stop it
  bool is_excused = false;
  const Duration recovers = network_.is_fair() ? k_recovers : k_recovers_in_foul_weather;
  for (FabricParty* provider : parties_) {
    if (provider == &buyer || !runs_at(*provider, buyer, pod)) continue;
    places += 1;
    const auto able = provider->able_since();
    const bool had_time =
        able && *able + recovers <= world_.now() && !limits_.excuses(*provider, buyer);
    if (had_time) late = provider;
    is_excused = is_excused || !had_time;
  }
  if (places < 2) {
    overlaps_.erase(key);
    return;
  }
  const auto [since, is_new] = overlaps_.try_emplace(key, world_.now());
  if (is_new && is_excused) excused_ += 1;
  const bool is_long = network_.is_fair() || since->second + recovers <= world_.now();
  laws_.expect(late == nullptr || !is_long, 6,
               fmt::format("{} runs at {} and, as a guest, at {}", pod, buyer.id().text,
                           late == nullptr ? "" : late->id().text));
}

void FabricLaws::look() {
  for (FabricParty* party : parties_) {
    for (FabricParty* buyer : parties_) {
      if (buyer != party) limits_.look(*party, *buyer);
    }
    for (int i = 0; i < FabricWork::k_identities; ++i) {
      check_fenced(*party, FabricWork::identity(i));
    }
    look_for_left(*party);
  }
  look_at_edits();
}

// ---- 2 durable, 7 explained: what somebody edits -------------------------------------------

void FabricLaws::check_told(const Edited& one) {
  mended_ += 1;
  const auto able = one.at->able_since();
  const bool is_unhindered = network_.is_fair() && able && *able <= one.edit.at;
  laws_.expect(!is_unhindered || has_event_of(one), 7,
               fmt::format("{} {} was edited by hand at {}, and no event says so",
                           one.edit.kind.kind, one.edit.key.name, one.at->id().text));
}

// It, or its unit, goes: then nothing is put right.
bool FabricLaws::is_over(Edited& one) {
  const ObjectPtr object = find_in(*one.at, one.edit.kind, one.edit.key);
  if (object == nullptr || object->uid != one.edit.uid || object->is_deleting) return true;
  if (text_in(object->document(), one.edit.path) != one.edit.text) {
    one.right = one.right.value_or(world_.now());
    if (*one.right + k_word_takes > world_.now()) return false;  // for the event to arrive
    check_told(one);
    return true;
  }
  one.right.reset();
  const Unit unit = unit_of(one.edit.unit);
  const bool is_active =
      unit.unit != nullptr && unit.unit->live && unit.row->state == model::ContractState::active;
  if (!is_active || one.at->last_known(unit.row->id) == nullptr) return true;
  FabricParty* buyer = find(unit.row->buyer);
  return buyer == nullptr || buyer->told_to_end(one.edit.unit).has_value();
}

// Of a dead provider's units nothing is put right; nor at a provider while its buyer's own is
// wrong.
bool FabricLaws::is_hindered(const Edited& one) const {
  if (!one.at->able_since()) return true;
  if (one.at->last_mourned() + k_mourned_for > world_.now()) return true;
  const Unit unit = unit_of(one.edit.unit);
  if (unit.row == nullptr || unit.row->buyer == one.at->id()) return false;
  return std::any_of(edits_.begin(), edits_.end(), [&](const Edited& other) {
    return other.at != one.at && other.edit.unit == one.edit.unit;
  });
}

bool FabricLaws::has_event_of(const Edited& one) const {
  const embedded::Kind& events = one.at->cluster().live().objects().registry.built_in("events");
  for (const auto& [key, event] : one.at->cluster().live().objects().table.shelf(events)) {
    const model::Node document = event->document();
    const auto message = model::text_at(document, {"message"});
    if (message.find("somebody edited") == message.npos) continue;
    if (message.find(one.edit.unit) != message.npos) return true;
  }
  return false;
}

void FabricLaws::look_at_edits() {
  for (FabricParty* party : parties_) {
    for (HandEdit& edit : party->hand().take_edits()) {
      edits_.push_back({party, std::move(edit), world_.now(), std::nullopt});
    }
  }
  std::vector<Edited> left;
  for (Edited& one : edits_) {
    if (is_hindered(one)) one.since = world_.now();
    one.since = std::max(one.since, one.at->able_since().value_or(one.since));
    if (is_over(one)) continue;
    const Duration stays =
        k_edit_stays + (network_.is_fair() ? Duration{} : k_recovers_in_foul_weather);
    laws_.expect(
        one.right || one.since + stays > world_.now(), 2,
        fmt::format("{} of {} {} stays as somebody edited it at {}", fmt::join(one.edit.path, "."),
                    one.edit.kind.kind, one.edit.key.name, one.at->id().text));
    left.push_back(one);
  }
  edits_ = std::move(left);
}

// ---- 3 owned -------------------------------------------------------------------------------

// As its agent knows it, for it can go by nothing else.
bool FabricLaws::is_wanted(FabricParty& at, const std::string& unit) const {
  const auto contract = agent::contract_of_unit(unit);
  if (!contract) return false;
  const auto& all = at.agent()->state().contracts;
  const auto found = all.find(*contract);
  if (found == all.end()) return false;
  for (const model::Unit& one : found->second.units) {
    if (unit_name(*contract, one.number) == unit) return one.live;
  }
  return false;
}

void FabricLaws::look_for_left(FabricParty& at) {
  const auto able = at.able_since();
  std::set<std::string> seen;
  const auto look_at = [&](std::string_view what, const std::string& name,
                           const std::string& unit) {
    if (!able || is_wanted(at, unit)) return;
    const std::string thing = fmt::format("{} {}", what, name);
    seen.insert(thing);
    const auto [since, is_new] = left_.try_emplace(std::pair(at.id().text, thing), world_.now());
    since->second = std::max(since->second, *able);
    laws_.expect(since->second + k_gone_within > world_.now(), 3,
                 fmt::format("{} is left at {}, and has no contract", thing, at.id().text));
  };
  for (const liqo::Kind& named : {liqo::k_slices, liqo::k_virtual_nodes, liqo::k_nodes}) {
    for (const auto& [key, object] : shelf_of(at, named)) {
      if (is_unit(key.name)) look_at(named.kind, key.name, key.name);
    }
  }
  for (const auto& [key, quota] : shelf_of(at, liqo::k_quotas)) {
    if (!is_nothing(amounts_in(quota.get()))) look_at("Quota", key.name, unit_of_user(key.name));
  }
  for (const auto& [key, guest] : shelf_of(at, liqo::k_shadow_pods)) {
    const std::string* creator = embedded::find_pair(guest->labels, liqo::k_creator_label);
    if (creator != nullptr) look_at("guest", key.name, unit_of_user(*creator));
  }
  std::erase_if(left_, [&](const auto& one) {
    return one.first.first == at.id().text && !seen.contains(one.first.second);
  });
}

// Namespaces stay, for names are never given back; and one Lease in them that all virtual kubelets
// of a peer share.
void FabricLaws::check_nothing_left(FabricParty& at) {
  const std::string& name = at.id().text;
  for (const liqo::Kind& named :
       {liqo::k_tenants, liqo::k_identities, liqo::k_renews, liqo::k_slices, liqo::k_virtual_nodes,
        liqo::k_quotas, liqo::k_shadow_pods, liqo::k_namespace_maps}) {
    for (const auto& [key, object] : shelf_of(at, named)) {
      laws_.expect(false, 3, fmt::format("{} {} is left at {}", named.kind, key.name, name));
    }
  }
  for (const auto& [key, node] : shelf_of(at, liqo::k_nodes)) {
    laws_.expect(!is_unit(key.name), 3, fmt::format("node {} is left at {}", key.name, name));
  }
  for (const liqo::Kind& named : {liqo::k_secrets, liqo::k_config_maps, liqo::k_leases,
                                  liqo::k_roles, liqo::k_role_bindings, liqo::k_vk_templates}) {
    for (const auto& [key, object] : shelf_of(at, named)) {
      const bool is_liqos = key.name == "virtual-kubelet-leader-election";
      laws_.expect(!key.space.starts_with("liqo-tenant-") || is_liqos, 3,
                   fmt::format("{} {} is left at {}", named.kind, key.name, name));
    }
  }
}

void FabricLaws::check_settled() {
  for (FabricParty* party : parties_) {
    if (!party->has_vanished()) check_nothing_left(*party);
  }
}

}  // namespace spillway::sim
