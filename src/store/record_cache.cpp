#include "store/record_cache.h"

#include <utility>

namespace spillway::store {

const market::Record* RecordCache::find(const market::Key& key, std::string_view body) {
  if (auto found = young_.find(key); found != young_.end()) {
    return found->second.body == body ? &found->second.record : nullptr;
  }
  auto found = old_.find(key);
  if (found == old_.end() || found->second.body != body) return nullptr;
  Entry entry = std::move(found->second);
  old_.erase(found);
  keep(key, std::move(entry.body), std::move(entry.record));
  return &young_.find(key)->second.record;
}

void RecordCache::keep(const market::Key& key, std::string body, market::Record record) {
  if (young_bytes_ >= k_generation_bytes) {
    old_ = std::exchange(young_, Generation());
    young_bytes_ = 0;
  }
  young_bytes_ += body.size();
  young_.insert_or_assign(key, Entry{std::move(body), std::move(record)});
}

}  // namespace spillway::store
