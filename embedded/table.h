// Table: all objects of a cluster, under one version that grows with every change, and the recent
// changes, so that watches can begin in the past and lists can go on where they were.
//
// The history is bounded, by number and by bytes; who asks for what is older is told so (410).
// Listeners hear of a change within the call that makes it; they make no changes themselves there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "embedded/object.h"

namespace spillway::embedded {

struct Change {
  enum class Type { added, modified, deleted };
  Type type = Type::added;
  ObjectPtr object;  // after the change; of a deletion: the last state, with the deletion's version
  ObjectPtr before;  // null when it was added
};

struct HistoryBounds {
  size_t changes = 4096;
  size_t bytes = size_t{4} << 20;
};

using Shelf = std::map<Key, ObjectPtr>;

class Table {
 public:
  using Listener = std::function<void(const Change&)>;

  explicit Table(HistoryBounds bounds = {}) : bounds_(bounds) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  int64_t version() const { return version_; }
  ObjectPtr find(const Kind& kind, const Key& key) const;  // null: there is none
  const Shelf& shelf(const Kind& kind) const;
  // As it was at that version; none: that is forgotten, or has not come yet.
  std::optional<Shelf> shelf_at(const Kind& kind, int64_t version) const;

  // Adds or replaces what the document's metadata names.
  ObjectPtr write(const Kind& kind, model::Node document);
  ObjectPtr remove(const Kind& kind, const Key& key);  // it must be there

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  // Changes after this version are known.
  int64_t known_after() const { return forgotten_; }
  template <class F>
  void for_each_after(int64_t version, F f) const {
    for (const Change& change : history_) {
      if (change.object->version > version) f(change);
    }
  }

  // Faults.
  void forget_history();  // as a compaction does
  // As after a restart from an old backup: versions are given again that were given before.
  void fall_back(int64_t versions);

 private:
  Shelf& own_shelf(const Kind& kind);
  void tell(Change change);

  HistoryBounds bounds_;
  int64_t version_ = 1;
  int64_t forgotten_ = 1;
  size_t history_bytes_ = 0;
  std::vector<Shelf> shelves_;  // by the kind's number
  std::deque<Change> history_;
  std::vector<Listener> listeners_;
};

}  // namespace spillway::embedded
