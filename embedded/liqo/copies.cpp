#include "embedded/liqo/copies.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"
#include "net/ascii.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_leaders = "virtual-kubelet-leader-election";
constexpr std::string_view k_copy_destination = "offloading.liqo.io/destination";

bool says(const Node& document, std::string_view annotation) {
  const Node* found = model::look(document, {"metadata", "annotations", annotation});
  return found != nullptr && net::lower_case(found->text) != "false";
}

bool goes_by_allow_list(const Node& virtual_node, const std::string& listed) {
  const auto& containers =
      model::items_at(virtual_node, {"spec", "template", "spec", "template", "spec", "containers"});
  if (containers.empty()) return false;
  const auto& arguments = model::items_at(containers.front(), {"args"});
  const std::string wanted = fmt::format("--{}-reflection-type=AllowList", listed);
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const Node& one) { return one.text == wanted; });
}

}  // namespace

Copies::Copies(const Setting& setting, const VirtualKubelets& kubelets, const codec::Kind& kind,
               std::string listed)
    : Controller(setting), kubelets_(kubelets), kind_(kind), listed_(std::move(listed)) {
  const auto again = [this](const Object&) { look_at_all(); };
  follow(kind);
  follow(codec::k_namespace_maps, again);
  follow(codec::k_virtual_nodes, again);
  follow(codec::k_leases, [this](const Object& lease) {
    if (lease.key.name == k_leaders) look_at_all();
  });
}

void Copies::look_at_all() {
  for (const ObjectPtr& one : s_.all(kind_)) look_soon(one->key);
}

void Copies::look_at(const Key& key) {
  const ObjectPtr local = s_.find(kind_, key);
  for (const ObjectPtr& map : s_.all(codec::k_namespace_maps)) {
    if (label_of(*map, codec::k_replication_label) == "true") settle(*map, key, local);
  }
}

// The one that the Lease names, or another when that one is gone.
ObjectPtr Copies::leader_of(const std::string& provider) const {
  const std::string space = codec::tenant_namespace_name(provider);
  std::vector<ObjectPtr> running;
  for (const ObjectPtr& one : s_.all(codec::k_virtual_nodes, space)) {
    if (!kubelets_.kubeconfig_of(one->key.name).empty()) running.push_back(one);
  }
  if (running.empty()) return nullptr;
  const ObjectPtr lease = s_.find(codec::k_leases, {space, std::string(k_leaders)});
  const std::string holder(
      lease == nullptr ? "" : model::text_at(lease->document(), {"spec", "holderIdentity"}));
  const auto leads = std::find_if(running.begin(), running.end(),
                                  [&](const ObjectPtr& one) { return one->key.name == holder; });
  return leads == running.end() ? running.front() : *leads;
}

Remote* Copies::remote_of(const std::string& node) {
  const std::string kubeconfig = kubelets_.kubeconfig_of(node);
  auto& remote = remotes_[node];
  if (remote == nullptr || remote->kubeconfig() != kubeconfig) {
    auto opened = Remote::open(s_, kubeconfig);
    remote = opened ? std::move(*opened) : nullptr;
  }
  return remote.get();
}

void Copies::settle(const Object& map, const Key& key, const ObjectPtr& local) {
  const std::string& provider = map.key.name;
  const Node document = map.document();
  const Node* entry = model::look(document, {"status", "currentMapping", key.space});
  const To to{provider, key};
  const auto sent = sent_.find(to);
  if (entry == nullptr || model::text_at(*entry, {"phase"}) != "Accepted") {
    if (sent != sent_.end() && !sent->second.is_busy) sent_.erase(sent);  // it went with its twin
    return;
  }
  const ObjectPtr leader = leader_of(provider);
  if (leader == nullptr) return;
  Remote* remote = remote_of(leader->key.name);
  if (remote == nullptr || (sent != sent_.end() && sent->second.is_busy)) return;
  const std::string twin(model::text_at(*entry, {"remoteNamespace"}));
  const bool is_listed = goes_by_allow_list(leader->document(), listed_);
  const bool leaves = local != nullptr && !local->is_deleting &&
                      (is_listed ? says(local->document(), codec::k_allow_annotation)
                                 : !says(local->document(), codec::k_skip_annotation));
  const bool is_there = sent != sent_.end() && !sent->second.version.empty();
  if (!leaves) {
    if (is_there) take_back(*remote, to, twin);
    return;
  }
  const std::string version(model::text_at(local->document(), {"metadata", "resourceVersion"}));
  if (!is_there || sent->second.version != version) send(*remote, to, *local, twin);
}

// What the provider has after it answered; what it did not do is tried again.
template <class Answer>
auto Copies::answered(const To& to, std::string version) {
  sent_[to].is_busy = true;
  return lifeline_.guard([this, to, version = std::move(version)](const Answer& answer) {
    Sent& sent = sent_[to];
    sent.is_busy = false;
    const bool is_done = answer || answer.error().code == Code::not_found;
    if (is_done) {
      sent.version = version;
      sent.backoff.reset();
      return look_soon(to.second);
    }
    if (answer.error().code == Code::conflict) {
      sent.version = "another";  // it is there: it is changed, then
      return look_soon(to.second);
    }
    look_after(sent.backoff.next(s_.objects.random), to.second);
  });
}

void Copies::send(Remote& remote, const To& to, const Object& local, const std::string& twin) {
  const Node document = local.document();
  Node copy = new_document({twin, local.key.name}, {}, nullptr);
  put(copy, "apiVersion", text_node(codec::api_version(kind_)));
  put(copy, "kind", text_node(kind_.kind));
  Node& metadata = model::ensure(copy, {"metadata"});
  for (const std::string_view part : {"labels", "annotations"}) {
    if (const Node* found = model::look(document, {"metadata", part})) put(metadata, part, *found);
  }
  Node& labels = model::ensure(metadata, {"labels"});
  put(labels, codec::k_guest_origin_label, text_node(s_.id()));
  put(labels, k_copy_destination, text_node(to.first));
  for (const std::string_view part : {"type", "data", "binaryData", "immutable"}) {
    if (const Node* found = model::look(document, {part})) put(copy, part, *found);
  }
  const std::string version(model::text_at(document, {"metadata", "resourceVersion"}));
  const bool is_there = !sent_[to].version.empty();
  auto then = answered<Result<Node>>(to, version);
  if (is_there) {
    remote.api().patch(resource_of(kind_), {twin, local.key.name}, kube::PatchKind::merge, copy,
                       std::move(then));
  } else {
    remote.api().create(resource_of(kind_), copy, std::move(then));
  }
}

void Copies::take_back(Remote& remote, const To& to, const std::string& twin) {
  remote.api().remove(resource_of(kind_), {twin, to.second.name}, {}, answered<Status>(to, {}));
}

}  // namespace spillway::embedded::liqo
