// What a pool's row says about selling from it. One place, so that the book, the catalogue that
// serves queries and the demo agree.
#pragma once

#include <string_view>

#include "market/records.h"
#include "market/workspace.h"

namespace spillway::market {

// Gross capacity less all that is sold, or carried without being accounted for. May be negative.
model::Resources free_of(const PoolRecord& pool);

// Empty when the pool may be sold from at `now`, else the reason why not.
std::string_view why_not_sold(const PoolRecord& pool, const EpochRecord& epoch, Instant now);

// Nobody reports on a pool that is withdrawn, so what its provider carried beyond what the book
// knows of would be held against it for ever. It is forgotten, and the pool is sold from again only
// after a new report.
void withdraw(PoolRecord& pool);

// Notes whether the pool covers what was sold, with an event when that changed; and puts it.
// A shrunk provider has until `reclaim_at` to give notice itself (attend.cpp).
void put_pool(Workspace& workspace, PoolRecord pool, Instant now, Duration reclaim_after);

}  // namespace spillway::market
