// No node is ever given more than it has, in any order of events.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "embedded/amounts.h"
#include "support/any_below.h"
#include "support/embedded_world.h"

namespace spillway::test {
namespace {

void happen(EmbeddedWorld& world, int step) {
  const std::string node = fmt::format("node-{}", 1 + any_below(3));
  switch (any_below(6)) {
    case 0:
      world.erase(fmt::format("{}/p{}", k_pods, any_below(step + 1)));
      break;
    case 1:
      world.merge("/api/v1/nodes/" + node,
                  fmt::format(R"({{"spec":{{"unschedulable":{}}}}})", any_below(2) == 0));
      break;
    case 2:
      world.loop.run_for(seconds(any_below(40)));
      break;
    default:
      world.post(k_pods,
                 fmt::format(R"({{"metadata":{{"name":"p{}","annotations":{{)"
                             R"("embedded.spillway.dev/run-for":"{}s"}}}},)"
                             R"("spec":{{"restartPolicy":"Never","containers":[{{"name":"c",)"
                             R"("image":"a","resources":{{"requests":{{"cpu":"{}m"}}}}}}]}}}})",
                             step, 1 + any_below(60), 100 * any_below(25)));
  }
}

void check_nodes(EmbeddedWorld& world) {
  std::map<std::string, int64_t> used;
  const Told pods = world.get(k_pods);
  for (const model::Node& pod : model::items_at(pods.body, {"items"})) {
    const std::string_view phase = model::text_at(pod, {"status", "phase"});
    if (phase == "Succeeded" || phase == "Failed") continue;
    used[std::string(model::text_at(pod, {"spec", "nodeName"}))] +=
        embedded::requests_of(pod)["cpu"];
  }
  used.erase("");
  for (const auto& [node, cpu] : used) RC_ASSERT(cpu <= 4000);
}

RC_GTEST_PROP(EmbeddedScheduler, NeverGivesMoreThanANodeHas, ()) {
  auto options = EmbeddedWorld::open_to_all();
  options.nodes = 3;
  EmbeddedWorld world(options);
  world.loop.run();
  const int steps = any_below(60);
  for (int step = 0; step < steps; ++step) {
    happen(world, step);
    world.loop.run();
    check_nodes(world);
  }
}

}  // namespace
}  // namespace spillway::test
