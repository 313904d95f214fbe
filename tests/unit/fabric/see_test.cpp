#include "fabric/see.h"

#include <gtest/gtest.h>

#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

using model::Node;
using Use = PeerSpace::Use;

Node json(const std::string& text) { return model::parse_json(text, "test").value(); }

Use use_of(const std::string& name, const std::string& labels) {
  return see_peer_space(json(R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + "}}"))
      .use;
}

TEST(See, ANamespaceIsATenantsByNameAndLabelsTogether) {
  const std::string both =
      R"({"liqo.io/remote-cluster-id":"rome","liqo.io/tenant-namespace":"true"})";
  EXPECT_EQ(use_of("liqo-tenant-rome", both), Use::tenants);
  EXPECT_EQ(use_of("liqo-tenant-milan", both), Use::edited);
  EXPECT_EQ(use_of("liqo-tenant-rome", R"({"liqo.io/remote-cluster-id":"rome"})"), Use::edited);
  EXPECT_EQ(use_of("shop", both), Use::somebody);
  EXPECT_EQ(use_of("sw4-rome-shop", R"({"liqo.io/remote-cluster-id":"rome"})"), Use::guests);
  EXPECT_EQ(use_of("liqo-tenant-rome", "7"), Use::edited);
}

TEST(See, ATenantsNamespaceSaysWhoSellsThere) {
  const auto provider = [](const std::string& annotations) {
    return see_peer_space(json(R"({"metadata":{"name":"liqo-tenant-rome","annotations":)" +
                               annotations + "}}"))
        .provider;
  };
  EXPECT_EQ(provider(R"({"spillway.dev/provider":"milan"})"), "milan");
  EXPECT_EQ(provider("{}"), "");
  EXPECT_EQ(provider("7"), "");
}

TEST(See, APodThatEveryNodeHasOrThatHasEndedDoesNotCount) {
  EXPECT_TRUE(see_pod(json(R"({"metadata":{"ownerReferences":[{"kind":"ReplicaSet"}]}})")));
  EXPECT_FALSE(see_pod(json(R"({"metadata":{"ownerReferences":[{"kind":"DaemonSet"}]}})")));
  EXPECT_FALSE(see_pod(json(R"({"status":{"phase":"Succeeded"}})")));
  EXPECT_FALSE(see_pod(json(R"({"status":{"phase":"Failed"}})")));
  EXPECT_FALSE(
      see_pod(json(R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}})")));
}

TEST(See, TheTimeThatAPodHasToEndIsOneThatArithmeticCanBear) {
  const auto grace = [](const std::string& said) {
    return see_pod(json(R"({"spec":{"terminationGracePeriodSeconds":)" + said + "}}"))->grace;
  };
  EXPECT_EQ(grace("600"), seconds(600));
  EXPECT_EQ(grace("\"600\""), seconds(30));
  EXPECT_EQ(grace("-7"), seconds(0));
  EXPECT_EQ(grace("9223372036854775807"), seconds(int64_t{365} * 24 * 3600));
}

TEST(See, OnlyAPodThatTheSchedulerHasLookedAtWaits) {
  const auto pod = [](const std::string& spec, const std::string& reason) {
    return json(R"({"metadata":{"namespace":"shop","name":"p","uid":"u","resourceVersion":"7"},
                    "spec":)" +
                spec + R"(,"status":{"conditions":[{"type":"PodScheduled","status":"False",
                    "reason":")" +
                reason + R"("}]}})");
  };
  const auto waiting = see_waiting_pod(pod(R"({"tolerations":[{"key":"a"}]})", "Unschedulable"));
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->space + "/" + waiting->name + " " + waiting->uid + " " + waiting->version,
            "shop/p u 7");
  EXPECT_EQ(waiting->tolerations.items.size(), 1U);
  EXPECT_EQ(see_waiting_pod(pod("{}", "Unschedulable"))->tolerations.kind, Node::Kind::array);
  EXPECT_FALSE(see_waiting_pod(pod("{}", "SchedulingGated")));
  EXPECT_FALSE(see_waiting_pod(pod(R"({"nodeName":"n"})", "Unschedulable")));
}

TEST(See, AGuestWithAClaimMustNotRunTwice) {
  const GuestSight guest = see_guest(json(
      R"({"metadata":{"labels":{"liqo.io/creator-user":"unit-0-6dbd0f28d0d9"}},
          "spec":{"pod":{"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"d"}}]}}})"));
  EXPECT_EQ(guest, (GuestSight{"unit-0-6dbd0f28d0d9", true}));
  EXPECT_EQ(see_guest(json(R"({"metadata":{"labels":7},"spec":{"pod":[]}})")), GuestSight{});
}

TEST(See, ANodeOfWhichNothingIsHeardIsSilentAndNotReady) {
  const auto node = [](const std::string& status) {
    return see_node(json(R"({"status":{"conditions":[{"type":"DiskPressure","status":"True"},
                              {"type":"Ready","status":")" +
                         status + R"("}]}})"));
  };
  EXPECT_TRUE(node("True").is_ready);
  EXPECT_FALSE(node("True").is_silent);
  EXPECT_FALSE(node("Unknown").is_ready);
  EXPECT_TRUE(node("Unknown").is_silent);
  EXPECT_FALSE(node("False").is_silent);
}

}  // namespace
}  // namespace spillway::fabric
