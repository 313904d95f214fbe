#include "embedded/liqo/virtual_kubelets.h"

#include <algorithm>
#include <utility>

#include "embedded/document.h"
#include "embedded/liqo/virtual_node_report.h"
#include "embedded/node_report.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr Duration k_crash_wait = seconds(1);  // without a kubeconfig it cannot start
constexpr std::string_view k_leader_lease = "virtual-kubelet-leader-election";

std::vector<std::string> labels_of(const Node& virtual_node) {
  std::vector<std::string> keys;
  for (const Node& one : model::items_at(virtual_node, {"spec", "labels"})) keys.push_back(one.key);
  return keys;
}

}  // namespace

VirtualKubelets::VirtualKubelets(const Setting& setting) : Controller(setting) {
  follow(codec::k_virtual_nodes);
  follow(codec::k_nodes, [this](const Object& node) {
    for (const auto& [key, kubelet] : running_) {
      if (key.name == node.key.name) look_soon(key);
    }
  });
}

std::string VirtualKubelets::kubeconfig_of(const std::string& node) const {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const auto& one) { return one.first.name == node; });
  const bool runs = found != running_.end() && found->second.remote != nullptr;
  return runs ? found->second.remote->kubeconfig() : std::string();
}

void VirtualKubelets::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_virtual_nodes, key);
  if (object == nullptr) {
    running_.erase(key);
    return;
  }
  const auto found = running_.find(key);
  const bool is_running = found != running_.end() && found->second.uid == object->uid;
  if (!is_running) {
    if (!object->is_deleting) start_later(*object);
    return;
  }
  Kubelet& kubelet = found->second;
  if (!kubelet.is_started || kubelet.is_silent || !connect(*object, kubelet)) return;
  write_node(*object, kubelet);
  if (std::exchange(kubelet.is_beating, true)) return;
  make_lease({key.space, key.name}, key.name);
  make_lease({key.space, std::string(k_leader_lease)}, key.name);
  renew(key);
  beat(key, kubelet.uid);
}

void VirtualKubelets::start_later(const Object& object) {
  if (!model::boolean_at(object.document(), {"spec", "createNode"})) return;
  running_[object.key] = {object.uid, false, false, false, nullptr};
  s_.loop.after(s_.options.virtual_kubelet_start,
                lifeline_.guard([this, key = object.key, uid = object.uid] {
                  const auto found = running_.find(key);
                  if (found == running_.end() || found->second.uid != uid) return;
                  found->second.is_started = true;
                  look_soon(key);
                }));
}

// The kubeconfig is read once, when it starts.
bool VirtualKubelets::connect(const Object& object, Kubelet& kubelet) {
  if (kubelet.remote != nullptr) return true;
  const std::string secret(
      model::text_at(object.document(), {"spec", "kubeconfigSecretRef", "name"}));
  auto remote = Remote::open(s_, kubeconfig_in(s_, {object.key.space, secret}));
  if (!remote) {
    look_after(k_crash_wait, object.key);
    return false;
  }
  kubelet.remote = std::move(*remote);
  return true;
}

// A label that its VirtualNode has no longer goes, as long as it knows that it came from there.
void VirtualKubelets::write_node(const Object& object, Kubelet& kubelet) const {
  const Node virtual_node = object.document();
  const std::vector<std::string> former = std::exchange(kubelet.labels, labels_of(virtual_node));
  const Key key{"", object.key.name};
  if (s_.find(codec::k_nodes, key) == nullptr) {
    if (object.is_deleting) return;
    Node made = new_virtual_kubelets_node(virtual_node);
    report_virtual_node(made, virtual_node, s_.now());
    return s_.create(codec::k_nodes, std::move(made));
  }
  s_.change(codec::k_nodes, key, [&](Node& node) {
    for (const std::string& label : former) {
      model::erase(model::ensure(node, {"metadata", "labels"}), label);
    }
    report_virtual_node(node, virtual_node, s_.now());
  });
}

void VirtualKubelets::make_lease(const Key& key, const std::string& holder) const {
  if (s_.find(codec::k_leases, key) != nullptr) return;
  Node lease = new_document(key, {}, nullptr);
  Node& spec = model::ensure(lease, {"spec"});
  put(spec, "holderIdentity", text_node(holder));
  put(spec, "leaseDurationSeconds", model::integer_node(15));
  renew_node_lease(lease, s_.now());
  s_.create(codec::k_leases, std::move(lease));
}

void VirtualKubelets::beat(const Key& key, const std::string& uid) {
  s_.loop.after(s_.options.ping_every, lifeline_.guard([this, key, uid] {
    const auto found = running_.find(key);
    if (found == running_.end() || found->second.uid != uid) return;
    found->second.remote->check(lifeline_.guard([this, key, uid](bool is_alive) {
      const auto asking = running_.find(key);
      if (asking == running_.end() || asking->second.uid != uid) return;
      asking->second.is_silent = !is_alive;
      if (is_alive) renew(key);
    }));
    beat(key, uid);
  }));
}

void VirtualKubelets::renew(const Key& key) {
  const ObjectPtr node = s_.find(codec::k_nodes, {"", key.name});
  if (node == nullptr) return;
  const Key lease{std::string(k_lease_space), key.name};
  if (s_.find(codec::k_leases, lease) == nullptr) {
    Node made = new_node_lease(*node);
    renew_node_lease(made, s_.now());
    s_.create(codec::k_leases, std::move(made));
  } else {
    s_.change(codec::k_leases, lease, [this](Node& one) { renew_node_lease(one, s_.now()); });
  }
  look_soon(key);  // what was unknown while it was silent
}

}  // namespace spillway::embedded::liqo
