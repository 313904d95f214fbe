// Guest spaces: what each guest namespace of a buyer has, so that guests stay within what was
// granted: a ResourceQuota (Liqo's own Quota sums requests and counts no pods), a LimitRange, the
// pod-security level, a NetworkPolicy, and annotations that the guard reads (fabric/liqo/guard.h).
//
// Liqo makes these namespaces and puts none of that into them. Until it is all there the namespace
// lacks the guard's label, and no guest starts; nor until the quota has counted what is there:
// before that it refuses, and only when Liqo's own webhook has taken note of a guest that never
// comes, of which it then says for a minute that it runs. What somebody edits or deletes is put
// right.
//
// A ResourceQuota is about one namespace, pods are granted to a buyer: they are dealt out among its
// namespaces, and dealt anew when one has none left. In sum there are never more than granted: one
// is raised only by what others are seen to have given up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fabric/deed.h"
#include "fabric/liqo/guard.h"
#include "fabric/liqo/slice.h"

namespace spillway::fabric {

inline constexpr std::string_view k_guests_name = "spillway-guests";  // of all three objects

struct GuestUnit {  // one that lives
  std::string name;
  liqo::Grant grant;
};

enum class PodSecurity { baseline, restricted };
constexpr std::string_view to_text(PodSecurity level) {
  return level == PodSecurity::restricted ? "restricted" : "baseline";
}

// Where guests have no business: private addresses, and what machines ask for their credentials.
std::vector<std::string> private_networks();

struct GuestWish {
  std::string buyer;
  std::string buyer_hash;  // SHA-256 of the id, 64 hexadecimal digits
  std::vector<GuestUnit> units;
  std::vector<std::string> tolerable = {};  // keys of taints that guests may tolerate
  PodSecurity security = PodSecurity::baseline;
  std::vector<std::string> closed_networks = private_networks();
  // Where its network is connected (fabric/network.h): its own pods, under the ranges that it has
  // at home and under those that they have here. Empty: there is no way to them.
  std::vector<std::string> ranges_there = {};
  std::vector<std::string> ranges_here = {};
};

struct GuestSpaceSight {
  model::Node space;  // all four as the API server has them
  std::optional<model::Node> quota = {};
  std::optional<model::Node> limits = {};
  std::optional<model::Node> network = {};
};

// Of all namespaces that are seen, those that are this buyer's guests'.
Plan plan_guest_spaces(const GuestWish& wish, const std::vector<GuestSpaceSight>& seen,
                       Instant now);

// Everything that one of them should have, with so many pods; the namespace itself comes last.
std::vector<Create> guest_space_objects(const GuestWish& wish, std::string_view space,
                                        int64_t pods);

}  // namespace spillway::fabric
