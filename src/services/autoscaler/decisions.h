// Decisions: what was decided lately and why, for people who ask. Told again as long as it is
// remembered; what is repeated is counted, not written down again.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace spillway::autoscaler {

struct Decision {
  Instant at;
  std::vector<std::string> about;  // names of groups and nodes, "namespace/name" of pods
  std::string headline;            // a line
  std::string why;                 // several, or none
  Instant last = {};               // when it was decided so again
  int64_t times = 1;
};

class Decisions {
 public:
  static constexpr size_t k_most = 1000;
  static constexpr size_t k_most_names = 2000;  // of pods in one
  static constexpr size_t k_longest_why = 8000;

  void add(Decision decision);
  // The latest first.
  std::vector<const Decision*> about(std::string_view name) const;
  const std::deque<Decision>& all() const { return all_; }

 private:
  std::deque<Decision> all_;  // the oldest first
};

std::string to_text(const Decision& decision);

}  // namespace spillway::autoscaler
