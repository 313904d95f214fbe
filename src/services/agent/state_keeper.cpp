#include "services/agent/state_keeper.h"

#include <algorithm>
#include <utility>

#include "market/mutants.h"

namespace spillway::agent {

StateKeeper::StateKeeper(host::Loop& loop, host::Random& random, StateStore& store,
                         services::Log& log, std::function<void()> before_save,
                         std::function<void()> ready)
    : loop_(loop),
      random_(random),
      store_(store),
      log_(log),
      before_save_(std::move(before_save)),
      ready_(std::move(ready)),
      alarm_(loop, [this] {
        if (!dirty_ || saving_) return;
        if (loop_.now() >= save_at_ || save_at_ - loop_.now() > host::k_longest_wait) return save();
        alarm_.wake_by(save_at_);
      }) {}

Result<bool> StateKeeper::load(const ClusterId& cluster) {
  const auto text = store_.load();
  if (!text) return tl::unexpected(text.error());
  state_ = AgentState{};
  state_.cluster = cluster;
  if (!text->empty()) {
    auto read = state_from_json(*text);
    if (!read) {
      Error error = std::move(read).error();
      error.next =
          "start once with --forget-state: the broker still knows what was published and "
          "sold";
      return tl::unexpected(std::move(error));
    }
    if (read->cluster != cluster) {
      return fail(Code::conflict, "agent state",
                  fmt::format("it is of cluster {}, this is {}", read->cluster.text, cluster.text),
                  "give each cluster a state folder of its own");
    }
    state_ = std::move(*read);
  }
  durable_reports_ = state_.reports;
  next_report_ = market::mutant(market::Mutant::reuse_reports) ? 1 : state_.reports + 1;
  return !text->empty();
}

void StateKeeper::touch() {
  if (std::exchange(dirty_, true)) return;
  save_at_ = loop_.now() + k_batch;
  if (!saving_) alarm_.wake_by(save_at_);
}

void StateKeeper::flush(std::function<void()> then) {
  waiting_.push_back(std::move(then));
  dirty_ = true;
  if (!saving_) save();
}

void StateKeeper::save() {
  dirty_ = false;
  saving_ = true;
  saved_ = std::exchange(waiting_, {});
  before_save_();
  store_.save(to_json(state_), life_.guard([this, reports = state_.reports](const Status& status) {
    on_saved(status, reports);
  }));
}

void StateKeeper::on_saved(const Status& status, int64_t reports) {
  saving_ = false;
  if (!status) {
    if (backoff_.failures() == 0) {
      log_.write(services::Level::error, "state not saved", {{"why", status.error().message()}});
    }
    dirty_ = true;
    waiting_.insert(waiting_.begin(), saved_.begin(), saved_.end());
    saved_.clear();
    save_at_ = loop_.now() + backoff_.next(random_);
    return alarm_.wake_by(save_at_);
  }
  backoff_.reset();
  durable_reports_ = std::max(durable_reports_, reports);
  const bool now = !waiting_.empty();
  if (dirty_) {
    save_at_ = loop_.now() + (now ? Duration{} : k_batch);
    alarm_.wake_by(save_at_);
  }
  for (const auto& then : std::exchange(saved_, {})) then();
}

std::optional<int64_t> StateKeeper::take_report() {
  const int64_t left = durable_reports_ - next_report_ + 1;
  if (left < k_block / 10) reserve();
  if (next_report_ > durable_reports_) return std::nullopt;
  return next_report_++;
}

void StateKeeper::raise_reports(int64_t above) {
  if (above < next_report_) return;
  // A message of ours that the broker had not seen when it said so may carry a higher one still.
  next_report_ = above + k_block;
  reserve();
}

void StateKeeper::reserve() {
  if (std::exchange(reserving_, true)) return;
  state_.reports = std::max(state_.reports, next_report_ - 1) + k_block;
  flush([this] {
    reserving_ = false;
    ready_();
  });
}

}  // namespace spillway::agent
