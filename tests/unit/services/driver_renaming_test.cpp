// What is kept of a cluster that has another name now.
#include <gtest/gtest.h>

#include "services/driver/orders.h"
#include "services/driver/renaming.h"

namespace spillway::driver {
namespace {

constexpr Instant k_now{1'769'851'800'250};

DriverState known_as_milan() {
  DriverState state;
  state.liqo_ids = {{"milan", "id-m"}, {"rome", "id-r"}};
  return state;
}

TEST(DriverRenaming, AFormerNameIsOneThatIsNotListed) {
  const DriverState state = known_as_milan();
  EXPECT_EQ(former_name(state, {"rome", "mailand"}, "id-m"), "milan");
  EXPECT_EQ(former_name(state, {"rome", "milan"}, "id-m"), "");
  EXPECT_EQ(former_name(state, {"rome", "mailand"}, "id-x"), "");
}

// Ids are clusters' own claims: nobody takes over another's peerings by one.
TEST(DriverRenaming, AnIdIsOneClusters) {
  const DriverState state = known_as_milan();
  EXPECT_EQ(owner_of_id(state, {"rome", "milan"}, "milan", "id-m"), "");
  EXPECT_EQ(owner_of_id(state, {"rome", "milan"}, "milan", "id-new"), "") << "installed anew";
  EXPECT_EQ(owner_of_id(state, {"rome", "mailand"}, "mailand", "id-m"), "") << "another name";
  EXPECT_EQ(owner_of_id(state, {"rome"}, "rome", "id-m"), "milan") << "was another";
  EXPECT_EQ(owner_of_id(state, {"rome", "milan"}, "rome", "id-m"), "milan");
  EXPECT_EQ(owner_of_id(state, {"rome", "milan", "evil"}, "evil", "id-m"), "milan")
      << "which is listed, and perhaps away";
}

TEST(DriverRenaming, WhatAFabricRemembersGoesOnByTheNewName) {
  DriverState state = known_as_milan();
  state.fabrics["milan"].sold_to["id-r"].turns = 3;
  state.fabrics["mailand"].sold_to["id-r"];  // begun with, and nothing decided yet
  rename(state, "milan", "mailand", "id-m");
  EXPECT_FALSE(state.fabrics.contains("milan"));
  EXPECT_EQ(state.fabrics.at("mailand").sold_to.at("id-r").turns, 3);
  EXPECT_EQ(state.liqo_ids,
            (std::map<std::string, std::string>{{"mailand", "id-m"}, {"rome", "id-r"}}));
}

TEST(DriverRenaming, WhatWasSeenByTheNewNameCounts) {
  DriverState state = known_as_milan();
  state.liqo_ids["mailand"] = "id-m";  // an older driver knew it by both
  state.fabrics["milan"].sold_to["id-r"].turns = 3;
  state.fabrics["mailand"].sold_to["id-r"].turns = 4;
  rename(state, "milan", "mailand", "id-m");
  EXPECT_EQ(state.fabrics.at("mailand").sold_to.at("id-r").turns, 4);
}

TEST(DriverRenaming, PeeringsAreKeptAndCloseByTheNewName) {
  DriverState state = known_as_milan();
  const auto contract = [](uint64_t n) { return make_contract_id(k_now, 1, n); };
  ASSERT_TRUE(keep(state, "rome/milan", {}, contract(1), k_now));
  ASSERT_TRUE(keep(state, "milan/oslo", {}, contract(2), k_now));
  ASSERT_TRUE(keep(state, "rome/oslo", {}, contract(3), k_now));
  ASSERT_TRUE(keep(state, "milan/mailand", {}, contract(4), k_now));
  ASSERT_TRUE(keep(state, "mailand/oslo", {}, contract(5), k_now));
  state.closing["milan/rome"] = k_now;
  rename(state, "milan", "mailand", "id-m");
  ASSERT_EQ(state.peerings.size(), 3U);
  EXPECT_EQ(state.peerings.at("rome/mailand").contract, contract(1));
  EXPECT_EQ(state.peerings.at("mailand/oslo").contract, contract(5));
  EXPECT_EQ(state.peerings.at("rome/oslo").contract, contract(3));
  EXPECT_TRUE(state.closing.contains("mailand/rome"));
  EXPECT_EQ(state.closing.size(), 1U);
}

}  // namespace
}  // namespace spillway::driver
