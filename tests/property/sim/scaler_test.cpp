// The model of the Cluster Autoscaler on clusters that chance has made.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "sim/scaler/scale_up.h"
#include "support/any_below.h"
#include "support/scaler_views.h"

namespace spillway::scaler {
namespace {

using test::any_below;
using Kind = Action::Kind;

// Groups with some nodes, and pods of a few sizes on them or waiting.
void invent(Scene& scene) {
  const int groups = 1 + static_cast<int>(any_below(3));
  for (int g = 0; g < groups; ++g) {
    const std::string id = "g" + std::to_string(g);
    const auto cores = 1 + any_below(8);
    const auto nodes = static_cast<int32_t>(any_below(5));
    scene.cloud.groups.push_back(
        group(id, nodes, nodes + static_cast<int32_t>(any_below(4)), node("t", cores)));
    scene.cloud.groups.back().min = static_cast<int32_t>(any_below(nodes + 1));
    for (int32_t n = 0; n < nodes; ++n) {
      scene.place(id, node(id + "-" + std::to_string(n), cores));
    }
  }
  for (int64_t i = any_below(30); i > 0; --i) {
    PodView one = pod("p" + std::to_string(i), 100 + 100 * any_below(20));
    Snapshot snapshot = Snapshot::of(scene.cluster);
    Place* place =
        any_below(2) == 0 ? snapshot.find_fitting(one, [](const Place&) { return true; }) : nullptr;
    if (place != nullptr) {
      one.node = place->node.row.name;
      one.is_unschedulable = false;
    }
    scene.cluster.pods.push_back(std::move(one));
  }
}

Options quick(Version version) {
  Options options;
  options.version = version;
  options.expander = static_cast<Expander>(any_below(2));  // without prices
  options.scale_down_unneeded_time = seconds(15);
  options.scale_down_delay_after_add = {};
  options.unremovable_node_recheck_timeout = seconds(5);
  return options;
}

RC_GTEST_PROP(Scaler, KeepsToTheLimitsOfGroupsAndBudgets, ()) {
  Scene scene(quick(any_below(2) == 0 ? Version::v1_30 : Version::v1_35));
  invent(scene);
  for (int loop = 0; loop < 5; ++loop) {
    std::map<std::string, int32_t> tainted;
    int32_t all = 0;
    for (const Action& action : scene.loop()) {
      if (action.kind == Kind::increase) {
        GroupView& grown = *scene.cloud.find(action.group);
        RC_ASSERT(action.delta >= 1);
        RC_ASSERT(grown.target + action.delta <= grown.max);
        grown.target += action.delta;
      }
      if (action.kind == Kind::taint) {
        tainted[action.group] += 1;
        all += 1;
        RC_ASSERT(scene.cloud.owner_of(action.node.row.name)->id == action.group);
      }
    }
    for (const auto& [id, count] : tainted) {
      const GroupView& shrunk = *scene.cloud.find(id);
      RC_ASSERT(shrunk.target - count >= shrunk.min);
    }
    RC_ASSERT(all <= scene.mind.options().max_scale_down_parallelism);
    RC_ASSERT(scene.mind.deletions().progress().drained <= 1);
  }
}

RC_GTEST_PROP(Scaler, AnEstimateHasRoomForAllThatItCounts, ()) {
  const NodeView shape = node("t", 1 + any_below(8));
  std::vector<PodView> pods;
  for (int64_t i = any_below(40); i > 0; --i) {
    pods.push_back(pod("p" + std::to_string(i), 100 + 100 * any_below(90)));
  }
  const auto most = static_cast<int32_t>(1 + any_below(10));
  const Option option = estimate("g", shape, lots_of(pods), most);
  model::Resources wanted;
  for (const PodView& one : option.pods) wanted += one.requests;
  RC_ASSERT(option.count <= most);
  RC_ASSERT(shape.row.allocatable.times(option.count).covers(wanted));
  RC_ASSERT(option.count <= static_cast<int32_t>(option.pods.size()));
  // Who is left out finds no more nodes, or would not fit an empty one.
  const bool is_full = option.count == most;
  for (const PodView& one : pods) {
    const bool is_in = std::any_of(option.pods.begin(), option.pods.end(),
                                   [&one](const PodView& in) { return in.key == one.key; });
    RC_ASSERT(is_in || is_full || !shape.row.allocatable.covers(one.requests));
  }
}

}  // namespace
}  // namespace spillway::scaler
