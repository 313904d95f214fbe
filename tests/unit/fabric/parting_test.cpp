// Two that part: neither takes away what the other still needs to clean up, nor waits for ever.
#include <algorithm>

#include <gtest/gtest.h>

#include "fabric/buyer.h"
#include "fabric/seller.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_cold{1'800'000'000'000};  // until then the peering stays warm

template <class T>
bool has(const Plan& plan, const liqo::Kind& kind) {
  return std::any_of(plan.deeds.begin(), plan.deeds.end(), [&](const Deed& deed) {
    const T* one = std::get_if<T>(&deed);
    return one != nullptr && one->at.kind.plural == kind.plural;
  });
}
bool removes(const Plan& plan, const liqo::Kind& kind) { return has<Remove>(plan, kind); }
bool frees(const Plan& plan, const liqo::Kind& kind) { return has<Merge>(plan, kind); }

TEST(Parting, TheProviderKeepsTheTenantWhileTheBuyersNamespacesAreThere) {
  const SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_cold};
  SellerSight sight;
  sight.has_space = true;
  sight.tenant = liqo::new_tenant("rome", {"key", "request", "signature"});
  sight.tenant->meta.labels = {{std::string(k_owner_label), std::string(k_owner_fabric)}};
  EXPECT_FALSE(removes(plan_seller(wish, sight, k_cold - seconds(1)), liqo::k_tenants));
  EXPECT_TRUE(removes(plan_seller(wish, sight, k_cold), liqo::k_tenants));
  sight.maps = {"milan"};
  const Plan waiting = plan_seller(wish, sight, k_cold);
  EXPECT_FALSE(removes(waiting, liqo::k_tenants));
  EXPECT_EQ(waiting.look_again, k_cold + k_patience);
  EXPECT_TRUE(removes(plan_seller(wish, sight, k_cold + k_patience), liqo::k_tenants));
}

// A buyer that was cut off longer than that finds no tenant, and so no right, to take it down.
TEST(Parting, TheProviderTakesDownWhatTheBuyerDidNotAndForgetsNothingBefore) {
  const SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_cold};
  SellerSight sight;
  sight.has_space = true;
  sight.maps = {"milan"};
  sight.record = Record{};
  EXPECT_FALSE(removes(plan_seller(wish, sight, k_cold), liqo::k_namespace_maps));
  const Plan late = plan_seller(wish, sight, k_cold + k_patience);
  EXPECT_TRUE(removes(late, liqo::k_namespace_maps));
  EXPECT_FALSE(removes(late, liqo::k_config_maps));
  sight.maps.clear();
  EXPECT_TRUE(removes(plan_seller(wish, sight, k_cold), liqo::k_config_maps));
}

// Liqo calls the one that it makes as the provider: no other gets any time.
TEST(Parting, TheProviderTakesDownMapsThatLiqoHasNotMade) {
  SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_cold};
  SellerSight sight;
  sight.has_space = true;
  sight.maps = {"milan", "more", "still-more"};
  const auto removed = [&](Instant now) {
    std::vector<std::string> names;
    for (const Deed& deed : plan_seller(wish, sight, now).deeds) {
      const auto* one = std::get_if<Remove>(&deed);
      if (one != nullptr && one->at.kind.plural == liqo::k_namespace_maps.plural)
        names.push_back(one->at.name);
    }
    return names;
  };
  const std::vector<std::string> others{"more", "still-more"};
  EXPECT_EQ(removed(k_cold - seconds(1)), others);
  EXPECT_EQ(removed(k_cold + k_patience),
            (std::vector<std::string>{"more", "still-more", "milan"}));
  const Plan plan = plan_seller(wish, sight, k_cold);
  ASSERT_EQ(plan.troubles.size(), 1U);
  EXPECT_EQ(plan.troubles[0].reason, "it has another namespace map: more, still-more");
  Sale sale;
  sale.is_kept = true;
  wish.sales.push_back(sale);
  EXPECT_EQ(removed(k_cold), others) << "also while it buys";
}

TEST(Parting, WithAMapLeftNothingIsForgotten) {
  const SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_cold};
  SellerSight sight;
  sight.has_space = true;
  sight.record = Record{};
  sight.maps = {"more"};
  EXPECT_FALSE(is_clear(sight));
  EXPECT_FALSE(removes(plan_seller(wish, sight, k_cold + k_patience), liqo::k_config_maps));
  sight.record.reset();
  EXPECT_FALSE(is_clear(sight));
  sight.maps.clear();
  EXPECT_TRUE(is_clear(sight));
}

TEST(Parting, TheBuyerKeepsItsIdentityWhileItsNamespacesAreThere) {
  const BuyerWish wish{"rome", "milan", {}, {}, k_cold};
  BuyerSight sight;
  sight.has_space = true;
  sight.identity = liqo::new_identity("milan", {"a", "c", "https://milan:6443", ""}, "space");
  sight.identity->meta.labels = {{std::string(k_owner_label), std::string(k_owner_fabric)}};
  EXPECT_TRUE(removes(plan_buyer(wish, sight, k_cold), liqo::k_identities));
  sight.map = liqo::Meta{};
  EXPECT_FALSE(removes(plan_buyer(wish, sight, k_cold), liqo::k_identities));
  EXPECT_TRUE(removes(plan_buyer(wish, sight, k_cold + k_patience), liqo::k_identities));
}

// While its Renew is copied there, the buyer's Liqo still has to take that copy back.
TEST(Parting, TheProviderKeepsTheTenantForTheBuyersRenew) {
  const SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_cold};
  SellerSight sight;
  sight.has_space = true;
  sight.tenant = liqo::new_tenant("rome", {"key", "request", "signature"});
  sight.tenant->meta.labels = {{std::string(k_owner_label), std::string(k_owner_fabric)}};
  sight.renews = {"controlplane-milan"};
  EXPECT_FALSE(removes(plan_seller(wish, sight, k_cold), liqo::k_tenants));
  const Plan late = plan_seller(wish, sight, k_cold + k_patience);
  EXPECT_TRUE(removes(late, liqo::k_tenants));
  EXPECT_TRUE(removes(late, liqo::k_renews));
}

// A buyer that was installed anew comes with another request, and Liqo would not answer it.
TEST(Parting, TheProviderKeepsNoCertificateOfATenantThatIsGone) {
  SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_cold};
  SellerSight sight;
  sight.has_space = true;
  sight.has_certificate = true;
  EXPECT_TRUE(removes(plan_seller(wish, sight, k_cold), liqo::k_secrets));
  Sale sale;
  sale.is_kept = true;
  wish.sales.push_back(sale);
  EXPECT_TRUE(removes(plan_seller(wish, sight, k_cold), liqo::k_secrets));
  sight.tenant = liqo::new_tenant("rome", {"key", "request", "signature"});
  sight.tenant->meta.labels = {{std::string(k_owner_label), std::string(k_owner_fabric)}};
  sight.tenant->answer = liqo::AuthParams{};
  EXPECT_FALSE(removes(plan_seller(wish, sight, k_cold), liqo::k_secrets));
}

// With nothing left there is nothing that would tell.
TEST(Parting, TheBuyerLooksAgainWhenItIsNoLongerWarm) {
  const BuyerWish wish{"rome", "milan", {}, {}, k_cold};
  BuyerSight sight;
  sight.has_space = true;
  EXPECT_EQ(plan_buyer(wish, sight, k_cold - minutes(5)).look_again, k_cold);
}

// Liqo may not ask the provider any more, and would wait for ever.
TEST(Parting, TheBuyerFreesWhatLiqoCannotTakeBack) {
  const BuyerWish wish{"rome", "milan", {}, {}, k_cold};
  BuyerSight sight;
  sight.has_space = true;
  sight.map = sight.renew = sight.access = liqo::Meta{};
  EXPECT_TRUE(plan_buyer(wish, sight, k_cold).deeds.empty()) << "they are not being deleted yet";
  sight.map->deleted = sight.renew->deleted = sight.access->deleted = to_text(k_cold);
  EXPECT_FALSE(is_clear(sight));
  EXPECT_TRUE(plan_buyer(wish, sight, k_cold).deeds.empty()) << "Liqo has its time";
  EXPECT_TRUE(frees(plan_buyer(wish, sight, k_cold + k_patience), liqo::k_namespace_maps));
  sight.map.reset();
  EXPECT_TRUE(frees(plan_buyer(wish, sight, k_cold + k_patience), liqo::k_renews));
  sight.renew.reset();
  EXPECT_TRUE(frees(plan_buyer(wish, sight, k_cold + k_patience), liqo::k_secrets));
  sight.access.reset();
  EXPECT_TRUE(is_clear(sight));
}

TEST(Parting, AnotherIdentityComesWhenTheOldOneIsGoneWithAllOfIt) {
  BuyerWish wish{"rome", "milan", {}, {}, k_cold};
  Purchase purchase;
  wish.identity = IdentityTalk{{"a", "c", "https://milan:6443", ""}, "space", {}};
  purchase.is_kept = true;
  wish.purchases.push_back(purchase);
  const auto makes = [&](const BuyerSight& sight) {
    const Plan plan = plan_buyer(wish, sight, k_cold);
    return std::any_of(plan.deeds.begin(), plan.deeds.end(),
                       [](const Deed& deed) { return std::holds_alternative<Create>(deed); });
  };
  BuyerSight sight;
  sight.has_space = true;
  EXPECT_TRUE(makes(sight));
  sight.renew = liqo::Meta{};
  EXPECT_TRUE(makes(sight)) << "what is not being deleted is of one that is there already";
  sight.renew->deleted = to_text(k_cold);
  EXPECT_FALSE(makes(sight));
  sight.renew.reset();
  sight.access = liqo::Meta{};
  sight.access->deleted = to_text(k_cold);
  EXPECT_FALSE(makes(sight));
}

}  // namespace
}  // namespace spillway::fabric
