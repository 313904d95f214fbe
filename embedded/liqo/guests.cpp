#include "embedded/liqo/guests.h"

#include <fmt/format.h>

#include "embedded/document.h"
#include "kube/watch.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_shadow_label = "liqo.io/shadowPod";
constexpr std::string_view k_guest_destination = "offloading.liqo.io/destination";
const Key k_nodes_changed{};  // to be looked at when units come or go

// A pod's spec without what ties it to this cluster.
Node spec_for_leaving(const Node& pod) {
  const Node* present = model::look(pod, {"spec"});
  Node spec = present == nullptr ? model::object_node() : *present;
  for (const std::string_view key :
       {"nodeName", "nodeSelector", "affinity", "serviceAccount", "serviceAccountName",
        "schedulerName", "priority", "preemptionPolicy"}) {
    model::erase(spec, key);
  }
  put(spec, "automountServiceAccountToken", model::boolean_node(false));
  for (Node& member : spec.items) {
    if (member.key != "tolerations") continue;
    std::erase_if(member.items,
                  [](const Node& one) { return model::text_at(one, {"key"}) == codec::k_taint; });
  }
  return spec;
}

}  // namespace

struct Guests::Twin {
  Twin(kube::Api& api, std::string of, const std::string& node,
       std::function<void(const std::string&)> changed)
      : name(std::move(of)),
        on_change(std::move(changed)),
        watch(api, kube::k_pods, {name, fmt::format("{}={}", codec::k_node_name_label, node), {}},
              {.on_put =
                   [this](const Node& pod) {
                     pods[std::string(name_of(pod))] = pod;
                     on_change(std::string(name_of(pod)));
                   },
               .on_gone =
                   [this](const kube::Name& gone) {
                     pods.erase(gone.name);
                     on_change(gone.name);
                   },
               .on_synced = [this] { on_change({}); }}) {
    watch.start();
  }

  std::string name;
  std::map<std::string, Node> pods;
  std::function<void(const std::string&)> on_change;  // a pod's name; empty: all
  kube::Watch watch;
};

struct Guests::Link {
  std::unique_ptr<Remote> remote;
  std::map<std::string, std::unique_ptr<Twin>> twins;  // by namespace here
  std::set<Key> busy;                                  // pods that were asked about
};

Guests::Guests(const Setting& setting, const VirtualKubelets& kubelets)
    : Controller(setting), kubelets_(kubelets) {
  const auto look_at_all = [this](const Object&) {
    for (const ObjectPtr& pod : s_.all(codec::k_pods)) {
      if (!find_pair(pod->fields, "spec.nodeName")->empty()) look_soon(pod->key);
    }
    look_soon(k_nodes_changed);
  };
  follow(codec::k_pods);
  follow(codec::k_virtual_nodes, look_at_all);
  follow(codec::k_namespace_maps, look_at_all);
}

Guests::~Guests() = default;

// Nobody hears any more what was asked over a link that is closed.
void Guests::close_left() {
  std::erase_if(links_, [this](const auto& one) {
    if (kubelets_.kubeconfig_of(one.first) == one.second->remote->kubeconfig()) return false;
    for (const Key& pod : one.second->busy) {
      busy_.erase(pod);
      look_soon(pod);
    }
    return true;
  });
}

void Guests::look_at(const Key& key) {
  if (key == k_nodes_changed) return close_left();
  const ObjectPtr pod = s_.find(codec::k_pods, key);
  const bool has_orphan = end_orphan(key, pod);
  if (pod == nullptr) {
    if (!has_orphan) waits_.erase(key);
    return;
  }
  const std::string& node = *find_pair(pod->fields, "spec.nodeName");
  if (node.empty() || kubelets_.kubeconfig_of(node).empty()) return;
  Twin* twin = twin_for(*pod, node);
  if (pod->is_deleting) return end(*pod, twin);
  if (twin != nullptr) keep(*pod, node, *twin);
}

// What it has made, and was told of only when its pod was gone already. True: there is one.
bool Guests::end_orphan(const Key& key, const ObjectPtr& pod) {
  for (const auto& [node, link] : links_) {
    if (pod != nullptr && *find_pair(pod->fields, "spec.nodeName") == node) continue;
    const auto twin = link->twins.find(key.space);
    if (twin == link->twins.end() || twin->second == nullptr) continue;
    const auto theirs = twin->second->pods.find(key.name);
    if (theirs == twin->second->pods.end() || is_being_deleted(theirs->second)) continue;
    if (!busy_.contains(key)) remove(key, node, *twin->second);
    return true;
  }
  return false;
}

std::string Guests::twin_name(const std::string& node, const std::string& space) const {
  const ObjectPtr object = s_.find(codec::k_nodes, {"", node});
  if (object == nullptr) return {};
  const std::string provider(label_of(*object, codec::k_peer_label));
  const ObjectPtr map =
      s_.find(codec::k_namespace_maps, {codec::tenant_namespace_name(provider), provider});
  if (map == nullptr) return {};
  const Node document = map->document();
  const Node* entry = model::look(document, {"status", "currentMapping", space});
  if (entry == nullptr || model::text_at(*entry, {"phase"}) != "Accepted") return {};
  return std::string(model::text_at(*entry, {"remoteNamespace"}));
}

Guests::Twin* Guests::twin_for(const Object& pod, const std::string& node) {
  const std::string name = twin_name(node, pod.key.space);
  auto& link = links_[node];
  if (link == nullptr) {
    auto remote = Remote::open(s_, kubelets_.kubeconfig_of(node));
    if (!remote) {
      links_.erase(node);
      return nullptr;
    }
    link = std::make_unique<Link>();
    link->remote = std::move(*remote);
  }
  auto& twin = link->twins[pod.key.space];
  const bool is_same = twin != nullptr && (name.empty() || twin->name == name);
  if (is_same || name.empty()) return twin.get();
  twin = std::make_unique<Twin>(link->remote->api(), name, node,
                                [this, space = pod.key.space](const std::string& one) {
                                  if (!one.empty()) return look_soon({space, one});
                                  for (const ObjectPtr& any : s_.all(codec::k_pods, space))
                                    look_soon(any->key);
                                });
  return twin.get();
}

void Guests::keep(const Object& pod, const std::string& node, Twin& twin) {
  if (!twin.watch.is_synced() || busy_.contains(pod.key)) return;
  const auto theirs = twin.pods.find(pod.key.name);
  if (theirs == twin.pods.end()) return make(pod, node, twin);
  if (!is_being_deleted(theirs->second)) take_status(pod, theirs->second);
}

void Guests::make(const Object& pod, const std::string& node, Twin& twin) {
  const Node document = pod.document();
  codec::Texts labels(pod.labels.begin(), pod.labels.end());
  labels.erase(std::string(k_shadow_label));
  const ObjectPtr on = s_.find(codec::k_nodes, {"", node});
  if (on == nullptr) return;
  labels[std::string(codec::k_node_name_label)] = node;
  labels[std::string(codec::k_guest_origin_label)] = s_.id();
  labels[std::string(k_guest_destination)] = label_of(*on, codec::k_peer_label);
  Node shadow = new_document({twin.name, pod.key.name}, labels, nullptr);
  put(shadow, "apiVersion", text_node(codec::api_version(codec::k_shadow_pods)));
  put(shadow, "kind", text_node(codec::k_shadow_pods.kind));
  put(model::ensure(shadow, {"spec"}), "pod", spec_for_leaving(document));
  ask_about(pod.key, node);
  links_.at(node)->remote->api().create(
      resource_of(codec::k_shadow_pods), shadow,
      lifeline_.guard([this, key = pod.key](const Result<Node>& made) {
        busy_.erase(key);
        // One that is there already has lost its pod for a moment, or had one all the time.
        if (made || made.error().code == Code::conflict) {
          waits_.erase(key);
          return s_.change(codec::k_pods, key, [](Node& changed) {
            put(model::ensure(changed, {"metadata", "labels"}), k_shadow_label, text_node("true"));
          });
        }
        look_after(waits_[key].next(s_.objects.random), key);
      }));
}

void Guests::ask_about(const Key& pod, const std::string& node) {
  busy_.insert(pod);
  links_.at(node)->busy.insert(pod);
}

void Guests::take_status(const Object& pod, const Node& theirs) const {
  const Node* status = model::look(theirs, {"status"});
  if (status == nullptr) return;
  s_.change(codec::k_pods, pod.key, [&](Node& document) { put(document, "status", *status); });
}

void Guests::end(const Object& pod, Twin* twin) {
  if (busy_.contains(pod.key)) return;
  const bool is_there =
      twin != nullptr && (!twin->watch.is_synced() || twin->pods.contains(pod.key.name));
  if (!is_there) {
    DeleteOptions options;
    options.grace_seconds = 0;
    options.uid = pod.uid;
    (void)s_.objects.remove(*pod.kind, pod.key, options);
    return;
  }
  const auto theirs = twin->pods.find(pod.key.name);
  if (theirs == twin->pods.end() || is_being_deleted(theirs->second)) return;
  remove(pod.key, *find_pair(pod.fields, "spec.nodeName"), *twin);
}

// That ShadowPod, and no other that has taken its name since.
void Guests::remove(const Key& key, const std::string& node, const Twin& twin) {
  kube::RemoveAsked asked;
  for (const Node& owner :
       model::items_at(twin.pods.at(key.name), {"metadata", "ownerReferences"})) {
    asked.uid = model::text_at(owner, {"uid"});
  }
  ask_about(key, node);
  links_.at(node)->remote->api().remove(
      resource_of(codec::k_shadow_pods), {twin.name, key.name}, asked,
      lifeline_.guard([this, key, node](const Status& done) {
        busy_.erase(key);
        if (!done && done.error().code != Code::not_found) {
          return look_after(waits_[key].next(s_.objects.random), key);
        }
        // The watch tells when the pod is gone; it may have done so while this was under way.
        if (!is_there(key, node)) look_soon(key);
      }));
}

bool Guests::is_there(const Key& key, const std::string& node) const {
  const auto link = links_.find(node);
  if (link == links_.end()) return false;
  const auto twin = link->second->twins.find(key.space);
  const bool is_known = twin != link->second->twins.end() && twin->second != nullptr;
  return is_known && twin->second->pods.contains(key.name);
}

}  // namespace spillway::embedded::liqo
