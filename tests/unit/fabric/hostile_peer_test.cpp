// Peers that make what no contract says, or come back as somebody else.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "fabric/buyer.h"
#include "fabric/record.h"
#include "fabric/seller.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_peer_now{1'800'000'000'000};
constexpr const char* k_sold_unit = "sw-01m7jvqwfj4xxt60c2xbz461h3-0";
constexpr const char* k_others = "sw-01m7jvqwfj4xxt60c2xbz461h4-0";
const liqo::Amounts k_sold = {{"cpu", 2000}, {"memory", int64_t{4} << 30}, {"pods", 20}};
const std::string k_peer_hash(64, 'a');

// milan has sold one unit to rome, whose Tenant is there.
struct HostileBuyer : testing::Test {
  HostileBuyer() {
    Sale sale{ContractId("01m7jvqwfj4xxt60c2xbz461h3"), {{k_sold_unit}}, {}, RequestTalk{}};
    sale.grant.amounts = k_sold;
    sale.request->units[k_sold_unit] = "request";
    wish.sales.push_back(std::move(sale));
    sight.has_space = true;
    sight.tenant = liqo::new_tenant("rome", {"key", "request", "signature"});
    sight.tenant->answer.emplace();
    sight.record = Record{"1", {{k_sold_unit, to_base64("request")}}};
  }
  // As the replicator makes it.
  liqo::Slice& add(const std::string& name, const std::string& request,
                   const liqo::Amounts& asked) {
    liqo::Slice slice = liqo::new_slice({name, "rome", "milan", request, asked}, true);
    slice.meta.space = liqo::tenant_namespace_name("rome");
    slice.meta.labels = {{std::string(liqo::k_replicated_label), "true"},
                         {std::string(liqo::k_replication_label), "false"},
                         {std::string(liqo::k_origin_label), "rome"},
                         {std::string(liqo::k_peer_label), "rome"},
                         {std::string(liqo::k_destination_label), "milan"}};
    slice.conditions = {{"Authentication", "Accepted", "", "", ""}};
    return sight.slices[name] = std::move(slice);
  }
  Plan plan() const { return plan_seller(wish, sight, k_peer_now); }
  // Of that slice's status.
  const model::Node* decision(const Plan& made, const std::string& name) const {
    for (const Deed& deed : made.deeds) {
      const auto* merge = std::get_if<Merge>(&deed);
      if (merge != nullptr && merge->of_status && merge->at.name == name) return &merge->patch;
    }
    return nullptr;
  }
  static std::string status_in(const model::Node& patch) {
    for (const model::Node& one : model::items_at(patch, {"status", "conditions"})) {
      if (model::text_at(one, {"type"}) == "Resources") {
        return std::string(model::text_at(one, {"status"}));
      }
    }
    return {};
  }

  SellerWish wish{"milan", "rome", k_peer_hash, {}, k_peer_now};
  SellerSight sight;
};

TEST_F(HostileBuyer, WhoAsksForMoreGetsWhatWasSold) {
  add(k_sold_unit, "request",
      {{"cpu", 64000}, {"memory", int64_t{1} << 40}, {"nvidia.com/gpu", 8}});
  const Plan made = plan();
  const model::Node* patch = decision(made, k_sold_unit);
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(status_in(*patch), "Accepted");
  EXPECT_EQ(model::text_at(*patch, {"status", "resources", "cpu"}), "2");
  EXPECT_EQ(model::look(*patch, {"status", "resources", "nvidia.com/gpu"}), nullptr);
}

TEST_F(HostileBuyer, AUnitOfSomebodyElsesContractIsGrantedNothingAndTakenDown) {
  add(k_others, "request", k_sold);
  Plan made = plan();
  EXPECT_EQ(decision(made, k_others), nullptr);
  const bool is_removed = std::any_of(made.deeds.begin(), made.deeds.end(), [](const Deed& deed) {
    const auto* remove = std::get_if<Remove>(&deed);
    return remove != nullptr && remove->at.name == k_others;
  });
  EXPECT_TRUE(is_removed);
}

TEST_F(HostileBuyer, AnotherRequestThanWasSignedForIsDeniedWithAReason) {
  add(k_sold_unit, "another request", k_sold);
  const Plan made = plan();
  const model::Node* patch = decision(made, k_sold_unit);
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(status_in(*patch), "Denied");
  ASSERT_FALSE(made.troubles.empty());
  EXPECT_NE(made.troubles[0].reason.find("another request"), std::string::npos);
}

TEST_F(HostileBuyer, WhatLooksAsIfItWereOursIsDenied) {
  add(k_sold_unit, "request", k_sold).meta.labels[std::string(liqo::k_replicated_label)] = "false";
  const Plan made = plan();
  const model::Node* patch = decision(made, k_sold_unit);
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(status_in(*patch), "Denied");
}

// A buyer has one Tenant. Whoever signs with two keys has that of the contract made last, and
// cannot have Tenants made and removed in turns.
TEST_F(HostileBuyer, OfTwoKeysTheLastSignedCounts) {
  Sale& first = wish.sales[0];
  first.buyer_key = "key";
  first.request->proof = Proof{"nonce", to_base64("signature"), "key", "request"};
  Sale second{ContractId("01m7jvqwfj4xxt60c2xbz461h4"), {{k_others}}, {}, {}};
  second.buyer_key = "another key";
  second.made = first.made + seconds(1);
  wish.sales.insert(wish.sales.begin(), second);
  sight.nonce = liqo::Nonce{};
  sight.nonce->nonce = "nonce";
  const auto of_tenant = [&](const Plan& made) {
    std::string all;
    for (const Deed& deed : made.deeds) {
      const auto* create = std::get_if<Create>(&deed);
      const auto* remove = std::get_if<Remove>(&deed);
      const bool is_made = create != nullptr && create->at.kind.plural == liqo::k_tenants.plural;
      const bool is_gone = remove != nullptr && remove->at.kind.plural == liqo::k_tenants.plural;
      all += is_made ? "made " : is_gone ? "removed " : "";
    }
    return all;
  };
  EXPECT_EQ(of_tenant(plan()), "removed ");
  sight.tenant.reset();
  EXPECT_EQ(of_tenant(plan()), "");
  wish.sales[0].request = RequestTalk{
      Proof{"nonce", to_base64("another signature"), "another key", "another request"}, {}};
  EXPECT_EQ(of_tenant(plan()), "made ");
  sight.tenant = liqo::new_tenant("rome", {"another key", "another request", "another signature"});
  EXPECT_EQ(of_tenant(plan()), "");
  // What runs under the first, and is paid for, is not taken away.
  sight.tenant = liqo::new_tenant("rome", {"key", "request", "signature"});
  sight.tenant->answer.emplace();
  add(k_sold_unit, "request", k_sold);
  EXPECT_EQ(of_tenant(plan()), "");
}

// Installed anew under its id: it has another authority, and says so under the key that signed the
// contract; or somebody else answers there, who cannot say anything.
TEST(ReinstalledProvider, ItsIdentityIsMadeAnewOnceItHasSaidSoItself) {
  BuyerWish wish{"rome", "milan", {}, {}, k_peer_now};
  Purchase purchase;
  purchase.contract = ContractId("01m7jvqwfj4xxt60c2xbz461h3");
  purchase.units.push_back({k_sold_unit, "request", "spillway://unit"});
  const std::string space = liqo::tenant_namespace_name("rome");
  purchase.recorded = {k_sold_unit};
  wish.identity = IdentityTalk{{"old", "certificate", "https://milan:6443", ""}, space, {}};
  wish.purchases.push_back(purchase);
  BuyerSight sight;
  sight.has_space = true;
  sight.identity = liqo::new_identity("milan", wish.identity->access, space);
  sight.identity->meta.uid = "first";
  sight.identity->meta.labels = {{std::string(k_owner_label), std::string(k_owner_fabric)}};
  const auto identities = [&] {
    std::vector<std::string> deeds;
    for (const Deed& deed : plan_buyer(wish, sight, k_peer_now).deeds) {
      const auto* remove = std::get_if<Remove>(&deed);
      const auto* create = std::get_if<Create>(&deed);
      if (remove != nullptr && remove->at.kind.plural == liqo::k_identities.plural) {
        deeds.push_back("remove " + remove->uid);
      }
      if (create != nullptr && create->at.kind.plural == liqo::k_identities.plural) {
        deeds.push_back("create");
      }
    }
    return deeds;
  };
  EXPECT_TRUE(identities().empty());
  wish.identity->access.authority = "new";
  EXPECT_EQ(identities(), std::vector<std::string>{"remove first"});
  sight.identity.reset();
  EXPECT_EQ(identities(), std::vector<std::string>{"create"});
}

// A member that claims the Liqo id of a cluster with which somebody has peered by hand.
TEST_F(HostileBuyer, APeeringByHandIsNotTakenOver) {
  sight.record.reset();
  sight.guests["somebody"] = {{liqo::k_shadow_pods, "shop", "web"}};
  sight.certificates = {"mypool"};
  sight.maps = {"milan", "somebody-else"};
  add("mypool", "request by hand", k_sold).class_name = "default";
  wish.sales[0].buyer_key = "another key";
  const Plan bought = plan();
  EXPECT_TRUE(bought.deeds.empty());
  ASSERT_EQ(bought.troubles.size(), 1U);
  EXPECT_NE(bought.troubles[0].reason.find("by hand"), std::string::npos);
  ASSERT_EQ(bought.units.size(), 1U);
  EXPECT_EQ(bought.units[0].step, UnitStep::asked);
  wish.sales.clear();
  EXPECT_TRUE(plan().deeds.empty());
  EXPECT_TRUE(plan().troubles.empty());
  EXPECT_TRUE(is_clear(sight));  // and so the member is forgotten
}

TEST(HostileProvider, AnIdentityByHandIsNotTakenOver) {
  BuyerWish wish{"rome", "milan", {}, {}, k_peer_now};
  const std::string space = liqo::tenant_namespace_name("rome");
  Purchase purchase;
  purchase.contract = ContractId("01m7jvqwfj4xxt60c2xbz461h3");
  purchase.units.push_back({k_sold_unit, "request", "spillway://unit"});
  purchase.recorded = {k_sold_unit};
  wish.identity = IdentityTalk{{"new", "certificate", "https://mallory:6443", ""}, space, {}};
  wish.purchases.push_back(purchase);
  BuyerSight sight;
  sight.has_space = true;
  sight.identity =
      liqo::new_identity("milan", {"old", "certificate", "https://milan:6443", ""}, space);
  sight.access = liqo::Meta{};
  const Plan made = plan_buyer(wish, sight, k_peer_now);
  EXPECT_TRUE(made.deeds.empty());
  ASSERT_EQ(made.troubles.size(), 1U);
  EXPECT_NE(made.troubles[0].reason.find("by hand"), std::string::npos);
  EXPECT_TRUE(is_clear(sight));
  wish.purchases[0].units[0].drained_by = k_peer_now;
  ASSERT_EQ(plan_buyer(wish, sight, k_peer_now).units.size(), 1U);
  EXPECT_EQ(plan_buyer(wish, sight, k_peer_now).units[0].step, UnitStep::gone);
}

// What was granted before somebody edited it runs on, and ends in time.
TEST_F(HostileBuyer, AnEditedSliceIsFencedAndEndedAsAnyOther) {
  liqo::Slice& slice = add(k_sold_unit, "another request", k_sold);
  slice.conditions.push_back({"Resources", "Accepted", "", "", ""});
  slice.grant.amounts = k_sold;
  EXPECT_EQ(decision(plan(), k_sold_unit), nullptr);
  wish.sales[0].is_closing = true;
  wish.sales[0].zero_at = k_peer_now;
  const Plan made = plan();
  const model::Node* patch = decision(made, k_sold_unit);
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(model::text_at(*patch, {"status", "resources", "cpu"}), "0");
  const bool is_cordoned = std::any_of(made.deeds.begin(), made.deeds.end(), [](const Deed& deed) {
    const auto* merge = std::get_if<Merge>(&deed);
    return merge != nullptr && !merge->of_status && merge->at.name == k_sold_unit;
  });
  EXPECT_TRUE(is_cordoned);
}

// What we write we must be able to read.
TEST(Record, OfABuyerWithManyUnitsIsRead) {
  liqo::Texts units;
  for (int i = 0; i < 600; ++i)
    units["sw-01m7jvqwfj4xxt60c2xbz461h3-" + std::to_string(i)] = "AA==";
  const auto read = read_record(create_record("liqo-tenant-rome", units).object);
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(read->units.size(), 600U);
}

TEST_F(HostileBuyer, AUnitThatLiqoDoesNotAuthenticateIsNamed) {
  add(k_sold_unit, "request", k_sold).conditions = {{"Authentication", "Denied", "", "", ""}};
  EXPECT_FALSE(plan().troubles.empty());
}

}  // namespace
}  // namespace spillway::fabric
