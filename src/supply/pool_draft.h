// PoolDraft: a pool while it is made. Nodes are judged one by one and sorted into drafts; then what
// the owner's pending pods need is taken out, and the policy's quota applied.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "model/pool.h"
#include "supply/explanation.h"
#include "supply/gross.h"
#include "supply/naming.h"
#include "supply/policy.h"
#include "supply/view.h"

namespace spillway::supply {

struct PoolDraft {
  struct Member {
    const NodeRow* node = nullptr;
    Gross gross;
    bool offered = false;  // else it is out for now, and adds nothing
    Instant rests_until;   // ill for so short a time that what was sold from it stays sold
  };
  PoolId id;
  PoolKey key;
  std::vector<Member> members;  // by name
  model::Pool pool;
};

// All nodes of the view, judged. Drafts come in order of their ids, each id once, with `node` and
// `capacity` as the nodes give them.
//
// A node that is out for now (cordoned, not Ready, full…) keeps its pool in being, with no capacity
// if need be: guests there hear of it by the book's way of shrinking. Until one is offered again
// `node` says what the largest of them would have if it were empty.
std::vector<PoolDraft> draft_pools(const View& view, const OfferingPolicy& policy,
                                   const ClusterId& cluster, Instant now,
                                   std::vector<NodeVerdict>& verdicts);

// At most the policy's part of the capacity.
void apply_quota(PoolDraft& draft, const PoolQuota& quota);

// Leaves out GPUs and extended resources that no step sells: nobody can buy them.
void keep_sold(model::Resources& resources, const std::vector<Step>& ladder);

}  // namespace spillway::supply
