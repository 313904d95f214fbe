// What the parties of a contract have signed, and what the book makes of it. The book verifies no
// signature: the door has, and says whose they are. Whether what was signed is what was agreed, the
// book decides.
#pragma once

#include <optional>

#include "market/book.h"

namespace spillway::market {

// The buyer's signature under a hold. What was signed must be this contract, between these cards.
Status check_agreement(Workspace& workspace, const model::Contract& contract,
                       const SignedAgreement& signed_by_buyer, Instant now);

// Between members that both have cards, nothing is agreed without signatures.
Status check_may_be_unsigned(Workspace& workspace, const model::Contract& contract);

// What one side does under a signed contract is signed too, and kept: refuses what is missing, of
// another contract, of another kind, by another, or was said before. Does nothing for a contract
// that nobody signed.
Status take_event(Workspace& workspace, const model::Contract& contract, const ClusterId& by,
                  model::ContractEventKind kind, const std::optional<SignedEvent>& event);

}  // namespace spillway::market
