// GuardSight: how much of the guard this cluster's API server has, by watching its policies and
// webhooks: what offers tell of a provider's enforcement.
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
  struct Watched {
    Watched(GuardSight& sight, kube::Api& api, const fabric::liqo::Kind& kind,
            const kube::Wanted& wanted = {});
    bool is_known() const { return is_missing || watch.is_synced(); }

    bool is_missing = false;  // this API server knows no such kind
    kube::Watch watch;
  };
  kube::WatchCalls calls_of(Watched& watched, const fabric::liqo::Kind& kind);
  model::Enforcement judged() const;
  void look();

  std::function<void(model::Enforcement)> changed_;
  fabric::liqo::GuardSeen seen_;
  model::Enforcement told_ = model::Enforcement::unknown;
  Watched policies_;
  Watched bindings_;
  Watched webhooks_;
  Watched early_webhooks_;
};

}  // namespace spillway::agent
