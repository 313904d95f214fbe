// Pools and offers come and go by sequence number: an older one is refused, the same one with the
// same content is a sign of life, a newer one replaces.
#include <algorithm>

#include "market/account.h"
#include "market/mutants.h"
#include "market/pool_state.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

// Far from the end of the numbers: nobody can lock itself out by a slip.
constexpr int64_t k_max_sequence = int64_t{1} << 53;

Status check_provider(Workspace& workspace, const ClusterId& provider, const std::string& thing,
                      std::string_view owned_id) {
  if (workspace.find<AccountRecord>(account_key(provider)) == nullptr) {
    return not_enrolled(provider);
  }
  SPILLWAY_TRY(check_not_revoked(workspace, provider));
  if (owner_of(owned_id) != provider.text) {
    return fail(Code::denied, thing, "it belongs to another cluster",
                fmt::format("publish under {}/", provider.text));
  }
  return {};
}

enum class Turn { first, repeat, newer };

// Whether what a message says of what is carried is news of this epoch (commands.h).
bool confirms(const PublishPool& command, const PoolRecord& known, bool first,
              const EpochRecord& epoch) {
  if (first && command.epoch == 0) return command.carries.empty();
  return command.epoch == epoch.epoch && command.report > known.report;
}

// `same`: the content equals what is published under the present number.
Result<Turn> turn_of(const std::string& thing, int64_t present, int64_t next, bool same) {
  if (next < 1 || next > k_max_sequence) {
    return fail(Code::invalid, thing, fmt::format("sequence {} is out of range", next),
                fmt::format("count publications from 1 upwards, to {} at most", k_max_sequence));
  }
  if (next > present) return present == 0 ? Turn::first : Turn::newer;
  if (mutant(Mutant::accept_older)) return Turn::newer;
  if (next < present) {
    return fail(Code::stale, thing,
                fmt::format("sequence {} is older than {}, which is published", next, present),
                fmt::format("publish with a sequence above {}", present));
  }
  if (same) return Turn::repeat;
  return fail(Code::stale, thing,
              fmt::format("sequence {} is published already with another content", next),
              fmt::format("publish the change with a sequence above {}", present));
}

int64_t largest_amount(const model::Resources& resources) {
  int64_t largest = std::max(
      {resources.cpu_millis, resources.memory_bytes, resources.pods, resources.storage_bytes});
  for (const model::Counts* counts : {&resources.gpus, &resources.extended}) {
    for (const model::Count& count : *counts) largest = std::max(largest, count.amount);
  }
  return largest;
}

// Adds to `sum`, which stays what a valid pool may have: capacities are at most k_max_amount, so
// nothing that is true is refused, and nothing that is claimed can overflow.
Status add_carried(model::Resources& sum, const model::Resources& shape, int32_t units,
                   const ContractId& contract) {
  if (largest_amount(shape) <= model::k_max_amount / units) {
    sum += shape.times(units);
    if (validate(sum)) return {};
  }
  return fail(Code::invalid, "contract " + contract.text,
              fmt::format("with {} units more of it the pool would carry more than any can", units),
              "state the units that are in place");
}

// What the provider says it carries beyond what the book knows to be sold on this pool.
Result<model::Resources> unaccounted(Workspace& workspace, const PublishPool& command) {
  model::Resources sum;
  for (const Carried& carried : command.carries) {
    SPILLWAY_TRY(check_contract_id(carried.contract.text));
    if (carried.units < 0 || carried.units > k_max_carried_units) {
      return fail(Code::invalid, "contract " + carried.contract.text,
                  fmt::format("{} carried units make no sense", carried.units),
                  "state the units that are in place");
    }
    const auto* contract = workspace.find<model::Contract>(key_of(carried.contract));
    const bool known = contract != nullptr && contract->pool == command.pool.id;
    if (!known) SPILLWAY_TRY(validate(carried.shape));
    const int32_t sold = known && contract->is_live() ? contract->bought_units() : 0;
    const int32_t extra = carried.units - sold;
    if (extra <= 0) continue;
    SPILLWAY_TRY(
        add_carried(sum, known ? contract->shape : carried.shape, extra, carried.contract));
  }
  return sum;
}

Event publication(EventKind kind, Instant now, const std::string& subject, const PoolId& pool,
                  const ClusterId& provider, int64_t sequence) {
  return {.sequence = 0,
          .at = now,
          .kind = kind,
          .subject = subject,
          .pool = pool,
          .provider = provider,
          .buyer = {},
          .detail = fmt::format("sequence {}", sequence)};
}

Status check_named_once(const PublishPool& command) {
  std::vector<std::string_view> ids;
  ids.reserve(command.carries.size());
  for (const Carried& carried : command.carries) ids.emplace_back(carried.contract.text);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return {};
  return fail(Code::invalid, fmt::format("contract {}", *twice), "it is listed twice as carried",
              "state all its units in one place");
}

Status check_pool_command(const PublishPool& command, const Context& context) {
  SPILLWAY_TRY(validate(command.pool));
  if (command.lease.ms < 1000 || command.lease > context.rules.max_pool_lease) {
    return fail(Code::invalid, "pool " + command.pool.id.text,
                fmt::format("a lease of {} is out of range", to_text(command.lease)),
                fmt::format("ask for 1s to {}", to_text(context.rules.max_pool_lease)));
  }
  if (command.carries.size() > k_max_carried) {
    return fail(Code::invalid, "pool " + command.pool.id.text,
                fmt::format("{} carried contracts are too many", command.carries.size()),
                fmt::format("a pool carries at most {}", k_max_carried));
  }
  return check_named_once(command);
}

}  // namespace

Result<Answer> run(Workspace& workspace, const PublishPool& command, const Context& context) {
  const std::string thing = "pool " + command.pool.id.text;
  SPILLWAY_TRY(check_pool_command(command, context));
  SPILLWAY_TRY(check_provider(workspace, command.provider, thing, command.pool.id.text));
  if (command.epoch < 0 || command.report < 0) {
    return fail(Code::invalid, thing, "its epoch or report is below zero",
                "say the epoch that was heard last, and count reports from 1 upwards");
  }
  const EpochRecord epoch = current_epoch(workspace);
  const auto* present = workspace.find<PoolRecord>(key_of(command.pool.id));
  PoolRecord next = present == nullptr ? PoolRecord{} : *present;
  const auto turn =
      turn_of(thing, next.sequence, command.sequence, !next.withdrawn && next.pool == command.pool);
  if (!turn) return tl::unexpected(turn.error());
  auto extra = unaccounted(workspace, command);
  if (!extra) return tl::unexpected(extra.error());

  // Revoking scans for what is on sale: the account's version tells it of a pool that comes since.
  if (*turn == Turn::first || next.withdrawn) {
    const Key account = account_key(command.provider);
    if (const auto* owner = workspace.find<AccountRecord>(account); owner != nullptr) {
      workspace.put(account, AccountRecord(*owner));
    }
  }
  next.pool = command.pool;
  next.provider = command.provider;
  next.sequence = command.sequence;
  next.withdrawn = false;
  next.lease_until = context.now + command.lease;
  next.heard = context.now;
  if (confirms(command, next, *turn == Turn::first, epoch)) {
    next.epoch = epoch.epoch;
    next.report = command.report;
    next.unaccounted = std::move(*extra);
  }
  workspace.emit(publication(EventKind::pool_published, context.now, next.pool.id.text,
                             next.pool.id, next.provider, next.sequence));
  put_pool(workspace, std::move(next), context.now, context.rules.reclaim_after);
  Answer answer;
  answer.epoch = epoch.epoch;
  return answer;
}

Result<Answer> run(Workspace& workspace, const WithdrawPool& command, const Context& context) {
  const std::string thing = "pool " + command.pool.text;
  SPILLWAY_TRY(check_provider(workspace, command.provider, thing, command.pool.text));
  const auto* present = workspace.find<PoolRecord>(key_of(command.pool));
  if (present == nullptr) {
    return fail(Code::not_found, thing, "it was never published", "nothing is to be done");
  }
  const auto turn = turn_of(thing, present->sequence, command.sequence, present->withdrawn);
  if (!turn) return tl::unexpected(turn.error());
  if (*turn == Turn::repeat) return Answer{};
  PoolRecord next = *present;
  next.sequence = command.sequence;
  withdraw(next);
  workspace.emit(publication(EventKind::pool_withdrawn, context.now, next.pool.id.text,
                             next.pool.id, next.provider, next.sequence));
  put_pool(workspace, std::move(next), context.now, context.rules.reclaim_after);
  return Answer{};
}

Result<Answer> run(Workspace& workspace, const PublishOffer& command, const Context& context) {
  const model::Offer& offer = command.offer;
  const std::string thing = "offer " + offer.id.text;
  SPILLWAY_TRY(validate(offer));
  SPILLWAY_TRY(check_provider(workspace, command.provider, thing, offer.id.text));
  const auto* pool = workspace.find<PoolRecord>(key_of(offer.pool));
  const auto* present = workspace.find<OfferRecord>(key_of(offer.id));
  if (pool == nullptr) {
    return fail(Code::not_found, thing,
                fmt::format("its pool {} is not published", offer.pool.text),
                "publish the pool first");
  }
  if (const auto larger = pool->pool.node.first_short(offer.shape); !larger.empty()) {
    return fail(
        Code::invalid, thing,
        fmt::format("its shape is larger than one node of {} in {}", offer.pool.text, larger),
        fmt::format("offer at most {}", to_text(pool->pool.node)));
  }
  if (offer.until && *offer.until <= context.now) {
    return fail(Code::invalid, thing,
                fmt::format("until {} lies in the past", to_text(*offer.until)),
                fmt::format("it is {} now", to_text(context.now)));
  }
  const auto turn = turn_of(thing, present == nullptr ? 0 : present->sequence, command.sequence,
                            present != nullptr && !present->withdrawn && present->offer == offer);
  if (!turn) return tl::unexpected(turn.error());
  if (*turn == Turn::repeat) return Answer{};
  if (present != nullptr) {
    if (const auto what = immutable_difference(present->offer, offer); !what.empty()) {
      return fail(Code::stale, thing, fmt::format("its {} cannot change under the same id", what),
                  "publish the new one under another id, and withdraw this one");
    }
  }
  workspace.emit(publication(EventKind::offer_published, context.now, offer.id.text, offer.pool,
                             command.provider, command.sequence));
  workspace.put(key_of(offer.id), OfferRecord{offer, command.provider, command.sequence, false});
  return Answer{};
}

Result<Answer> run(Workspace& workspace, const WithdrawOffer& command, const Context& context) {
  const std::string thing = "offer " + command.offer.text;
  SPILLWAY_TRY(check_provider(workspace, command.provider, thing, command.offer.text));
  const auto* present = workspace.find<OfferRecord>(key_of(command.offer));
  if (present == nullptr) {
    return fail(Code::not_found, thing, "it was never published", "nothing is to be done");
  }
  const auto turn = turn_of(thing, present->sequence, command.sequence, present->withdrawn);
  if (!turn) return tl::unexpected(turn.error());
  if (*turn == Turn::repeat) return Answer{};
  OfferRecord next = *present;
  next.sequence = command.sequence;
  next.withdrawn = true;
  workspace.emit(publication(EventKind::offer_withdrawn, context.now, next.offer.id.text,
                             next.offer.pool, next.provider, next.sequence));
  workspace.put(key_of(command.offer), std::move(next));
  return Answer{};
}

}  // namespace spillway::market
