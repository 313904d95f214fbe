// The owner's pending pods come first: room for them is taken out of what is on sale, so that
// guests hear of it by notice and never by surprise.
//
// In order of names each pod takes from the first pool, by id, that has a node on which it could
// run (placement, and an empty node would hold it) and enough capacity left; when none has enough,
// from the first on which it could run, down to zero. A pod that could run on no node of a pool,
// and one that is gated, takes nothing.
#pragma once

#include <vector>

#include "supply/explanation.h"
#include "supply/pool_draft.h"
#include "supply/view.h"

namespace spillway::supply {

inline constexpr size_t k_most_looks = 200'000;  // some 20 ms

void keep_room(const View& view, std::vector<PoolDraft>& drafts, Explanation& explanation);

}  // namespace spillway::supply
