// What guests are at the provider: the Quota of the unit that they came through, and ShadowPods,
// of each of which Liqo makes a pod.
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

// Only whose it is: what it asks for is for admission to judge. `creator` is set by Liqo from who
// asked, and can be trusted; the other two are claims of the buyer's.
struct ShadowPod {
  static constexpr const Kind& k_kind = k_shadow_pods;
  Meta meta;
  std::string phase;
  bool operator==(const ShadowPod&) const = default;

  std::string_view creator() const { return meta.label(k_creator_label); }  // unit_user()
  std::string_view node() const { return meta.label(k_node_name_label); }
  std::string_view origin() const { return meta.label(k_guest_origin_label); }
};
Result<ShadowPod> read_shadow_pod(const model::Node& object);
model::Node to_object(const ShadowPod& pod);

}  // namespace spillway::fabric::liqo
