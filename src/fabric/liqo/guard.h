// Guard: what a provider's API server refuses to buyers, whoever runs at the moment. Liqo grants
// what it is asked for; these ValidatingAdmissionPolicies let through what contracts say. They are
// the same in every cluster: what differs by buyer is looked up in its record (fabric/record.h) and
// in the annotations of its guest namespaces (fabric/guest_space.h), neither of which a buyer can
// write. docs/fabric-rules.md has the rules R1 to R8 one by one.
//
// Needs Kubernetes 1.30. Refusals have no reason of their own: Liqo's replicator takes "Forbidden"
// for good, and never tries again. To switch the guard off, set the bindings' validationActions to
// Audit: an API server that has lost its last binding with a ConfigMap as parameter reads no such
// parameter anew until it is restarted (kubernetes/kubernetes#130887).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

inline constexpr Kind k_policies{"admissionregistration.k8s.io", "v1",
                                 "validatingadmissionpolicies", "ValidatingAdmissionPolicy", false};
inline constexpr Kind k_policy_bindings{"admissionregistration.k8s.io", "v1",
                                        "validatingadmissionpolicybindings",
                                        "ValidatingAdmissionPolicyBinding", false};

// On policies, bindings and what guest namespaces get: made by us, to this edition of the rules. No
// guest starts in a namespace without it.
inline constexpr std::string_view k_guard_label = "spillway.dev/guard";
inline constexpr std::string_view k_guard_edition = "1";

// Annotations of a guest namespace: what its buyer was granted beyond cpu and memory. Lists with
// commas; what is not named is refused.
// On a tenant namespace: who sells here, by its Liqo id. A NamespaceMap must be called so.
inline constexpr std::string_view k_provider_annotation = "spillway.dev/provider";
inline constexpr std::string_view k_tolerable_annotation = "spillway.dev/tolerable";
inline constexpr std::string_view k_storage_annotation = "spillway.dev/storage-classes";
inline constexpr std::string_view k_ingress_annotation = "spillway.dev/ingress-classes";
inline constexpr std::string_view k_load_balancer_annotation = "spillway.dev/load-balancer-classes";
inline constexpr std::string_view k_endpoints_annotation = "spillway.dev/endpoint-ranges";
// Of each unit that has one: USER:KEY=VALUE,KEY=VALUE;USER:…
inline constexpr std::string_view k_selectors_annotation = "spillway.dev/node-selectors";

// Every guest namespace of a buyer begins with it: sw<length of the id>-<id>-. With the length in
// front no buyer's prefix is the beginning of another's.
std::string guest_space_prefix(std::string_view buyer);
// Of one buyer at one provider; R4 says the same.
inline constexpr size_t k_most_guest_spaces = 16;
// The name that the buyer's namespace has at every provider. Invalid: it would be too long, or that
// id is none.
Result<std::string> guest_space_name(std::string_view buyer, std::string_view space);

struct GuardObject {
  Kind kind;
  std::string name;
  model::Node object;
};
// Policies, each followed by its binding.
std::vector<GuardObject> guard_objects();

// Whether `seen` has everything of `wanted`, as it is there: an API server adds members of its own
// and its defaults. Lists are compared whole.
bool has_all_of(const model::Node& seen, const model::Node& wanted);

}  // namespace spillway::fabric::liqo
