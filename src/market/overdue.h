// What is overdue ends as its terms say, whoever comes first: the broker that looks again after an
// outage, or a party that gives back or takes back. Who is late changes neither reason nor price.
#pragma once

#include "market/book.h"

namespace spillway::market {

// Moves the end by what was lost to outages, if anything was.
void move_by_outage(Workspace& workspace, model::Contract& contract, const Context& context);

// Moves the end of what is overdue; then, if it is past: a hold expires, a lease lapses and is over
// when its drain, counted from the end of the lease, is over too. Nothing when it is in time.
void end_overdue(Workspace& workspace, model::Contract& contract, const Context& context);

// The same for a hold or a lease that somebody asks to end. What is closing already ends for the
// same reason and at the same price whoever is first: a retry of what made it close changes
// nothing.
void lapse_overdue(Workspace& workspace, model::Contract& contract, const Context& context);

}  // namespace spillway::market
