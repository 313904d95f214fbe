// Two that part: neither takes away what the other still needs to clean up, nor waits for ever.
#include <gtest/gtest.h>

#include "fabric/buyer.h"
#include "fabric/seller.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_cold{1'800'000'000'000};  // until then the peering stays warm

bool removes(const Plan& plan, const liqo::Kind& kind) {
  for (const Deed& deed : plan.deeds) {
    const auto* remove = std::get_if<Remove>(&deed);
    if (remove != nullptr && remove->at.kind.plural == kind.plural) return true;
  }
  return false;
}

TEST(Parting, TheProviderKeepsTheTenantWhileTheBuyersNamespacesAreThere) {
  const SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_cold};
  SellerSight sight;
  sight.has_space = true;
  sight.tenant = liqo::new_tenant("rome", {"key", "request", "signature"});
  EXPECT_FALSE(removes(plan_seller(wish, sight, k_cold - seconds(1)), liqo::k_tenants));
  EXPECT_TRUE(removes(plan_seller(wish, sight, k_cold), liqo::k_tenants));
  sight.has_map = true;
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
  sight.has_map = true;
  sight.record = Record{};
  EXPECT_FALSE(removes(plan_seller(wish, sight, k_cold), liqo::k_namespace_maps));
  const Plan late = plan_seller(wish, sight, k_cold + k_patience);
  EXPECT_TRUE(removes(late, liqo::k_namespace_maps));
  EXPECT_FALSE(removes(late, liqo::k_config_maps));
  sight.has_map = false;
  EXPECT_TRUE(removes(plan_seller(wish, sight, k_cold), liqo::k_config_maps));
}

TEST(Parting, TheBuyerKeepsItsIdentityWhileItsNamespacesAreThere) {
  const BuyerWish wish{"rome", "milan", {}, {}, k_cold};
  BuyerSight sight;
  sight.has_space = true;
  sight.identity = liqo::new_identity("milan", {"a", "c", "https://milan:6443", ""}, "space");
  EXPECT_TRUE(removes(plan_buyer(wish, sight, k_cold), liqo::k_identities));
  sight.has_map = true;
  EXPECT_FALSE(removes(plan_buyer(wish, sight, k_cold), liqo::k_identities));
  EXPECT_TRUE(removes(plan_buyer(wish, sight, k_cold + k_patience), liqo::k_identities));
}

}  // namespace
}  // namespace spillway::fabric
