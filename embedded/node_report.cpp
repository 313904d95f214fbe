#include "embedded/node_report.h"

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

void add_capacity(Node& status) {
  if (model::look(status, {"capacity"}) == nullptr) {
    Node& capacity = put(status, "capacity", model::object_node());
    put(capacity, "cpu", text_node("4"));
    put(capacity, "memory", text_node("16Gi"));
    put(capacity, "pods", text_node("110"));
  }
  if (model::look(status, {"allocatable"}) == nullptr) {
    put(status, "allocatable", *model::look(status, {"capacity"}));
  }
}

void add_conditions(Node& node, Instant now) {
  set_condition(node,
                {.type = "MemoryPressure",
                 .status = "False",
                 .reason = "KubeletHasSufficientMemory",
                 .message = "kubelet has sufficient memory available"},
                now);
  set_condition(node,
                {.type = "DiskPressure",
                 .status = "False",
                 .reason = "KubeletHasNoDiskPressure",
                 .message = "kubelet has no disk pressure"},
                now);
  set_condition(node,
                {.type = "PIDPressure",
                 .status = "False",
                 .reason = "KubeletHasSufficientPID",
                 .message = "kubelet has sufficient PID available"},
                now);
  set_condition(node,
                {.type = "Ready",
                 .status = "True",
                 .reason = "KubeletReady",
                 .message = "kubelet is posting ready status"},
                now);
  for (Node& member : model::ensure(node, {"status"}).items) {
    if (member.key != "conditions") continue;
    for (Node& condition : member.items) put(condition, "lastHeartbeatTime", text_node(stamp(now)));
  }
}

void add_address(Node& addresses, std::string_view type, std::string_view text) {
  Node& address = addresses.items.emplace_back(model::object_node());
  put(address, "type", text_node(type));
  put(address, "address", text_node(text));
}

}  // namespace

void report_node(Node& node, const std::string& address, Instant now) {
  const std::string name(name_of(node));
  Node& status = model::ensure(node, {"status"});
  add_capacity(status);
  put(model::ensure(status, {"nodeInfo"}), "kubeletVersion",
      text_node("v1.34.0+spillway-embedded"));
  if (model::look(status, {"addresses"}) == nullptr) {
    Node& addresses = put(status, "addresses", model::array_node());
    add_address(addresses, "InternalIP", address);
    add_address(addresses, "Hostname", name);
  }
  add_conditions(node, now);
}

Node new_node_lease(const Object& node) {
  Node lease = model::object_node();
  Node& metadata = model::ensure(lease, {"metadata"});
  put(metadata, "name", text_node(node.key.name));
  put(metadata, "namespace", text_node(k_lease_space));
  Node reference = owner_reference(node);
  model::erase(reference, "controller");
  model::erase(reference, "blockOwnerDeletion");
  put(metadata, "ownerReferences", model::array_node()).items.push_back(std::move(reference));
  Node& spec = model::ensure(lease, {"spec"});
  put(spec, "holderIdentity", text_node(node.key.name));
  put(spec, "leaseDurationSeconds", model::integer_node(40));
  return lease;
}

void renew_node_lease(Node& lease, Instant now) {
  put(model::ensure(lease, {"spec"}), "renewTime", text_node(micro_stamp(now)));
}

}  // namespace spillway::embedded
