#include "supply/view.h"

#include <set>
#include <utility>

namespace spillway::supply {
namespace {

// Every key of `map` that is not in `kept`.
template <class Map>
void list_others(const Map& map, const std::set<std::string>& kept, std::vector<std::string>& out) {
  for (const auto& entry : map) {
    if (!kept.contains(entry.first)) out.push_back(entry.first);
  }
}

Fingerprint kind_of(const PodRow& row) {
  Digest digest;
  digest.add(row.requests.cpu_millis).add(row.requests.memory_bytes);
  digest.add(row.requests.storage_bytes).add(static_cast<int64_t>(row.requests.extended.size()));
  for (const model::Count& count : row.requests.extended) digest.add(count.name).add(count.amount);
  add_to(digest, *row.placement);
  return digest.value();
}

}  // namespace

void View::put(NodeRow row, Instant now) {
  Place& place = places_[row.name];
  if (!is_ill(row)) {
    place.ill_since.reset();
  } else if (!place.ill_since) {
    place.ill_since = now;
  }
  place.row = std::move(row);
}

void View::release(ByName<Place>::iterator place) {
  const Place& left = place->second;
  if (!left.row && left.own.pods() == 0 && left.unreadable.empty()) places_.erase(place);
}

void View::remove_node(std::string_view name) {
  const auto place = places_.find(name);
  if (place == places_.end()) return;
  place->second.row.reset();
  place->second.ill_since.reset();
  release(place);
}

void View::remove_pod(std::string_view key) {
  if (const auto bound = bound_.find(key); bound != bound_.end()) {
    const auto place = bound->second.place;
    if (bound->second.readable) {
      place->second.own.subtract(bound->second.requests);
    } else {
      place->second.unreadable.erase(bound->first);
    }
    bound_.erase(bound);
    release(place);
    return;
  }
  if (const auto waits = waiting_.find(key); waits != waiting_.end()) {
    stop_waiting(waits);
  } else if (const auto lost = lost_.find(key); lost != lost_.end()) {
    lost_.erase(lost);
  }
}

void View::put(PodRow row) {
  remove_pod(row.key);
  if (row.guest || row.state == PodState::over) return;
  if (row.state == PodState::bound && !row.node.empty()) return bind(std::move(row));
  if (row.problem.empty() && row.placement) {
    wait(std::move(row));
  } else {
    lost_.emplace(std::move(row.key), std::move(row.problem));
  }
}

// Fingerprints are compared with what they stand for: whoever can make two that are equal must not
// move a pod.
void View::wait(PodRow row) {
  const Fingerprint kind = kind_of(row);
  std::shared_ptr<const Placement>& shared = placements_[kind];
  if (shared == nullptr || *shared != *row.placement) shared = std::move(row.placement);
  waiting_.emplace(std::move(row.key),
                   Waiting{std::move(row.requests), shared, kind, row.state == PodState::gated});
}

void View::stop_waiting(ByName<Waiting>::iterator pod) {
  const auto shared = placements_.find(pod->second.kind);
  waiting_.erase(pod);
  if (shared != placements_.end() && shared->second.use_count() == 1) placements_.erase(shared);
}

void View::bind(PodRow row) {
  const bool readable = row.problem.empty();
  Bound bound{places_.try_emplace(std::move(row.node)).first, std::move(row.requests), readable};
  Place& place = bound.place->second;
  if (readable) {
    place.own.add(bound.requests);
  } else {
    place.unreadable.emplace(row.key, std::move(row.problem));
  }
  bound_.emplace(std::move(row.key), std::move(bound));
}

void View::replace_nodes(std::vector<NodeRow> rows, Instant now) {
  std::set<std::string> kept;
  for (const NodeRow& row : rows) kept.insert(row.name);
  std::vector<std::string> gone;
  list_others(places_, kept, gone);
  for (const std::string& name : gone) remove_node(name);
  for (NodeRow& row : rows) put(std::move(row), now);
  set_nodes_known();
}

void View::replace_pods(std::vector<PodRow> rows) {
  std::set<std::string> kept;
  for (const PodRow& row : rows) kept.insert(row.key);
  std::vector<std::string> gone;
  list_others(bound_, kept, gone);
  list_others(waiting_, kept, gone);
  list_others(lost_, kept, gone);
  for (const std::string& key : gone) remove_pod(key);
  for (PodRow& row : rows) put(std::move(row));
  set_pods_known();
}

}  // namespace spillway::supply
