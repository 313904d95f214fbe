// What handlers of contracts share.
#pragma once

#include <optional>

#include "services/broker/body.h"
#include "services/wire/convert.h"

namespace spillway::services {

inline ContractId contract_of(const Call& call) { return ContractId(call.parameters[0]); }

inline bool may_see(const Call& call, const model::Contract& contract) {
  return call.scope == Scope::all || contract.buyer.text == call.caller.name ||
         contract.provider.text == call.caller.name;
}

inline void tell_contract(Desk& desk, const std::shared_ptr<Call>& call, market::Command command) {
  submit(desk, call, std::move(command), [&desk, call](const market::Answer& told) {
    answer(desk, *call, 200, wire::answer_of(*told.contract));
  });
}

// The event that was signed for what is asked, or none when `document` is empty. Answers itself
// when it is false.
bool take_event(Desk& desk, Call& call, std::string document,
                std::optional<market::SignedEvent>& event);

}  // namespace spillway::services
