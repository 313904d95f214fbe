#include "services/agent/untold.h"

#include <algorithm>

namespace spillway::agent {
namespace {

constexpr Duration k_look_after = seconds(1);

}  // namespace

void Untold::hurry() {
  for (auto& entry : attempts_) entry.second.due = context_.now();
  context_.wake_by(context_.now());
}

Instant Untold::step() {
  const Instant now = context_.now();
  Instant next = k_never;
  for (const auto& entry : context_.state().ended_unheard) {
    Attempt& attempt = attempts_[entry.first];
    if (attempt.in_flight) continue;
    if (!attempt.is_due(now, host::k_refused_wait)) {
      next = std::min(next, attempt.due);
    } else if (in_flight_ < k_most_in_flight) {
      attempt.in_flight = true;
      in_flight_ += 1;
      context_.client.get_contract(entry.first, heard(entry.first));
    }
  }
  return next;
}

wire::Then<wire::ContractAnswer> Untold::heard(const ContractId& id) {
  return life_.guard([this, id](const Result<wire::ContractAnswer>& answer) {
    in_flight_ -= 1;
    context_.wake_by(context_.now());
    on_answer(id, answer);
  });
}

void Untold::on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer) {
  Attempt& attempt = attempts_[id];
  attempt.in_flight = false;
  if (answer && answer->contract.id == id) {
    attempt.succeed();
    context_.hear();
    if (!answer->contract.is_live() || !answer->contract.started) return forget(id);
    if (attempt.due > context_.now()) return context_.wake_by(attempt.due);  // it was just told
    return take(answer->contract);
  }
  if (!answer && answer.error().code == Code::not_found) return forget(id);
  const Error error = answer ? Error{Code::internal, "contract " + id.text,
                                     "the broker told of another one", "look at the broker"}
                             : answer.error();
  attempt.fail(context_, "the broker does not hear of an end", error);
  context_.wake_by(attempt.due);
}

// One step of it; then it is looked at again, whatever the broker makes of it.
void Untold::take(const model::Contract& contract) {
  Attempt& attempt = attempts_[contract.id];
  attempt.in_flight = true;
  attempt.due = context_.now() + k_look_after;
  in_flight_ += 1;
  if (contract.state == model::ContractState::active) {
    give_notice(context_.client, context_.signing, contract.id, heard(contract.id));
  } else {
    drained(context_.client, context_.signing, contract.id, heard(contract.id));
  }
}

void Untold::forget(const ContractId& id) {
  context_.log.write(services::Level::warning, "the broker knows of what was ended here",
                     {{"contract", id.text}});
  attempts_.erase(id);
  context_.state().ended_unheard.erase(id);
  context_.keeper.touch();
}

}  // namespace spillway::agent
