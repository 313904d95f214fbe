#include "sim/scaler/expanders.h"

#include <algorithm>
#include <cmath>

namespace spillway::scaler {
namespace {

constexpr int64_t k_mebibyte = int64_t{1} << 20;
constexpr double k_gpu_unfitness = 1000;

double waste_of(const Option& option) {
  double cpu = 0;
  double memory = 0;
  for (const PodView& pod : option.pods) {
    cpu += static_cast<double>(pod.requests.cpu_millis);
    memory += static_cast<double>(pod.requests.memory_bytes);
  }
  const double has_cpu = static_cast<double>(option.node.capacity.cpu_millis) * option.count;
  const double has_memory = static_cast<double>(option.node.capacity.memory_bytes) * option.count;
  return (has_cpu - cpu) / has_cpu + (has_memory - memory) / has_memory;
}

// Twice as many cores for three times as many nodes.
int64_t preferred_cpu(size_t nodes) {
  if (nodes <= 2) return 1000;
  if (nodes <= 6) return 2000;
  if (nodes <= 20) return 4000;
  if (nodes <= 60) return 8000;
  return nodes <= 200 ? 16'000 : 32'000;
}

// How far a node's size is from the preferred one, the less the more nodes are added at once.
double unfitness_of(const Option& option, size_t cluster_nodes) {
  if (gpus_of(option.node.capacity) > 0) return k_gpu_unfitness;
  const auto wanted = static_cast<double>(preferred_cpu(cluster_nodes));
  const auto has = static_cast<double>(option.node.capacity.cpu_millis);
  const double unfitness = std::max(wanted / has, has / wanted);
  return (unfitness - 1) * (1 - std::tanh(static_cast<double>(option.count - 1) / 15)) + 1;
}

std::optional<double> price_score(const Option& option, const Quotes& quotes,
                                  size_t cluster_nodes) {
  const auto node = quotes.nodes.find(option.group);
  if (node == quotes.nodes.end()) return std::nullopt;
  double pods = 0;
  for (const PodView& pod : option.pods) {
    const auto price = quotes.pods.find(pod.key);
    if (price == quotes.pods.end()) return std::nullopt;
    pods += price->second;
  }
  return unfitness_of(option, cluster_nodes) *
         (node->second * option.count + quotes.stabilisation) / (pods + quotes.stabilisation);
}

template <class Score>
std::vector<Option> least_by(const std::vector<Option>& options, Score score_of) {
  std::vector<Option> best;
  double least = 0;
  for (const Option& option : options) {
    const std::optional<double> score = score_of(option);
    if (!score || (!best.empty() && *score > least)) continue;
    if (best.empty() || *score < least) best.clear();
    least = *score;
    best.push_back(option);
  }
  return best;
}

}  // namespace

std::vector<Option> least_wasteful(const std::vector<Option>& options) {
  return least_by(options, [](const Option& option) { return std::optional(waste_of(option)); });
}

std::vector<Option> best_priced(const std::vector<Option>& options, const Quotes& quotes,
                                size_t cluster_nodes) {
  return least_by(options,
                  [&](const Option& option) { return price_score(option, quotes, cluster_nodes); });
}

PodView stabilisation_pod() {
  PodView pod;
  pod.key = "default/stabilize";
  pod.requests.cpu_millis = 500;
  pod.requests.memory_bytes = 500 * k_mebibyte;
  pod.requests.pods = 1;
  pod.placement = std::make_shared<supply::Placement>();
  return pod;
}

std::optional<Option> choose(const std::vector<Option>& options, host::Random& random) {
  if (options.empty()) return std::nullopt;
  return options[host::below(random, options.size())];
}

}  // namespace spillway::scaler
