// PatientStore: a real, threaded store on a virtual clock. Each call waits for the store's answer
// before virtual time goes on, so that a real SQLite file can live in a simulated world.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "host/store.h"
#include "sim/world.h"

namespace spillway::sim {

// The loop that a store behind a PatientStore posts its answers to.
class WaitingLoop : public host::Loop {
 public:
  explicit WaitingLoop(World& world) : world_(world) {}
  Instant now() override { return world_.now(); }
  void post(Task task) override;
  void after(Duration, Task task) override { post(std::move(task)); }
  void run_one();  // waits for a task and runs it

 private:
  World& world_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Task> tasks_;
};

class PatientStore : public host::Store {
 public:
  PatientStore(host::Store& store, WaitingLoop& waiting, host::Loop& loop)
      : store_(store), waiting_(waiting), loop_(loop) {}

  void load(host::Load what, host::Then<host::Snapshot> then) override;
  void commit(host::Commit what, host::Then<host::Committed> then) override;
  void events_after(int64_t sequence, int32_t limit,
                    host::Then<std::vector<market::Event>> then) override;
  void forget_events(Instant before, int32_t at_most, host::Then<int64_t> then) override;

 private:
  template <class T, class Call>
  void wait(Call call, host::Then<T> then);

  host::Store& store_;
  WaitingLoop& waiting_;
  host::Loop& loop_;
};

}  // namespace spillway::sim
