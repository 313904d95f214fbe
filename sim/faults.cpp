#include "sim/faults.h"

namespace spillway::sim {

FaultPlan draw_plan(World& world) {
  FaultPlan plan;
  const auto sometimes = [&](Duration mean) { return world.chance(700) ? mean : Duration{}; };
  if (world.chance(700)) plan.drop_permille = static_cast<int64_t>(world.below(60));
  if (world.chance(700)) plan.double_permille = static_cast<int64_t>(world.below(60));
  if (world.chance(700)) plan.late_permille = static_cast<int64_t>(world.below(30));
  plan.max_delay = milliseconds(5 + static_cast<int64_t>(world.below(100)));
  plan.broker_crash = sometimes(minutes(4));
  plan.store_crash = sometimes(minutes(6));
  plan.party_crash = sometimes(minutes(5));
  plan.partition = sometimes(minutes(3));
  if (world.chance(400)) plan.isolation = minutes(6);
  if (world.chance(250)) plan.outage = minutes(15);
  if (world.chance(400)) plan.vanish_permille = 300;
  plan.clock_step = sometimes(minutes(10));
  plan.slow_disk = sometimes(minutes(8));
  plan.max_skew = sometimes(minutes(2));
  plan.cluster_fault = seconds(40);
  return plan;
}

Faults::Faults(World& world, Network& network, SimStore& store, Address store_at,
               std::vector<std::unique_ptr<SimBroker>>& brokers, std::vector<Party*> parties,
               Laws& laws, FaultPlan plan)
    : world_(world),
      network_(network),
      store_(store),
      store_at_(store_at),
      brokers_(brokers),
      parties_(std::move(parties)),
      laws_(laws),
      plan_(plan) {}

void Faults::begin() {
  Weather weather;
  weather.drop_permille = static_cast<uint64_t>(plan_.drop_permille);
  weather.double_permille = static_cast<uint64_t>(plan_.double_permille);
  weather.late_permille = static_cast<uint64_t>(plan_.late_permille);
  weather.delay_high = plan_.max_delay;
  network_.set_weather(weather);
  const Duration skew = plan_.max_skew;
  for (auto& broker : brokers_) broker->process().set_skew(world_.between({-skew.ms}, skew));
  for (Party* party : parties_) party->process().set_skew(world_.between({-skew.ms}, skew));
  repeat(plan_.broker_crash, &Faults::crash_broker);
  repeat(plan_.store_crash, &Faults::crash_store);
  repeat(plan_.party_crash, &Faults::crash_party);
  repeat(plan_.partition, &Faults::cut_something);
  repeat(plan_.isolation, &Faults::isolate_party);
  repeat(plan_.outage, &Faults::lose_store);
  vanish_later();
  repeat(plan_.clock_step, &Faults::step_clock);
  repeat(plan_.slow_disk, &Faults::slow_disk);
}

void Faults::stop() {
  stopped_ = true;
  store_.crash_in_commit(nullptr);
  network_.mend_all();
  network_.set_weather({});
  store_.set_disk(milliseconds(1), milliseconds(5));
  if (!store_.is_up()) store_.restart();
  for (auto& broker : brokers_) {
    if (!broker->process().is_up()) broker->restart();
  }
  for (Party* party : parties_) {
    if (!party->process().is_up()) party->restart();
  }
}

void Faults::repeat(Duration mean, Deed deed) {
  if (mean.ms == 0) return;
  world_.after(world_.between({}, {mean.ms * 2}), [this, mean, deed] {
    if (stopped_) return;
    (this->*deed)();
    repeat(mean, deed);
  });
}

void Faults::crash_broker() {
  SimBroker& broker = *brokers_[world_.below(brokers_.size())];
  if (!broker.process().is_up()) return;
  world_.note("broker crash", broker.address());
  broker.crash();
  world_.after(world_.between(milliseconds(100), seconds(60)), [this, &broker] {
    if (!stopped_ && !broker.process().is_up()) broker.restart();
  });
}

void Faults::crash_store() {
  if (!store_.is_up()) return;
  const auto crashed = [this] {
    world_.note("store crash");
    laws_.on_store_crash();
    revive_store();
  };
  if (world_.chance(700)) return store_.crash_in_commit(crashed);
  store_.crash();
  crashed();
}

void Faults::revive_store() {
  world_.after(world_.between(milliseconds(100), seconds(120)), [this] {
    if (!stopped_ && !store_.is_up()) store_.restart();
  });
}

void Faults::crash_party() {
  Party* party = parties_[world_.below(parties_.size())];
  if (!party->process().is_up()) return;
  world_.note("party crash", party->address());
  party->crash();
  world_.after(world_.between(seconds(1), seconds(180)), [this, party] {
    if (!stopped_ && !party->process().is_up()) party->restart();
  });
}

void Faults::cut_something() {
  const Address broker = brokers_[world_.below(brokers_.size())]->address();
  const Address other =
      world_.chance(500) ? store_at_ : parties_[world_.below(parties_.size())]->address();
  world_.note("cut", broker * 1000 + other);
  network_.cut(broker, other);
  world_.after(world_.between(seconds(1), seconds(90)),
               [this, broker, other] { network_.mend(broker, other); });
}

// Longer than any lease and its grace, often: then the party has to go by what it saw itself.
void Faults::isolate_party() {
  Party* party = parties_[world_.below(parties_.size())];
  world_.note("isolation", party->address());
  for (auto& broker : brokers_) network_.cut(broker->address(), party->address());
  world_.after(world_.between(minutes(1), minutes(16)), [this, party] {
    for (auto& broker : brokers_) network_.mend(broker->address(), party->address());
  });
}

// Brokers are there, and know nothing: for everybody that is silence.
void Faults::lose_store() {
  if (!store_.is_up()) return;
  world_.note("outage");
  store_.crash();
  laws_.on_store_crash();
  world_.after(world_.between(minutes(1), minutes(12)), [this] {
    if (!stopped_ && !store_.is_up()) store_.restart();
  });
}

void Faults::vanish_later() {
  for (Party* party : parties_) {
    if (!is_cluster(party->person().roles)) continue;
    if (!world_.chance(static_cast<uint64_t>(plan_.vanish_permille))) continue;
    world_.after(world_.between(minutes(5), minutes(50)), [this, party] {
      if (stopped_) return;
      world_.note("vanished", party->address());
      party->vanish();
    });
  }
}

void Faults::step_clock() { store_.step_clock(world_.between(seconds(-20), seconds(20))); }

void Faults::slow_disk() {
  store_.set_disk(milliseconds(50), milliseconds(1500));
  world_.after(world_.between(seconds(1), seconds(60)),
               [this] { store_.set_disk(milliseconds(1), milliseconds(5)); });
}

}  // namespace spillway::sim
