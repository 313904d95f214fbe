// What the broker does by itself: end what is overdue, take back what an oversold provider does
// not, forget old keys, tokens and messages, and notice that it was away.
#include <algorithm>

#include "market/ending.h"
#include "market/ending_notice.h"
#include "market/mutants.h"
#include "market/outage.h"
#include "market/overdue.h"
#include "market/pool_state.h"
#include "market/relay.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractState;
using model::EndReason;

void say_that_it_ends(Workspace& workspace, Contract& contract, const Context& context) {
  contract.ending_notice = next_ending_notice(contract, context.rules, context.now);
  if (mutant(Mutant::repeat_endings)) contract.ending_notice = context.now + seconds(1);
  workspace.emit(
      event_on(contract, EventKind::contract_ending, context.now,
               fmt::format("its lease ends at {} and was not renewed; all of it ends no "
                           "later than {}",
                           to_text(contract.deadline), to_text(ends_no_later_than(contract)))));
  workspace.put(key_of(contract.id), contract);
}

void attend_contract(Workspace& workspace, Contract contract, const Context& context) {
  const auto is_to_be_said = [&contract, &context] {
    return contract.is_live() && contract.ending_notice && *contract.ending_notice <= context.now;
  };
  if (is_to_be_said()) move_by_outage(workspace, contract, context);
  end_overdue(workspace, contract, context);
  if (is_to_be_said()) say_that_it_ends(workspace, contract, context);
}

// Whether ending units of `shape` helps where something is lacking (above zero).
bool eases(const model::Resources& shape, const model::Resources& lack) {
  const auto both = [](int64_t has, int64_t lacks) { return has > 0 && lacks > 0; };
  const auto both_counts = [&](const model::Counts& has, const model::Counts& lacks) {
    return std::any_of(has.begin(), has.end(), [&](const model::Count& one) {
      return std::any_of(lacks.begin(), lacks.end(), [&](const model::Count& other) {
        return one.name == other.name && both(one.amount, other.amount);
      });
    });
  };
  return both(shape.cpu_millis, lack.cpu_millis) || both(shape.memory_bytes, lack.memory_bytes) ||
         both(shape.pods, lack.pods) || both(shape.storage_bytes, lack.storage_bytes) ||
         both_counts(shape.gpus, lack.gpus) || both_counts(shape.extended, lack.extended);
}

// Whom an oversold pool parts with: holds before contracts, then the youngest first, of those that
// use what is short; no more than cover the deficit together with what is closing already.
std::vector<Contract> choose_to_end(Workspace& workspace, const PoolRecord& pool) {
  std::vector<Contract> candidates;
  model::Resources lack = pool.committed + pool.unaccounted - pool.pool.capacity;
  for (const ContractId& id : workspace.live_contracts_in(pool.pool.id)) {
    const auto* contract = workspace.find<Contract>(key_of(id));
    if (contract == nullptr) continue;
    if (contract->state == ContractState::closing) {
      lack -= contract->taken();
    } else {
      candidates.push_back(*contract);
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Contract& a, const Contract& b) {
    if (a.state != b.state) return a.state == ContractState::hold;
    return std::tie(b.created, b.id) < std::tie(a.created, a.id);
  });
  std::vector<Contract> chosen;
  for (Contract& candidate : candidates) {
    const model::Resources taken = candidate.taken();
    if (!eases(taken, lack)) continue;
    lack -= taken;
    chosen.push_back(std::move(candidate));
  }
  return chosen;
}

void attend_pool(Workspace& workspace, const PoolRecord& pool, const Context& context) {
  if (!pool.reclaim_at || *pool.reclaim_at > context.now) return;
  const std::vector<Contract> chosen = choose_to_end(workspace, pool);
  if (workspace.lacks_rows()) return;
  // Look again later: what was given notice has its time to leave, and the pool may shrink further.
  PoolRecord next = pool;
  next.reclaim_at = context.now + context.rules.reclaim_after;
  put_pool(workspace, std::move(next), context.now, context.rules.reclaim_after);
  for (Contract contract : chosen) {
    lapse_overdue(workspace, contract, context);
    take_back(workspace, contract, EndReason::reclaimed, context);
  }
}

Event epoch_event(Instant now, Duration silence, bool outage) {
  return {.sequence = 0,
          .at = now,
          .kind = outage ? EventKind::outage_recorded : EventKind::epoch_begun,
          .subject = "epoch",
          .pool = {},
          .provider = {},
          .buyer = {},
          .detail = fmt::format("the market was away for {}; providers confirm what they carry",
                                to_text(silence))};
}

}  // namespace

Result<Answer> run(Workspace& workspace, const Attend& command, const Context& context) {
  if (command.row.kind == Kind::contract) {
    const auto* contract = workspace.find<Contract>(command.row);
    if (contract != nullptr) attend_contract(workspace, *contract, context);
  } else if (command.row.kind == Kind::pool) {
    const auto* pool = workspace.find<PoolRecord>(command.row);
    if (pool != nullptr) attend_pool(workspace, PoolRecord(*pool), context);
  } else if (command.row.kind == Kind::request) {
    const auto* request = workspace.find<RequestRecord>(command.row);
    if (request != nullptr && request->forget_at <= context.now) workspace.erase(command.row);
  } else if (command.row.kind == Kind::token) {
    const auto* token = workspace.find<TokenRecord>(command.row);
    if (token != nullptr && token->forget_at <= context.now) workspace.erase(command.row);
  } else if (command.row.kind == Kind::mailbox) {
    const auto* mailbox = workspace.find<MailboxRecord>(command.row);
    if (mailbox != nullptr) attend_mailbox(workspace, *mailbox, context);
  }
  return Answer{};
}

Result<Answer> run(Workspace& workspace, const Beat& command, const Context& context) {
  const auto* heart = workspace.find<HeartRecord>(heart_key());
  EpochRecord epoch = current_epoch(workspace);
  const bool first = workspace.find<EpochRecord>(epoch_key()) == nullptr;
  const Duration silence = heart == nullptr ? Duration{} : context.now - heart->beat;
  const bool outage = silence > context.rules.outage_after;
  const bool came_back = command.starting && silence > context.rules.alone_after;
  if (first || outage || came_back) {
    epoch.epoch = first ? context.now.ms : std::max(context.now.ms, epoch.epoch + 1);
    if (outage) epoch.lost = epoch.lost + silence;
    workspace.put(epoch_key(), epoch);
    workspace.emit(epoch_event(context.now, silence, outage));
  }
  workspace.put(heart_key(), HeartRecord{context.now});
  return Answer{};
}

}  // namespace spillway::market
