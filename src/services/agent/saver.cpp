#include "services/agent/saver.h"

#include <utility>

namespace spillway::agent {

Saver::Saver(host::Loop& loop, host::Random& random, StateStore& store, services::Log& log,
             Calls calls)
    : loop_(loop),
      random_(random),
      store_(store),
      log_(log),
      calls_(std::move(calls)),
      alarm_(loop, [this] {
        if (!is_dirty_ || is_saving_) return;
        if (loop_.now() >= save_at_ || save_at_ - loop_.now() > host::k_longest_wait) return save();
        alarm_.wake_by(save_at_);
      }) {}

void Saver::touch() {
  if (std::exchange(is_dirty_, true)) return;
  save_at_ = loop_.now() + k_batch;
  if (!is_saving_) alarm_.wake_by(save_at_);
}

void Saver::flush(std::function<void()> then) {
  waiting_.push_back(std::move(then));
  is_dirty_ = true;
  if (!is_saving_) save();
}

void Saver::save() {
  is_dirty_ = false;
  is_saving_ = true;
  saved_ = std::exchange(waiting_, {});
  store_.save(calls_.text(), life_.guard([this](const Status& status) { on_saved(status); }));
}

void Saver::on_saved(const Status& status) {
  is_saving_ = false;
  if (!status) {
    if (backoff_.failures() == 0) {
      log_.write(services::Level::error, "state not saved", {{"why", status.error().message()}});
    }
    trouble_ = status.error();
    is_dirty_ = true;
    waiting_.insert(waiting_.begin(), saved_.begin(), saved_.end());
    saved_.clear();
    save_at_ = loop_.now() + backoff_.next(random_);
    return alarm_.wake_by(save_at_);
  }
  backoff_.reset();
  trouble_.reset();
  calls_.saved();
  if (is_dirty_) {
    save_at_ = loop_.now() + (waiting_.empty() ? k_batch : Duration{});
    alarm_.wake_by(save_at_);
  }
  for (const auto& then : std::exchange(saved_, {})) then();
}

}  // namespace spillway::agent
