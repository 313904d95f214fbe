// Hostile YAML as an offering policy: whatever is read is written to JSON that reads as the same,
// and makes of a cluster only what a broker would take.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "supply/offering.h"

namespace spillway::supply {
namespace {

NodeRow node(std::string name, model::Counts extended) {
  NodeRow row;
  row.name = std::move(name);
  row.arch = "amd64";
  row.labels = {{"nvidia.com/gpu.product", "A100"}, {"zone", "a"}};
  row.taints = {{"nvidia.com/gpu", "", model::TaintEffect::no_schedule}};
  row.allocatable = {64'000, int64_t{256} << 30, 110, int64_t{1} << 40, {}, std::move(extended)};
  row.ready = true;
  return row;
}

View small_cluster() {
  View view;
  view.put(node("n1", {{"nvidia.com/gpu", 8}}));
  view.put(node("n2", {}));
  PodRow pod;
  pod.key = "a/b";
  pod.state = PodState::pending;
  pod.requests.cpu_millis = 500;
  pod.placement = std::make_shared<const Placement>();
  view.put(pod);
  view.set_nodes_known();
  view.set_pods_known();
  return view;
}

void check(std::string_view text) {
  const auto policy = policy_from_yaml(text, "fuzz");
  if (!policy) {
    SPILLWAY_CHECK(policy.error().code == Code::invalid, "bad input is the sender's fault");
    return;
  }
  const auto again = policy_from_json(to_json(*policy), "fuzz");
  SPILLWAY_CHECK(again.has_value(), "what was written does not read");
  SPILLWAY_CHECK(*again == *policy, "what was written reads as something else");
  static const View k_view = small_cluster();
  const Offering made = offer(k_view, *policy, ClusterId("c"), Instant{1'800'000'000'000});
  SPILLWAY_CHECK(validate(made.supply).has_value(), "a supply that no broker takes");
}

}  // namespace
}  // namespace spillway::supply

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  spillway::supply::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
