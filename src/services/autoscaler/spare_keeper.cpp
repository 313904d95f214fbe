#include "services/autoscaler/spare_keeper.h"

#include <algorithm>

namespace spillway::autoscaler {

using demand::UnitState;

// Units that are on their way are not Ready and do not count: the Cluster Autoscaler gives them
// their time.
rank::SpareSight SpareKeeper::look(int32_t others) const {
  rank::SpareSight sight;
  sight.others_unready = others;
  sight.unused = context_.now() - *last_bought_;
  for (const auto& [id, group] : keeper_.ledger().state().groups) {
    if (group.spares() > 0) sight.kept[id] = group.spares();
    for (const demand::HeldUnit& unit : group.units) {
      const bool was_there = unit.state == UnitState::running || unit.state == UnitState::failed;
      const bool is_unready =
          was_there && maker_.look(unit_name(unit.contract, unit.number)) == NodeSight::coming;
      sight.others_unready += is_unready ? 1 : 0;
    }
  }
  return sight;
}

Instant SpareKeeper::step() {
  const auto others = maker_.others_unready(
      [this](const std::string& name) { return keeper_.ledger().knows(name); });
  if (!others) return agent::k_never;  // this back end has none, or nothing is known yet
  const Instant now = context_.now();
  if (!last_bought_) last_bought_ = now;
  const std::vector<OfferId> best = policy_.units > 0 ? calls_.best() : std::vector<OfferId>{};
  const auto changes = rank::plan_spares(policy_, best, look(*others));
  bool is_less = false;
  for (const rank::SpareChange& change : changes) {
    if (change.delta > 0) continue;
    is_less = true;
    keeper_.ledger().drop_spares(change.group, -change.delta, now);
    keeper_.touch();
  }
  const bool is_more = std::any_of(changes.begin(), changes.end(),
                                   [](const auto& change) { return change.delta > 0; });
  if (is_less) calm_at_ = now + k_calm;
  if (is_more && calm_at_ > now) return calm_at_;
  for (const rank::SpareChange& change : changes) {
    if (change.delta > 0) calls_.keep(change.group, change.delta);
  }
  if (is_more) calm_at_ = now + k_calm;
  if (is_less) context_.wake_by(now);
  const Instant idle_at = *last_bought_ + policy_.idle;
  return policy_.units > 0 && idle_at > now ? idle_at : agent::k_never;
}

}  // namespace spillway::autoscaler
