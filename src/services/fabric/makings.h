// Makings: what is to be there, for it was made or has been seen. What is made again then has been
// removed by somebody else, and is told. What we remove ourselves is not missed, nor what goes with
// it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "fabric/deed.h"

namespace spillway::agent {

class Makings {
 public:
  void is_there(const fabric::Place& at) { all_.insert(entry(at)); }
  // Of what is not as it should be nothing is said: it may be on its way out, by our own hand.
  void are_there(const std::vector<fabric::Kept>& kept);
  // True: it was there, and somebody has removed it.
  bool is_made_again(const fabric::Place& at) { return !all_.insert(entry(at)).second; }
  // With its slice all else of a unit goes, by Liqo; with its VirtualNode the Node.
  void is_removed(const fabric::Place& at);
  void space_is_gone(const std::string& space);
  void clear() { all_.clear(); }

  static fabric::Trouble trouble(const fabric::Place& at);

 private:
  // Hashes of texts: there are some of each unit, and of two that are alike one might be told.
  struct Entry {
    size_t space;
    size_t name;
    std::string_view kind;
    auto operator<=>(const Entry&) const = default;
  };
  static size_t hash(const std::string& text) { return std::hash<std::string>{}(text); }
  static Entry entry(const fabric::Place& at) {
    return {hash(at.space), hash(at.name), at.kind.plural};
  }
  std::set<Entry> all_;
};

}  // namespace spillway::agent
