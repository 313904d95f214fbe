#include "supply/explanation.h"

#include <iterator>

#include <fmt/format.h>

#include "base/check.h"

namespace spillway::supply {

std::string_view to_text(NodeReason reason) {
  switch (reason) {
    case NodeReason::offered:
      return "offered";
    case NodeReason::is_virtual:
      return "virtual";
    case NodeReason::not_for_sale:
      return "not for sale";
    case NodeReason::unreadable:
      return "unreadable";
    case NodeReason::going:
      return "going";
    case NodeReason::cordoned:
      return "cordoned";
    case NodeReason::not_ready:
      return "not ready";
    case NodeReason::tainted:
      return "tainted";
    case NodeReason::too_small:
      return "too small";
    case NodeReason::without_gpus:
      return "without GPUs";
    case NodeReason::unreadable_pod:
      return "unreadable pod";
    case NodeReason::full:
      return "full";
  }
  broken_invariant("a reason without a word", __FILE__, __LINE__);
}

std::string to_text(const Explanation& explanation) {
  std::string text;
  const auto line = std::back_inserter(text);
  if (!explanation.withheld.empty()) {
    fmt::format_to(line, "nothing is on sale: {}\n", explanation.withheld);
  }
  for (const NodeVerdict& node : explanation.nodes) {
    fmt::format_to(line, "node {}: {}\n", node.node, node.sentence);
  }
  for (const PoolVerdict& pool : explanation.pools) {
    fmt::format_to(line, "pool {}: {}\n", pool.pool.text, pool.sentence);
  }
  for (const StepVerdict& step : explanation.steps) {
    fmt::format_to(line, "{} from {}: {}\n", step.step, step.pool.text, step.sentence);
  }
  for (const PendingVerdict& pod : explanation.pending) {
    fmt::format_to(line, "pending pod {}: {}\n", pod.pod, pod.sentence);
  }
  const auto told = static_cast<int64_t>(explanation.pending.size());
  if (explanation.pending_pods > told) {
    fmt::format_to(line, "and {} pending pods more\n", explanation.pending_pods - told);
  }
  return text;
}

}  // namespace spillway::supply
