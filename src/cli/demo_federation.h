// The demo's federation: a broker, four embedded clusters with Liqo that sell what is free in them,
// one that buys, an agent for each, and the buyer's autoscaler: each a process of its own, over
// mutual TLS on loopback. It is set up by the commands that anybody would type.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/demo_stage.h"
#include "cli/grpc_calls.h"
#include "cli/session.h"
#include "model/contract.h"

namespace spillway::cli {

struct Seller {
  const char* name;
  const char* step;  // of its ladder: it has one
  int units;         // a node each
  int cpus;
  int usd_hour;
  const char* place;  // as in a policy
  int carbon;         // gCO2e per kWh
};

// pr1 and pr2 have the units, the shapes and (per hour) the prices of the paper's Table 1.
inline constexpr std::array k_sellers{
    Seller{"pr1", "small", 3, 2, 60,
           "latitude: 45.464203, longitude: 9.189982, country: IT, city: Milan", 320},
    Seller{"pr2", "large", 1, 4, 300,
           "latitude: 48.137154, longitude: 11.576124, country: DE, city: Munich", 380},
    Seller{"green", "hydro", 2, 2, 75,
           "latitude: 59.913868, longitude: 10.752245, country: NO, city: Oslo", 25},
    Seller{"far", "cheap", 4, 2, 45,
           "latitude: -33.86882, longitude: 151.20929, country: AU, city: Sydney", 550},
};
inline constexpr const char* k_buyer = "edge";
inline constexpr int k_own_cpus = 2;  // of the buyer, on one node
// A broker, a cluster and an agent for each seller and for the buyer, and its autoscaler.
inline constexpr size_t k_processes = 1 + 2 * (k_sellers.size() + 1) + 1;

// What a seller has on sale, as the broker tells the buyer.
struct OnSale {
  std::string seller;
  model::Offer offer;
  int64_t rate = 0;  // micro-units per unit-hour
  int32_t units = 0;
};

class DemoFederation {
 public:
  DemoFederation(Stage& stage, std::string name) : stage_(stage), name_(std::move(name)) {}

  // Until everything is on sale. `profile`: of the buyer's recommender; empty: none is named.
  Status set_up(const std::string& profile);
  Status check_runs();  // all of them

  const std::vector<OnSale>& on_sale() const { return on_sale_; }  // the cheapest first
  // All that the buyer has or had.
  Result<std::vector<model::Contract>> contracts();

  const std::string& name() const { return name_; }
  std::string dir(const std::string& member) const;
  std::string policy(const std::string& member) const { return path(member + ".yaml"); }
  std::string recommender_policy() const { return path("recommender.yaml"); }
  std::string kubeconfig(const std::string& member) const { return path(member + ".kubeconfig"); }
  // Where the autoscaler and its expander listen, and what their client shows.
  GrpcTarget autoscaler() const { return target(port_); }
  GrpcTarget expander() const { return target(expander_port_); }

 private:
  std::string path(const std::string& file) const { return stage_.path(name_ + "/" + file); }
  std::string process(const std::string& what) const { return name_ + "/" + what; }
  Result<std::string> run(const std::vector<std::string>& words);
  Status await_file(const std::string& of, const std::string& file, const std::string& text);
  Status set_up_broker();
  Status start_cluster(const std::string& member, int nodes, int cpus);
  Status join(const std::string& member, const std::string& roles);
  Status start_agent(const std::string& member, const std::string& roles,
                     const std::string& policy_text);
  Status write_papers();
  Status start_autoscaler(const std::string& profile);
  Status await_sale();
  Status read_offers(const std::vector<wire::Candidate>& candidates);
  GrpcTarget target(const std::string& port) const;

  Stage& stage_;
  std::string name_;
  std::string url_;
  std::string port_;
  std::string expander_port_;
  std::unique_ptr<Session> buyer_;
  std::vector<OnSale> on_sale_;
  std::map<ContractId, model::Contract> contracts_;
};

}  // namespace spillway::cli
