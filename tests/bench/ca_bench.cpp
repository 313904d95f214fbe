// What the Cluster Autoscaler waits for: `spillway autoscaler` as a process of its own, between a
// broker and an embedded cluster, asked over mutual TLS on one connection.
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/bench.h"
#include "cluster_autoscaler/protobuf.h"
#include "live/autoscaler_process.h"
#include "live/live_cluster.h"
#include "live/shop.h"
#include "support/nouns.h"

namespace spillway::bench {
namespace {

using cluster_autoscaler::CloudClient;
using cluster_autoscaler::ProtoWriter;
using model::Role;
using test::Members;

constexpr int k_groups = 1000;
constexpr int k_foreign = 1000;
constexpr int k_zones = 20;       // as many classes, of 50 offers each
constexpr int k_in_use = 50;      // groups that hold units
constexpr int k_units_of_it = 2;  // each

model::Resources shape_of(int i) {
  model::Resources shape;
  shape.cpu_millis = 2000;
  shape.memory_bytes = 8 * test::k_gib;
  shape.pods = 30;
  if (i % 10 == 0) shape.gpus = {{i % 20 == 0 ? "nvidia-a100" : "nvidia-l4", 1}};
  return shape;
}

model::Resources pool_unit() {
  model::Resources shape = shape_of(1);
  shape.gpus = {{"nvidia-a100", 1}, {"nvidia-l4", 1}};
  return shape;
}

net::Request put_offer_number(int i) {
  model::Offer offer = test::plain_offer();
  const std::string name = fmt::format("general-purpose-{:04}", i);
  offer.id = OfferId("seller/" + name);
  offer.pool = PoolId("seller/pool");
  offer.shape = shape_of(i);
  offer.price.unit_hour += i;
  offer.labels = {{"example.com/tier", "standard"},
                  {"kubernetes.io/arch", "amd64"},
                  {"topology.kubernetes.io/zone", fmt::format("zone-{}", i % k_zones)}};
  return Members::put("/v1/offers/seller/" + name, model::write_json(wire::OfferPut{offer, 1}));
}

// The labels that a node of a real cluster has at least.
model::Labels labels_of_foreign(int i) {
  const std::string name = fmt::format("ip-10-0-{}-{}.eu-south-1.compute.internal", i / 250, i);
  return {{"beta.kubernetes.io/arch", "amd64"},
          {"beta.kubernetes.io/os", "linux"},
          {"kubernetes.io/arch", "amd64"},
          {"kubernetes.io/hostname", name},
          {"kubernetes.io/os", "linux"},
          {"node.kubernetes.io/instance-type", "m5.4xlarge"},
          {"topology.kubernetes.io/region", "eu-south-1"},
          {"topology.kubernetes.io/zone", "eu-south-1b"}};
}

demand::NodeRef foreign_node(int i) {
  return {fmt::format("aws:///eu-south-1b/i-{:017x}", i),
          fmt::format("ip-10-0-{}-{}.eu-south-1.compute.internal", i / 250, i)};
}

std::string some_pod() {
  ProtoWriter requests;
  requests.entry(2, "cpu", std::move(ProtoWriter().text(1, "500m")));
  requests.entry(2, "memory", std::move(ProtoWriter().text(1, "1Gi")));
  const ProtoWriter container =
      std::move(ProtoWriter().text(1, "main").text(2, "image").message(8, requests));
  const ProtoWriter metadata = std::move(
      ProtoWriter().text(1, "web-7d4f9c6b5-x2x8z").text(3, "default").entry(11, "app", "web"));
  return ProtoWriter().message(1, metadata).message(2, ProtoWriter().message(2, container)).take();
}

template <class T>
T must(cluster_autoscaler::Told<T> told) {
  SPILLWAY_CHECK(told.has_value(), told ? "" : told.error().reason);
  return std::move(*told);
}

// All that is asked about, as many as the goal says.
class Autoscaled {
 public:
  Autoscaled() {
    const test::Papers seller = federation_.join("seller", {Role::provider});
    check(federation_.call(seller, test::put_pool(pool_unit(), 2000)));
    for (int i = 0; i < k_groups; ++i) check(federation_.call(seller, put_offer_number(i)));
    process_ = std::make_unique<test::AutoscalerProcess>(
        federation_.join_folder("home", {Role::consumer}), folder_ / "kubeconfig",
        std::vector<std::string>{"--backend", "embedded", "--best", "100"});
    process_->start();
    calls_ = std::make_unique<test::StraightCalls>(process_->client_options());
    await(k_groups, [this] { return must(cloud_.groups()).size(); });
    for (const auto& group : must(cloud_.groups())) groups_.push_back(group.id);
    buy();
  }

  CloudClient& cloud() { return cloud_; }
  double cpu_seconds() const { return process_->cpu_seconds(); }
  const std::string& group(int i) const { return groups_[static_cast<size_t>(i % k_groups)]; }
  const std::string& own(int i) const { return own_[static_cast<size_t>(i) % own_.size()]; }
  int own_count() const { return static_cast<int>(own_.size()); }

 private:
  static void check(const net::Response& response) {
    SPILLWAY_CHECK(response.status < 300, response.body);
  }
  template <class F>
  void await(size_t count, F now) {
    SPILLWAY_CHECK(test::comes_to(cloud_, [&] { return now() == count; }),
                   fmt::format("{} and not {}", now(), count));
  }
  void buy() {
    for (int i = 0; i < k_in_use; ++i) {
      const auto told = cloud_.increase(group(i), k_units_of_it);
      SPILLWAY_CHECK(told.has_value(), told ? "" : told.error().reason);
    }
    await(k_in_use * k_units_of_it, [this] { return running().size(); });
    own_ = running();
  }
  std::vector<std::string> running() {
    std::vector<std::string> ids;
    for (int i = 0; i < k_in_use; ++i) {
      for (const auto& one : must(cloud_.nodes(group(i)))) {
        if (one.state == 1) ids.push_back(one.id);
      }
    }
    return ids;
  }

  test::TemporaryFolder folder_;
  test::Federation federation_;
  test::LiveCluster home_{folder_ / "kubeconfig"};
  std::unique_ptr<test::AutoscalerProcess> process_;
  std::unique_ptr<test::StraightCalls> calls_;
  CloudClient cloud_{[this](const std::string& method, std::string message) {
    return calls_->call(method, message);
  }};
  std::vector<std::string> groups_;
  std::vector<std::string> own_;
};

struct Read {
  const char* name;
  std::function<void(int)> ask;
};

std::vector<Read> all_reads(Autoscaled& world) {
  CloudClient& cloud = world.cloud();
  const Instant now = test::wall_clock();
  std::vector<model::Labels> foreign;
  for (int i = 0; i < k_foreign; ++i) foreign.push_back(labels_of_foreign(i));
  std::vector<model::Labels> templates;
  for (int i = 0; i < k_groups; ++i) {
    const auto seen = must(cloud.template_node(world.group(i)));
    templates.push_back(cluster_autoscaler::read_node_bytes(seen.node).labels);
  }
  return {
      {"NodeGroups", [&](int) { SPILLWAY_CHECK(must(cloud.groups()).size() == k_groups, "few"); }},
      {"NodeGroupForNode, foreign",
       [&, foreign](int i) {
         const auto n = static_cast<size_t>(i % k_foreign);
         SPILLWAY_CHECK(must(cloud.group_of(foreign_node(i % k_foreign), foreign[n])).empty(),
                        "a foreign node is ours");
       }},
      {"NodeGroupForNode, own",
       [&](int i) {
         SPILLWAY_CHECK(!must(cloud.group_of({world.own(i), {}})).empty(), "lost");
       }},
      {"NodeGroupTargetSize", [&](int i) { must(cloud.target(world.group(i))); }},
      {"NodeGroupNodes", [&](int i) { must(cloud.nodes(world.group(i))); }},
      {"NodeGroupTemplateNodeInfo", [&](int i) { must(cloud.template_node(world.group(i))); }},
      {"NodeGroupGetOptions",
       [&](int i) { SPILLWAY_CHECK(!cloud.options(world.group(i)), "it is answered"); }},
      {"PricingNodePrice",
       [&, now, templates](int i) {
         must(cloud.node_price(templates[static_cast<size_t>(i % k_groups)], now, 3600));
       }},
      {"PricingPodPrice", [&, now, pod = some_pod()](int) { must(cloud.pod_price(pod, now, 60)); }},
      {"GPULabel", [&](int) { must(cloud.gpu_label()); }},
      {"GetAvailableGPUTypes",
       [&](int) { SPILLWAY_CHECK(must(cloud.gpu_types()).size() == 2, "two models are sold"); }},
  };
}

// One loop as the Cluster Autoscaler makes it: its caches are empty after Refresh, and what is not
// ours it asks about at every place in its code that wants to know, of which two are counted here.
int walk_loop(Autoscaled& world, const std::vector<model::Labels>& foreign, Instant now) {
  CloudClient& cloud = world.cloud();
  int calls = 2;
  SPILLWAY_CHECK(cloud.refresh().has_value(), "Refresh fails");
  SPILLWAY_CHECK(must(cloud.groups()).size() == k_groups, "groups are missing");
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < k_foreign; ++i, ++calls) {
      must(cloud.group_of(foreign_node(i), foreign[static_cast<size_t>(i)]));
    }
  }
  for (int i = 0; i < world.own_count(); ++i, ++calls) must(cloud.group_of({world.own(i), {}}));
  for (int i = 0; i < k_groups; ++i, calls += 3) {
    must(cloud.target(world.group(i)));
    must(cloud.nodes(world.group(i)));
    const auto seen = must(cloud.template_node(world.group(i)));
    if (i >= k_in_use) continue;  // options of a pending pod
    must(cloud.node_price(cluster_autoscaler::read_node_bytes(seen.node).labels, now, 3600));
    must(cloud.pod_price(some_pod(), now, 3600));
    calls += 2;
  }
  return calls;
}

}  // namespace

// CPU time of the server's process for each call, the reading and the encrypting of bytes included.
SPILLWAY_BENCH(ca, reads) {
  constexpr int k_calls = 1000;
  Autoscaled world;
  const std::vector<Read> reads = all_reads(world);
  std::vector<double> worst;
  std::map<std::string, std::vector<double>> each;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    double most = 0;
    for (const Read& read : reads) {
      std::vector<double> micros;
      for (int i = 0; i < k_calls; ++i) {
        const double before = world.cpu_seconds();
        read.ask(i);
        micros.push_back((world.cpu_seconds() - before) * 1e6);
      }
      each[read.name].push_back(percentile(micros, 990));
      most = std::max(most, each[read.name].back());
    }
    worst.push_back(most);
  }
  for (const auto& [name, values] : each) {
    fmt::print(stderr, "  {:<26} p99 {:>6.1f} us\n", name, median(values));
  }
  report.at_most("read_p99_us", worst, "us", 200);
}

// Wall time: the caller waits for each answer.
SPILLWAY_BENCH(ca, loop) {
  Autoscaled world;
  std::vector<model::Labels> foreign;
  for (int i = 0; i < k_foreign; ++i) foreign.push_back(labels_of_foreign(i));
  std::vector<double> walls;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const double cpu = world.cpu_seconds();
    const double before = wall_seconds();
    const int calls = walk_loop(world, foreign, test::wall_clock());
    walls.push_back(wall_seconds() - before);
    SPILLWAY_CHECK(calls >= 5000, "a loop has at least 5,000 calls");
    fmt::print(stderr, "  {} calls: {:.2f} s, of which the server {:.2f} s\n", calls, walls.back(),
               world.cpu_seconds() - cpu);
  }
  report.at_most("loop_s", walls, "s", 2);
}

}  // namespace spillway::bench
