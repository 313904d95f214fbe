// What a provider does with a buyer's Lease, and without its renewal.
#include "fabric/fence.h"

#include <gtest/gtest.h>

#include "fabric/seller.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_fence_now{1'800'000'000'000};

model::Node json_of(std::string_view text) { return *model::parse_json(text, "test"); }

TEST(Fence, IdentityIsAStatefulSetsPodOrAClaim) {
  EXPECT_FALSE(
      has_identity(json_of(R"({"app":"web"})"), json_of(R"({"volumes":[{"emptyDir":{}}]})")));
  EXPECT_TRUE(
      has_identity(json_of(R"({"statefulset.kubernetes.io/pod-name":"db-0"})"), json_of("{}")));
  EXPECT_TRUE(has_identity(
      json_of("{}"),
      json_of(R"({"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"disk"}}]})")));
}

TEST(Fence, ARenewalIsReadAsItWasWritten) {
  model::Node lease = json_of(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"spillway-buyer",)"
      R"("creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"spillway.dev/settled":"2"}}})");
  EXPECT_EQ(read_buyer_lease(lease)->renewed, *parse_instant("2026-01-01T00:00:00Z"));
  model::merge(lease, renewal_patch("rome", 3, k_fence_now + milliseconds(42)));
  const auto read = read_buyer_lease(lease);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->renewed, k_fence_now + milliseconds(42));
  EXPECT_EQ(read->turns, 3);
  EXPECT_EQ(read->settled, 2);
  EXPECT_EQ(model::text_at(lease, {"spec", "renewTime"}), "2027-01-15T08:00:00.042000Z");
}

TEST(Fence, ARenewalIsAsOldAsItsOlderSide) {
  FenceSight sight;
  sight.lease = BuyerLease{"1", k_fence_now, 0, 0, true};
  sight.seen = k_fence_now + seconds(5);
  EXPECT_EQ(last_heard(sight, seconds(15)), k_fence_now + seconds(5));
  sight.seen = k_fence_now + minutes(4);  // it lay in the queue of an API server that stood still
  EXPECT_EQ(last_heard(sight, seconds(15)), k_fence_now + seconds(15));
  sight.lease->renewed = k_last_instant;  // a clock that is ahead makes nothing younger
  EXPECT_EQ(last_heard(sight, seconds(15)), k_fence_now + minutes(4));
}

class Fenced : public ::testing::Test {
 protected:
  Fenced() {
    Sale sale{ContractId("01JAAAAAAAAAAAAAAAAAAAAAAA"), {{"sw-x-0", true}}, {}, {}};
    sale.request = RequestTalk{{}, {{"sw-x-0", "request"}}};
    sale.grant.amounts = {{"cpu", 2000}};
    wish.sales = {sale};
    sight.has_space = true;
    liqo::Slice slice;
    slice.meta.name = "sw-x-0";
    slice.meta.space = "liqo-tenant-rome";
    slice.meta.labels = {{"liqo.io/replicated", "true"},
                         {"liqo.io/replication", "false"},
                         {"liqo.io/originID", "rome"},
                         {"liqo.io/remote-cluster-id", "rome"},
                         {"liqo.io/remoteID", "milan"}};
    slice.buyer = "rome";
    slice.provider = "milan";
    slice.class_name = liqo::k_class;
    slice.request = "request";
    slice.conditions = {{"Authentication", "Accepted", {}, {}, {}},
                        {"Resources", "Accepted", {}, {}, {}}};
    slice.grant = sale.grant;
    sight.slices["sw-x-0"] = slice;
    sight.fence = {BuyerLease{"1", k_fence_now, 0, 0, true}, k_fence_now, Right::right,
                   Right::right};
    const std::string user = liqo::unit_user("sw-x-0", wish.buyer_hash);
    const Place web{liqo::k_shadow_pods, "sw4-rome-shop", "web"};
    const Place db{liqo::k_shadow_pods, "sw4-rome-shop", "db-0"};
    sight.guests[user] = {web, db};
    sight.with_identity[user] = {db};
  }
  // Names of what is removed; and what of the slice is changed.
  std::vector<std::string> removed(const Plan& plan) {
    std::vector<std::string> names;
    for (const Deed& deed : plan.deeds) {
      if (const auto* one = std::get_if<Remove>(&deed)) names.push_back(one->at.name);
    }
    return names;
  }
  std::string changes(const Plan& plan, const liqo::Kind& kind) {
    std::string all;
    for (const Deed& deed : plan.deeds) {
      const auto* one = std::get_if<Merge>(&deed);
      if (one != nullptr && one->at.kind.plural == kind.plural) all += model::to_json(one->patch);
    }
    return all;
  }
  Plan look(Instant now) { return plan_seller(wish, sight, now); }

  SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, {}};
  SellerSight sight;
};

TEST_F(Fenced, GuestsWithIdentityAreStoppedAfterTheFenceTimeAndNoOthers) {
  const Plan before = look(k_fence_now + minutes(5) - milliseconds(1));
  EXPECT_TRUE(removed(before).empty());
  EXPECT_EQ(changes(before, liqo::k_slices), "");
  EXPECT_EQ(before.look_again, k_fence_now + minutes(5));
  const Plan after = look(k_fence_now + minutes(5));
  EXPECT_EQ(removed(after), std::vector<std::string>{"db-0"});
  EXPECT_NE(changes(after, liqo::k_slices).find(R"("liqo.io/cordon":"true")"), std::string::npos);
  ASSERT_FALSE(after.troubles.empty());
  EXPECT_EQ(after.troubles.back().thing, "buyer rome");
}

// It was deleted at the buyer, and is to be made anew, when the line was cut.
TEST_F(Fenced, GuestsOfAUnitWhoseSliceIsOnItsWayAreStoppedToo) {
  sight.slices.clear();
  EXPECT_TRUE(removed(look(k_fence_now + minutes(5) - milliseconds(1))).empty());
  EXPECT_EQ(removed(look(k_fence_now + minutes(5))), std::vector<std::string>{"db-0"});
}

// A renewal alone is no news, so nothing else would say that a buyer is back.
TEST_F(Fenced, WhoIsFencedOffIsLookedAtAgain) {
  const Instant late = k_fence_now + minutes(9);
  EXPECT_EQ(look(late).look_again, late + seconds(5));
}

TEST_F(Fenced, IsNotOpenedBeforeTheLeaseIsSeen) {
  sight.slices["sw-x-0"].meta.annotations = {{"liqo.io/cordon", "true"},
                                             {std::string(k_fenced_annotation), "true"}};
  sight.fence.lease.reset();
  EXPECT_EQ(changes(look(k_fence_now + minutes(9)), liqo::k_slices), "");
}

// Law 6: the buyer counts from its last renewal, whoever deleted what.
TEST_F(Fenced, ALeaseThatWasDeletedByHandGivesNoMoreTime) {
  FenceSight& fence = sight.fence;
  fence.settled = 3;
  note_no_lease(fence, true);
  const Plan plan = look(k_fence_now + minutes(4));
  const auto made = std::find_if(plan.deeds.begin(), plan.deeds.end(), [](const Deed& deed) {
    return std::holds_alternative<Create>(deed) &&
           std::get<Create>(deed).at.kind.plural == liqo::k_leases.plural;
  });
  ASSERT_NE(made, plan.deeds.end());
  const auto lease = read_buyer_lease(std::get<Create>(*made).object);
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(lease->settled, 3);
  note_lease(fence, *lease, k_fence_now + minutes(4));
  EXPECT_TRUE(removed(look(k_fence_now + minutes(5) - milliseconds(1))).empty());
  EXPECT_EQ(removed(look(k_fence_now + minutes(5))), std::vector<std::string>{"db-0"});
  // Also one that somebody else made, without a time.
  note_no_lease(fence, true);
  note_lease(fence, BuyerLease{"9", k_fence_now + minutes(4), 0, 3, true},
             k_fence_now + minutes(4));
  EXPECT_EQ(removed(look(k_fence_now + minutes(5))), std::vector<std::string>{"db-0"});
  // With no units left it begins anew.
  note_no_lease(fence, false);
  EXPECT_EQ(fence.seen, Instant{});
}

TEST_F(Fenced, IsMarkedForWhatItWasBefore) {
  auto& annotations = sight.slices["sw-x-0"].meta.annotations;
  const Instant late = k_fence_now + minutes(9);
  const auto changed = [&] { return changes(look(late), liqo::k_slices); };
  EXPECT_NE(changed().find(R"("spillway.dev/fenced":"true")"), std::string::npos);
  annotations = {{"liqo.io/cordon", "true"}};
  EXPECT_NE(changed().find(R"("spillway.dev/fenced":"cordoned")"), std::string::npos);
  annotations[std::string(k_fenced_annotation)] = k_fenced_and_cordoned;
  EXPECT_EQ(changed(), "");
  annotations.erase("liqo.io/cordon");  // by hand
  EXPECT_NE(changed().find(R"("spillway.dev/fenced":"cordoned")"), std::string::npos);
  EXPECT_NE(changed().find(R"("liqo.io/cordon":"true")"), std::string::npos);
}

TEST_F(Fenced, ABuyerThatIsBackMayGoOn) {
  auto& annotations = sight.slices["sw-x-0"].meta.annotations;
  annotations = {{"liqo.io/cordon", "true"}, {std::string(k_fenced_annotation), "true"}};
  sight.fence.seen = k_fence_now + minutes(9);
  sight.fence.lease->renewed = k_fence_now + minutes(9);
  const Plan back = look(k_fence_now + minutes(9));
  EXPECT_NE(changes(back, liqo::k_slices).find(R"("liqo.io/cordon":null)"), std::string::npos);
  EXPECT_TRUE(removed(back).empty());
  // One that was cordoned already, by its operator, stays so.
  annotations[std::string(k_fenced_annotation)] = k_fenced_and_cordoned;
  const std::string opened = changes(look(k_fence_now + minutes(9)), liqo::k_slices);
  EXPECT_NE(opened.find(R"("spillway.dev/fenced":null)"), std::string::npos);
  EXPECT_EQ(opened.find("liqo.io/cordon"), std::string::npos);
  // One that somebody cordoned by hand stays so, and is told.
  annotations.erase(std::string(k_fenced_annotation));
  const Plan by_hand = look(k_fence_now + minutes(9));
  EXPECT_EQ(changes(by_hand, liqo::k_slices), "");
  ASSERT_EQ(by_hand.troubles.size(), 1U);
  EXPECT_NE(by_hand.troubles[0].reason.find("cordoned"), std::string::npos);
}

TEST_F(Fenced, WhatTheBuyerHasBegunElsewhereIsStoppedBeforeItGoesOn) {
  sight.fence.lease->turns = 1;
  const Plan first = look(k_fence_now);
  EXPECT_EQ(changes(first, liqo::k_leases), "");
  EXPECT_EQ(removed(first).front(), "db-0");
  sight.with_identity.clear();
  EXPECT_NE(changes(look(k_fence_now), liqo::k_leases).find(R"("spillway.dev/settled":"1")"),
            std::string::npos);
  sight.fence.lease->settled = 1;
  EXPECT_TRUE(removed(look(k_fence_now)).empty());
}

TEST_F(Fenced, LeaseAndRightsAreMadeAndPutRight) {
  sight.fence = {};
  Plan plan = look(k_fence_now);
  std::set<std::string> made;
  for (const Deed& deed : plan.deeds) {
    const auto* one = std::get_if<Create>(&deed);
    if (one == nullptr || one->at.name != k_fence_name) continue;
    made.insert(std::string(one->at.kind.plural));
    if (one->at.kind.plural == "roles") {
      EXPECT_EQ(judge_fence_role(one->object), Right::right);
      EXPECT_EQ(model::to_json(*one->object.find("rules")),
                R"([{"apiGroups":["coordination.k8s.io"],"resources":["leases"],)"
                R"("resourceNames":["spillway-buyer"],"verbs":["get","patch"]}])");
    }
    if (one->at.kind.plural == "rolebindings") {
      EXPECT_EQ(judge_fence_binding(one->object, "rome"), Right::right);
      EXPECT_EQ(judge_fence_binding(one->object, "oslo"), Right::wrong);
    }
  }
  EXPECT_EQ(made, (std::set<std::string>{"leases", "roles", "rolebindings"}));
  sight.fence = {BuyerLease{"1", k_fence_now, 0, 0, true}, k_fence_now, Right::wrong, Right::right};
  EXPECT_EQ(removed(look(k_fence_now)), std::vector<std::string>{std::string(k_fence_name)});
}

TEST_F(Fenced, NothingOfItIsLeftWhenTheyPart) {
  wish.sales.clear();
  sight.slices.clear();
  sight.guests.clear();
  sight.with_identity.clear();
  EXPECT_EQ(removed(look(k_fence_now)).size(), 3U);
}

}  // namespace
}  // namespace spillway::fabric
