// Liqo of a buyer was installed anew, with another key, while units of it live.
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

class Reinstalled : public DriverTest {
 protected:
  Reinstalled() {
    put(old);
    EXPECT_TRUE(comes_to(old, "ready"));
  }
  // The key alone: what is there stays.
  void replace_key() {
    liqos.replace_key(*liqos.buyer);
    // Nobody tells of a Secret: it is read once a minute.
    loop().run_for(minutes(1) + seconds(1));
  }
  void purge(const fabric::liqo::Kind& kind) { liqos.purge(*liqos.buyer, kind); }

  const std::string old = unit_of(0);
  const std::string next = unit_of(0, 2);
};

TEST_F(Reinstalled, WhatRunsRunsOnAndTheNextWaitsForItsEnd) {
  replace_key();
  EXPECT_TRUE(is_told(old, "another than it was bought with")) << troubles_of(old);
  put(next);
  EXPECT_TRUE(is_told(next, "another key")) << troubles_of(next);
  live(400);
  EXPECT_TRUE(is_ready(*liqos.buyer, old));
  EXPECT_EQ(step_of(old), "ready");
  ask("DELETE", "/v1/units/" + old);
  EXPECT_TRUE(comes_to(old, "gone"));
  EXPECT_TRUE(comes_to(next, "ready")) << step_of(next) << ": " << troubles_of(next);
  EXPECT_TRUE(is_ready(*liqos.buyer, next));
}

TEST_F(Reinstalled, WhatWasPurgedIsGivenUpAndCanBeOrderedAnew) {
  for (const auto& kind :
       {fabric::liqo::k_virtual_nodes, fabric::liqo::k_slices, fabric::liqo::k_identities,
        fabric::liqo::k_namespace_maps, fabric::liqo::k_renews, fabric::liqo::k_foreign_clusters}) {
    purge(kind);
  }
  replace_key();
  EXPECT_TRUE(is_told(old, "another than it was bought with")) << troubles_of(old);
  ask("DELETE", "/v1/units/" + old);
  EXPECT_TRUE(comes_to(old, "gone"));
  EXPECT_EQ(left_of(old), std::vector<std::string>());
  put(next);
  EXPECT_TRUE(comes_to(next, "ready")) << step_of(next) << ": " << troubles_of(next);
  EXPECT_TRUE(is_ready(*liqos.buyer, next));
}

TEST_F(Reinstalled, AVirtualNodeThatWasRemovedByForceComesBack) {
  const std::string before(model::text_at(node(*liqos.buyer, old), {"metadata", "uid"}));
  purge(fabric::liqo::k_virtual_nodes);
  EXPECT_TRUE(comes(
      [&] {
        return is_ready(*liqos.buyer, old) &&
               model::text_at(node(*liqos.buyer, old), {"metadata", "uid"}) != before;
      },
      4000))
      << troubles_of(old);
  EXPECT_EQ(model::text_at(node(*liqos.buyer, old), {"spec", "providerID"}),
            "spillway://" + old.substr(3, 26) + "/0");
}

}  // namespace
}  // namespace spillway::driver
