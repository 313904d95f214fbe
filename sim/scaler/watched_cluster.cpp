#include "sim/scaler/watched_cluster.h"

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "supply/pod_row.h"

namespace spillway::scaler {
namespace {

using kube::Object;
using model::text_at;

Instant created_at(const Object& object) {
  const auto at = parse_instant(text_at(object, {"metadata", "creationTimestamp"}));
  return at ? *at : Instant{};
}

const Object* controller_of(const Object& pod) {
  for (const Object& owner : model::items_at(pod, {"metadata", "ownerReferences"})) {
    if (model::boolean_at(owner, {"controller"})) return &owner;
  }
  return nullptr;
}

bool is_unschedulable(const Object& pod) {
  const auto& conditions = model::items_at(pod, {"status", "conditions"});
  return std::any_of(conditions.begin(), conditions.end(), [](const Object& condition) {
    return text_at(condition, {"type"}) == "PodScheduled" &&
           text_at(condition, {"status"}) == "False" &&
           text_at(condition, {"reason"}) == "Unschedulable";
  });
}

bool has_local_storage(const Object& pod) {
  const auto& volumes = model::items_at(pod, {"spec", "volumes"});
  return std::any_of(volumes.begin(), volumes.end(), [](const Object& volume) {
    return volume.find("emptyDir") != nullptr || volume.find("hostPath") != nullptr;
  });
}

bool may_be_moved(const Object& pod) {
  const std::string_view says =
      kube::annotation_in(pod, "cluster-autoscaler.kubernetes.io/safe-to-evict");
  if (says == "true") return true;
  return says != "false" && kube::space_in(pod) != "kube-system" && !has_local_storage(pod);
}

void drop_taint(Object& node) {
  Object& spec = model::ensure(node, {"spec"});
  Object taints = model::array_node();
  for (const Object& taint : model::items_at(node, {"spec", "taints"})) {
    if (text_at(taint, {"key"}) != k_to_be_deleted) taints.items.push_back(taint);
  }
  model::put(spec, "taints", std::move(taints));
}

void add_taint(Object& node, Instant now) {
  drop_taint(node);
  Object taint = model::object_node();
  model::put(taint, "key", model::text_node(k_to_be_deleted));
  model::put(taint, "value", model::text_node(std::to_string(now.ms / 1000)));
  model::put(taint, "effect", model::text_node("NoSchedule"));
  model::put(model::ensure(node, {"spec"}), "taints", [&] {
    Object taints = *model::look(node, {"spec", "taints"});
    taints.items.push_back(std::move(taint));
    return taints;
  }());
}

kube::Then<Object> told(Done done) {
  return [done = std::move(done)](const Result<Object>& object) {
    done(object ? Status() : tl::unexpected(object.error()));
  };
}

}  // namespace

std::optional<NodeView> node_view(const Object& node) {
  auto row = supply::node_row(node);
  const Object* capacity = model::look(node, {"status", "capacity"});
  if (!row || !row->problem.empty() || capacity == nullptr) return std::nullopt;
  const auto amounts = supply::read_allocatable(*capacity);
  if (!amounts) return std::nullopt;
  return NodeView{std::move(*row), std::string(text_at(node, {"spec", "providerID"})), *amounts,
                  created_at(node)};
}

std::optional<PodView> pod_view(const Object& pod) {
  const std::string_view phase = text_at(pod, {"status", "phase"});
  const auto requests = supply::pod_requests(pod);
  if (phase == "Succeeded" || phase == "Failed" || !requests) return std::nullopt;
  PodView view;
  view.key = std::string(kube::space_in(pod)) + "/" + std::string(kube::name_in(pod));
  if (const Object* controller = controller_of(pod)) {
    view.owner = text_at(*controller, {"uid"});
    view.is_daemon = text_at(*controller, {"kind"}) == "DaemonSet";
  }
  view.node = text_at(pod, {"spec", "nodeName"});
  view.requests = requests->with_one_pod();
  view.placement = std::make_shared<supply::Placement>(supply::read_placement(pod));
  view.created = created_at(pod);
  view.is_unschedulable = view.node.empty() && is_unschedulable(pod);
  view.may_move = may_be_moved(pod);
  return view;
}

WatchedCluster::WatchedCluster(kube::Api& api, std::function<void()> on_unschedulable)
    : api_(api),
      on_unschedulable_(std::move(on_unschedulable)),
      nodes_watch_(api, kube::k_nodes, {},
                   {[this](const Object& node) {
                      const std::string name(kube::name_in(node));
                      nodes_.erase(name);
                      if (auto view = node_view(node)) nodes_.emplace(name, std::move(*view));
                    },
                    [this](const kube::Name& name) { nodes_.erase(name.name); }}),
      pods_watch_(api, kube::k_pods, {},
                  {[this](const Object& pod) { put_pod(pod); },
                   [this](const kube::Name& name) { pods_.erase(name.space + "/" + name.name); }}) {
}

void WatchedCluster::start() {
  nodes_watch_.start();
  pods_watch_.start();
}

void WatchedCluster::put_pod(const Object& pod) {
  const std::string key = std::string(kube::space_in(pod)) + "/" + std::string(kube::name_in(pod));
  const auto known = pods_.find(key);
  const bool was_so = known != pods_.end() && known->second.is_unschedulable;
  if (known != pods_.end()) pods_.erase(known);
  auto view = pod_view(pod);
  if (!view) return;
  const bool is_so = view->is_unschedulable;
  pods_.emplace(key, std::move(*view));
  if (is_so && !was_so) on_unschedulable_();
}

ClusterView WatchedCluster::look() const {
  ClusterView view;
  for (const auto& [name, node] : nodes_) view.nodes.push_back(node);
  for (const auto& [key, pod] : pods_) view.pods.push_back(pod);
  return view;
}

void WatchedCluster::taint(const std::string& node, Done done) {
  api_.change(
      kube::k_nodes, {"", node},
      [now = api_.loop().now()](Object& object) {
        add_taint(object, now);
        return Status();
      },
      told(std::move(done)));
}

void WatchedCluster::untaint(const std::string& node, Done done) {
  api_.change(
      kube::k_nodes, {"", node},
      [](Object& object) {
        drop_taint(object);
        return Status();
      },
      told(std::move(done)));
}

void WatchedCluster::evict(const PodView& pod, Done done) {
  const size_t slash = pod.key.find('/');
  api_.evict({pod.key.substr(0, slash), pod.key.substr(slash + 1)},
             [done = std::move(done)](const Result<void>& evicted) {
               const bool is_gone = evicted || evicted.error().code == Code::not_found;
               done(is_gone ? Status() : tl::unexpected(evicted.error()));
             });
}

}  // namespace spillway::scaler
