// A provider's own cluster: an embedded one behind the simulated network, on the world's clock. Its
// API server can be slow, down, wrong and not to be believed; the cluster itself lives on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "embedded/cluster.h"
#include "sim/laws.h"
#include "sim/wire.h"

namespace spillway::sim {

// As kube/session.cpp has it: between bookmarks a quiet cluster says nothing.
inline constexpr Patience k_watch_patience{.silence = minutes(11), .probes = true};

class SimCluster final : public Door {
 public:
  SimCluster(World& world, Address at, Laws& laws, const std::string& name);
  SimCluster(World& world, Address at, Laws& laws, embedded::ClusterOptions options);
  ~SimCluster() override;

  embedded::Cluster& live() { return cluster_; }
  // Its certificate has expired: nobody speaks to it until it has not.
  void set_expired(bool expired) { is_expired_ = expired; }
  // As embedded::Cluster does it; all connections end with it.
  void restart(Duration down, int64_t lost_versions);
  size_t streams() const;  // that it holds open
  // Requests within a minute, by all of its clients, before it is a storm (law 4).
  void set_most_asked(int most) { most_asked_ = most; }

  Address address() const override { return address_; }
  Process& process() override { return process_; }
  std::weak_ptr<const bool> alive() const override { return alive_; }
  void arrive(const std::shared_ptr<Asked>& asked,
              std::shared_ptr<net::Exchange> exchange) override;
  void leaves(const Asked& asked, const net::Response& response) override;
  void begins(const std::shared_ptr<Pipe>& pipe) override { pipes_.push_back(pipe); }
  void tells(Hearing&, std::string_view) override {}
  void dropped(const Asked&) override {}  // a cluster that goes away answers nobody

 private:
  Process process_;
  Address address_;
  Laws& laws_;
  std::string name_;
  embedded::Cluster cluster_;
  bool is_expired_ = false;
  // Two watches that fail again and again wait longer and longer; what lets them begin anew is a
  // stream that has told something. A minute of one cluster's changes does not lead to more.
  int most_asked_ = 240;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  mutable std::vector<std::weak_ptr<Pipe>> pipes_;
};

}  // namespace spillway::sim
