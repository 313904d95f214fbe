// GuardSight: how much of the guard this cluster's API server has, by watching its policies: what
// offers tell of a provider's enforcement.
#pragma once

#include <functional>
#include <optional>

#include "fabric/liqo/guard_standing.h"
#include "kube/watch.h"

namespace spillway::agent {

class GuardSight {
 public:
  // `changed` hears of every change of the answer, the first one too.
  GuardSight(kube::Api& api, std::function<void(model::Enforcement)> changed);

  void start();

 private:
  kube::WatchCalls calls_of(const fabric::liqo::Kind& kind);
  void look();

  std::function<void(model::Enforcement)> changed_;
  fabric::liqo::GuardSeen seen_;
  model::Enforcement told_ = model::Enforcement::unknown;
  bool is_missing_ = false;  // this API server knows no such policies
  kube::Watch policies_;
  kube::Watch bindings_;
};

}  // namespace spillway::agent
