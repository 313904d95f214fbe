#include "fabric/pod_shares.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace spillway::fabric {
namespace {

// Guests that want to start, an API server that follows what is written when it likes, and the
// agent, in any order.
RC_GTEST_PROP(PodShares, NeverMorePodsThanGrantedInSum, ()) {
  const auto total = *rc::gen::inRange<int64_t>(0, 40);
  std::vector<PodShare> shares(*rc::gen::inRange<size_t>(1, 5));
  const int steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    const size_t at = *rc::gen::inRange<size_t>(0, shares.size());
    PodShare& one = shares[at];
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        if (one.used < one.admitted) ++one.used;
        break;
      case 1:
        if (one.used > 0) --one.used;
        break;
      case 2:
        one.admitted = one.hard;
        break;
      default:
        one.hard = deal_pods(total, shares)[at];
        one.is_there = true;
    }
    int64_t used = 0;
    for (const PodShare& share : shares) used += share.used;
    RC_ASSERT(used <= total);
  }
}

// Whoever wants all of it gets it, while nobody else wants any.
RC_GTEST_PROP(PodShares, OneThatIsBusyEndsUpWithAlmostAll, ()) {
  const auto total = *rc::gen::inRange<int64_t>(1, 200);
  std::vector<PodShare> shares(*rc::gen::inRange<size_t>(1, 6));
  const size_t busy = *rc::gen::inRange<size_t>(0, shares.size());
  for (int look = 0; look < 200; ++look) {
    const std::vector<int64_t> dealt = deal_pods(total, shares);
    for (size_t at = 0; at < shares.size(); ++at) {
      shares[at] = {true, dealt[at], dealt[at], shares[at].used};
    }
    shares[busy].used = std::max(shares[busy].used, shares[busy].hard);
  }
  RC_ASSERT(shares[busy].used > total - static_cast<int64_t>(shares.size()));
}

}  // namespace
}  // namespace spillway::fabric
