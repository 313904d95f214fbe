#include "services/autoscaler/ledger_keeper.h"

#include <utility>

#include "demand/ledger_codec.h"

namespace spillway::autoscaler {
namespace {

constexpr const char* k_mend_ledger =
    "move it away: leases of what it held are not renewed then, and end";
constexpr const char* k_without_ledger = "leases of what it held are not renewed then, and end";

demand::LedgerState groups_in_use(const demand::LedgerState& state) {
  demand::LedgerState used{state.cluster, state.generation, {}, state.tried, state.past};
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
          k_mend_ledger, k_without_ledger};
}

LedgerKeeper::LedgerKeeper(host::Loop& loop, host::Random& random, agent::StateStore& store,
                           services::Log& log)
    : loop_(loop),
      store_(store),
      saver_(loop, random, store, log,
             {[this] {
                saving_generation_ = ledger_.state().generation;
                return demand::to_json(groups_in_use(ledger_.state()));
              },
              [this] { saved_generation_ = saving_generation_; }}) {}

// A new ledger counts from the time on: should one be lost, the next uses none of its numbers
// again, and no hold is taken for another's.
Status LedgerKeeper::load(const ClusterId& cluster) {
  const auto text = store_.load();
  if (!text) return tl::unexpected(text.error());
  demand::LedgerState state{cluster, loop_.now().ms, {}, {}, {}};
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

}  // namespace spillway::autoscaler
