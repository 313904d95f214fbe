#include "services/agent/pool_publisher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "market/mutants.h"
#include "services/agent/wanted.h"
#include "supply/gross.h"

namespace spillway::agent {
namespace {

// What is carried goes along in full each time: when it changes all the time, not all the time.
constexpr Duration k_between_reports = milliseconds(200);

model::Resources wanted_of(const PoolMemory& memory) {
  return memory.withdrawn || !memory.published ? model::Resources{} : memory.published->capacity;
}
bool grows(const PoolMemory& memory) {
  return !memory.acknowledged && !memory.stands.covers(wanted_of(memory));
}
bool shrinks(const PoolMemory& memory) {
  return !memory.acknowledged && !wanted_of(memory).covers(memory.stands);
}

}  // namespace

PoolPublisher::PoolPublisher(Context& context, Calls calls)
    : context_(context), calls_(std::move(calls)) {}

void PoolPublisher::soon(Sale& sale, Duration delay) {
  sale.again = sale.attempt.in_flight;
  sale.attempt.due = context_.now() + delay;
  context_.wake_by(sale.attempt.due);
}

void PoolPublisher::change(const PoolId& id, const model::Pool* wanted) {
  PoolMemory& memory = context_.state().pools[id];
  Sale& sale = sales_[id];
  sale.wanted = wanted != nullptr;
  if (!note_wanted(memory, wanted)) return;
  sale.refused = false;
  sale.stale = 0;
  sale.attempt.succeed();
  soon(sale);
  context_.keeper.touch();
}

void PoolPublisher::want(const std::vector<model::Pool>& pools) {
  for_each_wanted(pools, context_.state().pools,
                  [this](const PoolId& id, const model::Pool* wanted) { change(id, wanted); });
  context_.wake_by(context_.now() + k_coalesce);
}

void PoolPublisher::carries_changed(const PoolId& pool) {
  const auto found = sales_.find(pool);
  if (found == sales_.end() || !found->second.wanted) return;
  Sale& sale = found->second;
  if (sale.attempt.in_flight) {
    sale.again = true;
  } else if (sale.attempt.backoff.failures() == 0) {
    const Instant now = context_.now();
    const Instant spaced = std::min(sale.sent, now) + k_between_reports;
    sale.attempt.due = std::min(sale.attempt.due, std::max(now + k_coalesce, spaced));
    context_.wake_by(sale.attempt.due);
  }
}

void PoolPublisher::confirm_all() {
  for (auto& [id, sale] : sales_) {
    sale.confirmed = -1;
    if (sale.wanted) soon(sale);
  }
}

void PoolPublisher::hurry() {
  for (auto& [id, sale] : sales_) {
    if (sale.attempt.backoff.failures() == 0 || sale.refused) continue;
    const Instant soonest = context_.now() + host::between(context_.random, {}, seconds(1));
    sale.attempt.due = std::min(sale.attempt.due, soonest);
    context_.wake_by(sale.attempt.due);
  }
}

void PoolPublisher::take_over(const wire::SnapshotAnswer& snapshot) {
  std::set<PoolId> told;
  for (const wire::PoolRow& row : snapshot.pools) {
    if (row.provider != context_.options.cluster) continue;
    told.insert(row.pool.id);
    PoolMemory& memory = context_.state().pools[row.pool.id];
    const bool same = row.withdrawn == memory.withdrawn &&
                      (row.withdrawn || (memory.published && *memory.published == row.pool));
    if (row.sequence > memory.sequence || (row.sequence == memory.sequence && !same)) {
      memory.sequence = row.sequence;
      memory.published = row.pool;
      memory.withdrawn = row.withdrawn;
      memory.acknowledged = true;
    } else {
      memory.acknowledged = row.sequence == memory.sequence;
    }
    memory.oversold = row.oversold_since.has_value();
    // A snapshot may be older than our last message: it can only add to what may stand there.
    if (!row.withdrawn) supply::raise_to(memory.stands, row.pool.capacity);
    context_.keeper.raise_reports(row.report);
  }
  for (auto& [id, memory] : context_.state().pools) {
    Sale& sale = sales_[id];
    if (!told.contains(id)) {
      // Unknown there, or withdrawn, which a snapshot does not tell: numbers too low are outgrown.
      // One that we published may still be on its way: that it is withdrawn only an answer tells.
      if (!memory.withdrawn) memory.acknowledged = false;
      if (sale.stale > 0) memory.sequence += std::max(memory.sequence, StateKeeper::k_block);
    }
    if (sale.stale > 0) soon(sale);
  }
  context_.keeper.touch();
  hear_epoch(snapshot.epoch);
}

void PoolPublisher::hear_epoch(int64_t epoch) {
  if (std::exchange(context_.state().epoch, epoch) == epoch) return;
  context_.keeper.touch();
  for (auto& [id, sale] : sales_) {
    if (sale.wanted && !sale.attempt.in_flight && sale.attempt.backoff.failures() == 0) soon(sale);
  }
}

bool PoolPublisher::is_settled(const PoolId& pool) const {
  const auto& pools = context_.keeper.state().pools;
  const auto memory = pools.find(pool);
  const auto sale = sales_.find(pool);
  if (memory == pools.end() || sale == sales_.end()) return false;
  return memory->second.acknowledged || sale->second.refused;
}

int64_t PoolPublisher::published() const {
  const auto& pools = context_.keeper.state().pools;
  return std::count_if(pools.begin(), pools.end(), [](const auto& entry) {
    return entry.second.acknowledged && !entry.second.withdrawn;
  });
}

bool PoolPublisher::has_work(const PoolId& id, const Sale& sale) const {
  if (sale.wanted) return true;
  const PoolMemory& memory = context_.keeper.state().pools.at(id);
  return !memory.acknowledged && !calls_.has_offers(id);
}

PoolPublisher::Pending PoolPublisher::pending() const {
  Pending found;
  for (const auto& [id, sale] : sales_) {
    const PoolMemory& memory = context_.keeper.state().pools.at(id);
    if (sale.refused || !shrinks(memory)) continue;
    (grows(memory) ? found.mixed : found.shrinks) = true;
  }
  return found;
}

bool PoolPublisher::must_wait(const PoolMemory& memory, const Pending& pending) const {
  if (!grows(memory)) return false;
  return pending.shrinks || (pending.mixed && !shrinks(memory));
}

Instant PoolPublisher::step() {
  const Instant now = context_.now();
  const Pending others = pending();
  const Duration longest = std::max(context_.options.pool_lease, host::k_refused_wait);
  Instant next = k_never;
  for (auto& [id, sale] : sales_) {
    if (sale.attempt.in_flight || !has_work(id, sale)) continue;
    // Woken when an answer comes.
    if (must_wait(context_.keeper.state().pools.at(id), others)) continue;
    if (!sale.attempt.is_due(now, longest)) {
      next = std::min(next, sale.attempt.due);
    } else if (in_flight_ < k_most_in_flight) {
      send(id, sale);
    }
  }
  return next;
}

void PoolPublisher::send(const PoolId& id, Sale& sale) {
  PoolMemory& memory = context_.state().pools.at(id);
  if (!sale.wanted) {
    withdraw(id, memory);
  } else if (!put(id, sale, memory)) {
    return;  // woken when there are report numbers again
  }
}

bool PoolPublisher::put(const PoolId& id, Sale& sale, PoolMemory& memory) {
  const auto report = context_.keeper.take_report();
  if (!report) return false;
  sale.again = false;
  sale.sent = context_.now();
  sale.attempt.in_flight = true;
  in_flight_ += 1;
  wire::PoolPut body{*memory.published,  memory.sequence,        context_.options.pool_lease,
                     calls_.carries(id), context_.state().epoch, *report};
  if (market::mutant(market::Mutant::forget_carried)) body.carries.clear();
  // Whatever becomes of it, no more than this stands there.
  supply::raise_to(memory.stands, body.pool.capacity);
  context_.client.put_pool(
      body, life_.guard([this, id, capacity = body.pool.capacity, sequence = body.sequence,
                         epoch = body.epoch](const Result<wire::PoolPutAnswer>& answer) {
        if (answer) context_.state().pools[id].stands = capacity;
        on_put(id, sequence, epoch, answer);
      }));
  return true;
}

void PoolPublisher::withdraw(const PoolId& id, const PoolMemory& memory) {
  Sale& sale = sales_[id];
  if (sale.sent == Instant{}) sale.sent = context_.now();  // by the process before, perhaps
  sale.again = false;
  sale.attempt.in_flight = true;
  in_flight_ += 1;
  context_.client.withdraw_pool(
      id, memory.sequence,
      life_.guard([this, id, sequence = memory.sequence](const Status& status) {
        on_withdrawn(id, sequence, status);
      }));
}

void PoolPublisher::finish(Sale& sale) {
  sale.attempt.in_flight = false;
  in_flight_ -= 1;
  context_.wake_by(context_.now());  // another may have waited for its turn
}

void PoolPublisher::on_put(const PoolId& id, int64_t sequence, int64_t epoch,
                           const Result<wire::PoolPutAnswer>& answer) {
  Sale& sale = sales_[id];
  PoolMemory& memory = context_.state().pools[id];
  finish(sale);
  if (!answer) return on_failed(id, sale, answer.error());
  sale.attempt.succeed();
  sale.stale = 0;
  sale.refused = false;
  if (memory.sequence == sequence && !memory.acknowledged) {
    memory.acknowledged = true;
    context_.keeper.touch();
  }
  const Duration third{context_.options.pool_lease.ms / 3};
  Duration wait = host::between(context_.random, Duration{third.ms * 3 / 4}, third);
  if (answer->epoch == epoch) {
    sale.confirmed = epoch;
    sale.surprises = 0;
  } else {
    sale.surprises += 1;
  }
  hear_epoch(answer->epoch);
  if (sale.confirmed != context_.state().epoch) {
    // Again at once, unless two brokers disagree about it and would keep us busy.
    wait = sale.surprises <= 2 ? Duration{} : host::between(context_.random, {}, seconds(5));
  } else if (sale.again || memory.sequence != sequence) {
    wait = k_coalesce;
  }
  sale.attempt.due = context_.now() + wait;
  context_.wake_by(sale.attempt.due);
  calls_.settled(id);
}

void PoolPublisher::on_withdrawn(const PoolId& id, int64_t sequence, const Status& status) {
  Sale& sale = sales_[id];
  PoolMemory& memory = context_.state().pools[id];
  finish(sale);
  if (!status && status.error().code != Code::not_found) {
    return on_failed(id, sale, status.error());
  }
  sale.attempt.succeed();
  const Instant heard_by = sale.sent + host::k_under_way;
  if (!status && heard_by > context_.now()) {
    const bool is_current = !sale.wanted && memory.sequence == sequence;
    return soon(sale, is_current ? heard_by - context_.now() : Duration{});
  }
  sale.stale = 0;
  memory.stands = {};
  if (memory.sequence == sequence) memory.acknowledged = true;
  context_.keeper.touch();
  soon(sale);
  calls_.settled(id);
}

void PoolPublisher::on_failed(const PoolId& id, Sale& sale, const Error& error) {
  const Duration longest = std::clamp(Duration{context_.options.pool_lease.ms / 3},
                                      host::k_shortest_wait, host::k_longest_wait);
  const PoolMemory& memory = context_.state().pools[id];
  sale.attempt.fail(context_, memory.withdrawn ? "pool not withdrawn" : "pool not published", error,
                    longest);
  context_.wake_by(sale.attempt.due);
  if (sale.again && !describe(error.code).not_now) return soon(sale);  // was of an older content
  if (error.code == Code::stale) {
    sale.stale += 1;
    calls_.wants_snapshot();
  } else if (!describe(error.code).not_now) {
    sale.refused = true;
    calls_.settled(id);
  }
}

}  // namespace spillway::agent
