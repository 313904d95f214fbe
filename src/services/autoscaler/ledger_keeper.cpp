#include "services/autoscaler/ledger_keeper.h"

#include <utility>

#include "demand/ledger_codec.h"

namespace spillway::autoscaler {
namespace {

constexpr const char* k_mend_ledger =
    "move it away: leases of what it held are not renewed then, and end";

demand::LedgerState groups_in_use(const demand::LedgerState& state) {
  demand::LedgerState used{state.cluster, state.generation, {}};
  for (const auto& [id, group] : state.groups) {
    if (group.is_in_use()) used.groups.emplace(id, group);
  }
  return used;
}

}  // namespace

agent::StateKind ledger_state() {
  return {"autoscaler",
          [](const std::string& json, const std::string& source) {
            return demand::ledger_from_json(json, source).map([](const demand::LedgerState&) {});
          },
          k_mend_ledger};
}

LedgerKeeper::LedgerKeeper(host::Loop& loop, host::Random& random, agent::StateStore& store,
                           services::Log& log)
    : loop_(loop), random_(random), store_(store), log_(log), alarm_(loop, [this] {
        if (!is_dirty_ || is_saving_) return;
        if (loop_.now() >= save_at_ || save_at_ - loop_.now() > host::k_longest_wait) return save();
        alarm_.wake_by(save_at_);
      }) {}

// A new ledger counts from the time on: should one be lost, the next uses none of its numbers
// again, and no hold is taken for another's.
Status LedgerKeeper::load(const ClusterId& cluster) {
  const auto text = store_.load();
  if (!text) return tl::unexpected(text.error());
  demand::LedgerState state{cluster, loop_.now().ms, {}};
  if (!text->empty()) {
    auto read = demand::ledger_from_json(*text);
    if (!read) {
      Error error = std::move(read).error();
      error.next = k_mend_ledger;
      return tl::unexpected(std::move(error));
    }
    if (read->cluster != cluster) {
      return fail(Code::conflict, "autoscaler state",
                  fmt::format("it is of cluster {}, this is {}", read->cluster.text, cluster.text),
                  "give each cluster a state folder of its own");
    }
    state = std::move(*read);
    saved_generation_ = state.generation;
  }
  for (auto& [id, group] : state.groups) group.is_on_sale = false;  // until the market says so
  ledger_ = demand::Ledger(std::move(state));
  return {};
}

void LedgerKeeper::touch() {
  if (std::exchange(is_dirty_, true)) return;
  save_at_ = loop_.now() + k_batch;
  if (!is_saving_) alarm_.wake_by(save_at_);
}

void LedgerKeeper::flush(std::function<void()> then) {
  waiting_.push_back(std::move(then));
  is_dirty_ = true;
  if (!is_saving_) save();
}

void LedgerKeeper::save() {
  is_dirty_ = false;
  is_saving_ = true;
  saved_ = std::exchange(waiting_, {});
  const demand::LedgerState& state = ledger_.state();
  store_.save(demand::to_json(groups_in_use(state)),
              life_.guard([this, generation = state.generation](const Status& status) {
                on_saved(status, generation);
              }));
}

void LedgerKeeper::on_saved(const Status& status, int64_t generation) {
  is_saving_ = false;
  if (!status) {
    if (backoff_.failures() == 0) {
      log_.write(services::Level::error, "state not saved", {{"why", status.error().message()}});
    }
    is_dirty_ = true;
    waiting_.insert(waiting_.begin(), saved_.begin(), saved_.end());
    saved_.clear();
    save_at_ = loop_.now() + backoff_.next(random_);
    return alarm_.wake_by(save_at_);
  }
  backoff_.reset();
  saved_generation_ = generation;
  if (is_dirty_) {
    save_at_ = loop_.now() + (waiting_.empty() ? k_batch : Duration{});
    alarm_.wake_by(save_at_);
  }
  for (const auto& then : std::exchange(saved_, {})) then();
}

}  // namespace spillway::autoscaler
