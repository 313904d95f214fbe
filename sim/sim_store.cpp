#include "sim/sim_store.h"

#include <algorithm>

#include "sim/journal.h"

namespace spillway::sim {

namespace {
constexpr Duration k_store_timeout = seconds(2);
}

Instant SimStore::now() {
  latest_ = std::max(latest_, process_.now());
  return latest_;
}

void SimStore::load(const host::Load& what, const host::Then<host::Snapshot>& then) {
  host::Snapshot snapshot;
  snapshot.now = now();
  snapshot.first_event = rows_.first_event();
  snapshot.last_event = rows_.last_event();
  for (const market::Key& key : what.keys) snapshot.rows.push_back(rows_.row(key));
  for (const host::Scan& scan : what.scans) snapshot.found.push_back(rows_.scan(scan));
  when_synced([then, snapshot = std::move(snapshot)] { then(snapshot); });
}

void SimStore::when_synced(Task tell) {
  if (unsynced_.empty()) return tell();
  unsynced_.back().readers.push_back(std::move(tell));
}

void SimStore::commit(const host::Commit& what, const host::Then<host::Committed>& then) {
  if (!rows_.holds(what.expectations)) {
    then(fail(Code::conflict, "store", "a row has changed meanwhile", "load and decide again"));
    return;
  }
  Unsynced entry{what, rows_.apply(what), {}, then, {}};
  entry.committed.last_event = rows_.last_event();
  entry.committed.first_event = entry.committed.last_event - entry.undo.events + 1;
  entry.committed.version = rows_.last_commit();
  if (watch_) watch_(entry.commit, entry.undo);
  unsynced_.push_back(std::move(entry));
  begin_sync();
  if (crash_in_commit_) {
    process_.after({}, [this] {
      crash();
      std::exchange(crash_in_commit_, nullptr)();
    });
  }
}

void SimStore::events_after(const host::EventsAsked& asked,
                            const host::Then<std::vector<market::Event>>& then) {
  const auto& events = rows_.events();
  if (asked.after < rows_.first_event() - 1) {
    // Forgetting is durable at once, so this is.
    then(host::events_gone(asked.after, rows_.first_event()));
    return;
  }
  const auto first =
      std::min(static_cast<size_t>(asked.after + 1 - rows_.first_event()), events.size());
  const auto last = std::min(first + static_cast<size_t>(asked.limit), events.size());
  std::vector<market::Event> found(events.begin() + static_cast<ptrdiff_t>(first),
                                   events.begin() + static_cast<ptrdiff_t>(last));
  when_synced([then, found = std::move(found)] { then(found); });
}

void SimStore::forget_events(Instant before, int32_t at_most, const host::Then<int64_t>& then) {
  int64_t durable = rows_.last_event();
  for (const Unsynced& entry : unsynced_) durable -= entry.undo.events;
  int64_t first = rows_.first_event();
  for (const market::Event& event : rows_.events()) {
    const bool enough = first - rows_.first_event() >= at_most;
    if (enough || event.at >= before || event.sequence > durable) break;
    first = event.sequence + 1;
  }
  rows_.forget_events(first);
  then(first);
}

void SimStore::begin_sync() {
  if (syncing_ || unsynced_.empty()) return;
  syncing_ = true;
  const Duration time = process_.world().between(sync_low_, sync_high_);
  process_.after(time, [this, count = unsynced_.size()] { finish_sync(count); });
}

void SimStore::finish_sync(size_t count) {
  syncing_ = false;
  std::vector<Unsynced> synced(
      std::make_move_iterator(unsynced_.begin()),
      std::make_move_iterator(unsynced_.begin() + static_cast<ptrdiff_t>(count)));
  unsynced_.erase(unsynced_.begin(), unsynced_.begin() + static_cast<ptrdiff_t>(count));
  begin_sync();
  for (const Unsynced& entry : synced) {
    entry.then(entry.committed);
    for (const Task& tell : entry.readers) tell();
  }
}

void SimStore::crash() {
  process_.crash();
  syncing_ = false;
  for (auto it = unsynced_.rbegin(); it != unsynced_.rend(); ++it) rows_.take_back(it->undo);
  // What had reached the platter, cut at any byte: whatever is whole is there after all.
  std::string bytes;
  for (const Unsynced& entry : unsynced_) bytes += frame(entry.commit);
  if (!process_.world().chance(300)) bytes.resize(process_.world().below(bytes.size() + 1));
  const Recovered recovered = recover(bytes);
  for (const host::Commit& commit : recovered.commits) {
    const Undo undo = rows_.apply(commit);
    if (watch_) watch_(commit, undo);
  }
  kept_ += recovered.commits.size();
  lost_ += unsynced_.size() - recovered.commits.size();
  unsynced_.clear();
}

template <class T>
void StoreConnection::call(std::function<void(SimStore&, host::Then<T>)> request,
                           host::Then<T> then) {
  auto once = std::make_shared<host::Then<T>>(std::move(then));
  const auto answer = [once](Result<T> result) {
    if (*once) std::exchange(*once, nullptr)(std::move(result));
  };
  broker_.after(k_store_timeout, [this, once, answer] {
    if (*once) last_failure_ = broker_.world().now();
    answer(fail(Code::unavailable, "store", "it did not answer in time", "try again"));
  });
  network_.send(from_, to_, [this, life = broker_.life(), request, answer] {
    if (!store_.is_up()) return;
    request(store_, [this, life, answer](Result<T> result) {
      network_.send(to_, from_, [this, life, answer, result = std::move(result)] {
        if (broker_.is_up() && broker_.life() == life) answer(result);
      });
    });
  });
}

void StoreConnection::load(host::Load what, host::Then<host::Snapshot> then) {
  call<host::Snapshot>(
      [what = std::move(what)](SimStore& store, const host::Then<host::Snapshot>& answer) {
        store.load(what, answer);
      },
      std::move(then));
}

void StoreConnection::commit(host::Commit what, host::Then<host::Committed> then) {
  call<host::Committed>(
      [what = std::move(what)](SimStore& store, const host::Then<host::Committed>& answer) {
        store.commit(what, answer);
      },
      std::move(then));
}

void StoreConnection::events_after(const host::EventsAsked& asked,
                                   host::Then<std::vector<market::Event>> then) {
  call<std::vector<market::Event>>(
      [asked](SimStore& store, const host::Then<std::vector<market::Event>>& answer) {
        store.events_after(asked, answer);
      },
      std::move(then));
}

void StoreConnection::forget_events(Instant before, int32_t at_most, host::Then<int64_t> then) {
  call<int64_t>(
      [before, at_most](SimStore& store, const host::Then<int64_t>& answer) {
        store.forget_events(before, at_most, answer);
      },
      std::move(then));
}

}  // namespace spillway::sim
