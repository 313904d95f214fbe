#include "sim/scaler/backoff.h"

#include <algorithm>

namespace spillway::scaler {

void Backoff::failed(const std::string& group, Instant now) {
  Duration length = options_.initial_node_group_backoff_duration;
  if (const auto found = entries_.find(group); found != entries_.end()) {
    length = found->second.length;
    if (found->second.until < now) {
      length = std::min(length + length, options_.max_node_group_backoff_duration);
    }
  }
  entries_[group] = {length, now + length, now};
}

bool Backoff::holds(const std::string& group, Instant now) const {
  const auto found = entries_.find(group);
  return found != entries_.end() && found->second.until >= now;
}

void Backoff::forget_old(Instant now) {
  std::erase_if(entries_, [&](const auto& entry) {
    return entry.second.last + options_.node_group_backoff_reset_timeout < now;
  });
}

}  // namespace spillway::scaler
