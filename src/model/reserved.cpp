#include "model/reserved.h"

#include <algorithm>
#include <array>

namespace spillway::model {
namespace {

// "example.com/name" is of example.com, and so is what is of a domain below it.
bool is_of(std::string_view key, std::string_view domain) {
  const std::string_view own = key.substr(0, key.find('/'));
  if (own.size() == key.size() || !own.ends_with(domain)) return false;
  return own.size() == domain.size() || own[own.size() - domain.size() - 1] == '.';
}

}  // namespace

bool is_reserved_label(std::string_view key) {
  return is_of(key, "spillway.dev") || is_of(key, "liqo.io");
}

bool is_reserved_taint(std::string_view key) {
  constexpr std::array<std::string_view, 2> k_autoscalers{"ToBeDeletedByClusterAutoscaler",
                                                          "DeletionCandidateOfClusterAutoscaler"};
  const bool is_autoscalers =
      std::find(k_autoscalers.begin(), k_autoscalers.end(), key) != k_autoscalers.end();
  return is_autoscalers || is_reserved_label(key) || is_of(key, "node.kubernetes.io") ||
         is_of(key, "node.cloudprovider.kubernetes.io");
}

}  // namespace spillway::model
