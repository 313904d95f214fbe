// Who may do what, by tokens and RBAC objects.
#include <gtest/gtest.h>

#include "support/embedded_world.h"

namespace spillway::test {
namespace {

const std::string k_rbac = "/apis/rbac.authorization.k8s.io/v1";

class EmbeddedAccess : public testing::Test {
 protected:
  EmbeddedAccess() : world(embedded::ClusterOptions{}) {
    admin = world.cluster.issue_token("admin", {"system:masters"});
    guest = world.cluster.issue_token("guest");
  }
  void be(const std::string& token) { world.headers = {{"Authorization", "Bearer " + token}}; }
  void allow(std::string_view verbs, std::string_view resources) {
    be(admin);
    const std::string in = k_rbac + "/namespaces/default";
    EXPECT_EQ(world
                  .post(in + "/roles",
                        fmt::format(R"({{"metadata":{{"name":"r"}},"rules":[{{"apiGroups":[""],)"
                                    R"("resources":[{}],"verbs":[{}]}}]}})",
                                    resources, verbs))
                  .status,
              201);
    EXPECT_EQ(world
                  .post(in + "/rolebindings",
                        R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},)"
                        R"("subjects":[{"kind":"User","name":"guest"}]})")
                  .status,
              201);
    be(guest);
  }

  EmbeddedWorld world;
  std::string admin;
  std::string guest;
};

TEST_F(EmbeddedAccess, TurnsAwayWhoShowsNothing) {
  const Told nobody = world.get("/api/v1/nodes");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.text({"reason"}), "Unauthorized");
  be("made-up");
  EXPECT_EQ(world.get("/api/v1/nodes").status, 401);
}

TEST_F(EmbeddedAccess, DeniesWhatNoRoleAllows) {
  be(guest);
  const Told denied = world.get("/api/v1/namespaces/default/pods");
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(denied.text({"reason"}), "Forbidden");
  EXPECT_EQ(denied.text({"message"}),
            R"(pods is forbidden: User "guest" cannot list resource "pods" in API group "" in the )"
            R"(namespace "default")");
  EXPECT_EQ(
      world.get("/api/v1/nodes/n").text({"message"}),
      R"(nodes "n" is forbidden: User "guest" cannot get resource "nodes" in API group "" at )"
      "the cluster scope");
  EXPECT_EQ(world.get("/apis").status, 200) << "everybody may see what is served";
}

TEST_F(EmbeddedAccess, AllowsWhatARoleSaysAndNoMore) {
  allow(R"("get","list")", R"("pods")");
  EXPECT_EQ(world.get("/api/v1/namespaces/default/pods").status, 200);
  EXPECT_EQ(world.get("/api/v1/namespaces/default/pods?watch=true").status, 403);
  EXPECT_EQ(world.get("/api/v1/namespaces/kube-system/pods").status, 403);
  EXPECT_EQ(world.get("/api/v1/pods").status, 403);
  EXPECT_EQ(world.post("/api/v1/namespaces/default/pods/a/eviction", "{}").status, 403);
  be(admin);
  EXPECT_EQ(world.erase(k_rbac + "/namespaces/default/rolebindings/b").status, 200);
  be(guest);
  EXPECT_EQ(world.get("/api/v1/namespaces/default/pods").status, 403);
}

TEST_F(EmbeddedAccess, TellsCallersWhatTheyMayDo) {
  allow(R"("get","list")", R"("pods")");
  const auto may = [&](std::string_view verb) {
    const Told told = world.post(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        fmt::format(R"({{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",)"
                    R"("spec":{{"resourceAttributes":{{"namespace":"default","verb":"{}",)"
                    R"("resource":"pods"}}}}}})",
                    verb));
    EXPECT_EQ(told.status, 201);
    return model::boolean_at(told.body, {"status", "allowed"});
  };
  EXPECT_TRUE(may("list"));
  EXPECT_FALSE(may("delete"));
}

TEST_F(EmbeddedAccess, KnowsServiceAccountsByTheirTokens) {
  world.loop.run();
  be(admin);
  const Told token = world.post("/api/v1/namespaces/default/serviceaccounts/default/token",
                                R"({"kind":"TokenRequest","spec":{"expirationSeconds":600}})");
  ASSERT_EQ(token.status, 201);
  be(std::string(token.text({"status", "token"})));
  EXPECT_NE(
      world.get("/api/v1/nodes").text({"message"}).find("system:serviceaccount:default:default"),
      std::string_view::npos);
  world.loop.run_for(seconds(601));
  EXPECT_EQ(world.get("/api/v1/nodes").status, 401);
}

}  // namespace
}  // namespace spillway::test
