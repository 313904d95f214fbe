#include "sim/fabrics.h"

namespace spillway::sim {

Fabrics::Fabrics(Surroundings& around)
    : world_(around.world),
      network_(around.network),
      around_(around),
      roads_(around.network),
      laws_(around.world, around.network, around.laws) {}

void Fabrics::add_pair(Address first) {
  const bool both_sell = world_.chance(500);
  const size_t number = parties_.size();
  for (int i = 0; i < 2; ++i) {
    const FabricParty::Addresses at{first + 2 * i, first + 2 * i + 1};
    parties_.push_back(std::make_unique<FabricParty>(
        around_, at, fmt::format("fabric-{}", number + static_cast<size_t>(i)), roads_,
        i == 0 || both_sell));
    laws_.watch(*parties_.back());
  }
  FabricParty& one = *parties_[number];
  FabricParty& other = *parties_[number + 1];
  other.set_market(one.offer_ids());
  one.set_market(other.offer_ids());
}

// A peering takes both sides: half of the time it is to be well.
void Fabrics::live(Duration fault_every) {
  for (const auto& party : parties_) party->live({fault_every.ms * 3});
  laws_.begin();
  is_calm_ = fault_every.ms == 0 || parties_.empty();
  if (!is_calm_) cut_later({fault_every.ms * 8});
}

void Fabrics::calm() {
  is_calm_ = true;
  for (const auto& party : parties_) party->calm();
}

uint64_t Fabrics::begun() const {
  uint64_t sum = 0;
  for (const auto& party : parties_) sum += party->work().begun();
  return sum;
}

void Fabrics::cut_later(Duration mean) {
  world_.after(world_.between({}, {mean.ms * 2}), [this, mean] {
    if (is_calm_) return;
    cut();
    cut_later(mean);
  });
}

// Between the two clusters, and between an agent and the cluster that it has bought from: all of
// it, as when a provider is dead or a line is cut, or a part. The broker is reached all the same.
void Fabrics::cut() {
  const size_t pair = world_.below(parties_.size() / 2) * 2;
  const auto one = parties_[pair]->addresses();
  const auto other = parties_[pair + 1]->addresses();
  const auto which = world_.below(10);
  std::vector<std::pair<Address, Address>> lines;
  if (which != 0) lines.emplace_back(one.cluster, other.cluster);
  if (which != 1) lines.emplace_back(one.agent, other.cluster);
  if (which != 1) lines.emplace_back(other.agent, one.cluster);
  world_.note("fabric cut", static_cast<int64_t>(which));
  const Duration time = world_.chance(500) ? world_.between(seconds(5), seconds(60))
                                           : world_.between(minutes(1), minutes(6));
  for (const auto& [from, to] : lines) network_.cut(from, to);
  world_.after(time, [this, lines] {
    for (const auto& [from, to] : lines) network_.mend(from, to);
  });
}

}  // namespace spillway::sim
