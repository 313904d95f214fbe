// Records that were decoded or encoded lately, so that a hot pool is not parsed for every sale.
//
// It cannot be stale: whoever asks has read the row's text, and gets the record only if it was made
// from the same text. Two generations, the older dropped when the younger is full: an entry costs
// no bookkeeping and the memory has a bound.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "market/records.h"

namespace spillway::store {

class RecordCache {
 public:
  static constexpr size_t k_generation_bytes = size_t{16} << 20;  // of text; records are as large

  // Null: not known. Valid until the next call.
  const market::Record* find(const market::Key& key, std::string_view body);
  void keep(const market::Key& key, std::string body, market::Record record);

 private:
  struct Entry {
    std::string body;
    market::Record record;
  };
  using Generation = std::unordered_map<market::Key, Entry>;

  Generation young_;
  Generation old_;
  size_t young_bytes_ = 0;
};

}  // namespace spillway::store
