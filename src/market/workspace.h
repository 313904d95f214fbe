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
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "market/events.h"
#include "market/records.h"

namespace spillway::market {

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
  // The live contracts on `pool`, as a scan found them (add() them too).
  void add_scan(const PoolId& pool, std::vector<ContractId> found);

  const std::vector<Key>& missing() const { return missing_; }
  const std::vector<PoolId>& missing_scans() const { return missing_scans_; }
  bool lacks_rows() const { return !missing_.empty() || !missing_scans_.empty(); }

  void keep();    // what was staged since the last keep or drop becomes part of the commit
  void drop();    // ... is forgotten, with what was noted as missing
  void rewind();  // all changes and events are forgotten; what was loaded stays

  const std::unordered_map<Key, Entry>& rows() const { return rows_; }
  const std::vector<Event>& events() const { return events_; }

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

  template <class T>
  void put(Key key, T record) {
    stage(std::move(key), std::make_shared<const T>(std::move(record)));
  }
  void erase(Key key) { stage(std::move(key), std::monostate{}); }
  void emit(Event event) { staged_events_.push_back(std::move(event)); }

 private:
  const Record* look_up(const Key& key);
  void stage(Key key, Record record);

  std::unordered_map<Key, Entry> rows_;
  std::unordered_map<PoolId, std::vector<ContractId>> scans_;
  std::vector<Event> events_;
  std::vector<std::pair<Key, Record>> staged_;  // few: searched from the end
  std::vector<Event> staged_events_;
  std::vector<Key> missing_;
  std::vector<PoolId> missing_scans_;
};

}  // namespace spillway::market
