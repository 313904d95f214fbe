// Networks: the experimental part of the fabric that connects the networks of two clusters
// (fabric/network.h): what of it is there, by watching it, and what is done and said about it.
// Apart from the other sights: while networking is off, and nothing is left of it, nobody looks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/network.h"
#include "kube/watch.h"
#include "services/fabric/dealings.h"
#include "services/fabric/doings.h"
#include "services/fabric/edits.h"
#include "services/fabric/makings.h"
#include "services/fabric/network_options.h"
#include "services/fabric/sayings.h"
#include "services/fabric/tellings.h"

namespace spillway::agent {

class Networks {
 public:
  Networks(Dealings& dealings, kube::Api& api, services::Log& log, Tellings& tellings,
           int& in_flight, NetworkOptions options,
           std::function<void(const std::string& peer)> changed);

  void start();  // also to take down what was made before it was switched off
  bool is_on() const { return options_.mode != NetworkOptions::Mode::off; }
  bool is_known() const;  // everything has been seen

  // What is there of it, with this cluster's own part of what is wanted filled in.
  void fill(fabric::NetworkWish& wish) const;
  const fabric::NetworkSight& sight(const std::string& peer);
  // Does and says what is wanted, if anything; when there is more to do.
  Instant work(const fabric::NetworkWish& wish, bool has_space);
  bool is_over(const std::string& peer) const;  // nothing is left, and nothing under way
  void forget(const std::string& peer);
  void owe_answer(const std::string& peer);

  fabric::NetworkStep step(const std::string& peer) const;
  const std::string& in_band(const std::string& peer) const;  // as it was said last; empty: none
  std::map<fabric::NetworkStep, int64_t> steps() const;
  // What must wait for the network is taken out of a buyer's plan.
  void hold_back(const std::string& peer, const std::string& proxy, fabric::Plan& plan) const;

 private:
  struct Side {
    Doings doings;
    Sayings sayings;
    fabric::NetworkStep step = fabric::NetworkStep::none;
    std::string in_band = {};
    bool owes_answer = false;
    bool is_idle = true;
    Makings makings = {};
    Edits edits = {};
  };
  using Put = std::function<void(const std::string& peer, const kube::Object&)>;
  using Gone = std::function<void(const std::string& peer, const kube::Name&)>;

  void watch(const fabric::liqo::Kind& kind, kube::Wanted wanted, Put put, Gone gone);
  template <class T>
  void watch_one(std::optional<T> fabric::NetworkSight::*slot,
                 Result<T> (*read)(const model::Node&));
  void watch_keys();
  void watch_own();
  void find_key(const std::string& peer);
  void own_changed();
  void complain(const kube::Object& object, const Error& why);
  Side& side(const std::string& peer);

  Dealings& dealings_;
  kube::Api& api_;
  services::Log& log_;
  Tellings& tellings_;
  int& in_flight_;
  NetworkOptions options_;
  std::function<void(const std::string&)> changed_;
  std::vector<std::unique_ptr<kube::Watch>> watches_;
  std::optional<Error> trouble_;
  std::map<std::string, fabric::NetworkSight> sights_;
  std::map<kube::Name, std::string> keys_;              // public ones, by their Secret
  std::map<std::string, fabric::liqo::Network> own_;    // Networks, by name
  std::string proxy_;                                   // address; empty: there is none
  std::map<std::string, std::unique_ptr<Side>> sides_;  // by peer
};

}  // namespace spillway::agent
