// How a hold becomes active; for lease.cpp and signing.cpp.
#pragma once

#include "market/book.h"

namespace spillway::market {

// Refuses what is no hold any more, or whose time is over.
Status check_is_hold(const model::Contract& contract, const EpochRecord& epoch, Instant now);

// Money and lease run from now on.
Result<Answer> activate(Workspace& workspace, model::Contract contract, const Context& context);

}  // namespace spillway::market
