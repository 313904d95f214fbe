// What holds guests at the provider: the Quota of the unit that they came through.
#pragma once

#include <string>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

enum class Enforcement { none, soft, hard };

// Liqo makes it of an accepted slice. It counts what guests ask for, and not how many they are.
struct Quota {
  static constexpr const Kind& k_kind = k_quotas;
  Meta meta;
  std::string user;  // unit_user(); also its name
  Amounts amounts;
  Enforcement limits = Enforcement::none;
  bool cordoned = false;
  bool operator==(const Quota&) const = default;
};
Result<Quota> read_quota(const model::Node& object);
model::Node to_object(const Quota& quota);

}  // namespace spillway::fabric::liqo
