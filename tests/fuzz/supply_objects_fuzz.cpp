// Hostile Kubernetes objects, a JSON list of them, each taken for a node and for a pod: what is
// made of them is a supply that a broker would take, the same when they come in reverse and none
// twice, and nothing of them is left when all are removed.
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/check.h"
#include "model/json.h"
#include "supply/offering.h"

namespace spillway::supply {
namespace {

constexpr Instant k_now{1'800'000'000'000};

OfferingPolicy policy() {
  OfferingPolicy made;
  Step small;
  small.name = "small";
  small.shape = {1, 1, 1, 0, {}, {}};
  small.gpu_nodes = true;
  Step gpu = small;
  gpu.name = "gpu";
  gpu.shape.gpus = {{"nvidia-gpu", 1}};
  gpu.shape.extended = {{"example.com/fpga", 1}};
  made.ladder = {small, gpu};
  made.labels.pass = {"zone"};
  made.taints = {{"team", std::nullopt, std::nullopt, true}};
  SPILLWAY_CHECK(validate(made).has_value(), "the policy is good");
  return made;
}

struct Rows {
  std::vector<NodeRow> nodes;
  std::vector<PodRow> pods;
};

// The first of each name.
Rows read(const model::Node& list, const GuestRule& guests) {
  Rows rows;
  std::set<std::string> names;
  for (const model::Node& object : list.items) {
    if (auto node = node_row(object); node && names.insert("/" + node->name).second) {
      rows.nodes.push_back(std::move(*node));
    }
    if (auto pod = pod_row(object, guests); pod && names.insert(pod->key).second) {
      SPILLWAY_CHECK(pod_key(object) == pod->key, "one object, two names");
      rows.pods.push_back(std::move(*pod));
    }
  }
  return rows;
}

void check(std::string_view text) {
  const auto list = model::parse_json(text, "fuzz");
  if (!list) return;
  static const OfferingPolicy k_policy = policy();
  const Rows rows = read(*list, k_policy.guests);
  View forwards;
  for (const NodeRow& row : rows.nodes) forwards.put(row);
  for (const PodRow& row : rows.pods) forwards.put(row);
  View backwards;
  for (size_t i = rows.pods.size(); i > 0; --i) backwards.put(rows.pods[i - 1]);
  for (size_t i = rows.nodes.size(); i > 0; --i) backwards.put(rows.nodes[i - 1]);
  for (View* view : {&forwards, &backwards}) {
    view->set_nodes_known();
    view->set_pods_known();
  }
  const Offering made = offer(forwards, k_policy, ClusterId("c"), k_now);
  SPILLWAY_CHECK(validate(made.supply).has_value(), "a supply that no broker takes");
  const Offering other = offer(backwards, k_policy, ClusterId("c"), k_now);
  SPILLWAY_CHECK(made.supply == other.supply, "the order of events made a difference");
  SPILLWAY_CHECK(made.explanation == other.explanation, "the order of events was explained");
  for (const NodeRow& row : rows.nodes) forwards.remove_node(row.name);
  for (const PodRow& row : rows.pods) forwards.remove_pod(row.key);
  SPILLWAY_CHECK(forwards.places().empty() && forwards.pods() == 0, "something was left behind");
}

}  // namespace
}  // namespace spillway::supply

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  spillway::supply::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
