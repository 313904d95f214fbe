#include "services/driver/driver.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
#include "services/agent/never.h"
#include "services/driver/orders.h"

namespace spillway::driver {

using agent::k_never;
using fabric::UnitStep;

Driver::Cluster::Cluster(Driver& driver, const DriverCluster& wanted)
    : name(wanted.name),
      api(wanted.api),
      options(wanted.fabric),
      dealings(driver.loop_, driver.book_, wanted.name,
               {[&driver] { driver.saver_.touch(); },
                [&driver](std::function<void()> then) { driver.saver_.flush(std::move(then)); },
                [&driver](const std::string& to, const fabric::Say& said) {
                  if (Cluster* other = driver.find(to)) other->dealings.deliver(said);
                },
                [&driver] {
                  std::set<ClusterId> names;
                  for (const auto& one : driver.clusters_) names.insert(ClusterId(one->name));
                  return names;
                }}),
      liqo(wanted.api, driver.random_, driver.log_,
           [this, &driver](const agent::LiqoHome& home) { driver.know(*this, home); }) {}

Driver::Driver(host::Loop& loop, host::Random& random, agent::StateStore& store, services::Log& log,
               std::string holder)
    : loop_(loop),
      random_(random),
      store_(store),
      log_(log),
      holder_(std::move(holder)),
      saver_(loop, random, store, log, {[this] { return to_json(book_.state); }, [] {}}),
      events_(loop),
      alarm_(loop, [this] { settle(); }) {}

Status Driver::start(std::vector<DriverCluster> clusters) {
  const auto text = store_.load();
  if (!text) return tl::unexpected(text.error());
  if (!text->empty()) {
    auto state = driver_state_from_json(*text);
    if (!state) return tl::unexpected(state.error());
    book_.state = std::move(*state);
  }
  for (const DriverCluster& wanted : clusters) {
    clusters_.push_back(std::make_unique<Cluster>(*this, wanted));
  }
  SPILLWAY_TRY(check_clusters());
  events_.start();
  rebuild();
  for (const auto& cluster : clusters_) hold(*cluster);
  wake();
  return {};
}

Status Driver::check_clusters() const {
  for (const auto& [name, unit] : book_.state.units) {
    if (unit.is_gone()) continue;
    for (const std::string& cluster : {unit.order.consumer, unit.order.provider}) {
      if (find(cluster) != nullptr) continue;
      return fail(
          Code::conflict, "cluster " + cluster,
          fmt::format("unit {} lives there, and it is not in the driver's file any more", name),
          "put it back until its units have ended");
    }
  }
  return {};
}

// One cluster's part begins here, and nowhere else: once its fabric is ours.
void Driver::hold(Cluster& cluster) {
  cluster.holder.emplace(cluster.api, log_, holder_,
                         agent::FabricHolder::Calls{[this, &cluster] { start_fabric(cluster); },
                                                    [&cluster] {
                                                      if (cluster.fabric)
                                                        cluster.fabric->set_holding(false);
                                                    },
                                                    [this, &cluster] { stop_fabric(cluster); }});
  cluster.holder->start();
  cluster.liqo.start();
}

void Driver::start_fabric(Cluster& cluster) {
  if (is_stopped_) return;
  if (cluster.fabric) return cluster.fabric->set_holding(true);
  cluster.fabric.emplace(cluster.dealings, cluster.api, log_, cluster.options);
  cluster.fabric->when_looked(
      [this, &cluster](const agent::PeerProgress& progress) { looked(cluster, progress); });
  cluster.fabric->start();
  if (cluster.liqo.home()) know(cluster, *cluster.liqo.home());
  wake();  // what waits for this fabric may have no side that it looks at
}

void Driver::stop_fabric(Cluster& cluster) {
  cluster.fabric.reset();
  cluster.seen.clear();
}

void Driver::stop(std::function<void()> when_saved) {
  is_stopped_ = true;
  for (const auto& cluster : clusters_) stop_fabric(*cluster);
  events_.close_all();
  saver_.flush(life_.guard([this, done = std::move(when_saved)] { release(0, done); }));
}

// All is saved: whoever waits may take over.
void Driver::release(size_t index, std::function<void()> done) {
  if (index == clusters_.size()) return done();
  auto& holder = clusters_[index]->holder;
  const auto next = life_.guard([this, index, done] { release(index + 1, done); });
  if (!holder) return next();
  holder->release(next);
}

Driver::Cluster* Driver::find(const std::string& name) const {
  for (const auto& cluster : clusters_) {
    if (cluster->name == name) return cluster.get();
  }
  return nullptr;
}

bool Driver::is_seeing() const {
  return std::all_of(clusters_.begin(), clusters_.end(), [](const auto& cluster) {
    return cluster->fabric && cluster->fabric->status().is_seeing && cluster->liqo.home();
  });
}

void Driver::know(Cluster& cluster, const agent::LiqoHome& home) {
  for (const auto& other : clusters_) {
    if (other.get() == &cluster || !other->liqo.home()) continue;
    if (other->liqo.home()->id() != home.id()) continue;
    log_.write(services::Level::error, "two clusters have the same Liqo id",
               {{"one", other->name}, {"other", cluster.name}, {"id", home.id()}});
    return;  // of that one nothing is made
  }
  book_.state.liqo_ids[cluster.name] = home.id();
  cluster.key = home.public_key();
  saver_.touch();
  if (cluster.fabric) cluster.fabric->know_self(home);
  rebuild();
  wake();
}

std::optional<model::LiqoPart> Driver::make_part(const Cluster& consumer,
                                                 const model::Contract& contract,
                                                 const std::string& provider) {
  model::Card card;
  card.liqo = provider;
  const auto part = consumer.liqo.home()->part_of(contract, card);
  return part ? part->liqo : std::nullopt;
}

// What was ordered when Liqo had another key there, if it was. It stays so: what runs under that
// key runs on, and nothing more of it can be made; whoever ordered it is told
// (Fabric::make_requests).
const model::LiqoPart* Driver::part_of_other_key(const Cluster& consumer,
                                                 const model::Contract& contract) const {
  const auto fabric = book_.state.fabrics.find(consumer.name);
  if (fabric == book_.state.fabrics.end() || contract.units.empty()) return nullptr;
  const auto kept = fabric->second.contracts.find(contract.id);
  if (kept == fabric->second.contracts.end()) return nullptr;
  return kept->second.part.buyer_key == to_base64(consumer.key) ? nullptr : &kept->second.part;
}

// Whatever was there stays until it is known better: parts of clusters whose Liqo is not known are
// those that their Fabrics have kept.
void Driver::rebuild() {
  book_.contracts = contracts_of(book_.state);
  book_.purchases = purchases_of(book_.state);
  const auto before = std::exchange(parts_, {});
  book_.parts.clear();
  for (const auto& [id, contract] : book_.contracts) {
    const Cluster* consumer = find(contract.buyer.text);
    const auto provider = book_.state.liqo_ids.find(contract.provider.text);
    if (consumer == nullptr || !consumer->liqo.home()) continue;
    if (provider == book_.state.liqo_ids.end()) continue;
    if (const auto* kept = part_of_other_key(*consumer, contract)) {
      book_.parts.emplace(id, *kept);
      continue;
    }
    const PartKey key{consumer->key, provider->second, agent::unit_names(contract)};
    const auto known = before.find(id);
    const auto part = known != before.end() && known->second.first == key
                          ? std::optional(known->second.second)
                          : make_part(*consumer, contract, provider->second);
    if (!part) continue;
    parts_.emplace(id, std::pair(key, *part));
    book_.parts.emplace(id, *part);
  }
  for (const auto& cluster : clusters_) {
    cluster->dealings.look();
    if (cluster->fabric) cluster->fabric->contracts_changed();
  }
}

Status Driver::check_known(const std::string& consumer, const std::string& provider) const {
  for (const auto& [field, name] : {std::pair("consumer", consumer), {"provider", provider}}) {
    if (find(name) != nullptr) continue;
    return fail(Code::not_found, field,
                fmt::format("this driver has no cluster {}", in_quotes(name.substr(0, 80))),
                "name one of its file, or add it there");
  }
  return {};
}

// ---- orders --------------------------------------------------------------------------------

Error Driver::unsaved() const {
  return {Code::unavailable, "the driver's state",
          saver_.trouble() ? "it cannot be written: " + saver_.trouble()->message()
                           : "it is not written yet",
          "make room for it, and ask again: the same order changes nothing"};
}

// Whoever asked is told either way: when it is safe, or that it is not known whether it will be.
template <class T>
void Driver::when_saved(Then<T> then, std::function<void(const Then<T>&)> answer) {
  const auto asked = std::make_shared<Then<T>>(std::move(then));
  saver_.flush(life_.guard([asked, answer = std::move(answer)] {
    if (const auto told = std::exchange(*asked, nullptr)) answer(told);
  }));
  loop_.after(k_longest_save, life_.guard([this, asked] {
    if (const auto told = std::exchange(*asked, nullptr)) told(tl::unexpected(unsaved()));
  }));
}

void Driver::order(const std::string& name, const UnitOrder& order, Then<UnitDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  if (const Status known = check_known(order.consumer, order.provider); !known) {
    return then(tl::unexpected(known.error()));
  }
  const auto placed = place(book_.state, name, order, loop_.now());
  if (!placed) return then(tl::unexpected(placed.error()));
  if (*placed) {
    book_.state.closing.erase(peering_name(order.consumer, order.provider));
    note_step(name, book_.state.units.at(name).step());
    rebuild();
  }
  // Also of one that is known: the first answer may have been lost before it was safe.
  when_saved<UnitDocument>(std::move(then),
                           [this, name](const auto& told) { answer_unit(name, told); });
}

void Driver::end(const std::string& name, Then<UnitDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  const auto ended = driver::end(book_.state, name, loop_.now());
  if (!ended) return then(tl::unexpected(ended.error()));
  if (*ended) wake();
  when_saved<UnitDocument>(std::move(then),
                           [this, name](const auto& told) { answer_unit(name, told); });
}

// A save may take long: what was ordered may be over by then.
void Driver::answer_unit(const std::string& name, const Then<UnitDocument>& then) const {
  if (auto shown = unit(name)) return then(std::move(*shown));
  then(tl::unexpected(ended(name)));
}

void Driver::keep(const std::string& consumer, const std::string& provider,
                  const PeeringOrder& order, Then<PeeringDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  if (const Status known = check_known(consumer, provider); !known) {
    return then(tl::unexpected(known.error()));
  }
  const std::string name = peering_name(consumer, provider);
  const ContractId id = make_contract_id(loop_.now(), random_.next(), random_.next());
  const auto kept = driver::keep(book_.state, name, order, id, loop_.now());
  if (!kept) return then(tl::unexpected(kept.error()));
  if (*kept) rebuild();
  wake();
  when_saved<PeeringDocument>(std::move(then), [this, consumer, provider](const auto& told) {
    if (auto shown = peering(consumer, provider)) return told(std::move(*shown));
    told(fail(Code::gone, "peering " + peering_name(consumer, provider),
              "it was over before it was written down", "keep it again, for longer"));
  });
}

void Driver::close(const std::string& consumer, const std::string& provider,
                   Then<PeeringDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  auto shown = peering(consumer, provider);
  if (!shown) {
    return then(fail(Code::not_found, "peering " + peering_name(consumer, provider),
                     "there is none", "look at what there is with a list"));
  }
  const auto closed = driver::close(book_.state, shown->name(), loop_.now());
  if (!closed) return then(tl::unexpected(closed.error()));
  if (*closed) rebuild();
  wake();
  shown->closing = true;
  shown->kept = false;
  when_saved<PeeringDocument>(std::move(then), [shown](const auto& told) { told(*shown); });
}

// ---- documents -----------------------------------------------------------------------------

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
    if (!cluster->fabric) {
      all.push_back({"cluster " + name, "another process has its fabric, or it is not known who",
                     fmt::format("look at the Lease {}", agent::k_fabric_lease)});
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
