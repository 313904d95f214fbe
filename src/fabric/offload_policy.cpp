#include "fabric/offload_policy.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::fabric {
namespace {

using model::refuse;
using model::under;

Status check_space(std::string_view space) {
  // Names of namespaces have the syntax of clusters' names: a DNS label.
  if (!check_cluster_id(space)) {
    return refuse("", fmt::format("{} is no name of a namespace", in_quotes(space)),
                  "use small letters, digits and \"-\"; choose several by offload.labels");
  }
  if (const auto why = why_never(space)) {
    return refuse("", fmt::format("{} is never offloaded: {}", space, *why), "leave it out");
  }
  return {};
}

}  // namespace

Status validate(const OffloadPolicy& policy) {
  SPILLWAY_TRY(model::check_size("namespaces", policy.namespaces.size(), model::k_max_names));
  std::set<std::string_view> seen;
  for (size_t i = 0; i < policy.namespaces.size(); ++i) {
    SPILLWAY_TRY(under("namespaces", i, check_space(policy.namespaces[i])));
    if (!seen.insert(policy.namespaces[i]).second) {
      return under("namespaces", i,
                   refuse("", policy.namespaces[i] + " is there twice", "leave one out"));
    }
  }
  SPILLWAY_TRY(model::check_size("labels", policy.labels.size(), model::k_max_names));
  for (size_t i = 0; i < policy.labels.size(); ++i) {
    SPILLWAY_TRY(under("labels", i, model::validate(policy.labels[i])));
  }
  const auto& clusters = policy.trusted.clusters;
  SPILLWAY_TRY(
      under("trusted", model::check_size("clusters", clusters.size(), model::k_max_names)));
  for (size_t i = 0; i < clusters.size(); ++i) {
    SPILLWAY_TRY(
        under("trusted", under("clusters", i, model::at("", check_cluster_id(clusters[i].text)))));
  }
  return {};
}

std::optional<std::string> why_never(std::string_view space) {
  const auto is_of = [space](std::string_view whose) {
    return space == whose || space.starts_with(std::string(whose) + "-");
  };
  if (is_of("kube")) return "Kubernetes itself lives there";
  if (is_of("liqo")) return "Liqo lives there";
  if (is_of("spillway")) return "Spillway lives there";
  return std::nullopt;
}

bool names(const OffloadPolicy& policy, std::string_view space, const liqo::Texts& labels) {
  if (why_never(space)) return false;
  const auto& by_name = policy.namespaces;
  if (std::find(by_name.begin(), by_name.end(), space) != by_name.end()) return true;
  if (policy.labels.empty()) return false;
  model::Labels sorted;
  for (const auto& [key, value] : labels) sorted.push_back({key, value});
  return std::all_of(policy.labels.begin(), policy.labels.end(),
                     [&](const auto& one) { return model::holds(one, sorted); });
}

bool is_trusted(const OffloadPolicy& policy, const ClusterId& provider, bool is_pinned) {
  const auto& clusters = policy.trusted.clusters;
  if (policy.trusted.pinned && is_pinned) return true;
  return std::find(clusters.begin(), clusters.end(), provider) != clusters.end();
}

}  // namespace spillway::fabric
