#include "market/pool_state.h"

#include "market/mutants.h"

namespace spillway::market {
namespace {

Event event_on(const PoolRecord& pool, EventKind kind, Instant now, std::string detail) {
  return {.sequence = 0,
          .at = now,
          .kind = kind,
          .subject = pool.pool.id.text,
          .pool = pool.pool.id,
          .provider = pool.provider,
          .buyer = {},
          .detail = std::move(detail)};
}

}  // namespace

model::Resources free_of(const PoolRecord& pool) {
  model::Resources free = pool.pool.capacity;
  free -= pool.committed;
  if (!pool.unaccounted.is_zero()) free -= pool.unaccounted;
  return free;
}

std::string_view why_not_sold(const PoolRecord& pool, const EpochRecord& epoch, Instant now) {
  if (pool.withdrawn) return "its provider has withdrawn it";
  if (pool.lease_until <= now && !mutant(Mutant::sell_stale)) return "its provider has gone silent";
  if (pool.epoch != epoch.epoch && !mutant(Mutant::sell_unconfirmed)) {
    return "its provider has not yet confirmed what it carries after an outage of the market";
  }
  if (pool.oversold_since) return "its provider has shrunk below what it sold";
  return {};
}

void withdraw(PoolRecord& pool) {
  pool.withdrawn = true;
  pool.unaccounted = {};
  pool.epoch = 0;
}

void put_pool(Workspace& workspace, PoolRecord pool, Instant now, Duration reclaim_after) {
  // Named, since the answer may be a name inside of it.
  const model::Resources sold = pool.committed + pool.unaccounted;
  const std::string_view short_of = pool.pool.capacity.first_short(sold);
  if (!short_of.empty() && !pool.oversold_since) {
    pool.oversold_since = now;
    pool.reclaim_at = now + reclaim_after;
    workspace.emit(event_on(pool, EventKind::pool_oversold, now,
                            fmt::format("short of {}; give notice to contracts before {}", short_of,
                                        to_text(*pool.reclaim_at))));
  } else if (short_of.empty() && pool.oversold_since) {
    pool.oversold_since.reset();
    pool.reclaim_at.reset();
    workspace.emit(event_on(pool, EventKind::pool_covered, now, "covers what it sold again"));
  }
  Key key = key_of(pool.pool.id);
  workspace.put(std::move(key), std::move(pool));
}

}  // namespace spillway::market
