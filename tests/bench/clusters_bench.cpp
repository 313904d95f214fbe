// Clusters: what an agent costs that watches a large one, how soon the broker hears of a change,
// what an embedded cluster costs, and how soon real ones are up.
#include <chrono>
#include <filesystem>
#include <future>
#include <latch>

#include <unistd.h>

#include "base/check.h"
#include "bench/bench.h"
#include "embedded/cluster.h"
#include "kube/session.h"
#include "live/broker_process.h"
#include "live/federation.h"
#include "live/live_cluster.h"
#include "model/json.h"
#include "pki/private_file.h"
#include "services/service_loop.h"
#include "support/temporary_folder.h"

namespace spillway::bench {
namespace {

using model::Role;
using test::Members;
using test::Papers;

constexpr const char* k_policy =
    "noun: policy\nversion: 1\nladder:\n  - {name: small, shape: {cpu: 1, memory: 1Gi, pods: 5}}\n"
    "price: {currency: EUR, cpu_hour: 0.02}\nvisibility: everyone\n"
    "place: {latitude: 45.07, longitude: 7.69, country: IT}\n";

// An embedded cluster here, and a client of it.
class Cluster {
 public:
  std::string kubeconfig() const { return folder_ / "kubeconfig"; }
  void add_nodes(int count) {
    live_.thread().run([&] {
      for (int i = 0; i < count; ++i) {
        embedded::NodeWish wish;
        wish.name = fmt::format("ip-10-0-{}-{}", i / 250, i % 250);
        wish.cpu = "32";
        wish.memory = "128Gi";
        for (int label = 0; label < 20; ++label) {
          wish.labels.emplace_back(fmt::format("example.com/label-{}", label), "some-value");
        }
        SPILLWAY_CHECK(live_.cluster().add_node(wish).has_value(), wish.name);
        nodes_.push_back(wish.name);
      }
      return true;
    });
  }
  void add_pods(int count) {
    std::latch done(count);
    live_.thread().run([&] {
      for (int i = 0; i < count; ++i) {
        live_.api().create(kube::k_pods, pod(i), [&done](const Result<kube::Object>& made) {
          SPILLWAY_CHECK(made.has_value(), made ? "" : made.error().message());
          done.count_down();
        });
      }
      return true;
    });
    done.wait();
  }
  void run_pod(const std::string& name, int cpu) {
    kube::Object made = pod(0);
    model::put(model::ensure(made, {"metadata"}), "name", model::text_node(name));
    model::merge(made, *model::parse_json(fmt::format(
                           R"({{"spec":{{"containers":[{{"name":"main","image":"none",
                               "resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
                           cpu)));
    const auto told = live_.thread().ask<Result<kube::Object>>(
        [&](auto then) { live_.api().create(kube::k_pods, made, then); });
    SPILLWAY_CHECK(told.has_value(), told ? "" : told.error().message());
  }

 private:
  // As large as pods are that people write: some 3 KB.
  kube::Object pod(int i) const {
    kube::Object made =
        kube::new_object(kube::k_pods, "Pod", {"default", fmt::format("web-7d4f9c6b5-{:05}", i)});
    std::string variables;
    for (int v = 0; v < 20; ++v) {
      variables += fmt::format(R"({}{{"name":"VARIABLE_{}","value":"some value of it {}"}})",
                               v == 0 ? "" : ",", v, v);
    }
    model::put(made, "spec",
               *model::parse_json(fmt::format(
                   R"({{"nodeName":"{}","containers":[{{"name":"main","image":"none",
                       "env":[{}],"resources":{{"requests":{{"cpu":"100m","memory":"128Mi"}},
                       "limits":{{"memory":"256Mi"}}}}}}]}})",
                   nodes_[static_cast<size_t>(i) % nodes_.size()], variables)));
    return made;
  }

  test::TemporaryFolder folder_;
  test::LiveCluster live_{kubeconfig()};
  std::vector<std::string> nodes_;
};

// A broker, and an agent that sells what is free in a cluster.
class Seller {
 public:
  explicit Seller(const Cluster& cluster)
      : broker_(members_.data(), {"member_rate=0", "log=error"}) {
    broker_.start();
    members_.set_port(broker_.port());
    folder_ = members_.join_folder("turin", {Role::provider});
    SPILLWAY_CHECK(pki::write_private(folder_ + "/policy.yaml", k_policy).has_value(), folder_);
    agent_.emplace(std::vector<std::string>{test::spillway_program(), "agent", "--dir", folder_,
                                            "--policy", folder_ + "/policy.yaml", "--kubeconfig",
                                            cluster.kubeconfig()});
  }
  // Of all its pools, in cores.
  int64_t cores() {
    const auto page =
        Members::read<wire::PoolPage>(members_.call(members_.boss(), Members::get("/v1/pools")));
    int64_t millis = 0;
    for (const wire::PoolRow& row : page.pools) millis += row.pool.capacity.cpu_millis;
    return millis / 1000;
  }
  void wait_for(int64_t cores_wanted) {
    while (cores() != cores_wanted) std::this_thread::yield();
  }
  pid_t agent() const { return agent_->pid(); }

 private:
  Members members_;
  test::BrokerProcess broker_;
  std::string folder_;
  std::optional<test::ChildProcess> agent_;
};

SPILLWAY_BENCH(clusters, list10k) {
  Cluster cluster;
  cluster.add_nodes(1000);
  cluster.add_pods(10'000);
  std::vector<double> rss;
  for (int i = 0; i < k_repetitions; ++i) {
    Seller seller(cluster);
    seller.wait_for(1000 * 31);
    rss.push_back(static_cast<double>(test::peak_rss_kib_of(seller.agent())) / 1024);
  }
  report.at_most("kube.list10k_rss_mib", rss, "MiB", 60);
}

SPILLWAY_BENCH(clusters, offer_lag) {
  Cluster cluster;
  cluster.add_nodes(10);
  Seller seller(cluster);
  seller.wait_for(320);
  std::vector<double> lag_ms;
  for (int i = 1; i <= 2 * k_repetitions; ++i) {
    const double begun = wall_seconds();
    cluster.run_pod(fmt::format("own-{}", i), 1);
    seller.wait_for(320 - i);
    lag_ms.push_back((wall_seconds() - begun) * 1000);
  }
  report.at_most("agent.offer_lag_ms", lag_ms, "ms", 1000);
}

// From nothing to the first answer over TLS.
SPILLWAY_BENCH(clusters, embedded) {
  const test::TemporaryFolder folder;
  std::vector<double> start_ms;
  std::vector<double> rss;
  for (int i = 0; i < k_repetitions; ++i) {
    const std::string kubeconfig = folder / fmt::format("kubeconfig-{}", i);
    const double begun = wall_seconds();
    const test::ChildProcess child(
        {test::spillway_program(), "cluster", "run", "bench", "--kubeconfig", kubeconfig});
    while (!std::filesystem::exists(kubeconfig)) std::this_thread::yield();
    test::PollThread thread;
    services::ServiceLoop loop(thread.poll());
    host::SystemRandom random;
    auto session = thread.run([&] {
      return kube::Session::open(thread.poll(), loop, random,
                                 *kube::read_own_kubeconfig(kubeconfig));
    });
    const auto node = thread.ask<Result<kube::Object>>([&](auto then) {
      (*session)->api().get(kube::k_nodes, {"", "node-1"}, then);
    });
    SPILLWAY_CHECK(node.has_value(), node ? "" : node.error().message());
    start_ms.push_back((wall_seconds() - begun) * 1000);
    rss.push_back(static_cast<double>(test::rss_kib_of(child.pid())) / 1024);
    thread.run([&] {
      session->reset();
      return true;
    });
  }
  report.at_most("embedded.start_ms", start_ms, "ms", 100);
  report.at_most("embedded.rss_mib", rss, "MiB", 15);
}

// Two of them, side by side, once the programs are built: else the first one builds them.
SPILLWAY_BENCH(clusters, realkube) {
  if (::geteuid() != 0 || !std::filesystem::exists("tools/realkube/realkube")) {
    fmt::print("clusters.realkube: left out: it needs root, and the repository's root\n");
    return;
  }
  const test::TemporaryFolder folder;
  const std::string realkube =
      fmt::format("REALKUBE_STATE='{}' tools/realkube/realkube ", folder / "state");
  const auto run = [&](const std::string& words) {
    SPILLWAY_CHECK(std::system((realkube + words + " >/dev/null 2>&1").c_str()) == 0, words);
  };
  run("build --only control-plane");
  std::vector<double> up_s;
  for (int i = 0; i < k_repetitions; ++i) {
    const double begun = wall_seconds();
    run("up one two");
    up_s.push_back(wall_seconds() - begun);
    run("down --all");
  }
  report.at_most("realkube.up_s", up_s, "s", 40);
}

}  // namespace
}  // namespace spillway::bench
