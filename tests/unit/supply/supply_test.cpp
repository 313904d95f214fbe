#include "supply/supply.h"

#include <gtest/gtest.h>

#include "support/nouns.h"

namespace spillway::supply {
namespace {

TEST(Supply, KeepsAPoolThatCarriesContractsWithoutCapacity) {
  const model::Pool pool = test::plain_pool();
  Supply gone;
  keep_pools(gone, std::vector{pool});
  ASSERT_EQ(gone.pools.size(), 1U);
  EXPECT_EQ(gone.pools[0].id, pool.id);
  EXPECT_EQ(gone.pools[0].capacity, model::Resources{});
  EXPECT_TRUE(validate(gone));

  Supply there{{pool}, {test::plain_offer()}};
  const Supply before = there;
  keep_pools(there, std::vector{pool});
  EXPECT_EQ(there, before);
}

}  // namespace
}  // namespace spillway::supply
