// SpareKeeper: keeps as many spares as the policy says (rank/spares.h), where the back end makes
// any. They are asked for and given back like other units; what came of it is in the ledger.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "rank/spares.h"
#include "services/agent/context.h"
#include "services/autoscaler/ledger_keeper.h"
#include "services/autoscaler/node_maker.h"

namespace spillway::autoscaler {

class SpareKeeper {
 public:
  // Before more are kept: nodes that come and go are not Ready for a while, and a spare that was
  // refused is not asked for again at once.
  static constexpr Duration k_calm = seconds(30);

  struct Calls {
    std::function<std::vector<OfferId>()> best;  // groups that may be bought from, best first
    std::function<void(const OfferId&, int32_t)> keep;
  };
  SpareKeeper(agent::Context& context, LedgerKeeper& keeper, const NodeMaker& maker, Calls calls)
      : context_(context), keeper_(keeper), maker_(maker), calls_(std::move(calls)) {}

  void set_policy(const rank::Spares& policy) { policy_ = policy; }
  void bought() { last_bought_ = context_.now(); }
  Instant step();

 private:
  rank::SpareSight look(int32_t others) const;

  agent::Context& context_;
  LedgerKeeper& keeper_;
  const NodeMaker& maker_;
  Calls calls_;
  rank::Spares policy_;
  std::optional<Instant> last_bought_;  // none: since the start
  Instant calm_at_;
};

}  // namespace spillway::autoscaler
