#include "sim/fabric_work.h"

#include "fabric/liqo/names.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::sim {
namespace {

namespace liqo = fabric::liqo;
using embedded::ObjectPtr;
using model::Node;

constexpr std::string_view k_identity = "db-";
constexpr int k_most_others = 3;
constexpr Duration k_waits = seconds(40);  // for a node

// With `is_remote` for what was bought and nothing else.
Node pod_of(const std::string& name, bool has_identity, bool is_remote, int64_t grace) {
  const std::string label =
      has_identity ? fmt::format(R"("statefulset.kubernetes.io/pod-name":"{}")", name) : "";
  const std::string affinity =
      !is_remote ? ""
                 : fmt::format(R"("affinity":{{"nodeAffinity":{{)"
                               R"("requiredDuringSchedulingIgnoredDuringExecution":)"
                               R"({{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"{}",)"
                               R"("operator":"In","values":["{}"]}}]}}]}}}}}},)",
                               liqo::k_node_type_label, liqo::k_virtual_node_type);
  return *model::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"{}","labels":{{{}}}}},"spec":{{{})"
      R"("terminationGracePeriodSeconds":{},"containers":[{{"name":"main","image":"none",)"
      R"("resources":{{"requests":{{"cpu":"200m","memory":"64Mi"}}}}}}]}}}})",
      name, FabricWork::k_space, label, affinity, grace));
}

}  // namespace

std::string FabricWork::identity(int number) { return fmt::format("{}{}", k_identity, number); }
bool FabricWork::has_identity(const std::string& pod) { return pod.starts_with(k_identity); }

FabricWork::FabricWork(Process& process, embedded::Cluster& cluster)
    : process_(process),
      world_(process.world()),
      cluster_(cluster),
      pods_(cluster.objects().registry.built_in("pods")) {
  Node space = model::object_node();
  model::put(model::ensure(space, {"metadata"}), "name", model::text_node(k_space));
  (void)cluster.objects().create(cluster.objects().registry.built_in("namespaces"),
                                 std::move(space));
}

void FabricWork::begin() { look_later(); }

void FabricWork::end() {
  is_over_ = true;
  for (const auto& [key, pod] : embedded::Shelf(cluster_.objects().table.shelf(pods_))) {
    if (key.space == k_space) remove(key);
  }
}

void FabricWork::look_later() {
  process_.after(world_.between(seconds(1), seconds(6)), [this] {
    if (is_over_) return;
    look();
    look_later();
  });
}

void FabricWork::look() {
  for (int i = 0; i < k_identities; ++i) keep(identity(i));
  if (world_.chance(100)) wanted_ = static_cast<int>(world_.below(k_most_others + 1));
  for (int i = 0; i < k_most_others; ++i) {
    const std::string name = fmt::format("web-{}", i);
    if (i < wanted_) {
      keep(name);
    } else if (cluster_.objects().table.find(pods_, {k_space, name}) != nullptr) {
      remove({k_space, name});
    }
  }
  // Now and then its owner ends one that has an identity, to have it begun anew.
  if (world_.chance(15)) remove({k_space, identity(static_cast<int>(world_.below(k_identities)))});
}

void FabricWork::keep(const std::string& name) {
  const embedded::Key key{k_space, name};
  const ObjectPtr pod = cluster_.objects().table.find(pods_, key);
  if (pod == nullptr) {
    waiting_.erase(name);
    return make(name);
  }
  if (!embedded::find_pair(pod->fields, "spec.nodeName")->empty()) {
    waiting_.erase(name);
    const std::string& phase = *embedded::find_pair(pod->fields, "status.phase");
    if (phase == "Failed" || phase == "Succeeded") remove(key);
    return;
  }
  // What no node takes may be made otherwise: nothing runs of it.
  const auto [since, is_new] = waiting_.try_emplace(name, world_.now());
  if (world_.now() - since->second < k_waits) return;
  waiting_.erase(since);
  remove(key);
}

bool FabricWork::is_room_for_sale() const {
  const auto& nodes = cluster_.objects().table.shelf(cluster_.objects().registry.built_in("nodes"));
  for (const auto& [key, node] : nodes) {
    if (key.name.starts_with("sw-") && node->is_ready) return true;
  }
  return false;
}

void FabricWork::make(const std::string& name) {
  const bool is_remote = is_room_for_sale() && world_.chance(800);
  // Never none: Kubernetes lets go of such a pod before anybody has stopped it.
  const auto grace = 1 + static_cast<int64_t>(world_.below(5));
  const bool is_identity = has_identity(name);
  if (is_identity) begun_ += 1;
  (void)cluster_.objects().create(pods_, pod_of(name, is_identity, is_remote, grace));
}

void FabricWork::remove(const embedded::Key& key) { (void)cluster_.objects().remove(pods_, key); }

}  // namespace spillway::sim
