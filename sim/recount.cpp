#include "sim/recount.h"

#include <algorithm>

#include "base/quantity.h"
#include "model/tree.h"

namespace spillway::sim {
namespace {

using model::Node;

int64_t amount(const Node& from, std::string_view name, QuantityStep step) {
  return parse_quantity(model::text_at(from, {name}), step).value_or(0);
}

model::Resources resources_in(const Node* from) {
  model::Resources sum;
  if (from == nullptr) return sum;
  sum.cpu_millis = amount(*from, "cpu", QuantityStep::milli);
  sum.memory_bytes = amount(*from, "memory", QuantityStep::whole);
  sum.pods = amount(*from, "pods", QuantityStep::whole);
  return sum;
}

bool is_open(const Node& node) {
  bool ready = false;
  for (const Node& condition : model::items_at(node, {"status", "conditions"})) {
    if (model::text_at(condition, {"type"}) == "Ready") {
      ready = model::text_at(condition, {"status"}) == "True";
    }
  }
  return ready && !model::boolean_at(node, {"spec", "unschedulable"}) &&
         model::items_at(node, {"spec", "taints"}).empty() &&
         model::text_at(node, {"metadata", "deletionTimestamp"}).empty();
}

bool is_own_on(const Node& pod, const std::string& node) {
  const std::string_view phase = model::text_at(pod, {"status", "phase"});
  const bool is_guest =
      model::text_at(pod, {"metadata", "labels", "liqo.io/managed-by"}) == "shadowpod";
  return model::text_at(pod, {"spec", "nodeName"}) == node && !is_guest && phase != "Succeeded" &&
         phase != "Failed";
}

model::Resources free_on(const Node& node, const std::string& name, const embedded::Shelf& pods,
                         const supply::Headroom& headroom) {
  model::Resources free = resources_in(model::look(node, {"status", "allocatable"}));
  free.cpu_millis -= kept(free.cpu_millis, headroom.amount.cpu_millis, headroom.share_permille);
  free.memory_bytes -=
      kept(free.memory_bytes, headroom.amount.memory_bytes, headroom.share_permille);
  free.pods -= kept(free.pods, headroom.amount.pods, headroom.share_permille);
  for (const auto& [key, object] : pods) {
    const Node pod = object->document();
    if (!is_own_on(pod, name)) continue;
    free.pods -= 1;
    for (const Node& container : model::items_at(pod, {"spec", "containers"})) {
      const auto request = resources_in(model::look(container, {"resources", "requests"}));
      free.cpu_millis -= request.cpu_millis;
      free.memory_bytes -= request.memory_bytes;
    }
  }
  free.cpu_millis = std::max<int64_t>(free.cpu_millis, 0);
  free.memory_bytes = std::max<int64_t>(free.memory_bytes, 0);
  free.pods = std::max<int64_t>(free.pods, 0);
  return free;
}

}  // namespace

model::Resources recount(embedded::Cluster& cluster, const supply::OfferingPolicy& policy) {
  embedded::Objects& objects = cluster.objects();
  const embedded::Shelf& pods = objects.table.shelf(objects.registry.built_in("pods"));
  model::Resources sum;
  for (const auto& [key, object] : objects.table.shelf(objects.registry.built_in("nodes"))) {
    const Node node = object->document();
    if (!is_open(node)) continue;
    const model::Resources free = free_on(node, key.name, pods, policy.headroom);
    // Where nothing that is on sale fits, nothing is.
    const bool fits =
        std::any_of(policy.ladder.begin(), policy.ladder.end(),
                    [&free](const supply::Step& step) { return free.covers(step.shape); });
    if (fits) sum += free;
  }
  return sum;
}

}  // namespace spillway::sim
