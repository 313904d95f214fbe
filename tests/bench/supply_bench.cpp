// What supply costs in a cluster of 1,000 nodes and 10,000 pods: one event, one look at what is on
// offer, one object read, and the memory of a pod.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>

#include "base/check.h"
#include "bench/bench.h"
#include "model/json.h"
#include "supply/offering.h"

namespace spillway::bench {
namespace {

constexpr int k_nodes = 1000;
constexpr int k_pods = 10'000;
constexpr int k_pending = 200;
constexpr int64_t k_gib = int64_t{1} << 30;
constexpr Instant k_now{1'800'000'000'000};

std::string node_name(int i) { return fmt::format("ip-10-0-{}-{}.internal", i / 250, i % 250); }
std::string pod_name(int i) { return fmt::format("team-{}/web-7d4f9c6b5-{:05}", i % 40, i); }

supply::NodeRow node(int i) {
  supply::NodeRow row;
  row.name = node_name(i);
  row.arch = i % 5 == 0 ? "arm64" : "amd64";
  for (int label = 0; label < 20; ++label) {
    row.labels.push_back({fmt::format("example.com/label-{:02}", label), "some-value"});
  }
  row.labels.push_back({"kubernetes.io/arch", row.arch});
  row.labels.push_back({"zone", fmt::format("z{}", i % 3)});
  row.allocatable = {32'000, 128 * k_gib, 110, 200 * k_gib, {}, {}};
  if (i % 10 == 0) row.allocatable.extended = {{"nvidia.com/gpu", 8}};
  row.ready = i % 50 != 0;
  return row;
}

supply::PodRow pod(int i, int64_t cpu_millis) {
  supply::PodRow row;
  row.key = pod_name(i);
  row.state = i < k_pending ? supply::PodState::pending : supply::PodState::bound;
  row.requests = {cpu_millis, k_gib, 0, {}};
  if (row.state == supply::PodState::bound) {
    row.node = node_name(i % k_nodes);
  } else {
    supply::Placement placement;
    placement.selector = {{"zone", fmt::format("z{}", i % 20)}};
    row.placement = std::make_shared<const supply::Placement>(std::move(placement));
  }
  return row;
}

supply::View cluster() {
  supply::View view;
  for (int i = 0; i < k_nodes; ++i) view.put(node(i));
  for (int i = 0; i < k_pods; ++i) view.put(pod(i, 250));
  view.set_nodes_known();
  view.set_pods_known();
  return view;
}

supply::OfferingPolicy policy() {
  supply::OfferingPolicy made;
  for (int i = 1; i <= 4; ++i) {
    supply::Step step;
    step.name = fmt::format("step-{}", i);
    step.shape = {i * 2000, i * 8 * k_gib, 10, 0, {}, {}};
    step.gpu_nodes = true;
    made.ladder.push_back(step);
  }
  made.labels.pass = {"zone"};
  made.headroom.share_permille = 50;
  SPILLWAY_CHECK(validate(made).has_value(), "the policy is good");
  return made;
}

constexpr std::string_view k_pod_json =
    R"({"metadata":{"name":"web-7d4f9c6b5-abcde","namespace":"team-7","labels":{"app":"web"}},)"
    R"("spec":{"nodeName":"ip-10-0-1-7.internal","containers":[{"name":"web","image":"web:1",)"
    R"("resources":{"requests":{"cpu":"250m","memory":"512Mi"},"limits":{"memory":"1Gi"}}}],)"
    R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists"}]},)"
    R"("status":{"phase":"Running","containerStatuses":[{"name":"web","ready":true}]}})";

}  // namespace

SPILLWAY_BENCH(supply, offer) {
  const supply::View view = cluster();
  const supply::OfferingPolicy rules = policy();
  std::vector<double> milliseconds;
  for (int i = 0; i < 4 * k_repetitions; ++i) {
    const double start = cpu_seconds();
    const supply::Offering made = supply::offer(view, rules, ClusterId("edge"), k_now);
    milliseconds.push_back((cpu_seconds() - start) * 1e3);
    SPILLWAY_CHECK(!made.supply.offers.empty(), "something is on offer");
  }
  report.at_most("offer_ms", milliseconds, "ms", 10);
}

SPILLWAY_BENCH(supply, event) {
  supply::View view = cluster();
  std::vector<double> microseconds;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    std::vector<supply::PodRow> rows;
    for (int i = 0; i < k_pods; ++i) rows.push_back(pod(i * 7 % k_pods, 100 + repetition));
    const double start = cpu_seconds();
    for (supply::PodRow& row : rows) view.put(std::move(row));
    microseconds.push_back((cpu_seconds() - start) * 1e6 / k_pods);
  }
  report.at_most("event_us", microseconds, "µs", 20);
}

SPILLWAY_BENCH(supply, row) {
  const auto document = model::parse_json(k_pod_json);
  SPILLWAY_CHECK(document.has_value(), "the pod is good");
  const supply::GuestRule guests;
  std::vector<double> microseconds;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const double start = cpu_seconds();
    for (int i = 0; i < k_pods; ++i) keep(supply::pod_row(*document, guests));
    microseconds.push_back((cpu_seconds() - start) * 1e6 / k_pods);
  }
  report.at_most("pod_row_us", microseconds, "µs", 20);
}

SPILLWAY_BENCH(supply, memory) {
  std::vector<double> bytes;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    supply::View view;
    for (int i = 0; i < k_nodes; ++i) view.put(node(i));
    const size_t before = mallinfo2().uordblks;
    for (int i = k_pending; i < k_pods; ++i) view.put(pod(i, 250));
    bytes.push_back(static_cast<double>(mallinfo2().uordblks - before) / (k_pods - k_pending));
  }
  report.at_most("pod_bytes", bytes, "bytes", 250);
}

}  // namespace spillway::bench
