// Interner: equal values are kept once and go by a small number.
//
// A market repeats itself: ten thousand offers share a few hundred label keys, regions and
// audiences. Holders are counted, and a value goes with its last holder: a provider that publishes
// ever new labels cannot fill the broker's memory with old ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/check.h"

namespace spillway::rank {

using Ref = uint32_t;

// Hash must take whatever find() and take() are given, and T be made from and compared with it.
template <class T, class Hash>
class Interner {
 public:
  template <class Key>
  Ref take(const Key& key) {
    const size_t hash = Hash{}(key);
    if (const std::optional<Ref> known = find_hashed(key, hash)) {
      ++entries_[*known].holders;
      return *known;
    }
    const Ref ref = vacant();
    entries_[ref] = Entry{T(key), 1};
    refs_.emplace(hash, ref);
    return ref;
  }

  void drop(Ref ref) {
    Entry& entry = entries_[ref];
    SPILLWAY_CHECK(entry.holders > 0, "an interned value was dropped more often than taken");
    if (--entry.holders > 0) return;
    const auto [begin, end] = refs_.equal_range(Hash{}(entry.value));
    const auto at =
        std::find_if(begin, end, [ref](const auto& known) { return known.second == ref; });
    SPILLWAY_CHECK(at != end, "an interned value is missing from its index");
    refs_.erase(at);
    entry.value = T();
    vacant_.push_back(ref);
  }

  template <class Key>
  std::optional<Ref> find(const Key& key) const {
    return find_hashed(key, Hash{}(key));
  }

  const T& operator[](Ref ref) const { return entries_[ref].value; }
  bool is_held(Ref ref) const { return entries_[ref].holders > 0; }
  size_t size() const { return refs_.size(); }      // values held
  size_t bound() const { return entries_.size(); }  // every Ref is below it

 private:
  struct Entry {
    T value{};
    uint32_t holders = 0;
  };

  template <class Key>
  std::optional<Ref> find_hashed(const Key& key, size_t hash) const {
    auto [at, end] = refs_.equal_range(hash);
    for (; at != end; ++at) {
      if (entries_[at->second].value == key) return at->second;
    }
    return std::nullopt;
  }

  Ref vacant() {
    if (vacant_.empty()) {
      entries_.emplace_back();
      return static_cast<Ref>(entries_.size() - 1);
    }
    const Ref ref = vacant_.back();
    vacant_.pop_back();
    return ref;
  }

  std::deque<Entry> entries_;
  std::vector<Ref> vacant_;
  std::unordered_multimap<size_t, Ref> refs_;  // by hash: the values themselves are stored once
};

struct TextHash {
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using Texts = Interner<std::string, TextHash>;

}  // namespace spillway::rank
