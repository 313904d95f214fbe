// GuestSights: the guest namespaces of every buyer, with the limits that are there
// (fabric/guest_space.h), by watching them. Apart from the other sights, and known apart from them:
// an API server that does not show them keeps no contract from becoming real.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/guest_space.h"
#include "kube/watch.h"
#include "services/log.h"

namespace spillway::agent {

class GuestSights {
 public:
  struct Calls {
    std::function<void(const std::string& buyer)> changed;
    std::function<void()> known;  // all limits; or that they cannot be seen
  };
  GuestSights(kube::Api& api, services::Log& log, Calls calls)
      : api_(api), log_(log), calls_(std::move(calls)) {}

  void start();
  bool is_known() const;
  const Error* trouble() const { return trouble_ ? &*trouble_ : nullptr; }
  std::vector<fabric::GuestSpaceSight> of(const std::string& buyer) const;

  // Of those that Sights sees, the ones that are no tenant's.
  void put_space(const kube::Object& space);
  void drop_space(const std::string& name);

 private:
  using Limit = std::optional<model::Node> fabric::GuestSpaceSight::*;

  void watch(const fabric::liqo::Kind& kind, Limit which);
  void changed(const std::string& space) const;
  void forget(const std::string& space);  // if nothing is left of it

  kube::Api& api_;
  services::Log& log_;
  Calls calls_;
  // By name; of one that has limits only, its namespace is not seen yet or is not a buyer's.
  std::map<std::string, fabric::GuestSpaceSight> spaces_;
  std::optional<Error> trouble_;
  std::vector<std::unique_ptr<kube::Watch>> watches_;
};

}  // namespace spillway::agent
