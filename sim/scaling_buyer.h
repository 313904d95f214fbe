// A buyer who leaves it to the Cluster Autoscaler: the shipping autoscaler serves its calls from
// the market, the model of the Cluster Autoscaler (sim/scaler/) makes them, and both live on an
// embedded cluster whose work comes and goes. Each of the three is a process of its own: they
// crash, and lose each other, one by one.
//
// Laws, recounted from the book whenever the autoscaler has done what it was asked:
//   2  every unit that is paid for is in the ledger, or may be what an open ask will turn out to be
//   4  no unit is lost to the broker's silence before the stated point of its contract
//   3  when all is quiet nothing is held, nothing is asked for, and no node is left
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cluster_autoscaler/cloud_provider.h"
#include "kube/api.h"
#include "services/autoscaler/autoscaler.h"
#include "services/autoscaler/played_nodes.h"
#include "sim/cluster.h"
#include "sim/disk.h"
#include "sim/party.h"
#include "sim/scaler/cluster_autoscaler.h"
#include "sim/scaler/grpc_cloud.h"
#include "sim/scaler/watched_cluster.h"

namespace spillway::sim {

class ScalingBuyer final : public Party {
 public:
  struct Addresses {
    Address autoscaler = 0;
    Address model = 0;
    Address cluster = 0;
  };
  ScalingBuyer(Surroundings& around, const Addresses& at, const std::string& name);

  // Means between two faults of its cluster, or of the model; zero: none.
  void live(Duration fault_every);
  void calm();
  void check_settled() override;
  uint64_t increases() const { return increases_; }  // that were granted

 private:
  void begin() override;
  void end() override;
  void on_certificate() override;
  void start_autoscaler();
  void start_model();
  void stop_model();
  void work_later();
  void scale(int64_t replicas);
  void fail_later(Duration mean);
  void kill_while_saving();
  void fail_something();
  void silence_node();
  void call(const std::string& method, std::string message, scaler::GrpcCloud::Answered answered);
  void check_held(const std::string& method);
  void watch_units();
  void check_lost(const demand::HeldUnit& unit);
  std::vector<std::string> unit_nodes();

  Addresses at_;
  ClusterId id_;
  services::NoLog log_;
  SimCluster home_;
  Network& network_;
  bool is_calm_ = false;
  uint64_t increases_ = 0;
  std::set<std::string> lost_;  // units that have failed, and were looked at

  // The autoscaler's process, which is the party's.
  SimDisk disk_;
  SimChannel to_home_;
  std::unique_ptr<kube::Api> api_;
  std::optional<autoscaler::PlayedNodes> nodes_;
  std::unique_ptr<autoscaler::Autoscaler> autoscaler_;
  std::optional<cluster_autoscaler::CloudProvider> door_;

  // The model's.
  Process model_process_;
  SimChannel model_to_home_;
  scaler::Options options_;
  scaler::GrpcCloud cloud_;
  std::unique_ptr<kube::Api> model_api_;
  std::optional<scaler::WatchedCluster> watched_;
  std::unique_ptr<scaler::ClusterAutoscaler> model_;
};

}  // namespace spillway::sim
