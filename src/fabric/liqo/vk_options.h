// VkOptionsTemplate: how the virtual kubelets of VirtualNodes are run. It says what of an offloaded
// namespace is copied to the provider: by Liqo's own, everything that does not refuse, and tokens
// of the buyer's service accounts.
//
// It is read when a VirtualNode is made, and not again for what is in it; but whenever one is
// changed it must be there, else Liqo refuses the change. One virtual kubelet of a provider leads
// and copies for all of them, so all must go by the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fabric/liqo/names.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

// What of a namespace leaves beside its pods.
enum class Leaving {
  listed,  // what says that it may
  all,     // what does not say that it may not, and tokens of service accounts
};

// Ours, in the tenant namespace of a provider. Another way has another name, so that a VirtualNode
// tells by which it was made.
std::string_view template_name(Leaving leaving);
std::optional<Leaving> leaving_of_template(std::string_view name);  // none: it is not ours

// Liqo's own, or another of the operator's, with what may leave; its image, resources and arguments
// are carried on.
model::Node options_template(const model::Node& base, std::string_view space, Leaving leaving);
// Merge patch that makes of the one that is seen the one that is wanted. Without members: it is.
model::Node options_patch(const model::Node& seen, const model::Node& wanted);

// What a cluster's virtual kubelets do with objects, by the kind of these.
struct Reflection {
  enum class By { allow_list, deny_list };
  By secrets = By::deny_list;
  By config_maps = By::deny_list;
  By services = By::deny_list;  // and their endpoints
  By ingresses = By::deny_list;
  bool tokens = true;  // of service accounts
  bool operator==(const Reflection&) const = default;
};
// Of one that runs: by the arguments that it was started with, which Liqo keeps in its VirtualNode.
// None: it has not started them.
std::optional<Reflection> reflection_of_node(const model::Node& virtual_node);
Reflection reflection_of_template(const model::Node& options);

}  // namespace spillway::fabric::liqo
