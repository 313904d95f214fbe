#include "services/broker/rate_limit.h"

#include <algorithm>

namespace spillway::services {

void RateLimit::refill(Bucket& bucket, Instant now) const {
  // A clock that went back fills nothing; one that leapt ahead fills no more than the burst.
  const int64_t passed = std::clamp<int64_t>(now.ms - bucket.at.ms, 0, 3'600'000);
  bucket.milli = std::min(bucket.milli + passed * rate_.per_second, rate_.burst * 1000);
  bucket.at = now;
}

void RateLimit::forget_full(Instant now) {
  for (auto entry = buckets_.begin(); entry != buckets_.end();) {
    refill(entry->second, now);
    entry = entry->second.milli == rate_.burst * 1000 ? buckets_.erase(entry) : std::next(entry);
  }
}

bool RateLimit::take(const std::string& caller, Instant now) {
  if (rate_.per_second == 0) return true;
  if (buckets_.size() >= most_) {
    forget_full(now);
    if (buckets_.size() >= most_ && !buckets_.contains(caller)) return false;
  }
  auto [entry, fresh] = buckets_.try_emplace(caller, Bucket{rate_.burst * 1000, now});
  Bucket& bucket = entry->second;
  refill(bucket, now);
  if (bucket.milli < 1000) return false;
  bucket.milli -= 1000;
  return true;
}

}  // namespace spillway::services
