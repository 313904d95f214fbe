// The rows of the simulated store, with the indexes that host::Scan asks for, and undo: a commit
// that was not synced can be taken back when the machine loses power.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/store.h"

namespace spillway::sim {

struct Versioned {
  int64_t version = 0;
  market::Record record;
};

// The record as a T, null if it is something else.
template <class T>
const T* held(const market::Record& record) {
  const auto* shared = std::get_if<market::Shared<T>>(&record);
  return shared == nullptr ? nullptr : shared->get();
}

// What a commit replaced.
struct Undo {
  std::vector<std::pair<market::Key, Versioned>> rows;
  int64_t events = 0;  // how many it appended
};

class Rows {
 public:
  const Versioned* find(const market::Key& key) const;
  bool holds(const std::vector<host::Expectation>& expectations) const;
  Undo apply(const host::Commit& commit);
  int64_t last_commit() const { return commits_; }  // the version of what it put
  void take_back(const Undo& undo);

  host::Row row(const market::Key& key) const;
  std::vector<host::Row> scan(const host::Scan& scan) const;
  // The events that are kept, without a gap, and the numbers of the first and last of them.
  const std::vector<market::Event>& events() const { return events_; }
  int64_t first_event() const { return first_event_; }
  int64_t last_event() const { return first_event_ + static_cast<int64_t>(events_.size()) - 1; }
  // Those before `first`; a commit that appended one of them cannot be taken back any more.
  void forget_events(int64_t first);

  // Typed look-ups for those who check.
  template <class T>
  const T* get(const market::Key& key) const {
    const Versioned* at = find(key);
    return at == nullptr ? nullptr : held<T>(at->record);
  }
  const std::set<std::string>& contracts_in(const std::string& pool) const;
  const std::set<std::string>& contracts_of(const std::string& buyer) const;
  const std::unordered_map<market::Key, Versioned>& all() const { return rows_; }

 private:
  using Index = std::unordered_map<std::string, std::set<std::string>>;
  using Indexes = std::map<market::Kind, Index>;
  using Ended = std::set<std::pair<Instant, std::string>>;
  void set(const market::Key& key, Versioned next);
  void index(const market::Key& key, const market::Record& record, bool add);
  void index_ended(const market::Key& key, const market::Facets& facets, bool add);
  std::vector<host::Row> ended(const host::Scan& scan,
                               const std::unordered_map<std::string, Ended>& by_party) const;
  std::vector<host::Row> rows_of(const host::Scan& scan, const std::set<std::string>& ids) const;

  std::unordered_map<market::Key, Versioned> rows_;
  std::vector<market::Event> events_;
  int64_t first_event_ = 1;
  int64_t commits_ = 0;
  Indexes by_group_;
  Indexes by_owner_;
  Indexes by_provider_;
  std::map<market::Kind, std::set<std::pair<Instant, std::string>>> due_;
  std::map<market::Kind, std::set<std::string>> live_;
  std::unordered_map<std::string, Ended> bought_;  // contracts that ran and have ended
  std::unordered_map<std::string, Ended> sold_;
};

}  // namespace spillway::sim
