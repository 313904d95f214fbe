// The demo's federation: a broker, five embedded clusters and their agents, each a process of its
// own, over mutual TLS on loopback. It is set up by the commands that anybody would type.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "cli/demo_ear.h"
#include "cli/demo_stage.h"

namespace spillway::cli {

inline constexpr const char* k_operator = "operator";

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
inline constexpr const char* k_buyer = "edge";  // in Turin
inline constexpr size_t k_agents = k_sellers.size() + 1;

class DemoFederation {
 public:
  explicit DemoFederation(Stage& stage) : stage_(stage) {}

  Status set_up_broker();
  Status start_broker();  // and waits until it says that it listens
  void kill_broker();     // as kill -9
  Status join(const std::string& name, const std::string& roles);
  Status start_agent(const std::string& name);
  Status start_cluster(const std::string& name, int nodes, int cpus);
  Status write_policy(const Seller& seller, int usd_hour);
  Status check_runs();  // all of them

  // As one of the members.
  Result<Session*> as(const std::string& name);
  Result<Ear*> ear_of(const std::string& name);

  // How often the agent's own log says that it follows the broker's events.
  int times_connected(const std::string& name) const;
  std::string dir(const std::string& name) const;
  std::string log(const std::string& name) const { return stage_.path(name + ".log"); }
  std::string policy(const std::string& name) const { return stage_.path(name + ".yaml"); }
  std::string kubeconfig(const std::string& name) const {
    return stage_.path(name + ".kubeconfig");
  }
  const std::string& url() const { return url_; }
  pid_t broker_pid() const { return broker_pid_; }

 private:
  void hang_up();

  Stage& stage_;
  std::string url_;
  pid_t broker_pid_ = -1;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  std::map<std::string, std::unique_ptr<Ear>> ears_;
};

}  // namespace spillway::cli
