// ForeignCluster: what a cluster's Liqo thinks of a peer. Liqo makes it and never removes it; one
// of the two signals of a provider's death is here.
#pragma once

#include <string>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

inline constexpr std::string_view k_api_server_condition = "APIServerStatus";  // Established, Error
inline constexpr std::string_view k_tenant_condition = "AuthTenantStatus";     // Ready, NotReady
inline constexpr std::string_view k_identity_condition = "AuthIdentityControlPlaneStatus";
inline constexpr std::string_view k_virtual_nodes_condition = "OffloadingVirtualNodeStatus";
inline constexpr std::string_view k_nodes_condition = "OffloadingNodeStatus";  // also SomeNotReady

// What the peer is to this cluster.
enum class PeerRole { unknown, consumer, provider, both };

struct Module {
  bool enabled = false;
  Conditions conditions;
  bool operator==(const Module&) const = default;
};

struct ForeignCluster {
  static constexpr const Kind& k_kind = k_foreign_clusters;
  Meta meta;
  std::string peer;
  PeerRole role = PeerRole::unknown;  // status from here on
  std::string api_server;             // URL; empty when the peer is no provider
  std::string space;                  // the tenant namespace here
  std::string remote_space;           // and there
  Conditions conditions;
  Module authentication;
  Module offloading;
  Module networking;
  bool operator==(const ForeignCluster&) const = default;

  bool is_reachable() const { return status_of(conditions, k_api_server_condition) != "Error"; }
};
Result<ForeignCluster> read_foreign_cluster(const model::Node& object);
model::Node to_object(const ForeignCluster& cluster);

// Merge patch: Liqo then removes everything of this peer without asking it. Heeded only while the
// peer's API server does not answer; to be taken away when it does again.
model::Node unreachable_patch(bool unreachable);

}  // namespace spillway::fabric::liqo
