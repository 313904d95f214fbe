// What is sold is owed until it has ended, wherever its pool's nodes went.
//
// A pool whose nodes have vanished, or have come to be nodes of another pool (the owner passes on
// another label), is kept while contracts live on it: without capacity, so that the book finds it
// oversold and notice is given. Until they have ended guests' pods still run somewhere in the
// cluster. So what is sold of a pool beyond what its nodes have is taken out of what other pools
// could sell anew, by their ids, down to what they have sold themselves: nothing is sold twice, and
// no guest of theirs is given notice for it.
//
// Nodes that rest (supply/judge.h) still have what was sold from them, and nothing more.
#pragma once

#include <span>
#include <vector>

#include "model/pool.h"
#include "supply/explanation.h"
#include "supply/pool_draft.h"

namespace spillway::supply {

struct Sold {
  model::Pool pool;        // as it was last published
  model::Resources units;  // of all contracts that live on it
};

void lend_resting(std::span<const Sold> sold, Instant now, std::vector<PoolDraft>& drafts,
                  Explanation& explanation);
void keep_owed(std::span<const Sold> sold, std::vector<PoolDraft>& drafts,
               Explanation& explanation);

// Those of `sold` that no draft stands for, as they are kept.
std::vector<model::Pool> without_nodes(std::span<const Sold> sold,
                                       const std::vector<PoolDraft>& drafts);

}  // namespace spillway::supply
