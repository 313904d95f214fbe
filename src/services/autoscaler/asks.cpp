#include "services/autoscaler/asks.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "market/mutants.h"

namespace spillway::autoscaler {
namespace {

// Nobody can say whether the broker did it.
bool leaves_hold_open(const Error& error) {
  return error.code == Code::unavailable || error.code == Code::contended ||
         error.code == Code::internal;
}

// An answer that cannot be read is an error of ours, and says nothing of the contract.
bool ends_contract(const Error& error) {
  return error.code == Code::gone || error.code == Code::not_found || error.code == Code::denied ||
         error.code == Code::conflict || error.code == Code::over_quota ||
         error.code == Code::over_budget;
}

Error told_of_another(const ContractId& id) {
  return {Code::unavailable, "contract " + id.text, "the broker told of another one",
          "look at the broker"};
}

Error dearer_than_seen(const demand::Use& seen, const market::Grant& grant) {
  return {Code::taken, "group " + in_quotes(grant.offer.text),
          fmt::format("it was {} an hour when it was decided on, and is {} now",
                      to_text(Money{seen.rate, seen.currency}),
                      to_text(Money{grant.rate, grant.currency})),
          "ask again when the new price is known here, or take another group"};
}

}  // namespace

void Asks::start() {
  for (const auto& [id, group] : keeper_.ledger().state().groups) {
    for (const demand::Ask& ask : group.asks) {
      going_[ask.generation].group = id;
      going_[ask.generation].may_hold = true;
    }
  }
  context_.wake_by(context_.now());
}

void Asks::add(const OfferId& group, const demand::Ask& ask, Then then) {
  going_[ask.generation] = {.group = group, .attempt = {}, .then = std::move(then)};
  if (market::mutant(market::Mutant::send_unsaved)) return context_.wake_by(context_.now());
  keeper_.flush(life_.guard([this] { context_.wake_by(context_.now()); }));
}

Instant Asks::step() {
  const Instant now = context_.now();
  Instant next = agent::k_never;
  for (auto& [generation, going] : going_) {
    const bool is_saved =
        generation <= keeper_.saved_generation() || market::mutant(market::Mutant::send_unsaved);
    if (going.attempt.in_flight || !is_saved) continue;
    if (!going.attempt.is_due(now, host::k_refused_wait)) {
      next = std::min(next, going.attempt.due);
    } else if (in_flight_ < agent::k_most_in_flight) {
      begin(generation, going);
    }
  }
  return next;
}

const demand::Ask* Asks::find(const Going& going, int64_t generation) const {
  const demand::GroupState* group = keeper_.ledger().find(going.group);
  if (group == nullptr) return nullptr;
  for (const demand::Ask& ask : group->asks) {
    if (ask.generation == generation) return &ask;
  }
  return nullptr;
}

template <class F>
auto Asks::heard(int64_t generation, F then) {
  return life_.guard([this, generation, then = std::move(then)](const auto& answer) {
    if (going_.contains(generation)) then(answer);
  });
}

void Asks::begin(int64_t generation, Going& going) {
  going.attempt.in_flight = true;
  in_flight_ += 1;
  going.again = false;
  const demand::Ask& ask = *find(going, generation);
  const bool is_wanted = ask.wanted() > 0;
  if (ask.is_purchase()) return buy(generation, ask);
  if (going.waiting && is_wanted) return sign(generation, *going.waiting);
  hold(generation, going);
}

// While we ask, it may be the one that we shall wait for.
void Asks::hear(const ContractId& contract) {
  for (auto& [generation, going] : going_) {
    const bool may_be_it = going.waiting ? *going.waiting == contract : going.attempt.in_flight;
    if (!may_be_it) continue;
    going.again = true;
    if (!going.attempt.in_flight) going.attempt.due = context_.now();
    context_.wake_by(context_.now());
  }
}

void Asks::hold(int64_t generation, const Going& going) {
  const demand::Ask& ask = *find(going, generation);
  const wire::HoldRequest body{{{going.group, ask.asked, 1, ask.is_for_spares}}, k_hold};
  std::string key = demand::hold_key(going.group, ask);
  if (market::mutant(market::Mutant::hold_anew)) key += std::to_string(context_.now().ms);
  context_.client.hold(key, body, heard(generation, [this, generation](const auto& answer) {
                         on_hold(generation, answer);
                       }));
}

void Asks::on_hold(int64_t generation, const Result<wire::HoldAnswer>& answer) {
  // That we are turned away now says nothing of what came of an earlier try.
  const bool is_unknown =
      !answer && answer.error().code == Code::denied && going_.at(generation).may_hold;
  if (!answer && (is_unknown || leaves_hold_open(answer.error()))) {
    return try_again(generation, answer.error());
  }
  if (!answer) return refuse(generation, answer.error());
  const Going& going = going_.at(generation);
  if (answer->grants.size() != 1 || answer->grants.front().offer != going.group) {
    return try_again(generation, told_of_another({}));
  }
  const market::Grant& grant = answer->grants.front();
  const demand::Ask& ask = *find(going, generation);
  if (ask.wanted() == 0) {
    return give_back(generation, grant.contract,
                     {Code::conflict, "units", "they were cancelled", "ask for others"});
  }
  // Rules and caps were asked about the price that was seen. A provider may change it meanwhile.
  if (grant.rate > ask.use.rate || grant.currency != ask.use.currency) {
    return give_back(generation, grant.contract, dearer_than_seen(ask.use, grant));
  }
  confirm(generation, grant.contract);
}

// Also of those that were cancelled meanwhile, if an earlier try may have bought them.
void Asks::buy(int64_t generation, const demand::Ask& ask) {
  if (ask.wanted() == 0 && !going_.at(generation).may_hold) {
    return refuse(generation, {Code::conflict, "units", "they were cancelled", "ask for others"});
  }
  agent::buy(context_.client, context_.signing, ask.contract, ask.units,
             heard(generation, [this, generation](const Result<wire::ContractAnswer>& answer) {
               on_bought(generation, answer);
             }));
}

void Asks::on_bought(int64_t generation, const Result<wire::ContractAnswer>& answer) {
  const demand::Ask& ask = *find(going_.at(generation), generation);
  const auto is_bought = [&](const model::Contract& told) {
    return told.id == ask.contract &&
           std::all_of(ask.units.begin(), ask.units.end(), [&](int32_t number) {
             const auto at = static_cast<size_t>(number);
             return at < told.units.size() && told.units[at].bought;
           });
  };
  if (answer && is_bought(answer->contract)) return grant(generation, answer->contract);
  const Error error = answer ? told_of_another(ask.contract) : answer.error();
  if (answer || leaves_hold_open(error)) return try_again(generation, error);
  // What was agreed on will not be sold any more: another price, or it is over.
  const bool is_for_good = error.code == Code::gone || error.code == Code::not_found;
  if (is_for_good) {
    keeper_.ledger().refused_for_good(going_.at(generation).group, generation, context_.now());
    return settle(generation, tl::unexpected(error));
  }
  refuse(generation, error);
}

void Asks::confirm(int64_t generation, const ContractId& contract) {
  if (context_.signing != nullptr) return sign(generation, contract);
  context_.client.confirm(contract, {},
                          heard(generation, [this, generation, contract](const auto& it) {
                            on_confirm(generation, contract, it);
                          }));
}

// Rules and caps were asked about what was seen: nothing else is signed.
void Asks::sign(int64_t generation, const ContractId& contract) {
  const Going& going = going_.at(generation);
  const demand::Ask& ask = *find(going, generation);
  const auto check = [group = going.group, use = ask.use, asked = ask.asked,
                      spare = ask.is_for_spares,
                      shape = keeper_.ledger().find(going.group)->offer.shape](
                         const model::Contract& held) -> Status {
    const bool is_it = held.offer == group && held.shape == shape && held.rate <= use.rate &&
                       held.price.currency == use.currency && held.live_units() <= asked &&
                       held.spare == spare;
    if (is_it) return {};
    return fail(Code::conflict, "contract " + held.id.text,
                "it is not what was asked for: offer, shape, price or number of units differ",
                "ask again, or take another group");
  };
  context_.signing->sign(contract, check,
                         heard(generation, [this, generation, contract](const auto& answer) {
                           on_signed(generation, contract, answer);
                         }));
}

void Asks::on_signed(int64_t generation, const ContractId& contract,
                     const Result<model::Contract>& answer) {
  if (answer && answer->id == contract && answer->state == model::ContractState::hold) {
    return wait(generation, contract);
  }
  on_confirm(generation, contract,
             answer.map([](const model::Contract& told) { return wire::ContractAnswer{told}; }));
}

void Asks::wait(int64_t generation, const ContractId& contract) {
  in_flight_ -= 1;
  Going& going = going_.at(generation);
  going.waiting = contract;
  going.may_hold = true;
  going.attempt.in_flight = false;
  going.attempt.succeed();
  going.attempt.due = going.again ? context_.now() : context_.now() + k_look_again;
  context_.wake_by(going.attempt.due);
}

void Asks::on_confirm(int64_t generation, const ContractId& contract,
                      const Result<wire::ContractAnswer>& answer) {
  if (answer && answer->contract.id == contract) return grant(generation, answer->contract);
  const Error error = answer ? told_of_another(contract) : answer.error();
  if (!ends_contract(error)) return try_again(generation, error);
  if (error.code == Code::denied && context_.signing != nullptr) {
    return context_.signing->bound_until(
        contract, heard(generation, [this, generation, contract, error](const auto& until) {
          const bool is_bound = !until || (*until && **until > context_.now());
          if (is_bound) return try_again(generation, error);
          leave(generation, contract, error);
        }));
  }
  leave(generation, contract, error);
}

void Asks::leave(int64_t generation, const ContractId& contract, const Error& error) {
  // It may be closing, by the provider's notice: nobody will use what is left of it.
  agent::release(context_.client, context_.signing, contract, {},
                 [](const Result<wire::ContractAnswer>&) {});
  refuse(generation, error);
}

void Asks::give_back(int64_t generation, const ContractId& contract, const Error& why) {
  agent::release(
      context_.client, context_.signing, contract, {},
      heard(generation, [this, generation, why](const Result<wire::ContractAnswer>& answer) {
        if (!answer && !ends_contract(answer.error())) return try_again(generation, answer.error());
        refuse(generation, why);
      }));
}

void Asks::grant(int64_t generation, const model::Contract& contract) {
  const Going& going = going_.at(generation);
  const demand::Ask& ask = *find(going, generation);
  const int32_t asked = ask.asked;
  const bool is_spare = ask.is_for_spares;
  const int32_t got = ask.is_purchase() ? asked : contract.live_units();
  Status outcome;
  if (got < asked) {
    outcome = fail(Code::taken, "group " + in_quotes(going.group.text),
                   fmt::format("{} of {} units could be had; they stay", got, asked),
                   "take the others from another group");
  }
  keeper_.ledger().granted(going.group, generation, contract, context_.now());
  granted_(contract);
  context_.log.write(services::Level::info, is_spare ? "spares kept" : "units bought",
                     {{"group", going.group.text},
                      {"contract", contract.id.text},
                      {"units", std::to_string(got)},
                      {"asked", std::to_string(asked)}});
  settle(generation, outcome);
}

void Asks::refuse(int64_t generation, const Error& error) {
  const OfferId group = going_.at(generation).group;
  context_.log.write(services::Level::warning, "units not to be had",
                     {{"group", group.text}, {"why", error.message()}});
  keeper_.ledger().refused(group, generation);
  settle(generation, tl::unexpected(error));
}

void Asks::try_again(int64_t generation, const Error& error) {
  in_flight_ -= 1;
  agent::Attempt& attempt = going_.at(generation).attempt;
  attempt.in_flight = false;
  going_.at(generation).waiting.reset();
  going_.at(generation).may_hold = true;
  attempt.fail(context_, "what came of a hold is not known", error);
  context_.wake_by(attempt.due);
}

void Asks::settle(int64_t generation, const Status& status) {
  in_flight_ -= 1;
  Then then = std::move(going_.at(generation).then);
  going_.erase(generation);
  context_.wake_by(context_.now());
  keeper_.flush([then = std::move(then), status] {
    if (then) then(status);
  });
}

}  // namespace spillway::autoscaler
