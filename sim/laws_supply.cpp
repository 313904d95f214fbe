// The laws on what the agent of a live cluster offers, and on how it treats its API server.
#include "market/pool_state.h"
#include "sim/laws.h"
#include "sim/recount.h"
#include "supply/gross.h"

namespace spillway::sim {
namespace {

model::Resources left_on(const supply::View::Place& place, const supply::Headroom& headroom) {
  const model::Resources& all = place.row->allocatable;
  const model::Resources own = place.own.sum();
  const auto left = [&headroom](int64_t of, int64_t amount, int64_t used) {
    return std::max<int64_t>(0, of - kept(of, amount, headroom.share_permille) - used);
  };
  model::Resources free;
  free.cpu_millis = left(all.cpu_millis, headroom.amount.cpu_millis, own.cpu_millis);
  free.memory_bytes = left(all.memory_bytes, headroom.amount.memory_bytes, own.memory_bytes);
  free.pods = left(all.pods, headroom.amount.pods, place.own.pods());
  free.storage_bytes = left(all.storage_bytes, headroom.amount.storage_bytes, own.storage_bytes);
  return free;
}

bool may_rest(const supply::NodeRow& row) {
  return supply::is_ill(row) && !row.cordoned && !row.going;
}

// In each resource at most the larger of both.
bool is_bounded(const model::Resources& part, const model::Resources& a,
                const model::Resources& b) {
  const auto within = [](int64_t amount, int64_t x, int64_t y) { return amount <= std::max(x, y); };
  return within(part.cpu_millis, a.cpu_millis, b.cpu_millis) &&
         within(part.memory_bytes, a.memory_bytes, b.memory_bytes) &&
         within(part.pods, a.pods, b.pods) &&
         within(part.storage_bytes, a.storage_bytes, b.storage_bytes);
}

}  // namespace

void Laws::on_cluster_asked(const std::string& name, int most) {
  Asking& asking = asked_[name];
  const int64_t minute = clock_().ms / 60'000;
  if (std::exchange(asking.minute, minute) != minute) asking.count = 0;
  ++asking.count;
  expect(
      asking.count <= most, 4,
      fmt::format("the API server of {} was asked {} times within a minute", name, asking.count));
}

// Whatever it has seen of its cluster, and in whatever order: no pool is larger than what is left
// on its nodes, by the rows that it has. What is sold from nodes that are ill may stay sold.
void Laws::check_computed(const supply::Supply& supply, const agent::LiveSupply& live,
                          const std::vector<supply::Sold>& sold,
                          const supply::OfferingPolicy& policy) {
  std::map<PoolId, model::Resources> free;
  std::map<PoolId, model::Resources> resting;
  for (const supply::NodeVerdict& verdict : live.explanation().nodes) {
    const bool offered = verdict.reason == supply::NodeReason::offered;
    const auto at = live.view().places().find(verdict.node);
    const bool known = at != live.view().places().end() && at->second.row;
    expect(!offered || (known && (at->second.row->ready && !at->second.row->cordoned)), 1,
           fmt::format("node {} is offered, and is not there for strangers", verdict.node));
    if (!known || (!offered && !may_rest(*at->second.row))) continue;
    (offered ? free : resting)[verdict.pool] += left_on(at->second, policy.headroom);
  }
  std::map<PoolId, model::Resources> owed;
  for (const supply::Sold& one : sold) owed[one.pool.id] = one.units;
  for (const model::Pool& pool : supply.pools) {
    const model::Resources all = free[pool.id] + resting[pool.id];
    const bool fits =
        free[pool.id].covers(pool.capacity) ||
        (all.covers(pool.capacity) && is_bounded(pool.capacity, free[pool.id], owed[pool.id]));
    expect(fits, 1,
           fmt::format("{} offers {} where {} is free", pool.id.text, to_text(pool.capacity),
                       to_text(free[pool.id])));
  }
}

void Laws::on_cluster_size(const ClusterId& provider, const model::Resources& size) {
  supply::raise_to(selling_[provider.text].most, size);
}

// What is on sale of a cluster at one time, in all its pools, is never more than its nodes have:
// not even while a node goes from one pool to another.
void Laws::check_on_sale(const market::Key& key, Instant at) {
  const auto selling = selling_.find(std::string(owner_of(key.id)));
  if (selling == selling_.end()) return;
  selling->second.pools.insert(key.id);
  const auto* epoch = rows_.get<market::EpochRecord>(market::epoch_key());
  model::Resources sum;
  std::string each;
  for (const std::string& id : selling->second.pools) {
    const auto* pool = rows_.get<market::PoolRecord>({market::Kind::pool, id});
    const bool is_on_sale =
        pool != nullptr && epoch != nullptr && market::why_not_sold(*pool, *epoch, at).empty();
    if (!is_on_sale) continue;
    sum += pool->pool.capacity;
    each += fmt::format("; {}: {}", id, to_text(pool->pool.capacity));
  }
  expect(selling->second.most.covers(sum), 1,
         fmt::format("{} has {} on sale, and its nodes have {}{}", selling->first, to_text(sum),
                     to_text(selling->second.most), each));
}

void Laws::check_published(const ClusterId& provider, const model::Resources& free) {
  model::Resources published;
  for (const auto& [key, row] : rows_.all()) {
    const auto* pool = held<market::PoolRecord>(row.record);
    const bool is_its = pool != nullptr && key.id.starts_with(provider.text + "/");
    if (is_its && !pool->withdrawn) published += pool->pool.capacity;
  }
  expect(published == free, 1,
         fmt::format("{} has published {}, and {} is free in its cluster", provider.text,
                     to_text(published), to_text(free)));
}

}  // namespace spillway::sim
