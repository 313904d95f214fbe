#include "market/workspace.h"

#include <algorithm>

#include "base/check.h"

namespace spillway::market {

void Workspace::add(Key key, int64_t version, Record record) {
  rows_.try_emplace(std::move(key), Entry{version, record, record, false});
}

void Workspace::add_scan(Listing listing, std::vector<std::string> found) {
  scans_.insert_or_assign(std::move(listing), std::move(found));
}

void Workspace::sign(size_t first, const Origin& origin) {
  for (size_t i = first; i < events_.size(); ++i) {
    events_[i].by = origin.by;
    events_[i].request = origin.request;
  }
}

void Workspace::keep() {
  SPILLWAY_CHECK(!lacks_rows(), "a decision was kept that had not seen all its rows");
  for (auto& [key, record] : staged_) {
    const auto at = rows_.find(key);
    SPILLWAY_CHECK(at != rows_.end(), "a row was written that had not been read");
    at->second.record = std::move(record);
    at->second.changed = true;
  }
  std::move(staged_events_.begin(), staged_events_.end(), std::back_inserter(events_));
  staged_.clear();
  staged_events_.clear();
}

void Workspace::drop() {
  staged_.clear();
  staged_events_.clear();
  missing_.clear();
  missing_scans_.clear();
}

void Workspace::rewind() {
  drop();
  events_.clear();
  for (auto& [key, entry] : rows_) {
    if (!entry.changed) continue;
    entry.record = entry.loaded;
    entry.changed = false;
  }
}

const Record* Workspace::look_up(const Key& key) {
  for (auto it = staged_.rbegin(); it != staged_.rend(); ++it) {
    if (it->first == key) return &it->second;
  }
  const auto at = rows_.find(key);
  if (at != rows_.end()) return &at->second.record;
  if (std::find(missing_.begin(), missing_.end(), key) == missing_.end()) missing_.push_back(key);
  return nullptr;
}

void Workspace::stage(Key key, Record record) {
  for (auto& [staged_key, staged_record] : staged_) {
    if (staged_key != key) continue;
    staged_record = std::move(record);
    return;
  }
  staged_.emplace_back(std::move(key), std::move(record));
}

std::vector<std::string> Workspace::listed(const Listing& listing) {
  const auto at = scans_.find(listing);
  if (at == scans_.end()) {
    missing_scans_.push_back(listing);
    return {};
  }
  std::vector<std::string> found = at->second;
  for (const auto& [key, entry] : rows_) {
    if (key.kind == listing.kind && entry.changed) found.push_back(key.id);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<ContractId> Workspace::live_contracts_in(const PoolId& pool) {
  std::vector<ContractId> live;
  for (std::string& id : listed({Kind::contract, pool.text})) {
    const auto* contract = find<model::Contract>({Kind::contract, id});
    if (contract != nullptr && (contract->pool != pool || !contract->is_live())) continue;
    live.emplace_back(std::move(id));
  }
  return live;
}

std::vector<PoolId> Workspace::live_pools_of(const ClusterId& provider) {
  std::vector<PoolId> live;
  for (std::string& id : listed({Kind::pool, provider.text})) {
    const auto* pool = find<PoolRecord>({Kind::pool, id});
    if (pool != nullptr && (pool->provider != provider || pool->withdrawn)) continue;
    live.emplace_back(std::move(id));
  }
  return live;
}

}  // namespace spillway::market
