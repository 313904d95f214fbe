// Record: which units of a buyer may exist, written down before they do. It is the parameter of the
// provider's admission policies (fabric/liqo/guard.h): a slice that is not in it is refused by the
// API server, also while no agent runs.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fabric/deed.h"
#include "fabric/liqo/parts.h"

namespace spillway::fabric {

inline constexpr std::string_view k_record_name = "spillway-units";
// So many entries of some 600 bytes fit into the one MiB that Kubernetes lets a ConfigMap have.
inline constexpr size_t k_most_recorded = 1500;

struct Record {
  std::string version;  // of the object
  liqo::Texts units;    // slice name → its request as a slice has it: base64 of the PEM
  bool operator==(const Record&) const = default;
};

Result<Record> read_record(const model::Node& object);
Create create_record(const std::string& space, const liqo::Texts& units);
// Adds and removes; null removes.
Merge change_record(const std::string& space, const liqo::Texts& add,
                    const std::vector<std::string>& remove);

}  // namespace spillway::fabric
