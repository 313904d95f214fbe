#include "supply/pool_draft.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/arithmetic.h"
#include "supply/judge.h"

namespace spillway::supply {
namespace {

// The most of a node's room first: by the steps it has room for, the last of them, then cpu,
// memory, pods and storage.
auto worth_of(const OfferingPolicy& policy, const GpuKinds& gpus, const model::Resources& room) {
  const auto& ladder = policy.ladder;
  const auto steps = std::count_if(ladder.begin(), ladder.end(),
                                   [&](const Step& step) { return has_room(step, gpus, room); });
  return std::tuple(steps, last_step(policy, gpus, room), room.cpu_millis, room.memory_bytes,
                    room.pods, room.storage_bytes);
}

// The largest node by its gross; of a pool without any on offer, by what it would be when empty.
// Of equals the first by name.
void measure(PoolDraft& draft, const OfferingPolicy& policy) {
  const bool any = std::any_of(draft.members.begin(), draft.members.end(),
                               [](const PoolDraft::Member& m) { return m.offered; });
  const PoolDraft::Member* largest = nullptr;
  const auto room_of = [any](const PoolDraft::Member& m) -> const model::Resources& {
    return any ? m.gross.now : m.gross.empty;
  };
  for (const PoolDraft::Member& member : draft.members) {
    if (any && !member.offered) continue;
    if (member.offered) add_capped(draft.pool.capacity, member.gross.now);
    if (largest == nullptr || worth_of(policy, draft.key.gpus, room_of(*largest)) <
                                  worth_of(policy, draft.key.gpus, room_of(member))) {
      largest = &member;
    }
  }
  draft.pool.id = draft.id;
  draft.pool.node = room_of(*largest);
}

void cap_counts(model::Counts& counts, const model::Counts& most) {
  for (const model::Count& limit : most) {
    for (model::Count& count : counts) {
      if (count.name == limit.name) count.amount = std::min(count.amount, limit.amount);
    }
  }
  std::erase_if(counts, [](const model::Count& count) { return count.amount == 0; });
}

}  // namespace

std::vector<PoolDraft> draft_pools(const View& view, const OfferingPolicy& policy,
                                   const ClusterId& cluster, Instant now,
                                   std::vector<NodeVerdict>& verdicts) {
  std::map<PoolKey, PoolDraft> by_key;
  for (const auto& [name, place] : view.places()) {
    if (!place.row) continue;
    Gross gross = gross_of(place, policy);
    if (auto out = rule_out(*place.row, gross, policy)) {
      verdicts.push_back(std::move(*out));
      continue;
    }
    PoolKey key = key_of(*place.row, gross, policy);
    PoolDraft& draft = by_key[key];
    if (draft.id.empty()) {
      draft.id = pool_id(cluster, key);
      draft.key = std::move(key);
    }
    NodeVerdict told = judge(place, gross, policy);
    told.pool = draft.id;
    draft.members.push_back({&*place.row, std::move(gross), told.reason == NodeReason::offered,
                             rests_until(place, now)});
    verdicts.push_back(std::move(told));
  }
  std::map<PoolId, PoolDraft> by_id;
  for (auto& [key, draft] : by_key) {
    // Two keys with one fingerprint: of 2^32. The second is not sold rather than mixed in.
    const auto [at, fresh] = by_id.try_emplace(draft.id, std::move(draft));
    if (fresh) measure(at->second, policy);
  }
  std::vector<PoolDraft> drafts;
  for (auto& entry : by_id) drafts.push_back(std::move(entry.second));
  return drafts;
}

void apply_quota(PoolDraft& draft, const PoolQuota& quota) {
  model::Resources& capacity = draft.pool.capacity;
  const auto limit = [&quota](int64_t& amount, const std::optional<int64_t>& most) {
    amount = checked_narrow(static_cast<Int128>(amount) * quota.share_permille / k_whole);
    if (most) amount = std::min(amount, *most);
  };
  limit(capacity.cpu_millis, quota.most.cpu_millis);
  limit(capacity.memory_bytes, quota.most.memory_bytes);
  limit(capacity.pods, quota.most.pods);
  limit(capacity.storage_bytes, quota.most.storage_bytes);
  for (model::Count& count : capacity.gpus) limit(count.amount, {});
  for (model::Count& count : capacity.extended) limit(count.amount, {});
  cap_counts(capacity.gpus, quota.most.gpus);
  cap_counts(capacity.extended, quota.most.extended);
}

void keep_sold(model::Resources& resources, const std::vector<Step>& ladder) {
  const auto unsold = [&ladder](model::Counts model::Resources::*counts) {
    return [&ladder, counts](const model::Count& count) {
      return std::none_of(ladder.begin(), ladder.end(), [&](const Step& step) {
        const model::Counts& sold = step.shape.*counts;
        return std::any_of(sold.begin(), sold.end(),
                           [&count](const model::Count& c) { return c.name == count.name; });
      });
    };
  };
  std::erase_if(resources.gpus, unsold(&model::Resources::gpus));
  std::erase_if(resources.extended, unsold(&model::Resources::extended));
}

}  // namespace spillway::supply
