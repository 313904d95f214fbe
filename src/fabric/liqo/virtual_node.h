// VirtualNode: what a unit is to the buyer's cluster. Liqo makes one of an accepted slice; made by
// us beside the slice, its virtual kubelet starts while the slice is being decided on, and Liqo
// adopts it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

inline constexpr std::string_view k_virtual_kubelet_condition = "VirtualKubelet";
inline constexpr std::string_view k_node_condition = "Node";

struct VirtualNode {
  static constexpr const Kind& k_kind = k_virtual_nodes;
  Meta meta;
  std::string provider;
  bool create_node = false;
  bool disable_network_check = false;
  std::string kubeconfig_secret;
  std::string template_name;   // of the virtual kubelet's options; read at creation only
  std::string template_space;  //
  // Of the Node. What others write there fades; what is here stays.
  Texts labels;
  Texts annotations;
  std::vector<model::Taint> taints;
  Amounts amounts;      // Liqo's, from the grant
  Texts node_selector;  // for guests, from the grant
  // Liqo's; they say that objects exist, not that a node is ready: its Node says that.
  Conditions conditions;
  std::string unreadable = {};  // why not all of it was read (see_virtual_node); empty: all was
  bool operator==(const VirtualNode&) const = default;
};

struct NewVirtualNode {
  std::string slice;  // also its own name and that of the Node
  std::string provider;
  std::string template_name;  // in the provider's tenant namespace; empty: Liqo's own
  Texts labels;
  Texts annotations;
  std::vector<model::Taint> taints;
};
// Without the networking module: the node does not wait for a tunnel.
VirtualNode new_virtual_node(NewVirtualNode wanted);
Result<VirtualNode> read_virtual_node(const model::Node& object);
// Liqo copies into it what a provider says.
VirtualNode see_virtual_node(const model::Node& object, std::span<const std::string_view> words);
model::Node to_object(const VirtualNode& node);

// The Node, made between the VirtualNode's creation and its virtual kubelet's start, which adopts
// it: so that it has its provider id and all taints from the first moment. Liqo's own taint is
// added; and whose it is, for a Node that is made late, when all else of its unit has gone, has
// nothing else that tells.
struct NewUnitNode {
  std::string name;
  std::string provider;
  std::string provider_id;
  std::vector<model::Taint> taints;
};
model::Node node_to_adopt(NewUnitNode wanted);

}  // namespace spillway::fabric::liqo
