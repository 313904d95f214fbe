// Random clusters from small alphabets, so that names meet, nodes fill up and taints matter; and
// what supply must say of one, computed the plain way: all rows kept as they came, every sum made
// anew from all of them, resource by resource, with none of supply's own arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "base/arithmetic.h"
#include "supply/node_row.h"
#include "supply/offering.h"
#include "supply/pod_row.h"
#include "supply/policy.h"
#include "supply/view.h"

namespace spillway::supply {

inline constexpr Instant k_now{1'800'000'000'000};
inline constexpr int64_t k_gib = int64_t{1} << 30;
inline const ClusterId k_cluster("edge");

// Both included; all of the range from the first case on.
template <class Integer>
Integer any(Integer low, Integer high) {
  return static_cast<Integer>(*rc::gen::resize(
      rc::kNominalSize,
      rc::gen::inRange<int64_t>(static_cast<int64_t>(low), static_cast<int64_t>(high) + 1)));
}
inline bool one_in(int n) { return any(1, n) == n; }

inline std::string any_node_name() { return fmt::format("n{}", any(1, 6)); }
inline std::string any_pod_key() { return fmt::format("ns{}/p{}", any(1, 2), any(1, 12)); }

inline model::Taint any_taint() {
  return {one_in(2) ? "team" : "gpu", one_in(2) ? "x" : "",
          one_in(2) ? model::TaintEffect::no_schedule : model::TaintEffect::prefer_no_schedule};
}

inline NodeRow any_node(std::string name) {
  NodeRow row;
  row.name = std::move(name);
  row.arch = one_in(4) ? "arm64" : "amd64";
  row.labels = {{"kubernetes.io/arch", row.arch}};
  if (one_in(2)) row.labels.push_back({"nvidia.com/gpu.product", one_in(2) ? "T4" : "A100"});
  if (!one_in(3)) row.labels.push_back({"zone", one_in(2) ? "a" : "b"});
  row.allocatable = {
      any(0, 16) * 1000, any(0, 64) * k_gib, any(0, 110), any(0, 100) * k_gib, {}, {}};
  if (one_in(6)) row.allocatable.cpu_millis = model::k_max_amount;
  if (one_in(4)) row.allocatable.extended.push_back({"example.com/fpga", any(1, 4)});
  if (one_in(2)) row.allocatable.extended.push_back({"nvidia.com/gpu", any(1, 8)});
  if (one_in(2)) row.devices = row.allocatable.extended;
  if (one_in(4) && !row.devices.empty()) row.devices[0].amount += any(1, 2);
  if (one_in(6)) row.allocatable.extended.clear();
  if (one_in(4))
    row.allocatable.memory_bytes -= std::min(row.allocatable.memory_bytes, any<int64_t>(0, k_gib));
  if (one_in(4)) row.taints = {any_taint()};
  row.ready = !one_in(8);
  row.cordoned = one_in(8);
  row.going = one_in(10);
  row.is_virtual = one_in(10);
  if (one_in(12)) row.problem = "unreadable";
  return row;
}

inline Requests any_requests() {
  Requests r{any(0, 6) * 500, any(0, 8) * k_gib, any(0, 8) * k_gib, {}};
  if (one_in(8)) r.memory_bytes = model::k_max_amount;
  if (one_in(6)) r.extended.push_back({"example.com/fpga", any(1, 2)});
  if (one_in(3)) r.extended.push_back({"nvidia.com/gpu", any(1, 3)});
  return r;
}

inline PodRow any_pod(std::string key) {
  PodRow row;
  row.key = std::move(key);
  const std::array<PodState, 6> states{PodState::bound, PodState::bound,   PodState::bound,
                                       PodState::over,  PodState::pending, PodState::gated};
  row.state = states[any<size_t>(0, 5)];
  row.guest = one_in(4);
  if (row.guest || row.state == PodState::over) return row;
  if (row.state == PodState::bound) {
    row.node = any_node_name();
  } else {
    Placement placement;
    if (one_in(3)) placement.selector = {{"zone", "a"}};
    if (one_in(3)) placement.tolerations = {Toleration{}};
    row.placement = std::make_shared<const Placement>(std::move(placement));
  }
  row.requests = any_requests();
  if (one_in(16)) {
    row.problem = "unreadable";
    if (one_in(3)) row.node.clear();
  }
  return row;
}

inline Step any_step(int number) {
  Step step;
  step.name = fmt::format("s{}", number);
  step.shape = {any(0, 4 * number) * 500, any(0, 4 * number) * k_gib, any(1, 10), 0, {}, {}};
  if (one_in(4)) step.shape.storage_bytes = any(1, 20) * k_gib;
  if (one_in(3)) step.shape.gpus = {{one_in(2) ? "nvidia-a100" : "nvidia-t4", any(1, 2)}};
  if (one_in(5)) step.shape.extended = {{"example.com/fpga", 1}};
  step.gpu_nodes = one_in(2);
  return step;
}

inline OfferingPolicy any_policy() {
  OfferingPolicy policy;
  const int steps = any(1, 4);
  for (int i = 1; i <= steps; ++i) policy.ladder.push_back(any_step(i));
  policy.headroom.amount = {any(0, 4) * 250, any(0, 2) * k_gib, any(0, 5), 0, {}, {}};
  if (one_in(4)) policy.headroom.amount.gpus = {{"nvidia-a100", 1}};
  if (one_in(2)) policy.headroom.share_permille = any(0, 300);
  if (one_in(2)) policy.quota.share_permille = any(0, 1000);
  if (one_in(3)) policy.quota.most.cpu_millis = any(0, 32) * 1000;
  if (one_in(4)) policy.quota.most.gpus = {{"nvidia-a100", any(0, 4)}};
  if (one_in(3)) policy.nodes = {{"zone", model::Operator::exists, {}}};
  if (one_in(2)) policy.taints = {{"team", std::nullopt, std::nullopt, one_in(2)}};
  if (one_in(2)) policy.labels.pass = {"zone"};
  if (one_in(3)) policy.hours = {{{}, {any(0, 1439)}, {any(0, 1440)}}};
  if (!policy.hours.empty() && policy.hours[0].from == policy.hours[0].to) policy.hours.clear();
  return policy;
}

// All rows as they came last.
struct PlainCluster {
  std::map<std::string, NodeRow> nodes;
  std::map<std::string, PodRow> pods;

  // One event, to the view as well.
  void change(View& view) {
    switch (any(0, 7)) {
      case 0:
      case 1: {
        const NodeRow row = any_node(any_node_name());
        nodes[row.name] = row;
        return view.put(row);
      }
      case 2: {
        const std::string name = any_node_name();
        nodes.erase(name);
        return view.remove_node(name);
      }
      case 3: {
        const std::string key = any_pod_key();
        pods.erase(key);
        return view.remove_pod(key);
      }
      case 4:
        if (one_in(3)) return relist(view);
        [[fallthrough]];
      default: {
        const PodRow row = any_pod(any_pod_key());
        pods[row.key] = row;
        return view.put(row);
      }
    }
  }

  // Part of it vanished while nobody watched.
  void relist(View& view) {
    std::erase_if(nodes, [](const auto&) { return one_in(4); });
    std::erase_if(pods, [](const auto&) { return one_in(4); });
    std::vector<NodeRow> node_rows;
    std::vector<PodRow> pod_rows;
    for (const auto& entry : nodes) node_rows.push_back(entry.second);
    for (const auto& entry : pods) pod_rows.push_back(entry.second);
    std::reverse(pod_rows.begin(), pod_rows.end());
    view.replace_pods(std::move(pod_rows));
    view.replace_nodes(std::move(node_rows));
  }

  View fresh() const {
    View view;
    for (const auto& entry : nodes) view.put(entry.second);
    for (const auto& entry : pods) view.put(entry.second);
    view.set_nodes_known();
    view.set_pods_known();
    return view;
  }
};

inline PlainCluster any_cluster(View& view) {
  PlainCluster cluster;
  const int events = any(0, 60);
  for (int i = 0; i < events; ++i) cluster.change(view);
  view.set_nodes_known();
  view.set_pods_known();
  return cluster;
}

// --- what is free, the plain way ---

// Amounts by name: "cpu", "memory", "pods", "storage", "gpu <model>", "<resource name>".
using Amounts = std::map<std::string, Int128>;

inline std::string sold_name(const NodeRow& node, const std::string& resource) {
  if (resource != "nvidia.com/gpu") return resource;
  for (const model::Label& label : node.labels) {
    if (label.key != "nvidia.com/gpu.product") continue;
    return label.value == "T4" ? "gpu nvidia-t4" : "gpu nvidia-a100";
  }
  return "gpu nvidia-gpu";
}

inline Amounts amounts_of(const model::Resources& r) {
  Amounts amounts{{"cpu", r.cpu_millis},
                  {"memory", r.memory_bytes},
                  {"pods", r.pods},
                  {"storage", r.storage_bytes}};
  for (const model::Count& count : r.gpus) amounts["gpu " + count.name] = count.amount;
  for (const model::Count& count : r.extended) amounts[count.name] = count.amount;
  return amounts;
}

// In steps of which a node has 64 to 127.
inline Int128 in_steps(Int128 amount) {
  Int128 step = 1;
  while (amount / (step * 2) >= 64) step *= 2;
  return amount / step * step;
}

// As if all its devices were well.
inline NodeRow whole(NodeRow node) {
  for (const model::Count& device : node.devices) {
    auto& all = node.allocatable.extended;
    const auto at = std::find_if(all.begin(), all.end(), [&device](const model::Count& count) {
      return count.name == device.name;
    });
    if (at == all.end()) {
      all.push_back(device);
    } else {
      at->amount = std::max(at->amount, device.amount);
    }
  }
  return node;
}

inline void add_to(Amounts& sum, const Amounts& part) {
  for (const auto& [name, amount] : part) sum[name] += amount;
}

inline Amounts larger_of(Amounts a, const Amounts& b) {
  for (const auto& [name, amount] : b) a[name] = std::max(a[name], amount);
  return a;
}

inline Amounts sold_from(const std::vector<Sold>& sold, const PoolId& pool) {
  for (const Sold& one : sold) {
    if (one.pool.id == pool) return amounts_of(one.units);
  }
  return {};
}

// From some of these pools up to all that they have, and from one that is gone.
inline std::vector<Sold> any_sold(const std::vector<model::Pool>& pools) {
  std::vector<Sold> sold;
  for (const model::Pool& pool : pools) {
    if (one_in(3)) continue;
    const int64_t tenths = any(0, 10);
    model::Resources units = pool.capacity;
    units.cpu_millis = units.cpu_millis / 10 * tenths;
    units.memory_bytes = units.memory_bytes / 10 * tenths;
    units.pods = units.pods * tenths / 10;
    units.storage_bytes = 0;
    sold.push_back({pool, units});
  }
  if (one_in(2)) {
    const model::Resources units{any(0, 9) * 1000, any(0, 9) * k_gib, any(0, 20), 0, {}, {}};
    sold.push_back({{PoolId("edge/gone"), units, units}, units});
  }
  return sold;
}

inline Amounts plain_gross(const PlainCluster& cluster, const NodeRow& node,
                           const OfferingPolicy& policy) {
  Amounts gross;
  for (const auto& [name, amount] : amounts_of(node.allocatable)) {
    gross[sold_name(node, name)] += amount;
  }
  gross["memory"] = in_steps(gross["memory"]);
  gross["storage"] = in_steps(gross["storage"]);
  for (const char* name : {"cpu", "memory", "pods", "storage"}) {
    gross[name] -= (gross[name] * policy.headroom.share_permille + 999) / 1000;
  }
  for (const auto& [name, amount] : amounts_of(policy.headroom.amount)) gross[name] -= amount;
  for (const auto& [key, pod] : cluster.pods) {
    const bool counts = pod.state == PodState::bound && !pod.guest && pod.node == node.name;
    if (!counts) continue;
    gross["cpu"] -= pod.requests.cpu_millis;
    gross["memory"] -= pod.requests.memory_bytes;
    gross["storage"] -= pod.requests.storage_bytes;
    gross["pods"] -= 1;
    for (const model::Count& count : pod.requests.extended) {
      gross[sold_name(node, count.name)] -= count.amount;
    }
  }
  for (auto& entry : gross) entry.second = std::max<Int128>(entry.second, 0);
  return gross;
}

inline bool covers(const Amounts& room, const Amounts& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&room](const auto& want) {
    const auto has = room.find(want.first);
    return want.second == 0 || (has != room.end() && has->second >= want.second);
  });
}

}  // namespace spillway::supply
