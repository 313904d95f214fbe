#include "services/autoscaler/round_trips.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ids.h"
#include "host/backoff.h"

namespace spillway::autoscaler {

void RoundTrips::look(const std::vector<Seen>& seen) {
  if (!measure_) return;
  std::map<std::string_view, int> of_provider;
  std::set<std::string> there;
  for (const Seen& one : seen) {
    const std::string& address = one.offer.network.probe;
    if (address.empty() || there.contains(address) || there.size() >= k_most) continue;
    if (++of_provider[owner_of(one.offer.id.text)] > k_most_of_a_provider) continue;
    there.insert(address);
  }
  std::erase_if(known_, [&](const auto& entry) {
    return !entry.second.is_going && !there.contains(entry.first);
  });
  // Those that have waited longest first: else the first by name would take all turns.
  std::vector<std::pair<Instant, std::string>> due;
  for (const std::string& address : there) {
    const Known& known = known_[address];
    if (!known.is_going && known.due <= loop_.now()) due.emplace_back(known.due, address);
  }
  std::sort(due.begin(), due.end());
  for (const auto& [since, address] : due) {
    if (going_ >= k_most_at_once) return;
    begin(address);
  }
}

std::optional<rank::RoundTrip> RoundTrips::of(const model::Offer& offer) const {
  const auto known = known_.find(offer.network.probe);
  return known == known_.end() ? std::nullopt : known->second.reading;
}

void RoundTrips::begin(const std::string& address) {
  known_[address].is_going = true;
  going_ += 1;
  again(address, k_tries, std::nullopt);
}

void RoundTrips::again(const std::string& address, int left, std::optional<int64_t> best) {
  if (left == 0) return done(address, best);
  measure_(address, life_.guard([this, address, left, best](std::optional<int64_t> micros) {
    if (!micros) return done(address, best);
    again(address, left - 1, best ? std::min(*best, *micros) : *micros);
  }));
}

// One that cannot be reached any more keeps its last reading, which grows old (rank/doubt.h).
void RoundTrips::done(const std::string& address, std::optional<int64_t> micros) {
  going_ -= 1;
  Known& known = known_[address];
  known.is_going = false;
  known.due = loop_.now() + host::between(random_, Duration{k_every.ms / 2}, k_every);
  if (micros) known.reading = rank::RoundTrip{*micros, loop_.now()};
}

}  // namespace spillway::autoscaler
