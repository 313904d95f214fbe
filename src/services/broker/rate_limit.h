// A bucket of requests for each caller: `rate` a second flow in, up to `burst`. Callers are
// identities, or addresses of those who have none; the buckets that are full again are forgotten.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/time.h"

namespace spillway::services {

struct Rate {
  int64_t per_second = 0;  // 0: no limit
  int64_t burst = 0;
};

class RateLimit {
 public:
  explicit RateLimit(Rate rate, size_t most = 100'000) : rate_(rate), most_(most) {}

  bool take(const std::string& caller, Instant now);
  size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    int64_t milli = 0;  // thousandths of a request
    Instant at;
  };
  void refill(Bucket& bucket, Instant now) const;
  void forget_full(Instant now);

  Rate rate_;
  size_t most_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace spillway::services
