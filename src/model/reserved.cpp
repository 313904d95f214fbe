#include "model/reserved.h"

#include <algorithm>
#include <initializer_list>

namespace spillway::model {
namespace {

// "example.com/name" is of example.com, and so is what is of a domain below it.
bool is_of(std::string_view key, std::string_view domain) {
  const std::string_view own = key.substr(0, key.find('/'));
  if (own.size() == key.size() || !own.ends_with(domain)) return false;
  return own.size() == domain.size() || own[own.size() - domain.size() - 1] == '.';
}

bool is_any_of(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_ours(std::string_view key) { return is_of(key, "spillway.dev") || is_of(key, "liqo.io"); }

}  // namespace

// Of Kubernetes: what a node is trusted with, who it is, and which controllers pass over it.
bool is_reserved_label(std::string_view key) {
  return is_ours(key) || is_of(key, "node-role.kubernetes.io") ||
         is_of(key, "node-restriction.kubernetes.io") ||
         is_any_of(key, {"kubernetes.io/hostname", "node.kubernetes.io/exclude-disruption",
                         "node.kubernetes.io/exclude-from-external-load-balancers"});
}

bool is_label_of_kubernetes(std::string_view key) {
  return is_of(key, "kubernetes.io") || is_of(key, "k8s.io");
}

bool is_free_label(std::string_view key) {
  return !is_reserved_label(key) && !is_label_of_kubernetes(key);
}

// Kubernetes keeps both domains to itself, and the Cluster Autoscaler has its own below them.
bool is_reserved_annotation(std::string_view key) {
  return is_ours(key) || is_label_of_kubernetes(key);
}

bool is_reserved_taint(std::string_view key) {
  return is_any_of(key,
                   {"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"}) ||
         is_ours(key) || is_of(key, "node.kubernetes.io") ||
         is_of(key, "node.cloudprovider.kubernetes.io");
}

}  // namespace spillway::model
