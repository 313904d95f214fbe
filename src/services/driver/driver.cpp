#include "services/driver/driver.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
#include "services/driver/orders.h"
#include "services/driver/renaming.h"

namespace spillway::driver {

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
  hold_all();
  wake();
  return {};
}

// Not before it is saved whose they are: a driver that was killed would not know its own units.
void Driver::hold_all() {
  if (book_.state.party.empty()) {
    book_.state.party = fmt::format("driver {:016x}{:016x}", random_.next(), random_.next());
    return saver_.flush(life_.guard([this] { hold_all(); }));
  }
  if (is_stopped_) return;
  for (const auto& cluster : clusters_) hold(*cluster);
}

// A consumer is given up by ending its units; a provider once all that it could keep from ending is
// its own part.
Status Driver::check_clusters() const {
  for (const auto& [name, unit] : book_.state.units) {
    if (unit.is_gone()) continue;
    for (const auto& [cluster, is_given_up] :
         {std::pair(unit.order.consumer, unit.ending.has_value()),
          std::pair(unit.order.provider, unit.ended.has_value())}) {
      if (find(cluster) != nullptr || is_given_up) continue;
      return fail(
          Code::conflict, "cluster " + cluster,
          fmt::format("unit {} lives there, and it is not in the driver's file any more", name),
          "list it by that name until its units have ended, or as a consumer until they are to; "
          "then it may have another, or go");
    }
  }
  return {};
}

// One cluster's part begins here, and nowhere else: once its fabric is ours.
void Driver::hold(Cluster& cluster) {
  cluster.holder.emplace(cluster.api, log_, holder_, book_.state.party,
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
  const auto& kept = book_.state.fabrics[clusters_[index]->name].contracts;
  const bool has_units = std::any_of(kept.begin(), kept.end(), [this](const auto& one) {
    const auto contract = book_.contracts.find(one.first);
    return contract != book_.contracts.end() && !contract->second.units.empty();
  });
  holder->release(!has_units, next);
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

// Not whoever only claims it: of that one nothing is made, and its word stops nobody.
const Driver::Cluster* Driver::find_twin(const Cluster& cluster) const {
  if (!cluster.liqo.home()) return nullptr;
  for (const auto& other : clusters_) {
    if (other.get() == &cluster || !other->liqo.home()) continue;
    const bool is_same = other->liqo.home()->id() == cluster.liqo.home()->id();
    if (is_same && id_owner_of(*other).empty()) return other.get();
  }
  return nullptr;
}

// Whatever one says of itself may be what another was refused for.
void Driver::know(Cluster& cluster, const agent::LiqoHome& home) {
  cluster.is_refused = !take_home(cluster, home);
  for (const auto& other : clusters_) {
    if (!other->is_refused || other.get() == &cluster) continue;
    other->is_refused = !take_home(*other, *other->liqo.home());
  }
}

// False: of that cluster nothing is made.
bool Driver::take_home(Cluster& cluster, const agent::LiqoHome& home) {
  if (const std::string owner = id_owner_of(cluster); !owner.empty()) {
    log_.write(services::Level::error, "a cluster claims the Liqo id of another",
               {{"cluster", cluster.name}, {"id", home.id()}, {"of", owner}});
    return false;
  }
  if (const Cluster* other = find_twin(cluster)) {
    log_.write(services::Level::error, "two clusters have the same Liqo id",
               {{"one", other->name}, {"other", cluster.name}, {"id", home.id()}});
    return false;
  }
  know_names(cluster, home.id());
  cluster.key = home.public_key();
  saver_.touch();
  if (cluster.fabric) cluster.fabric->know_self(home);
  rebuild();
  wake();
  return true;
}

std::set<std::string> Driver::listed() const {
  std::set<std::string> names;
  for (const auto& one : clusters_) names.insert(one->name);
  return names;
}

std::string Driver::id_owner_of(const Cluster& cluster) const {
  const auto& home = cluster.liqo.home();
  return home ? owner_of_id(book_.state, listed(), cluster.name, home->id()) : std::string{};
}

// By any other name it is not known from now on.
void Driver::know_names(const Cluster& cluster, const std::string& liqo_id) {
  while (true) {
    const std::string former = former_name(book_.state, listed(), liqo_id);
    if (former.empty()) break;
    log_.write(services::Level::info, "a cluster has another name",
               {{"was", former}, {"is", cluster.name}, {"id", liqo_id}});
    tell_renamed(former, cluster.name, liqo_id);
    rename(book_.state, former, cluster.name, liqo_id);
  }
  book_.state.liqo_ids[cluster.name] = liqo_id;
}

// One that is not listed any more may be there by a name that is new, until it is seen who that is.
bool Driver::may_be_renamed(const std::string& cluster) const {
  if (!book_.state.liqo_ids.contains(cluster)) return false;
  return std::any_of(clusters_.begin(), clusters_.end(), [this](const auto& one) {
    return !one->liqo.home() && !book_.state.liqo_ids.contains(one->name);
  });
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
// (Fabric::tell_of_other_key).
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
    if (consumer == nullptr || !consumer->liqo.home() || !id_owner_of(*consumer).empty()) continue;
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

}  // namespace spillway::driver
