#include "store/record_cache.h"

#include <gtest/gtest.h>

#include "support/sample_records.h"

namespace spillway::store {
namespace {

using namespace test;

market::Key key(int n) { return market::key_of(sample_pool_id(n)); }

TEST(RecordCache, AnswersOnlyForTheSameText) {
  RecordCache cache;
  cache.keep(key(1), "one", shared(sample_pool(1)));
  ASSERT_NE(cache.find(key(1), "one"), nullptr);
  EXPECT_EQ(cache.find(key(1), "two"), nullptr);
  EXPECT_EQ(cache.find(key(2), "one"), nullptr);
  cache.keep(key(1), "two", shared(sample_pool(1, 2)));
  EXPECT_EQ(cache.find(key(1), "one"), nullptr);
  ASSERT_NE(cache.find(key(1), "two"), nullptr);
}

TEST(RecordCache, KeepsWhatIsUsedAndForgetsTheRest) {
  RecordCache cache;
  const std::string large(RecordCache::k_generation_bytes / 8, 'x');
  cache.keep(key(0), "used", shared(sample_pool(0)));
  cache.keep(key(1), "unused", shared(sample_pool(1)));
  for (int n = 2; n < 40; ++n) {
    cache.keep(key(n), large, shared(sample_pool(n)));
    ASSERT_NE(cache.find(key(0), "used"), nullptr) << n;
  }
  EXPECT_EQ(cache.find(key(1), "unused"), nullptr);
  EXPECT_EQ(cache.find(key(2), large), nullptr);
}

}  // namespace
}  // namespace spillway::store
