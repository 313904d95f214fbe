// create, get, update, delete: codes and Status bodies as the real API server gives them.
#include <gtest/gtest.h>

#include "support/embedded_world.h"

namespace spillway::test {
namespace {

TEST(EmbeddedApi, GivesWhatIsMadeAnIdentityAndAVersion) {
  EmbeddedWorld world;
  const Told made = world.post(k_maps, config_text("a"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.text({"kind"}), "ConfigMap");
  EXPECT_EQ(made.text({"metadata", "namespace"}), "default");
  EXPECT_EQ(made.text({"metadata", "uid"}).size(), 36U);
  EXPECT_EQ(made.text({"metadata", "creationTimestamp"}), "2026-01-31T09:30:00Z");
  EXPECT_FALSE(made.text({"metadata", "resourceVersion"}).empty());
  EXPECT_TRUE(model::same(made.body, world.get(k_maps + "/a").body));
}

TEST(EmbeddedApi, MakesNamesFromAPrefix) {
  EmbeddedWorld world;
  const Told made = world.post(k_maps, R"({"metadata":{"generateName":"web-"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.text({"metadata", "name"}).size(), 9U);
  EXPECT_TRUE(made.text({"metadata", "name"}).starts_with("web-"));
}

TEST(EmbeddedApi, SaysThatSomethingIsMissing) {
  EmbeddedWorld world;
  const Told missing = world.get("/apis/apps/v1/namespaces/default/deployments/web");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.text({"kind"}), "Status");
  EXPECT_EQ(missing.text({"reason"}), "NotFound");
  EXPECT_EQ(missing.text({"message"}), R"(deployments.apps "web" not found)");
  EXPECT_EQ(missing.text({"details", "kind"}), "deployments");
  EXPECT_EQ(missing.text({"details", "group"}), "apps");
  EXPECT_EQ(missing.number({"code"}), 404);
}

TEST(EmbeddedApi, MakesNothingTwice) {
  EmbeddedWorld world;
  world.post(k_maps, config_text("a"));
  const Told twice = world.post(k_maps, config_text("a"));
  EXPECT_EQ(twice.status, 409);
  EXPECT_EQ(twice.text({"reason"}), "AlreadyExists");
  EXPECT_EQ(twice.text({"message"}), R"(configmaps "a" already exists)");
}

TEST(EmbeddedApi, RefusesAnUpdateOfAnOlderVersion) {
  EmbeddedWorld world;
  const Told first = world.post(k_maps, config_text("a"));
  EXPECT_EQ(world.merge(k_maps + "/a", R"({"data":{"value":"2"}})").status, 200);
  const Told late = world.put(k_maps + "/a", model::to_json(first.body));
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(late.text({"reason"}), "Conflict");
  EXPECT_EQ(late.text({"message"}),
            R"(Operation cannot be fulfilled on configmaps "a": the object has been modified; )"
            "please apply your changes to the latest version and try again");
}

TEST(EmbeddedApi, GivesNoNewVersionToAnUpdateThatChangesNothing) {
  EmbeddedWorld world;
  const Told first = world.post(k_maps, config_text("a"));
  const Told same = world.put(k_maps + "/a", model::to_json(first.body));
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.text({"metadata", "resourceVersion"}),
            first.text({"metadata", "resourceVersion"}));
}

TEST(EmbeddedApi, KeepsStatusAndSpecApart) {
  EmbeddedWorld world;
  const Told made = world.post(k_pods, pod_text("a"));
  EXPECT_EQ(made.text({"status", "phase"}), "Pending");
  EXPECT_EQ(made.number({"metadata", "generation"}), 1);
  const Told status = world.merge(k_pods + "/a/status",
                                  R"({"status":{"phase":"Running"},"spec":{"hostname":"x"}})");
  EXPECT_EQ(status.text({"status", "phase"}), "Running");
  EXPECT_EQ(model::look(status.body, {"spec", "hostname"}), nullptr);
  const Told main = world.merge(k_pods + "/a", R"({"status":{"phase":"Failed"}})");
  EXPECT_EQ(main.text({"status", "phase"}), "Running");
  EXPECT_EQ(main.number({"metadata", "generation"}), 1);
}

TEST(EmbeddedApi, ChangesNothingOfAPodsSpecButItsImage) {
  EmbeddedWorld world;
  world.post(k_pods, pod_text("a"));
  const std::string pod = k_pods + "/a";
  const Told moved = world.merge(pod, R"({"spec":{"restartPolicy":"Never"}})");
  EXPECT_EQ(moved.status, 422);
  EXPECT_EQ(moved.text({"reason"}), "Invalid");
  EXPECT_TRUE(
      moved.text({"message"})
          .starts_with(
              R"(Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than)"));
  const Told image = world.ask(
      "PATCH", pod, R"([{"op":"replace","path":"/spec/containers/0/image","value":"app:2"}])",
      "application/json-patch+json");
  EXPECT_EQ(image.status, 200);
  EXPECT_EQ(image.number({"metadata", "generation"}), 2);
}

TEST(EmbeddedApi, NamesEveryFaultOfADocument) {
  EmbeddedWorld world;
  const Told refused = world.post(k_pods, R"({"metadata":{"name":"Bad_Name"},"spec":{}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.text({"details", "kind"}), "Pod");
  ASSERT_EQ(refused.count({"details", "causes"}), 2U);
  const auto& causes = model::items_at(refused.body, {"details", "causes"});
  EXPECT_EQ(model::text_at(causes[0], {"field"}), "metadata.name");
  EXPECT_EQ(model::text_at(causes[1], {"field"}), "spec.containers");
  EXPECT_EQ(model::text_at(causes[1], {"reason"}), "FieldValueRequired");
}

TEST(EmbeddedApi, DoesNothingInADryRun) {
  EmbeddedWorld world;
  const Told made = world.post(k_maps + "?dryRun=All", config_text("a"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(world.get(k_maps + "/a").status, 404);
}

TEST(EmbeddedApi, DeletesOnlyWhatTheCallerMeant) {
  EmbeddedWorld world;
  world.post(k_maps, config_text("a"));
  const Told other =
      world.erase(k_maps + "/a", R"({"kind":"DeleteOptions","preconditions":{"uid":"other"}})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.text({"reason"}), "Conflict");
  const Told gone = world.erase(k_maps + "/a");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.text({"kind"}), "Status");
  EXPECT_EQ(gone.text({"status"}), "Success");
  EXPECT_EQ(gone.text({"details", "name"}), "a");
  EXPECT_EQ(world.erase(k_maps + "/a").status, 404);
}

TEST(EmbeddedApi, KeepsWhatHasFinalizersUntilTheyAreGone) {
  EmbeddedWorld world;
  world.post(k_maps, R"({"metadata":{"name":"a","finalizers":["example.com/wait"]}})");
  const std::string map = k_maps + "/a";
  const Told going = world.erase(map);
  EXPECT_EQ(going.status, 200);
  EXPECT_FALSE(going.text({"metadata", "deletionTimestamp"}).empty());
  EXPECT_EQ(world.merge(map, R"({"metadata":{"finalizers":["example.com/other"]}})").status, 422);
  EXPECT_EQ(world.merge(map, R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_EQ(world.get(map).status, 404);
}

TEST(EmbeddedApi, MakesNothingInANamespaceThatIsNotThere) {
  EmbeddedWorld world;
  const Told made = world.post("/api/v1/namespaces/nowhere/configmaps", config_text("a"));
  EXPECT_EQ(made.status, 404);
  EXPECT_EQ(made.text({"message"}), R"(namespaces "nowhere" not found)");
}

TEST(EmbeddedApi, MakesALeaseByPutAndWantsItsVersionAfterwards) {
  EmbeddedWorld world;
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  EXPECT_EQ(world.put(lease, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})").status,
            201);
  const Told blind = world.put(lease, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}})");
  EXPECT_EQ(blind.status, 422);
  EXPECT_TRUE(blind.text({"message"}).ends_with("must be specified for an update"));
}

TEST(EmbeddedApi, ServesNothingUnderUnknownPaths) {
  EmbeddedWorld world;
  EXPECT_EQ(world.get("/apis/example.com/v1/things").status, 404);
  EXPECT_EQ(world.get("/nothing").status, 404);
  EXPECT_EQ(world.ask("POST", "/api/v1/namespaces/default/pods/a", "{}").status, 405);
}

TEST(EmbeddedApi, TellsWhatItServes) {
  EmbeddedWorld world;
  EXPECT_EQ(world.get("/api").text({"kind"}), "APIVersions");
  EXPECT_EQ(world.get("/apis").text({"kind"}), "APIGroupList");
  EXPECT_EQ(world.get("/apis/apps/v1").text({"groupVersion"}), "apps/v1");
  EXPECT_EQ(world.get("/version").text({"gitVersion"}), "v1.34.0+spillway-embedded");
  EXPECT_EQ(world.get("/readyz").status, 200);
}

}  // namespace
}  // namespace spillway::test
