#include "supply/sold.h"

#include <algorithm>

#include "supply/judge.h"

namespace spillway::supply {
namespace {

const PoolDraft* find_draft(const std::vector<PoolDraft>& drafts, const PoolId& id) {
  const auto at = std::find_if(drafts.begin(), drafts.end(),
                               [&id](const PoolDraft& draft) { return draft.id == id; });
  return at == drafts.end() ? nullptr : &*at;
}

model::Resources sold_from(std::span<const Sold> sold, const PoolId& id) {
  const auto at =
      std::find_if(sold.begin(), sold.end(), [&id](const Sold& one) { return one.pool.id == id; });
  return at == sold.end() ? model::Resources{} : at->units;
}

// On nodes that are out for now guests still run.
model::Resources there_in(const PoolDraft& draft) {
  model::Resources there;
  for (const PoolDraft::Member& member : draft.members) add_capped(there, member.gross.well);
  return there;
}

model::Resources owed_elsewhere(std::span<const Sold> sold, const std::vector<PoolDraft>& drafts) {
  model::Resources owed;
  for (const Sold& one : sold) {
    const PoolDraft* draft = find_draft(drafts, one.pool.id);
    add_capped(owed, draft == nullptr ? one.units : rest_of(one.units, there_in(*draft)));
  }
  return owed;
}

model::Resources resting_in(const PoolDraft& draft, Instant now) {
  model::Resources resting;
  for (const PoolDraft::Member& member : draft.members) {
    if (member.rests_until <= now) continue;
    const Gross& gross = member.gross;
    add_capped(resting, member.offered ? rest_of(gross.well, gross.now) : gross.well);
  }
  return resting;
}

}  // namespace

void lend_resting(std::span<const Sold> sold, Instant now, std::vector<PoolDraft>& drafts,
                  Explanation& explanation) {
  for (PoolDraft& draft : drafts) {
    const model::Resources lacking = rest_of(sold_from(sold, draft.id), draft.pool.capacity);
    const model::Resources lent = common_of(lacking, resting_in(draft, now));
    if (lent.is_zero()) continue;
    add_capped(draft.pool.capacity, lent);
    explanation.pools.push_back(
        {draft.id,
         fmt::format("{} that is sold is on nodes that are ill; no notice is given in the "
                     "first {} minutes",
                     to_text(lent), k_rest.ms / minutes(1).ms)});
  }
}

void keep_owed(std::span<const Sold> sold, std::vector<PoolDraft>& drafts,
               Explanation& explanation) {
  model::Resources owed = owed_elsewhere(sold, drafts);
  for (PoolDraft& draft : drafts) {
    model::Resources& capacity = draft.pool.capacity;
    const model::Resources kept = common_of(rest_of(capacity, sold_from(sold, draft.id)), owed);
    if (kept.is_zero()) continue;
    capacity -= kept;
    owed -= kept;
    explanation.pools.push_back(
        {draft.id, fmt::format("{} of it is kept for what was sold from nodes that are no longer "
                               "in their pool",
                               to_text(kept))});
  }
  for (const model::Pool& pool : without_nodes(sold, drafts)) {
    explanation.pools.push_back(
        {pool.id, "no node of it is left; the contracts on it are given notice"});
  }
}

std::vector<model::Pool> without_nodes(std::span<const Sold> sold,
                                       const std::vector<PoolDraft>& drafts) {
  std::vector<model::Pool> pools;
  for (const Sold& one : sold) {
    if (find_draft(drafts, one.pool.id) == nullptr) {
      pools.push_back({one.pool.id, one.pool.node, {}});
    }
  }
  return pools;
}

}  // namespace spillway::supply
