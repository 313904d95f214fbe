// The four ways to change a part of an object.
#include "embedded/patch.h"

#include <gtest/gtest.h>

#include "support/embedded_world.h"

namespace spillway::test {
namespace {

model::Node parsed(std::string_view text) {
  auto node = model::parse_json(text, "test", size_t{1} << 20, 64);
  EXPECT_TRUE(node.has_value()) << text;
  return node ? *node : model::Node{};
}

std::string strategic(std::string_view document, std::string_view patch) {
  return model::to_json(*embedded::strategic_merge(parsed(document), parsed(patch)));
}

TEST(JsonPatch, AddsReplacesMovesCopiesAndRemoves) {
  const auto result = embedded::json_patch(
      parsed(R"({"a":{"b/c":1},"list":[1,2],"old":"x"})"),
      parsed(
          R"([{"op":"test","path":"/a/b~1c","value":1},)"
          R"({"op":"add","path":"/list/1","value":9},{"op":"add","path":"/list/-","value":3},)"
          R"({"op":"move","from":"/old","path":"/new"},{"op":"copy","from":"/new","path":"/a/d"},)"
          R"({"op":"remove","path":"/list/0"},{"op":"replace","path":"/new","value":"y"}])"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(model::to_json(*result), R"({"a":{"b/c":1,"d":"x"},"list":[9,2,3],"new":"y"})");
}

TEST(JsonPatch, DoesNothingWhenOneStepFails) {
  const auto result = embedded::json_patch(parsed(R"({"a":1})"),
                                           parsed(R"([{"op":"test","path":"/a","value":2}])"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, 422);
}

TEST(StrategicMerge, MergesNamedItemsAndReplacesOtherLists) {
  EXPECT_EQ(
      strategic(R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}],)"
                R"("taints":[{"key":"x"}]}})",
                R"({"spec":{"containers":[{"name":"a","image":"2"}],"taints":[{"key":"y"}]}})"),
      R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"}],)"
      R"("taints":[{"key":"y"}]}})");
}

TEST(StrategicMerge, ObeysItsDirectives) {
  EXPECT_EQ(
      strategic(R"({"env":[{"name":"a"},{"name":"b"}],"map":{"x":1,"y":2}})",
                R"({"env":[{"$patch":"delete","name":"a"}],"map":{"$patch":"replace","z":3}})"),
      R"({"env":[{"name":"b"}],"map":{"z":3}})");
  EXPECT_EQ(strategic(R"({"finalizers":["a","b"]})",
                      R"({"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]})"),
            R"({"finalizers":["b","c"]})");
}

TEST(EmbeddedPatch, TakesOnlyTheFormsThatItKnows) {
  EmbeddedWorld world;
  world.post(k_maps, config_text("a"));
  EXPECT_EQ(world.ask("PATCH", k_maps + "/a", "{}", "application/json").status, 415);
  EXPECT_EQ(world
                .ask("PATCH", k_maps + "/a", R"({"data":{"value":"2"}})",
                     "application/strategic-merge-patch+json")
                .text({"data", "value"}),
            "2");
}

class EmbeddedApply : public testing::Test {
 protected:
  Told apply(std::string_view manager, std::string body, std::string_view more = {}) {
    return world.ask("PATCH", fmt::format("{}/a?fieldManager={}{}", k_maps, manager, more),
                     std::move(body), "application/apply-patch+yaml");
  }
  static std::string data(std::string_view members) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"data":{{{}}}}})",
        members);
  }
  EmbeddedWorld world;
};

TEST_F(EmbeddedApply, MakesWhatIsMissingAndChangesNothingTheSecondTime) {
  const Told made = apply("one", data(R"("x":"1")"));
  EXPECT_EQ(made.status, 201);
  ASSERT_EQ(made.count({"metadata", "managedFields"}), 1U);
  const auto& entry = model::items_at(made.body, {"metadata", "managedFields"})[0];
  EXPECT_EQ(model::text_at(entry, {"operation"}), "Apply");
  EXPECT_EQ(model::to_json(*model::look(entry, {"fieldsV1"})), R"({"f:data":{"f:x":{}}})");
  const Told again = apply("one", data(R"("x":"1")"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.text({"metadata", "resourceVersion"}),
            made.text({"metadata", "resourceVersion"}));
}

TEST_F(EmbeddedApply, TakesBackWhatIsNoLongerNamed) {
  apply("one", data(R"("x":"1","y":"1")"));
  apply("two", data(R"("y":"1")"));
  const Told less = apply("one", data(R"("z":"1")"));
  EXPECT_EQ(less.text({"data", "x"}), "");
  EXPECT_EQ(less.text({"data", "y"}), "1") << "another owns it";
  EXPECT_EQ(less.text({"data", "z"}), "1");
}

TEST_F(EmbeddedApply, RefusesToOverwriteAnothersFieldsUnlessForced) {
  apply("one", data(R"("x":"1")"));
  const Told refused = apply("two", data(R"("x":"2")"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.text({"reason"}), "Conflict");
  EXPECT_EQ(refused.text({"message"}),
            R"(Apply failed with 1 conflict: conflict with "one": .data.x)");
  const auto& causes = model::items_at(refused.body, {"details", "causes"});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(model::text_at(causes[0], {"reason"}), "FieldManagerConflict");
  const Told forced = apply("two", data(R"("x":"2")"), "&force=true");
  EXPECT_EQ(forced.text({"data", "x"}), "2");
  EXPECT_EQ(forced.count({"metadata", "managedFields"}), 1U);
}

TEST_F(EmbeddedApply, MindsThoseThatUpdateToo) {
  apply("one", data(R"("x":"1")"));
  world.merge(k_maps + "/a?fieldManager=editor", R"({"data":{"x":"9"}})");
  const Told refused = apply("one", data(R"("x":"1")"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.text({"message"}),
            R"(Apply failed with 1 conflict: conflict with "editor" using v1 at )"
            "2026-01-31T09:30:00Z: .data.x");
}

TEST_F(EmbeddedApply, WantsToKnowWhoApplies) {
  const Told refused =
      world.ask("PATCH", k_maps + "/a", data(R"("x":"1")"), "application/apply-patch+yaml");
  EXPECT_EQ(refused.status, 422);
}

TEST_F(EmbeddedApply, MergesContainersByName) {
  const std::string pods = "/api/v1/namespaces/default/pods/p?fieldManager=one";
  world.post("/api/v1/namespaces/default/pods", pod_text("p"));
  const Told applied = world.ask(
      "PATCH", pods + "&force=true",
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: main\n"
      "    image: app:2\n",
      "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 200) << applied.text({"message"});
  ASSERT_EQ(applied.count({"spec", "containers"}), 1U);
  EXPECT_EQ(model::text_at(model::items_at(applied.body, {"spec", "containers"})[0], {"image"}),
            "app:2");
}

}  // namespace
}  // namespace spillway::test
