// What real Liqo was recorded to have, and in what an embedded one may differ: field by field as
// far as the fabric reads it, each difference with its reason.
#pragma once

#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "fabric/liqo/cluster_objects.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/guests.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/namespaces.h"
#include "fabric/liqo/part_fields.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"
#include "fabric/liqo/vk_options.h"
#include "model/tree.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"
#include "support/embedded_liqos.h"
#include "support/liqo_recordings.h"

namespace spillway {

using model::Node;
namespace codec = fabric::liqo;

using Leaves = std::map<std::string, std::string>;  // path → value

// Of one object: "Node unit-0 spec.taints[0].key".
struct Allowed {
  const char* pattern;
  const char* reason;
};
inline constexpr Allowed k_allowed[] = {
    {".* metadata\\.(uid|resourceVersion)", "given anew in every cluster"},
    {".* metadata\\.ownerReferences\\[\\d+\\]\\.uid", "likewise"},
    {".*\\.lastTransitionTime", "another time"},
    {"Node .* metadata\\.annotations\\.(node\\.alpha|virtual-kubelet)\\..*",
     "Kubernetes' own, and what a virtual kubelet notes for itself"},
    {"Node .* metadata\\.labels\\.beta\\.kubernetes\\.io/.*", "Kubernetes' own, and old"},
    {"NamespaceOffloading offloading status\\.offloadingPhase",
     "one of the two was deleted before the map of its last provider was gone: no Liqo said then "
     "what the other one shows"},
    {"ResourceSlice unit-1 metadata\\.generation",
     "a copy that was sent before its request was there, and changed after that: a race"},
};
// Whose owner is gone: the real collector came two steps later.
inline constexpr const char* k_gone_sooner = "Secret kubeconfig-resourceslice-.*";

// What cannot be the same but must be there.
inline constexpr const char* k_only_there[] = {
    ".* metadata\\.deletionTimestamp", ".*\\.(ca|signedCRT|apiServer|apiServerUrl)",
    ".* spec\\.(csr|publicKey|signature)",
    ".* data\\.(nonce|signedNonce|kubeconfig|privateKey|publicKey)"};

inline bool matches_any(const std::string& text, std::initializer_list<const char*> patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const char* one) { return std::regex_match(text, std::regex(one)); });
}

inline void flatten(const Node& node, const std::string& path, Leaves& leaves) {
  if (node.kind != Node::Kind::object && node.kind != Node::Kind::array) {
    leaves[path] = model::to_json(node);
    return;
  }
  size_t i = 0;
  for (const Node& item : node.items) {
    const bool is_member = node.kind == Node::Kind::object;
    flatten(item,
            is_member ? fmt::format("{}{}{}", path, path.empty() ? "" : ".", item.key)
                      : fmt::format("{}[{}]", path, i++),
            leaves);
  }
}

template <class T>
Node as_read(Result<T> (*read)(const Node&), const Node& object) {
  const auto made = read(object);
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  return made ? to_object(*made) : Node{};
}

// Taints that Kubernetes itself gives and takes are not Liqo's.
inline void drop_own_taints(Node& node) {
  for (Node& member : model::ensure(node, {"spec"}).items) {
    if (member.key != "taints") continue;
    std::erase_if(member.items, [](const Node& taint) {
      return model::text_at(taint, {"key"}).starts_with("node.kubernetes.io/");
    });
  }
}

inline Node read_secret_part(const Node& object) {
  Node made = object;
  if (!model::text_at(object, {"metadata", "labels", codec::k_nonce_label}).empty()) {
    return as_read(codec::read_nonce, object);
  }
  if (!model::text_at(object, {"metadata", "labels", codec::k_signed_nonce_label}).empty()) {
    return as_read(codec::read_signed_nonce, object);
  }
  model::erase(model::ensure(made, {"metadata"}), "creationTimestamp");
  model::erase(model::ensure(made, {"metadata"}), "managedFields");
  for (Node& owner : model::ensure(made, {"metadata"}).items) {
    if (owner.key != "ownerReferences") continue;
    for (Node& one : owner.items) model::erase(one, "blockOwnerDeletion");
  }
  return made;
}

// Of these the fabric reads less, and others more: kubelets, schedulers, whoever looks at guests.
struct UnitNode {
  static constexpr const codec::Kind& k_kind = codec::k_nodes;
  codec::Meta meta;
  std::string provider_id;
  bool cordoned = false;
  std::vector<model::Taint> taints;
  codec::Amounts allocatable;
  codec::Conditions conditions;
};
template <class Fields>
void fields(Fields& f, UnitNode& n) {
  f.part("metadata", n.meta);
  f.text("spec.providerID", n.provider_id);
  f.flag("spec.unschedulable", n.cordoned);
  f.parts("spec.taints", n.taints);
  f.amounts("status.allocatable", n.allocatable);
  f.parts("status.conditions", n.conditions);
}
struct Guest {
  static constexpr const codec::Kind& k_kind = codec::k_shadow_pods;
  codec::Meta meta;
  std::string phase;
};
template <class Fields>
void fields(Fields& f, Guest& g) {
  f.part("metadata", g.meta);
  f.text("status.phase", g.phase);
}

// Only what is looked at.
inline Node read_part(std::string_view kind, const Node& object) {
  if (kind == "Secret") return read_secret_part(object);
  if (kind == "Tenant") return as_read(codec::read_tenant, object);
  if (kind == "Identity") return as_read(codec::read_identity, object);
  if (kind == "ResourceSlice") return as_read(codec::read_slice, object);
  if (kind == "VirtualNode") return as_read(codec::read_virtual_node, object);
  if (kind == "Quota") return as_read(codec::read_quota, object);
  if (kind == "NamespaceOffloading") return as_read(codec::read_namespace_offloading, object);
  if (kind == "NamespaceMap") return as_read(codec::read_namespace_map, object);
  if (kind == "ForeignCluster") return as_read(codec::read_foreign_cluster, object);
  if (kind == "ShadowPod") return codec::write_object(codec::read_object<Guest>(object).value());
  if (kind == "Namespace") return as_read(codec::read_space, object);
  if (kind == "Pod") {
    Node made = model::object_node();
    model::put(model::ensure(made, {"metadata"}), "labels",
               *model::look(object, {"metadata", "labels"}));
    model::put(model::ensure(made, {"status"}), "phase",
               model::text_node(model::text_at(object, {"status", "phase"})));
    return made;
  }
  EXPECT_EQ(kind, "Node");
  Node node = codec::write_object(codec::read_object<UnitNode>(object).value());
  drop_own_taints(node);
  return node;
}

inline std::vector<std::string> differences(const std::string& name, std::string_view kind,
                                            const Node& real, const Node& ours) {
  Leaves theirs_leaves, our_leaves;
  flatten(read_part(kind, real), "", theirs_leaves);
  flatten(read_part(kind, ours), "", our_leaves);
  std::set<std::string> paths;
  for (const auto& [path, value] : theirs_leaves) paths.insert(path);
  for (const auto& [path, value] : our_leaves) paths.insert(path);
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    const auto a = theirs_leaves.find(path);
    const auto b = our_leaves.find(path);
    const bool are_there = a != theirs_leaves.end() && b != our_leaves.end();
    if (are_there && a->second == b->second) continue;
    const std::string full = fmt::format("{} {} {}", kind, name, path);
    if (are_there &&
        matches_any(full, {k_only_there[0], k_only_there[1], k_only_there[2], k_only_there[3]})) {
      continue;
    }
    const bool is_allowed = std::any_of(std::begin(k_allowed), std::end(k_allowed), [&](auto& one) {
      return std::regex_match(full, std::regex(one.pattern));
    });
    if (is_allowed) continue;
    found.push_back(fmt::format("{}: real {}, embedded {}", full,
                                a == theirs_leaves.end() ? "none" : a->second,
                                b == our_leaves.end() ? "none" : b->second));
  }
  return found;
}

// Which object, and how it was: none when it was gone.
struct Known {
  std::string side, kind, space, name;
  auto operator<=>(const Known&) const = default;
};
using Versions = std::vector<std::optional<Node>>;

inline Known known_of(const Recorded& one) {
  return {one.side, std::string(one.kind()),
          std::string(model::text_at(one.object, {"metadata", "namespace"})),
          std::string(one.name())};
}

// At the end of a step; and as it was in the next one: the recorder went on as soon as it had seen
// enough, and Liqo was not always done by then.
inline std::map<Known, Versions> recorded_after(std::string_view step) {
  std::map<Known, Versions> found;
  std::string next;
  for (const Recorded& one : recordings()) {
    if (one.step > step && next.empty()) next = one.step;
    if (one.step > step && one.step != next) break;
    auto version = one.event == "DELETED" ? std::nullopt : std::optional(one.object);
    Versions& versions = found[known_of(one)];
    if (one.step <= step) versions.clear();
    if (one.step > step && versions.empty()) versions.push_back(std::nullopt);
    versions.push_back(std::move(version));
  }
  return found;
}

}  // namespace spillway
