#include "sim/patient_store.h"

#include <optional>

namespace spillway::sim {

void WaitingLoop::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void WaitingLoop::run_one() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return !tasks_.empty(); });
  const Task task = std::move(tasks_.front());
  tasks_.erase(tasks_.begin());
  lock.unlock();
  task();
}

template <class T, class Call>
void PatientStore::wait(Call call, host::Then<T> then) {
  std::optional<Result<T>> answer;
  call([&answer](Result<T> result) { answer = std::move(result); });
  while (!answer) waiting_.run_one();
  loop_.post([then = std::move(then), answer = std::move(*answer)] { then(answer); });
}

void PatientStore::load(host::Load what, host::Then<host::Snapshot> then) {
  wait<host::Snapshot>([&](auto done) { store_.load(std::move(what), done); }, std::move(then));
}

void PatientStore::commit(host::Commit what, host::Then<host::Committed> then) {
  wait<host::Committed>([&](auto done) { store_.commit(std::move(what), done); }, std::move(then));
}

void PatientStore::events_after(int64_t sequence, int32_t limit,
                                host::Then<std::vector<market::Event>> then) {
  wait<std::vector<market::Event>>([&](auto done) { store_.events_after(sequence, limit, done); },
                                   std::move(then));
}

void PatientStore::forget_events(Instant before, int32_t at_most, host::Then<int64_t> then) {
  wait<int64_t>([&](auto done) { store_.forget_events(before, at_most, done); }, std::move(then));
}

}  // namespace spillway::sim
