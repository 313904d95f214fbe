// Lists in pages, watches from the past, and what happens when the past is forgotten.
#include <gtest/gtest.h>

#include "support/embedded_world.h"

namespace spillway::test {
namespace {

void make(EmbeddedWorld& world, int count) {
  for (int i = 0; i < count; ++i) world.post(k_maps, config_text(fmt::format("m{}", i)));
}

TEST(EmbeddedList, GoesOnWithTheStateInWhichItBegan) {
  EmbeddedWorld world;
  make(world, 5);
  const Told first = world.get(k_maps + "?limit=2");
  EXPECT_EQ(first.text({"kind"}), "ConfigMapList");
  ASSERT_EQ(first.count({"items"}), 2U);
  EXPECT_EQ(first.number({"metadata", "remainingItemCount"}), 3);
  world.erase(k_maps + "/m3");
  world.post(k_maps, config_text("m9"));
  const std::string next(first.text({"metadata", "continue"}));
  const Told rest = world.get(k_maps + "?limit=9&continue=" + net::escape_segment(next));
  ASSERT_EQ(rest.count({"items"}), 3U);
  EXPECT_EQ(rest.text({"metadata", "resourceVersion"}),
            first.text({"metadata", "resourceVersion"}));
  EXPECT_EQ(model::text_at(model::items_at(rest.body, {"items"})[1], {"metadata", "name"}), "m3");
  EXPECT_TRUE(rest.text({"metadata", "continue"}).empty());
}

TEST(EmbeddedList, ExpiresWhenItsBeginningIsForgottenAndOffersToGoOn) {
  EmbeddedWorld world;
  make(world, 4);
  const Told first = world.get(k_maps + "?limit=2");
  world.post(k_maps, config_text("m9"));
  world.cluster.forget_history();
  const std::string next(first.text({"metadata", "continue"}));
  const Told late = world.get(k_maps + "?limit=2&continue=" + net::escape_segment(next));
  EXPECT_EQ(late.status, 410);
  EXPECT_EQ(late.text({"reason"}), "Expired");
  const std::string again(late.text({"metadata", "continue"}));
  const Told rest = world.get(k_maps + "?continue=" + net::escape_segment(again));
  EXPECT_EQ(rest.count({"items"}), 3U);
}

TEST(EmbeddedList, TakesSelectors) {
  EmbeddedWorld world;
  world.post(k_maps, config_text("a", "1"));
  world.post(k_maps, config_text("b", "2"));
  EXPECT_EQ(world.get(k_maps + "?labelSelector=value%3D1").count({"items"}), 1U);
  EXPECT_EQ(world.get(k_maps + "?labelSelector=value%20in%20(1,2)").count({"items"}), 2U);
  EXPECT_EQ(world.get(k_maps + "?labelSelector=!value").count({"items"}), 0U);
  EXPECT_EQ(world.get(k_maps + "?fieldSelector=metadata.name!%3Da").count({"items"}), 1U);
  const Told unknown = world.get(k_maps + "?fieldSelector=spec.x%3Da");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_TRUE(unknown.text({"message"}).ends_with("field label not supported: spec.x"));
}

TEST(EmbeddedList, WaitsForAVersionThatHasNotComeAndThenSaysSo) {
  EmbeddedWorld world;
  const Told future = world.get(k_maps + "?resourceVersion=100000");
  EXPECT_EQ(future.status, 504);
  EXPECT_EQ(future.text({"reason"}), "Timeout");
  EXPECT_TRUE(
      future.text({"message"}).starts_with("Too large resource version: 100000, current: "));
}

TEST(EmbeddedWatch, SendsWhatHappenedSinceAVersion) {
  EmbeddedWorld world;
  make(world, 1);
  const std::string version(world.get(k_maps).text({"metadata", "resourceVersion"}));
  world.post(k_maps, config_text("x"));
  const auto watch = world.send("GET", k_maps + "?watch=true&resourceVersion=" + version);
  world.merge(k_maps + "/x", R"({"data":{"value":"2"}})");
  world.erase(k_maps + "/x");
  const auto seen = EmbeddedWorld::events(*watch);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].type, "ADDED");
  EXPECT_EQ(seen[1].type, "MODIFIED");
  EXPECT_EQ(seen[2].type, "DELETED");
  EXPECT_EQ(model::text_at(seen[2].object, {"data", "value"}), "2");
  EXPECT_GT(model::text_at(seen[2].object, {"metadata", "resourceVersion"}),
            model::text_at(seen[1].object, {"metadata", "resourceVersion"}));
}

TEST(EmbeddedWatch, BeginsWithWhatIsThereWhenNoVersionIsGiven) {
  EmbeddedWorld world;
  make(world, 2);
  const auto watch = world.send("GET", k_maps + "?watch=true");
  EXPECT_EQ(EmbeddedWorld::events(*watch).size(), 2U);
}

TEST(EmbeddedWatch, TellsWhatLeavesAndEntersItsFilter) {
  EmbeddedWorld world;
  world.post(k_maps, config_text("a", "1"));
  const auto watch = world.send("GET", k_maps + "?watch=true&labelSelector=value%3D2");
  world.merge(k_maps + "/a", R"({"metadata":{"labels":{"value":"2"}}})");
  world.merge(k_maps + "/a", R"({"metadata":{"labels":{"value":"3"}}})");
  const auto seen = EmbeddedWorld::events(*watch);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].type, "ADDED");
  EXPECT_EQ(seen[1].type, "DELETED");
}

TEST(EmbeddedWatch, SaysThatAVersionIsTooOldInTheStream) {
  EmbeddedWorld world;
  make(world, 3);
  world.cluster.forget_history();
  const auto watch = world.send("GET", k_maps + "?watch=true&resourceVersion=2");
  EXPECT_EQ(watch->response->status, 200);
  const auto seen = EmbeddedWorld::events(*watch);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].type, "ERROR");
  EXPECT_EQ(model::integer_at(seen[0].object, {"code"}), 410);
  EXPECT_EQ(model::text_at(seen[0].object, {"reason"}), "Expired");
  EXPECT_TRUE(watch->body->is_closed);
}

TEST(EmbeddedWatch, SendsBookmarksToWhoWantsThemAndEndsInTime) {
  EmbeddedWorld world;
  const auto watch = world.send(
      "GET", k_maps + "?watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=150");
  world.loop.run_for(seconds(130));
  const auto seen = EmbeddedWorld::events(*watch);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].type, "BOOKMARK");
  EXPECT_EQ(model::text_at(seen[0].object, {"kind"}), "ConfigMap");
  EXPECT_FALSE(watch->body->is_closed);
  world.loop.run_for(seconds(30));
  EXPECT_TRUE(watch->body->is_closed);
  EXPECT_EQ(EmbeddedWorld::events(*watch).size(), 3U);  // the last one shortly before the end
}

TEST(EmbeddedWatch, MarksTheEndOfWhatWasThere) {
  EmbeddedWorld world;
  make(world, 1);
  const auto watch =
      world.send("GET", k_maps +
                            "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                            "&allowWatchBookmarks=true");
  const auto seen = EmbeddedWorld::events(*watch);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].type, "BOOKMARK");
  EXPECT_EQ(
      model::text_at(seen[1].object, {"metadata", "annotations", "k8s.io/initial-events-end"}),
      "true");
}

}  // namespace
}  // namespace spillway::test
