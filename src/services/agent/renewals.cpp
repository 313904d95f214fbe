#include "services/agent/renewals.h"

#include <algorithm>

namespace spillway::agent {

void Renewals::seen(const model::Contract& contract) {
  const bool keeps = context_.options.renew && contract.buyer == context_.options.cluster &&
                     contract.state == model::ContractState::active;
  if (!keeps) {
    leases_.erase(contract.id);
    return;
  }
  const auto [entry, is_new] = leases_.try_emplace(contract.id);
  Lease& lease = entry->second;
  if (!is_new && lease.deadline == contract.deadline) return;
  // The first time it may be anywhere in its life; later a new deadline is a new lease.
  const Instant now = context_.now();
  lease.length = contract.terms.lease;
  lease.deadline = contract.deadline;
  lease.attempt.backoff.reset();
  const Duration half{lease.length.ms / 2};
  const Duration jitter = host::between(context_.random, {}, Duration{lease.length.ms / 10});
  const Instant soonest = is_new ? now : now + Duration{lease.length.ms / 4};
  const Instant latest = std::max(soonest, now + half - jitter);
  lease.attempt.due = std::clamp(contract.deadline - half - jitter, soonest, latest);
  context_.wake_by(lease.attempt.due);
}

void Renewals::hurry(const ContractId& id) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.attempt.in_flight) return;
  found->second.attempt.due = context_.now();
  context_.wake_by(context_.now());
}

Instant Renewals::step() {
  const Instant now = context_.now();
  Instant next = k_never;
  for (auto& [id, lease] : leases_) {
    if (lease.attempt.in_flight) continue;
    if (!lease.attempt.is_due(now, std::max(lease.length, host::k_refused_wait))) {
      next = std::min(next, lease.attempt.due);
    } else if (in_flight_ < k_most_in_flight) {
      renew(id, lease);
    }
  }
  return next;
}

void Renewals::renew(const ContractId& id, Lease& lease) {
  lease.attempt.in_flight = true;
  in_flight_ += 1;
  agent::renew(context_.client, context_.signing, id,
               life_.guard([this, id](const Result<wire::ContractAnswer>& answer) {
                 in_flight_ -= 1;
                 context_.wake_by(context_.now());
                 on_answer(id, answer);
               }));
}

void Renewals::on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return;
  Lease& lease = found->second;
  lease.attempt.in_flight = false;
  if (answer && answer->contract.id == id) {
    lease.attempt.succeed();
    // Should the answer not have a new deadline: not again at once.
    lease.attempt.due = context_.now() + Duration{lease.length.ms / 4};
    return calls_.renewed(answer->contract);
  }
  const Error error = answer ? Error{Code::internal, "contract " + id.text,
                                     "the broker told of another one", "look at the broker"}
                             : answer.error();
  const Duration longest =
      std::clamp(Duration{lease.length.ms / 10}, host::k_shortest_wait, host::k_longest_wait);
  lease.attempt.fail(context_, "lease not renewed", error, longest);
  context_.wake_by(lease.attempt.due);
  if (!describe(error.code).not_now) calls_.doubt(id);
}

}  // namespace spillway::agent
