// Rows: objects as meta.k8s.io Tables, which is what kubectl prints. It has no columns of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "embedded/object.h"

namespace spillway::embedded {

std::string table_text(const Kind& kind, const std::vector<ObjectPtr>& objects,
                       const std::string& next, int64_t version, Instant now);

// "5s", "3m20s", "4h", "12d": as kubectl shows ages.
std::string age_text(Duration age);

}  // namespace spillway::embedded
