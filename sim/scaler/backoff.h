// Backoff: a group whose scale-up failed is left alone for a while, longer each time.
#pragma once

#include <map>
#include <string>

#include "sim/scaler/options.h"

namespace spillway::scaler {

class Backoff {
 public:
  explicit Backoff(const Options& options) : options_(options) {}

  // Failures while it lasts begin it anew and do not lengthen it.
  void failed(const std::string& group, Instant now);
  bool holds(const std::string& group, Instant now) const;
  void forget_old(Instant now);

 private:
  struct Entry {
    Duration length;
    Instant until;
    Instant last;
  };

  const Options& options_;
  std::map<std::string, Entry> entries_;
};

}  // namespace spillway::scaler
