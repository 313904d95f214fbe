#include "services/fabric/edits.h"

#include <utility>

namespace spillway::agent {

std::vector<fabric::Trouble> Edits::find(const std::vector<fabric::Kept>& kept) {
  std::vector<fabric::Trouble> edits;
  std::map<std::string, size_t> right;
  for (const fabric::Kept& one : kept) {
    const std::string thing = to_text(one.at);
    const auto known = right_.find(thing);
    if (one.is_right) {
      right.emplace(thing, one.wanted);
    } else if (known != right_.end() && known->second == one.wanted) {
      edits.push_back({thing, "somebody edited it", "it is put right"});
    }
  }
  right_ = std::move(right);
  return edits;
}

}  // namespace spillway::agent
