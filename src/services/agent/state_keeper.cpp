#include "services/agent/state_keeper.h"

#include <algorithm>
#include <utility>

#include "market/mutants.h"

namespace spillway::agent {

StateKeeper::StateKeeper(host::Loop& loop, host::Random& random, StateStore& store,
                         services::Log& log, std::function<void()> before_save,
                         std::function<void()> ready)
    : before_save_(std::move(before_save)),
      ready_(std::move(ready)),
      store_(store),
      saver_(loop, random, store, log,
             {[this] {
                before_save_();
                saving_reports_ = state_.reports;
                return to_json(state_);
              },
              [this] { durable_reports_ = std::max(durable_reports_, saving_reports_); }}) {}

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
