// What the Kubernetes API has by kind, and where: "pods" of "v1", in namespaces. Those that are
// named here are the ones that we always need; Liqo's and anyone's are made the same way.
#pragma once

#include <string>
#include <string_view>

namespace spillway::kube {

struct Resource {
  std::string group;  // empty: the core group
  std::string version;
  std::string plural;
  bool is_namespaced = true;
  bool operator==(const Resource&) const = default;
};

// One object of a resource.
struct Name {
  std::string space;  // namespace; empty for what has none
  std::string name;
  auto operator<=>(const Name&) const = default;
};

inline const Resource k_nodes{"", "v1", "nodes", false};
inline const Resource k_namespaces{"", "v1", "namespaces", false};
inline const Resource k_pods{"", "v1", "pods", true};
inline const Resource k_events{"", "v1", "events", true};
inline const Resource k_service_accounts{"", "v1", "serviceaccounts", true};
inline const Resource k_secrets{"", "v1", "secrets", true};
inline const Resource k_config_maps{"", "v1", "configmaps", true};
inline const Resource k_deployments{"apps", "v1", "deployments", true};
inline const Resource k_leases{"coordination.k8s.io", "v1", "leases", true};
inline const Resource k_disruption_budgets{"policy", "v1", "poddisruptionbudgets", true};

// "/apis/apps/v1/namespaces/default/deployments/web/status". An empty namespace of a namespaced
// resource means all of them; an empty name the collection.
std::string path_of(const Resource& resource, const Name& name, std::string_view subresource = {});

// "pods default/web", for errors.
std::string to_text(const Resource& resource, const Name& name);

}  // namespace spillway::kube
