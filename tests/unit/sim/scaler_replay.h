// The load that was recorded with a real Cluster Autoscaler (tests/model/), played again with the
// model in its place, in virtual time: the shipping autoscaler behind its door, a scripted broker
// that sells the same offers, and an embedded cluster for the control plane.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster_autoscaler/cloud_provider.h"
#include "kube/api.h"
#include "model/documents.h"
#include "model/json.h"
#include "model/tree.h"
#include "services/autoscaler/autoscaler.h"
#include "services/autoscaler/played_nodes.h"
#include "sim/cluster.h"
#include "sim/scaler/cluster_autoscaler.h"
#include "sim/scaler/grpc_cloud.h"
#include "sim/scaler/watched_cluster.h"
#include "support/scripted_broker.h"

namespace spillway::scaler {

using model::Node;

// Nodes of each group, in the order of the load's offers.
using Counts = std::vector<int>;
constexpr Duration k_look_every = milliseconds(100);
// A loop takes some time, so that four of them are a little more than four scan intervals.
constexpr Duration k_call_takes = milliseconds(1);

inline Duration flag(const Node& load, std::string_view name, Duration fallback) {
  const auto value = parse_duration(model::text_at(load, {"flags", name}));
  return value ? *value : fallback;
}

inline Options options_of(const Node& load, Version version, Expander expander) {
  Options options;
  options.version = version;
  options.frequent_loops_enabled = version == Version::v1_35;
  options.expander = expander;
  const auto take = [&load](std::string_view name, Duration& into) {
    into = flag(load, name, into);
  };
  take("scan-interval", options.scan_interval);
  take("scale-down-unneeded-time", options.scale_down_unneeded_time);
  take("scale-down-delay-after-add", options.scale_down_delay_after_add);
  take("scale-down-delay-after-failure", options.scale_down_delay_after_failure);
  take("unremovable-node-recheck-timeout", options.unremovable_node_recheck_timeout);
  take("max-node-provision-time", options.max_node_provision_time);
  return options;
}

class Replay {
 public:
  Replay(const Node& load, Options options, uint64_t seed)
      : load_(load),
        world_(seed),
        network_(world_),
        laws_(rows_, {}),
        process_(world_),
        home_(world_, 2, laws_, home_options(load)),
        to_home_(process_, 1, network_, {&home_}),
        api_(process_, world_.random(), to_home_, {}),
        broker_(process_),
        nodes_(api_, log_, *autoscaler::find_player("embedded"), "replay/home"),
        autoscaler_(process_, world_.random(), broker_.channel, disk_, nodes_, log_,
                    {ClusterId("home")}),
        door_(autoscaler_),
        cloud_(
            [this](const std::string& method, std::string message, GrpcCloud::Answered answered) {
              process_.after(k_call_takes, [this, method, message = std::move(message),
                                            answered = std::move(answered)] {
                door_.handle({method, message, std::nullopt, {}}, answered);
              });
            }),
        cluster_(api_, [this] { model_.pod_is_unschedulable(); }),
        model_(process_, world_.random(), cloud_, cluster_, options) {
    to_home_.set_patience({.silence = minutes(11), .probes = true});
    for (const Node& offer : model::items_at(load, {"offers"})) sell(offer);
    for (const Node& work : model::items_at(load, {"works"})) add_work(work.key, work);
    EXPECT_TRUE(autoscaler_.start());
    cluster_.start();
    run_for(seconds(5));
    EXPECT_TRUE(cluster_.is_synced());
    model_.start();
    run_for(flag(load, "scan-interval", seconds(10)) + seconds(1));
  }

  // What there was every tenth of a second.
  std::vector<Counts> run() {
    const Instant begin = world_.now();
    const Instant end = begin + seconds(model::integer_at(load_, {"seconds"}));
    const auto& steps = model::items_at(load_, {"steps"});
    size_t next = 0;
    std::vector<Counts> seen;
    for (Instant at = begin; at <= end; at = at + k_look_every) {
      while (next < steps.size() && begin + seconds(steps[next].items[0].integer) <= at) {
        scale(steps[next].items[1].text, steps[next].items[2].integer);
        next += 1;
      }
      seen.push_back(count());
      run_for(k_look_every);
    }
    EXPECT_FALSE(laws_.broken());
    return seen;
  }
  const std::vector<std::string>& groups() const { return groups_; }

 private:
  class NoDisk final : public agent::StateStore {
   public:
    void save(const std::string&, std::function<void(Status)> then) override { then({}); }
    Result<std::string> load() override { return std::string(); }
  };

  static embedded::ClusterOptions home_options(const Node& load) {
    embedded::ClusterOptions options;
    options.name = "home";
    options.nodes = 1;
    options.node.cpu = model::text_at(load, {"own_node", "cpu"});
    options.node.memory = model::text_at(load, {"own_node", "memory"});
    options.trusts_strangers = true;
    options.kubelets.start_after = milliseconds(500);
    options.kubelets.stop_after = seconds(1);
    return options;
  }

  void sell(const Node& wish) {
    const std::string provider(model::text_at(wish, {"provider"}));
    const std::string id = provider + "/" + std::string(model::text_at(wish, {"name"}));
    const auto offer = model::offer_from_json(fmt::format(
        R"({{"version":1,"id":"{}","pool":"{}/pool",)"
        R"("shape":{{"cpu":"{}","memory":"{}","pods":20}},)"
        R"("price":{{"currency":"EUR","cpu_hour":"{}","memory_gib_hour":"{}"}},)"
        R"("place":{{"latitude":"45.07","longitude":"7.68","country":"IT"}},"visibility":"everyone",)"
        R"("terms":{{"lease":"10m","notice":"5m"}}}})",
        id, provider, model::integer_at(wish, {"cpu"}), model::text_at(wish, {"memory"}),
        model::text_at(wish, {"cpu_hour"}), model::text_at(wish, {"memory_gib_hour"})));
    ASSERT_TRUE(offer) << offer.error().message();
    broker_.offers[id] = {*offer, 1};
    broker_.free_units[id] = static_cast<int32_t>(model::integer_at(wish, {"units"}));
    groups_.push_back(id);
  }

  void add_work(const std::string& name, const Node& pod) {
    const auto document = model::parse_json(
        fmt::format(R"({{"apiVersion":"apps/v1","kind":"Deployment",)"
                    R"("metadata":{{"name":"{0}","namespace":"default"}},)"
                    R"("spec":{{"replicas":0,"selector":{{"matchLabels":{{"app":"{0}"}}}},)"
                    R"("template":{{"metadata":{{"labels":{{"app":"{0}"}}}},)"
                    R"("spec":{{"terminationGracePeriodSeconds":1,"tolerations":[)"
                    R"({{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists"}}],)"
                    R"("containers":[{{"name":"work","image":"none",)"
                    R"("resources":{{"requests":{{"cpu":"{1}","memory":"{2}"}}}}}}]}}}}}}}})",
                    name, model::text_at(pod, {"cpu"}), model::text_at(pod, {"memory"})));
    ASSERT_TRUE(document) << document.error().message();
    embedded::Objects& objects = home_.live().objects();
    ASSERT_TRUE(objects.create(objects.registry.built_in("deployments", "apps"), *document));
  }

  void scale(const std::string& work, int64_t replicas) {
    embedded::Objects& objects = home_.live().objects();
    objects.change(objects.registry.built_in("deployments", "apps"), {"default", work},
                   [replicas](Node& document) {
                     model::put(model::ensure(document, {"spec"}), "replicas",
                                model::integer_node(replicas));
                   });
  }

  void run_for(Duration time) {
    const Instant end = world_.now() + time;
    bool is_over = false;
    world_.after(time, [&is_over] { is_over = true; });
    while (!is_over && world_.step()) {
    }
    ASSERT_EQ(world_.now(), end);
  }

  Counts count() {
    std::map<std::string, int> of;
    embedded::Objects& objects = home_.live().objects();
    for (const auto& [key, node] : objects.table.shelf(objects.registry.built_in("nodes"))) {
      of[demand::offer_of(supply::node_row(node->document())->labels).text] += 1;
    }
    Counts counts;
    for (const std::string& group : groups_) counts.push_back(of[group]);
    return counts;
  }

  const Node& load_;
  std::vector<std::string> groups_;
  sim::World world_;
  sim::Network network_;
  sim::Rows rows_;
  sim::Laws laws_;
  sim::Process process_;  // of the autoscaler and the model
  sim::SimCluster home_;
  sim::SimChannel to_home_;
  kube::Api api_;
  test::ScriptedBroker broker_;
  services::NoLog log_;
  NoDisk disk_;
  autoscaler::PlayedNodes nodes_;
  autoscaler::Autoscaler autoscaler_;
  cluster_autoscaler::CloudProvider door_;
  GrpcCloud cloud_;
  WatchedCluster cluster_;
  ClusterAutoscaler model_;
};

}  // namespace spillway::scaler
