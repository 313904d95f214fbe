// The book's rows in memory, with versions and the log of events: what is under TestBook and
// FlakyStore. Scans look at every row, so that they share no index with the stores that ship.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "market/events.h"
#include "market/record_codec.h"
#include "market/records.h"

namespace spillway::test {

class MemoryRows {
 public:
  struct Stored {
    int64_t version = 0;  // 0: there is no such row
    market::Record record;
  };
  using Puts = std::vector<std::pair<market::Key, market::Record>>;

  Stored find(const market::Key& key) const {
    const auto at = rows_.find(key);
    return at == rows_.end() ? Stored{} : at->second;
  }

  template <class T>
  const T* get(const market::Key& key) const {
    const auto at = rows_.find(key);
    if (at == rows_.end()) return nullptr;
    const auto* held = std::get_if<market::Shared<T>>(&at->second.record);
    return held == nullptr ? nullptr : held->get();
  }

  void commit(const Puts& puts, const std::vector<market::Event>& events) {
    ++commits_;
    for (const auto& [key, record] : puts) {
      if (market::is_absent(record)) {
        rows_.erase(key);
      } else {
        // A store would set aside a row that it cannot read back.
        const auto back = market::decode(key.kind, market::encode(record));
        SPILLWAY_CHECK(back.has_value(), back ? "" : back.error().message());
        rows_.insert_or_assign(key, Stored{commits_, record});
      }
    }
    for (market::Event event : events) {
      event.sequence = last_event() + 1;
      events_.push_back(std::move(event));
    }
  }

  // Keys of the live rows of a kind, by id, that `wanted` (of their facets) takes.
  template <class Wanted>
  std::vector<market::Key> live(market::Kind kind, Wanted wanted) const {
    std::vector<market::Key> keys;
    for (const auto& [key, stored] : rows_) {
      if (key.kind != kind) continue;
      const market::Facets facets = market::facets_of(stored.record);
      if (facets.live && wanted(facets)) keys.push_back(key);
    }
    return keys;
  }

  // First due, first.
  std::vector<market::Key> due(market::Kind kind, Instant until) const {
    std::vector<market::Key> keys = live(
        kind, [&](const market::Facets& facets) { return facets.due && *facets.due <= until; });
    std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
      return market::facets_of(find(a).record).due < market::facets_of(find(b).record).due;
    });
    return keys;
  }

  int64_t last_commit() const { return commits_; }  // the version of what it put
  const std::map<market::Key, Stored>& all() const { return rows_; }
  const std::vector<market::Event>& events() const { return events_; }  // that are kept
  int64_t first_event() const { return first_event_; }
  int64_t last_event() const { return first_event_ + static_cast<int64_t>(events_.size()) - 1; }
  // Those before `first`.
  void forget_events(int64_t first) {
    events_.erase(events_.begin(), events_.begin() + static_cast<ptrdiff_t>(first - first_event_));
    first_event_ = first;
  }

  // Everything as text, to compare with a later or another state. Versions are left out.
  std::map<std::string, std::string> picture() const {
    std::map<std::string, std::string> texts;
    for (const auto& [key, stored] : rows_) {
      texts[fmt::format("{} {}", to_text(key.kind), key.id)] = market::encode(stored.record);
    }
    return texts;
  }

 private:
  std::map<market::Key, Stored> rows_;
  std::vector<market::Event> events_;
  int64_t first_event_ = 1;
  int64_t commits_ = 0;
};

}  // namespace spillway::test
