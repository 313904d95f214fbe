#include "supply/view.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/supply/random_cluster.h"

namespace spillway::supply {
namespace {

std::vector<std::string> keys_of(const auto& map) {
  std::vector<std::string> keys;
  for (const auto& entry : map) keys.push_back(entry.first);
  return keys;
}

// Only the last row of each key counts, whatever came before and in which order.
RC_GTEST_PROP(View, AnyHistoryEqualsAViewBuiltAfresh, ()) {
  View lived;
  const PlainCluster cluster = any_cluster(lived);
  const View fresh = cluster.fresh();
  RC_ASSERT(lived.places() == fresh.places());
  RC_ASSERT(keys_of(lived.waiting()) == keys_of(fresh.waiting()));
  RC_ASSERT(lived.lost() == fresh.lost());
  RC_ASSERT(lived.pods() == fresh.pods());
}

RC_GTEST_PROP(View, SumsByNodeWhatThePodsOnItRequest, ()) {
  View view;
  const PlainCluster cluster = any_cluster(view);
  for (const auto& [name, place] : view.places()) {
    Int128 memory = 0;
    int64_t pods = 0;
    size_t unreadable = 0;
    for (const auto& [key, pod] : cluster.pods) {
      if (pod.guest || pod.state != PodState::bound || pod.node != name) continue;
      if (!pod.problem.empty()) {
        ++unreadable;
        continue;
      }
      memory += pod.requests.memory_bytes;
      ++pods;
    }
    RC_ASSERT(place.own.pods() == pods);
    RC_ASSERT(place.unreadable.size() == unreadable);
    RC_ASSERT(place.own.sum().memory_bytes ==
              static_cast<int64_t>(std::min<Int128>(memory, model::k_max_amount)));
    RC_ASSERT(place.row.has_value() == cluster.nodes.contains(name));
    RC_ASSERT(place.row.has_value() || pods > 0 || unreadable > 0);
  }
}

RC_GTEST_PROP(View, ForgetsEverythingThatIsTakenAway, ()) {
  View view;
  const PlainCluster cluster = any_cluster(view);
  for (const auto& entry : cluster.nodes) view.remove_node(entry.first);
  for (const auto& entry : cluster.pods) view.remove_pod(entry.first);
  RC_ASSERT(view.places().empty());
  RC_ASSERT(view.pods() == 0U);
}

}  // namespace
}  // namespace spillway::supply
