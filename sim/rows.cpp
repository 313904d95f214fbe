#include "sim/rows.h"

#include <algorithm>

namespace spillway::sim {
namespace {

const std::set<std::string> k_none;

template <class Indexes>
const std::set<std::string>& ids_in(const Indexes& indexes, market::Kind kind,
                                    const std::string& name) {
  const auto index = indexes.find(kind);
  if (index == indexes.end()) return k_none;
  const auto at = index->second.find(name);
  return at == index->second.end() ? k_none : at->second;
}

}  // namespace

const Versioned* Rows::find(const market::Key& key) const {
  const auto at = rows_.find(key);
  return at == rows_.end() ? nullptr : &at->second;
}

bool Rows::holds(const std::vector<host::Expectation>& expectations) const {
  return std::all_of(expectations.begin(), expectations.end(), [&](const auto& expectation) {
    const Versioned* at = find(expectation.key);
    return (at == nullptr ? 0 : at->version) == expectation.version;
  });
}

Undo Rows::apply(const host::Commit& commit) {
  Undo undo;
  ++commits_;  // never taken back, as no version is used twice
  for (const host::Put& put : commit.puts) {
    const Versioned* at = find(put.key);
    const Versioned before = at == nullptr ? Versioned{} : *at;
    undo.rows.emplace_back(put.key, before);
    set(put.key, {commits_, put.record});
  }
  for (market::Event event : commit.events) {
    event.sequence = last_event() + 1;
    events_.push_back(std::move(event));
  }
  undo.events = static_cast<int64_t>(commit.events.size());
  return undo;
}

void Rows::take_back(const Undo& undo) {
  for (auto it = undo.rows.rbegin(); it != undo.rows.rend(); ++it) set(it->first, it->second);
  events_.resize(events_.size() - static_cast<size_t>(undo.events));
}

void Rows::forget_events(int64_t first) {
  events_.erase(events_.begin(), events_.begin() + static_cast<ptrdiff_t>(first - first_event_));
  first_event_ = first;
}

void Rows::set(const market::Key& key, Versioned next) {
  const auto at = rows_.find(key);
  if (at != rows_.end()) index(key, at->second.record, false);
  if (market::is_absent(next.record)) {
    if (at != rows_.end()) rows_.erase(at);
    return;
  }
  index(key, next.record, true);
  rows_.insert_or_assign(key, std::move(next));
}

void Rows::index(const market::Key& key, const market::Record& record, bool add) {
  const market::Facets facets = market::facets_of(record);
  if (!facets.live) return index_ended(key, facets, add);
  const auto change = [&](std::set<std::string>& ids) {
    if (add) {
      ids.insert(key.id);
    } else {
      ids.erase(key.id);
    }
  };
  change(live_[key.kind]);
  if (!facets.group.empty()) {
    change(by_group_[key.kind][facets.group]);
    change(by_provider_[key.kind][std::string(owner_of(facets.group))]);
  }
  if (!facets.owner.empty()) change(by_owner_[key.kind][facets.owner]);
  if (!facets.due) return;
  if (add) {
    due_[key.kind].emplace(*facets.due, key.id);
  } else {
    due_[key.kind].erase({*facets.due, key.id});
  }
}

void Rows::index_ended(const market::Key& key, const market::Facets& facets, bool add) {
  if (!facets.due) return;
  const auto change = [&](Ended& ended) {
    if (add) {
      ended.emplace(*facets.due, key.id);
    } else {
      ended.erase({*facets.due, key.id});
    }
  };
  change(bought_[facets.owner]);
  change(sold_[std::string(owner_of(facets.group))]);
}

std::vector<host::Row> Rows::ended(const host::Scan& scan,
                                   const std::unordered_map<std::string, Ended>& by_party) const {
  std::vector<host::Row> found;
  const auto at = by_party.find(scan.name);
  if (scan.kind != market::Kind::contract || at == by_party.end()) return found;
  for (auto it = at->second.upper_bound({scan.ended_from, scan.after}); it != at->second.end();
       ++it) {
    if (static_cast<int32_t>(found.size()) >= scan.limit) break;
    found.push_back(row({scan.kind, it->second}));
  }
  return found;
}

host::Row Rows::row(const market::Key& key) const {
  const Versioned* at = find(key);
  return at == nullptr ? host::Row{key, 0, {}} : host::Row{key, at->version, at->record};
}

std::vector<host::Row> Rows::rows_of(const host::Scan& scan,
                                     const std::set<std::string>& ids) const {
  std::vector<host::Row> found;
  for (auto id = ids.upper_bound(scan.after); id != ids.end(); ++id) {
    if (static_cast<int32_t>(found.size()) >= scan.limit) break;
    found.push_back(row({scan.kind, *id}));
  }
  return found;
}

std::vector<host::Row> Rows::scan(const host::Scan& scan) const {
  switch (scan.by) {
    case host::Scan::By::group:
      return rows_of(scan, ids_in(by_group_, scan.kind, scan.name));
    case host::Scan::By::owner:
      return rows_of(scan, ids_in(by_owner_, scan.kind, scan.name));
    case host::Scan::By::provider:
      return rows_of(scan, ids_in(by_provider_, scan.kind, scan.name));
    case host::Scan::By::all: {
      const auto at = live_.find(scan.kind);
      return rows_of(scan, at == live_.end() ? k_none : at->second);
    }
    case host::Scan::By::bought:
      return ended(scan, bought_);
    case host::Scan::By::sold:
      return ended(scan, sold_);
    case host::Scan::By::due:
      break;
  }
  std::vector<host::Row> found;
  const auto at = due_.find(scan.kind);
  if (at == due_.end()) return found;
  for (const auto& [due, id] : at->second) {
    if (due > scan.due_until || static_cast<int32_t>(found.size()) >= scan.limit) break;
    found.push_back(row({scan.kind, id}));
  }
  return found;
}

const std::set<std::string>& Rows::contracts_in(const std::string& pool) const {
  return ids_in(by_group_, market::Kind::contract, pool);
}

const std::set<std::string>& Rows::contracts_of(const std::string& buyer) const {
  return ids_in(by_owner_, market::Kind::contract, buyer);
}

}  // namespace spillway::sim
