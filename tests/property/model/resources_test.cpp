// The algebra that the market's sums rest on.
#include "model/resources.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/generators.h"

namespace spillway::model {
namespace {

using test::any_resources;

constexpr int64_t k_small = 50;  // small amounts make equal names and exact fits likely

bool is_canonical(const Counts& counts) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].amount == 0) return false;
    if (i > 0 && counts[i - 1].name >= counts[i].name) return false;
  }
  return true;
}

bool is_canonical(const Resources& r) { return is_canonical(r.gpus) && is_canonical(r.extended); }

RC_GTEST_PROP(Resources, AdditionCommutesAndAssociates, ()) {
  const Resources a = *any_resources();
  const Resources b = *any_resources();
  const Resources c = *any_resources();
  RC_ASSERT(a + b == b + a);
  RC_ASSERT((a + b) + c == a + (b + c));
  RC_ASSERT(is_canonical(a + b));
}

RC_GTEST_PROP(Resources, SubtractionUndoesAddition, ()) {
  const Resources a = *any_resources();
  const Resources b = *any_resources();
  RC_ASSERT((a + b) - b == a);
  RC_ASSERT((a - b) + b == a);
  RC_ASSERT((a - a).is_zero());
  RC_ASSERT(is_canonical(a - b));
}

RC_GTEST_PROP(Resources, TimesIsRepeatedAddition, ()) {
  const Resources a = *any_resources();
  const int n = *rc::gen::inRange(0, 6);
  Resources sum;
  for (int i = 0; i < n; ++i) sum += a;
  RC_ASSERT(a.times(n) == sum);
}

RC_GTEST_PROP(Resources, CoversExactlyWhenNothingIsShort, ()) {
  const Resources a = *any_resources(k_small) - *any_resources(k_small);
  const Resources b = *any_resources(k_small);
  const Resources rest = a - b;
  const auto negative = [](const Counts& counts) {
    return std::any_of(counts.begin(), counts.end(), [](const Count& c) { return c.amount < 0; });
  };
  const bool short_of_something = rest.cpu_millis < 0 || rest.memory_bytes < 0 || rest.pods < 0 ||
                                  rest.storage_bytes < 0 || negative(rest.gpus) ||
                                  negative(rest.extended);
  RC_ASSERT(a.covers(b) == !short_of_something);
  RC_ASSERT(a.first_short(b).empty() == a.covers(b));
}

RC_GTEST_PROP(Resources, HowManyIsTheLargestThatIsCovered, ()) {
  const Resources part = *any_resources(5);
  const Resources whole = part.times(*rc::gen::inRange(0, 4)) + *any_resources(k_small);
  RC_PRE(!part.is_zero());
  const int32_t n = whole.how_many(part);
  RC_ASSERT(whole.covers(part.times(n)));
  RC_ASSERT(!whole.covers(part.times(n + 1)));
}

RC_GTEST_PROP(Resources, ADeficitAnywhereFitsNothing, ()) {
  Resources whole = *any_resources(k_small);
  whole.gpus = {{"zz", -1}};
  RC_ASSERT(whole.how_many(*test::any_shape()) == 0);
}

}  // namespace
}  // namespace spillway::model
