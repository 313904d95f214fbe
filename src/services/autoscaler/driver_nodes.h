// DriverNodes: the back end whose nodes a driver makes (services/driver): whoever runs it has
// kubeconfigs of the providers, which the federation calls by the same names. A node is an order by
// REST, and its end another; how far they are is read once and then followed, by events.
//
// Units that others have ordered from the same driver are not ours: ours say so in an annotation.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/alarm.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "services/autoscaler/node_maker.h"
#include "services/driver/driver_client.h"
#include "services/log.h"

namespace spillway::autoscaler {

inline constexpr std::string_view k_driver_back_end = "driver";

class DriverNodes final : public NodeMaker {
 public:
  static constexpr Duration k_look_again = seconds(30);  // should an event ever be missed

  // `cluster`: the driver's name of the one that gets the nodes; `owner`: who we are to others.
  DriverNodes(host::Loop& loop, host::Random& random, net::Channel& channel, services::Log& log,
              std::string cluster, std::string owner);

  void start(std::function<void()> changed) override;
  NodeSight look(const std::string& name) const override;
  std::vector<std::string> names() const override;
  void make(const demand::NodeImage& image, Then then) override;
  void remove(const std::string& name, Then then) override;

 private:
  bool is_ours(const driver::UnitDocument& unit) const;
  driver::UnitOrder order_of(const demand::NodeImage& image) const;
  void list(const std::string& after, std::map<std::string, fabric::UnitStep> found);
  void take(const std::map<std::string, fabric::UnitStep>& found);
  void put(const std::string& name, fabric::UnitStep step);
  void tell_removed(const std::string& name);
  void follow();
  void fail(const Error& why);

  host::Loop& loop_;
  host::Random& random_;
  driver::DriverClient client_;
  services::Log& log_;
  std::string cluster_;
  std::string owner_;
  std::function<void()> changed_ = [] {};
  std::map<std::string, fabric::UnitStep> units_;  // ours
  bool is_known_ = false;
  bool is_waiting_ = false;  // to follow anew
  std::unique_ptr<driver::Following> following_;
  std::map<std::string, std::vector<Then>> removing_;  // until nothing runs there
  host::Backoff backoff_;
  host::Alarm look_;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
