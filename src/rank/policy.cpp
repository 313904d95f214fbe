#include "rank/policy.h"

#include <algorithm>

#include "rank/profiles.h"

namespace spillway::rank {
namespace {

bool is_of(const WorkloadClass& which, const Workload& workload) {
  const auto& names = which.namespaces;
  if (!names.empty() &&
      std::find(names.begin(), names.end(), workload.kube_namespace) == names.end()) {
    return false;
  }
  return std::all_of(which.labels.begin(), which.labels.end(),
                     [&workload](const model::LabelConstraint& constraint) {
                       return holds(constraint, workload.labels);
                     });
}

void apply(const PolicyPart& part, EffectivePolicy& effective) {
  if (part.profile) effective.tiers = tiers_of(*part.profile);
  if (part.tiers) effective.tiers = *part.tiers;
  if (part.rules) effective.rules = *part.rules;
  if (part.providers) effective.providers = *part.providers;
  if (part.expect) effective.expect = *part.expect;
}

using ClassPlace = std::vector<WorkloadClass>::const_iterator;

EffectivePolicy effective_for(const Policy& policy, ClassPlace which) {
  EffectivePolicy effective;
  effective.currency = policy.currency;
  effective.failure_half_life = policy.failure_half_life;
  effective.tiers = tiers_of(Profile::balanced);
  effective.cluster_caps = policy.standard.caps;
  apply(policy.standard, effective);
  if (which == policy.classes.end()) return effective;
  apply(which->part, effective);
  effective.workload_class = which->name;
  effective.class_caps = which->part.caps;
  return effective;
}

}  // namespace

EffectivePolicy policy_of_class(const Policy& policy, std::string_view workload_class) {
  return effective_for(policy, std::find_if(policy.classes.begin(), policy.classes.end(),
                                            [workload_class](const WorkloadClass& candidate) {
                                              return candidate.name == workload_class;
                                            }));
}

EffectivePolicy effective_policy(const Policy& policy, const Workload& workload) {
  EffectivePolicy effective =
      effective_for(policy, std::find_if(policy.classes.begin(), policy.classes.end(),
                                         [&workload](const WorkloadClass& candidate) {
                                           return is_of(candidate, workload);
                                         }));
  // Whoever asks may know better than the policy; what makes no sense is brought within its bounds.
  if (workload.time) effective.expect.time = *workload.time;
  if (workload.egress_bytes) effective.expect.egress_bytes = *workload.egress_bytes;
  effective.expect.time = std::clamp(effective.expect.time, Duration{0}, k_longest_expectation);
  effective.expect.egress_bytes =
      std::clamp<int64_t>(effective.expect.egress_bytes, 0, model::k_max_amount);
  return effective;
}

}  // namespace spillway::rank
