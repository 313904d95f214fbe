// Who lists and then watches knows what is there, whatever happens and wherever the stream is cut.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/any_below.h"
#include "support/embedded_world.h"

namespace spillway::test {
namespace {

using State = std::map<std::string, std::string>;  // name to version

void change_something(EmbeddedWorld& world) {
  const std::string name = fmt::format("m{}", any_below(6));
  const std::string value = std::to_string(any_below(3));
  switch (any_below(4)) {
    case 0:
      world.erase(k_maps + "/" + name);
      break;
    case 1:
      world.merge(k_maps + "/" + name,
                  fmt::format(R"({{"metadata":{{"labels":{{"value":"{}"}}}}}})", value));
      break;
    default:
      world.post(k_maps, config_text(name, value));
  }
}

std::string version_of(const model::Node& object) {
  return std::string(model::text_at(object, {"metadata", "resourceVersion"}));
}

State listed(EmbeddedWorld& world, const std::string& query, std::string& version) {
  State state;
  std::string next;
  do {
    const Told page = world.get(k_maps + "?limit=2" + query +
                                (next.empty() ? "" : "&continue=" + net::escape_segment(next)));
    RC_ASSERT(page.status == 200);
    for (const model::Node& item : model::items_at(page.body, {"items"})) {
      state[std::string(model::text_at(item, {"metadata", "name"}))] = version_of(item);
    }
    version = page.text({"metadata", "resourceVersion"});
    next = page.text({"metadata", "continue"});
    if (!next.empty() && any_below(2) == 0) change_something(world);  // between two pages
  } while (!next.empty());
  return state;
}

void follow(State& state, std::string& version, const MemoryExchange& watch, size_t at_most) {
  for (const Seen& event : EmbeddedWorld::events(watch)) {
    if (at_most-- == 0) return;  // the rest was lost on its way
    RC_ASSERT(event.type != "ERROR");
    version = version_of(event.object);
    if (event.type == "DELETED") {
      RC_ASSERT(state.erase(event.name()) == 1U);
    } else {
      RC_ASSERT((event.type == "ADDED") == !state.contains(event.name()));
      state[event.name()] = version;
    }
  }
}

RC_GTEST_PROP(EmbeddedWatch, TogetherWithAListTellsTheWholeState, ()) {
  EmbeddedWorld world;
  const std::string selector =
      any_below(2) == 0 ? "" : fmt::format("&labelSelector=value%3D{}", any_below(3));
  for (int i = any_below(10); i > 0; --i) change_something(world);
  std::string version;
  State state = listed(world, selector, version);
  for (int stream = 0; stream < 3; ++stream) {
    const auto watch =
        world.send("GET", k_maps + "?watch=true&resourceVersion=" + version + selector);
    for (int i = any_below(12); i > 0; --i) change_something(world);
    follow(state, version, *watch, static_cast<size_t>(stream < 2 ? any_below(8) : 1000));
    watch->body->leave();
    world.loop.run();
  }
  State expected;
  const Told now = world.get(k_maps + "?" + (selector.empty() ? "" : selector.substr(1)));
  for (const model::Node& item : model::items_at(now.body, {"items"})) {
    expected[std::string(model::text_at(item, {"metadata", "name"}))] = version_of(item);
  }
  const auto rest = world.send("GET", k_maps + "?watch=true&resourceVersion=" + version + selector);
  follow(state, version, *rest, 1000);
  RC_ASSERT(state == expected);
}

}  // namespace
}  // namespace spillway::test
