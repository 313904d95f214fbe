// How units end: the one path by which capacity, quota and money go back, whatever the reason.
#pragma once

#include "market/book.h"

namespace spillway::market {

// Ends the live units of `contract` that are named (all of them when `units` is empty), gives back
// what they held, closes the contract with its last unit, and puts all that changed. `remark`: for
// those who read the event.
void end_units(Workspace& workspace, model::Contract& contract, const std::vector<int32_t>& units,
               model::EndReason reason, const Context& context, std::string_view remark = {});

// active → closing, to be over at `over`. A hold has nothing to drain: it is closed at once.
void begin_closing(Workspace& workspace, model::Contract& contract, model::EndReason reason,
                   Instant over, const Context& context);

// The provider wants it back: a hold or an active contract has its time of notice from now on; what
// is closing or closed goes on as it does.
void take_back(Workspace& workspace, model::Contract& contract, model::EndReason reason,
               const Context& context);

}  // namespace spillway::market
