// The store of the simulation: one machine with one disk that any number of brokers talk to.
//
// It does what a real one does, with the faults of a real one: a commit is checked and applied in
// memory, then synced together with others, and acknowledged after that. When the machine loses
// power, what was not synced is lost, wholly or from a random byte on (journal.h). Its clock may
// step back; the time that it tells does not.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "host/store.h"
#include "sim/network.h"
#include "sim/rows.h"
#include "sim/world.h"

namespace spillway::sim {

class SimStore {
 public:
  explicit SimStore(World& world) : process_(world) {}

  // Called with the rows after each commit is applied, and again after a crash took commits back.
  using Watch = std::function<void(const host::Commit&, const Undo&)>;
  void watch(Watch watch) { watch_ = std::move(watch); }

  const Rows& rows() const { return rows_; }
  Instant now();  // the store's time
  void step_clock(Duration by) { process_.set_skew(skew_ = skew_ + by); }
  void set_disk(Duration low, Duration high) { sync_low_ = low, sync_high_ = high; }

  void crash();
  // Loses power while the next commit is on its way to the disk, the moment when it hurts.
  void crash_in_commit(Task then) { crash_in_commit_ = std::move(then); }
  void restart() { process_.restart(); }
  bool is_up() const { return process_.is_up(); }
  uint64_t lost_commits() const { return lost_; }
  uint64_t kept_unsynced() const { return kept_; }

  // The server's side of a request; answers come once the store has one to give.
  void load(const host::Load& what, const host::Then<host::Snapshot>& then);
  void commit(const host::Commit& what, const host::Then<host::Committed>& then);
  void events_after(const host::EventsAsked& asked,
                    const host::Then<std::vector<market::Event>>& then);
  void forget_events(Instant before, int32_t at_most, const host::Then<int64_t>& then);

 private:
  struct Unsynced {
    host::Commit commit;
    Undo undo;
    host::Committed committed;
    host::Then<host::Committed> then;
    std::vector<Task> readers;  // who have seen this one, and are told so once it is durable
  };
  // What was read is told when all of it is durable: else a broker could pass on, as a replay or a
  // refusal, what a loss of power takes back.
  void when_synced(Task tell);
  void begin_sync();
  void finish_sync(size_t count);

  Process process_;
  Rows rows_;
  Watch watch_;
  std::deque<Unsynced> unsynced_;
  bool syncing_ = false;
  Duration sync_low_ = milliseconds(1);
  Duration sync_high_ = milliseconds(5);
  Duration skew_;
  Instant latest_;
  Task crash_in_commit_;
  uint64_t lost_ = 0;
  uint64_t kept_ = 0;
};

// A broker's connection to the store: the port host::Store, over the simulated network. A request
// whose answer does not come in time fails as `unavailable`; it may have been carried out.
class StoreConnection : public host::Store {
 public:
  StoreConnection(Process& broker, Address from, Network& network, SimStore& store, Address to)
      : broker_(broker), from_(from), network_(network), store_(store), to_(to) {}

  void load(host::Load what, host::Then<host::Snapshot> then) override;
  void commit(host::Commit what, host::Then<host::Committed> then) override;
  void events_after(const host::EventsAsked& asked,
                    host::Then<std::vector<market::Event>> then) override;
  void forget_events(Instant before, int32_t at_most, host::Then<int64_t> then) override;

  // When an answer last did not come in time, by the world's clock.
  Instant last_failure() const { return last_failure_; }

 private:
  // Sends `request` there and its answer back; exactly one of answer and time-out reaches `then`.
  template <class T>
  void call(std::function<void(SimStore&, host::Then<T>)> request, host::Then<T> then);

  Process& broker_;
  Address from_;
  Network& network_;
  SimStore& store_;
  Address to_;
  Instant last_failure_;
};

}  // namespace spillway::sim
