#include "fabric/mending.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "fabric/granted_labels.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr const char* k_release = "it is put right; release the unit if you want it to end";

// Names of what is not as it should be.
template <class Map>
void compare(std::string_view where, const Map& wanted, const Map& seen,
             std::vector<std::string>& edited) {
  for (const auto& [key, value] : wanted) {
    const auto found = seen.find(key);
    if (found == seen.end() || found->second != value) {
      edited.push_back(fmt::format("{}.{}", where, key));
    }
  }
}

template <class T>
void compare_one(std::string_view where, const T& wanted, const T& seen,
                 std::vector<std::string>& edited) {
  if (wanted != seen) edited.emplace_back(where);
}

void keep_of_spec(model::Node& patch, std::initializer_list<std::string_view> fields) {
  std::erase_if(model::ensure(patch, {"spec"}).items, [&](const model::Node& one) {
    return std::find(fields.begin(), fields.end(), one.key) == fields.end();
  });
}

std::vector<model::Taint> missing(const std::vector<model::Taint>& wanted,
                                  const std::vector<model::Taint>& seen) {
  std::vector<model::Taint> all;
  for (const model::Taint& one : wanted) {
    if (std::find(seen.begin(), seen.end(), one) == seen.end()) all.push_back(one);
  }
  return all;
}

// The wanted object without what a patch of it may not say. A merge leaves alone what it does not
// name.
model::Node patch_from(model::Node object, const std::string& version) {
  std::erase_if(object.items,
                [](const model::Node& one) { return one.key != "metadata" && one.key != "spec"; });
  model::put(model::ensure(object, {"metadata"}), "resourceVersion", model::text_node(version));
  return object;
}

void put_right(const Place& at, std::string_view kind, model::Node patch,
               const std::vector<std::string>& edited, const char* next, Plan& plan) {
  plan.deeds.emplace_back(Merge{at, std::move(patch)});
  plan.troubles.push_back(
      {fmt::format("{} {}", kind, at.name), "somebody edited " + name_few(edited), next});
}

// What is to be merged into spec.labels; null takes one away.
model::Node mended_labels(const liqo::VirtualNode& wanted, const liqo::VirtualNode& seen,
                          std::vector<std::string>& edited) {
  model::Node mended = model::object_node();
  const auto put = [&](const std::string& key, model::Node value) {
    model::put(mended, key, std::move(value));
    edited.push_back("spec.labels." + key);
  };
  const bool is_whole = seen.unreadable.empty();  // else some of them may be there, unread
  liqo::Texts right = said_by_kubelet(seen.meta.name);
  for (const auto& [key, value] : right) {
    const auto found = seen.labels.find(key);
    if (found != seen.labels.end() && found->second != value) put(key, model::text_node(value));
  }
  for (const auto& [key, value] : wanted.labels) {
    const auto found = seen.labels.find(key);
    const bool is_right = found == seen.labels.end() ? !is_whole : found->second == value;
    if (!is_right) put(key, model::text_node(value));
  }
  right.insert(wanted.labels.begin(), wanted.labels.end());
  for (const std::string& key : labels_to_remove(right, seen.labels)) put(key, model::Node{});
  return mended;
}

void put_labels_right(const liqo::VirtualNode& seen, const model::Node& labels,
                      const std::vector<std::string>& edited, Plan& plan) {
  if (edited.empty()) return;
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata"}), "resourceVersion",
             model::text_node(seen.meta.version));
  model::put(model::ensure(patch, {"spec"}), "labels", labels);
  put_right({liqo::k_virtual_nodes, seen.meta.space, seen.meta.name}, "VirtualNode",
            std::move(patch), edited, k_release, plan);
}

std::string amount_text(std::string_view name, int64_t amount) {
  return fmt::format("{}{}", amount, name == "cpu" ? "m" : "");
}

}  // namespace

void mend_slice(const liqo::Slice& wanted, const liqo::Slice& seen, Plan& plan) {
  std::vector<std::string> edited;
  compare("labels", wanted.meta.labels, seen.meta.labels, edited);
  compare_one("spec.consumerClusterID", wanted.buyer, seen.buyer, edited);
  compare_one("spec.providerClusterID", wanted.provider, seen.provider, edited);
  compare_one("spec.class", wanted.class_name, seen.class_name, edited);
  compare_one("spec.csr", wanted.request, seen.request, edited);
  compare("spec.resources", wanted.wanted, seen.wanted, edited);
  if (edited.empty()) return;
  liqo::Slice right = wanted;
  right.meta.annotations.clear();  // others say things by these
  put_right({liqo::k_slices, seen.meta.space, seen.meta.name}, "ResourceSlice",
            patch_from(to_object(right), seen.meta.version), edited, k_release, plan);
}

void mend_virtual_node(const liqo::VirtualNode& wanted, const liqo::VirtualNode& seen, Plan& plan) {
  std::vector<std::string> edited;
  const model::Node labels = mended_labels(wanted, seen, edited);
  if (!seen.unreadable.empty()) return put_labels_right(seen, labels, edited, plan);
  compare("labels", wanted.meta.labels, seen.meta.labels, edited);
  compare("spec.annotations", wanted.annotations, seen.annotations, edited);
  compare_one("spec.clusterID", wanted.provider, seen.provider, edited);
  compare_one("spec.createNode", wanted.create_node, seen.create_node, edited);
  compare_one("spec.disableNetworkCheck", wanted.disable_network_check, seen.disable_network_check,
              edited);
  compare_one("spec.kubeconfigSecretRef", wanted.kubeconfig_secret, seen.kubeconfig_secret, edited);
  const std::vector<model::Taint> lost = missing(wanted.taints, seen.taints);
  for (const model::Taint& one : lost) edited.push_back("spec.taints " + one.key);
  if (edited.empty()) return;
  liqo::VirtualNode right = wanted;
  right.meta = {};
  right.meta.name = seen.meta.name;
  right.meta.space = seen.meta.space;
  right.meta.labels = wanted.meta.labels;
  // A list is replaced whole.
  right.taints = seen.taints;
  right.taints.insert(right.taints.end(), lost.begin(), lost.end());
  model::Node patch = patch_from(to_object(right), seen.meta.version);
  keep_of_spec(
      patch, {"annotations", "taints", "createNode", "disableNetworkCheck", "kubeconfigSecretRef"});
  if (wanted.provider != seen.provider) {
    model::put(model::ensure(patch, {"spec"}), "clusterID", model::text_node(wanted.provider));
  }
  if (!labels.items.empty()) model::put(model::ensure(patch, {"spec"}), "labels", labels);
  put_right({liqo::k_virtual_nodes, seen.meta.space, seen.meta.name}, "VirtualNode",
            std::move(patch), edited, k_release, plan);
}

void strip_virtual_node(const liqo::VirtualNode& seen, const liqo::Texts& granted, Plan& plan) {
  liqo::VirtualNode said;
  said.meta.name = seen.meta.name;
  for (const auto& one : seen.labels) {
    if (granted.contains(one.first)) said.labels.insert(one);
  }
  std::vector<std::string> edited;
  const liqo::VirtualNode nothing;
  put_labels_right(seen, mended_labels(nothing, said, edited), edited, plan);
}

void mend_tenant(const liqo::Tenant& wanted, const liqo::Tenant& seen, Plan& plan) {
  std::vector<std::string> edited;
  compare_one("spec.authzPolicy", wanted.policy, seen.policy, edited);
  compare_one("spec.clusterID", wanted.buyer, seen.buyer, edited);
  compare_one("spec.csr", wanted.request, seen.request, edited);
  if (edited.empty()) return;
  model::Node patch = patch_from(to_object(wanted), seen.meta.version);
  model::erase(model::ensure(patch, {"metadata"}), "labels");
  keep_of_spec(patch, {"authzPolicy", "clusterID", "csr"});
  put_right({liqo::k_tenants, seen.meta.space, seen.meta.name}, "Tenant", std::move(patch), edited,
            "it is put right", plan);
}

std::string misgranted(const liqo::Amounts& agreed, const liqo::Amounts& granted) {
  const bool is_nothing =
      std::all_of(granted.begin(), granted.end(), [](const auto& one) { return one.second == 0; });
  if (is_nothing) return {};
  std::vector<std::string> wrong;
  for (const auto& [name, amount] : agreed) {
    const auto found = granted.find(name);
    const int64_t is = found == granted.end() ? 0 : found->second;
    if (is == amount) continue;
    wrong.push_back(
        fmt::format("{} {} of {}", name, amount_text(name, is), amount_text(name, amount)));
  }
  for (const auto& [name, amount] : granted) {
    if (amount == 0 || agreed.contains(name)) continue;
    wrong.push_back(fmt::format("{} {} of none", name, amount_text(name, amount)));
  }
  return name_few(wrong);
}

}  // namespace spillway::fabric
