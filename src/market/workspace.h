// Workspace: the rows that decisions read, and what they would change, until one commit writes it.
//
// A decision asks for rows by key. One that was not loaded is noted as missing and looks absent;
// the decision is then thrown away, the row loaded, and the decision taken again: it is pure, so
// that is safe, and nobody has to say in advance what a command touches.
//
// Several commands may be decided one after the other on one workspace, each seeing the changes of
// those before it; all of them become one commit. A command that is refused leaves no trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "market/events.h"
#include "market/records.h"

namespace spillway::market {

// Rows that are found by what they belong to: the live contracts of a pool, or the live pools of a
// provider.
struct Listing {
  Kind kind = Kind::contract;  // contract or pool
  std::string of;              // the pool's or the provider's id

  auto operator<=>(const Listing&) const = default;
};

class Workspace {
 public:
  struct Entry {
    int64_t version = 0;  // 0: there was no such row
    Record loaded;
    Record record;  // as loaded, or as the last kept change left it
    bool changed = false;
  };

  // --- for the host ---
  void add(Key key, int64_t version, Record record);
  bool has(const Key& key) const { return rows_.contains(key); }
  // The ids that a scan found (add() the rows too).
  void add_scan(Listing listing, std::vector<std::string> found);

  const std::vector<Key>& missing() const { return missing_; }
  const std::vector<Listing>& missing_scans() const { return missing_scans_; }
  bool lacks_rows() const { return !missing_.empty() || !missing_scans_.empty(); }

  void keep();    // what was staged since the last keep or drop becomes part of the commit
  void drop();    // ... is forgotten, with what was noted as missing
  void rewind();  // all changes and events are forgotten; what was loaded stays

  const std::unordered_map<Key, Entry>& rows() const { return rows_; }
  const std::vector<Event>& events() const { return events_; }
  // Notes who caused the events from number `first` on.
  void sign(size_t first, const Origin& origin);

  // --- for decisions ---
  // Null: absent, or not loaded yet. Valid until the next put.
  template <class T>
  const T* find(const Key& key) {
    const Record* record = look_up(key);
    if (record == nullptr) return nullptr;
    const Shared<T>* held = std::get_if<Shared<T>>(record);
    return held == nullptr ? nullptr : held->get();
  }
  std::vector<ContractId> live_contracts_in(const PoolId& pool);
  std::vector<PoolId> live_pools_of(const ClusterId& provider);

  template <class T>
  void put(Key key, T record) {
    stage(std::move(key), std::make_shared<const T>(std::move(record)));
  }
  void erase(Key key) { stage(std::move(key), std::monostate{}); }
  void emit(Event event) { staged_events_.push_back(std::move(event)); }

 private:
  const Record* look_up(const Key& key);
  void stage(Key key, Record record);
  // What was scanned, and what earlier commands on this workspace have changed since.
  std::vector<std::string> listed(const Listing& listing);

  std::unordered_map<Key, Entry> rows_;
  std::map<Listing, std::vector<std::string>> scans_;
  std::vector<Event> events_;
  std::vector<std::pair<Key, Record>> staged_;  // few: searched from the end
  std::vector<Event> staged_events_;
  std::vector<Key> missing_;
  std::vector<Listing> missing_scans_;
};

}  // namespace spillway::market
