// Faults happen when and where a rule says, and to nothing else.
#include <gtest/gtest.h>

#include "support/embedded_world.h"

namespace spillway::test {
namespace {

TEST(EmbeddedFaults, FailTheNthRequestOfOneKind) {
  EmbeddedWorld world;
  world.cluster.faults().add(
      {.verb = "create", .resource = "configmaps", .skip = 1, .times = 1, .code = 500});
  EXPECT_EQ(world.post(k_maps, config_text("a")).status, 201);
  const Told failed = world.post(k_maps, config_text("b"));
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.text({"reason"}), "InternalError");
  EXPECT_EQ(world.get(k_maps + "/b").status, 404);
  EXPECT_EQ(world.post(k_maps, config_text("b")).status, 201);
  EXPECT_EQ(world.cluster.faults().injected(), 1);
}

TEST(EmbeddedFaults, SayWhenToComeBack) {
  EmbeddedWorld world;
  world.cluster.faults().add({.code = 429, .retry_after_seconds = 7});
  const Told busy = world.get(k_maps);
  EXPECT_EQ(busy.status, 429);
  ASSERT_NE(net::find_header(busy.headers, "Retry-After"), nullptr);
  EXPECT_EQ(*net::find_header(busy.headers, "Retry-After"), "7");
  world.cluster.faults().clear();
  EXPECT_EQ(world.get(k_maps).status, 200);
}

TEST(EmbeddedFaults, DelayAnswers) {
  EmbeddedWorld world;
  world.cluster.faults().add({.delay = seconds(3)});
  const auto slow = world.send("GET", k_maps);
  world.loop.run_for(seconds(2));
  EXPECT_FALSE(slow->response.has_value());
  world.loop.run_for(seconds(1));
  EXPECT_TRUE(slow->response.has_value());
}

TEST(EmbeddedFaults, CutAWatchAfterSomeEvents) {
  EmbeddedWorld world;
  world.cluster.faults().add({.verb = "watch", .cut_after_events = 2});
  const auto watch = world.send("GET", k_maps + "?watch=true");
  for (const char* name : {"a", "b", "c"}) world.post(k_maps, config_text(name));
  EXPECT_EQ(EmbeddedWorld::events(*watch).size(), 2U);
  EXPECT_TRUE(watch->body->is_closed);
}

TEST(EmbeddedFaults, PutGarbageIntoAWatch) {
  EmbeddedWorld world;
  world.cluster.faults().add({.verb = "watch", .garbage_after_events = 1});
  const auto watch = world.send("GET", k_maps + "?watch=true");
  world.post(k_maps, config_text("a"));
  EXPECT_NE(watch->body->bytes.find('\x01'), std::string::npos);
}

TEST(EmbeddedFaults, LetBytesDrip) {
  EmbeddedWorld world;
  world.cluster.faults().add({.drop_bytes = 10, .drop_every = milliseconds(100)});
  const auto slow = world.send("GET", k_maps);
  EXPECT_EQ(slow->body->bytes.size(), 10U);
  world.loop.run_for(milliseconds(250));
  EXPECT_EQ(slow->body->bytes.size(), 30U);
  world.loop.run_for(seconds(10));
  EXPECT_TRUE(slow->body->is_closed);
  EXPECT_TRUE(slow->body->bytes.ends_with("]}\n"));
}

TEST(EmbeddedFaults, SendHalfADocument) {
  EmbeddedWorld world;
  world.cluster.faults().add({.garbles = true});
  const Told half = world.get(k_maps);
  EXPECT_EQ(half.status, 200);
  EXPECT_TRUE(half.body.items.empty());
}

TEST(EmbeddedFaults, CarryOutWhatTheyDoNotAnswer) {
  EmbeddedWorld world;
  world.cluster.faults().add({.verb = "create", .times = 1, .loses_answer = true});
  const auto lost = world.send("POST", k_maps, config_text("a"));
  EXPECT_FALSE(lost->response.has_value());
  EXPECT_EQ(world.get(k_maps + "/a").status, 200);
}

TEST(EmbeddedFaults, RestartWithVersionsThatWereGivenBefore) {
  EmbeddedWorld world;
  for (const char* name : {"a", "b", "c"}) world.post(k_maps, config_text(name));
  world.loop.run();
  const auto watch = world.send("GET", k_maps + "?watch=true&resourceVersion=5");
  const std::string before(world.get(k_maps).text({"metadata", "resourceVersion"}));
  world.cluster.restart(seconds(5), 4);
  EXPECT_TRUE(watch->body->is_closed);
  const auto down = world.send("GET", k_maps);
  EXPECT_FALSE(down->response.has_value());
  world.loop.run_for(seconds(5));
  const Told after = world.get(k_maps);
  EXPECT_EQ(after.count({"items"}), 3U);
  EXPECT_LT(std::stoll(std::string(after.text({"metadata", "resourceVersion"}))),
            std::stoll(before));
  const Told future = world.get(k_maps + "?resourceVersion=" + before);
  EXPECT_EQ(future.status, 504);
}

// Who is up never loses versions: a client that sees no restart could not know.
TEST(EmbeddedFaults, ARestartInsideOfAnotherMakesItNoShorter) {
  EmbeddedWorld world;
  world.loop.run();
  world.cluster.restart(seconds(5), 4);
  world.loop.run_for(seconds(1));
  world.cluster.restart(seconds(1));
  world.loop.run_for(seconds(2));
  EXPECT_FALSE(world.send("GET", k_maps)->response.has_value()) << "the first is not over";
  world.loop.run_for(seconds(2));
  EXPECT_EQ(world.get(k_maps).status, 200);
}

TEST(EmbeddedFaults, ShowAWrongTime) {
  EmbeddedWorld world;
  world.cluster.set_clock_skew(hours(-1));
  EXPECT_EQ(world.post(k_maps, config_text("a")).text({"metadata", "creationTimestamp"}),
            "2026-01-31T08:30:00Z");
}

TEST(EmbeddedFaults, AreAskedForOverHttpWhereThatIsAllowed) {
  EmbeddedWorld plain;
  EXPECT_EQ(plain.post("/debug/faults", R"({"code":500})").status, 404);
  auto options = EmbeddedWorld::open_to_all();
  options.has_debug_paths = true;
  EmbeddedWorld world(options);
  EXPECT_EQ(world.post("/debug/faults", R"({"verb":"list","code":503,"times":1})").status, 200);
  EXPECT_EQ(world.get(k_maps).status, 503);
  EXPECT_EQ(world.get(k_maps).status, 200);
  EXPECT_EQ(world.post("/debug/faults", R"({"kode":503})").status, 400);
  EXPECT_EQ(world.post("/debug/forget-history", "{}").status, 200);
  EXPECT_EQ(world.erase("/debug/faults").status, 200);
}

}  // namespace
}  // namespace spillway::test
