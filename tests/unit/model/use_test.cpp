// What was metered: amounts that can be compared, signed and read by people.
#include "model/use.h"

#include <gtest/gtest.h>

#include "model/contract_event.h"
#include "support/nouns.h"

namespace spillway::model {
namespace {

const Use k_some{.cpu_core_ms = 5'400'000,
                 .memory_mib_s = 3'686'400,
                 .storage_mib_s = 1,
                 .gpu_ms = {{"nvidia-a100", 3'600'000}},
                 .extended_ms = {{"example.com/fpga", 7}}};

TEST(Use, CoversWhatIsNoGreaterInAnyResource) {
  EXPECT_TRUE(k_some.covers(k_some));
  EXPECT_TRUE(k_some.covers({}));
  EXPECT_FALSE(Use{}.covers(k_some));
  for (Use more : std::vector<Use>(5, k_some)) {
    static int field = 0;
    int64_t* fields[] = {&more.cpu_core_ms, &more.memory_mib_s, &more.storage_mib_s,
                         &more.gpu_ms[0].amount, &more.extended_ms[0].amount};
    *fields[field++] += 1;
    EXPECT_FALSE(k_some.covers(more)) << field;
    EXPECT_TRUE(more.covers(k_some)) << field;
  }
  Use other = k_some;
  other.gpu_ms = {{"nvidia-h100", 1}};
  EXPECT_FALSE(k_some.covers(other));
}

TEST(Use, TheLeastOfTwoIsTheSmallerInEveryResource) {
  Use other = k_some;
  other.cpu_core_ms = 1;
  other.gpu_ms = {{"nvidia-a100", 5}, {"nvidia-h100", 9}};
  other.extended_ms.clear();
  const Use less = least(k_some, other);
  EXPECT_EQ(less.cpu_core_ms, 1);
  EXPECT_EQ(less.memory_mib_s, k_some.memory_mib_s);
  EXPECT_EQ(less.gpu_ms, (Counts{{"nvidia-a100", 5}}));
  EXPECT_TRUE(less.extended_ms.empty());
}

TEST(Use, IsReadByPeopleInHours) {
  EXPECT_EQ(to_text(Use{}), "nothing");
  EXPECT_EQ(to_text(k_some),
            "1.5 cpu hours, 1 GiB hours of memory, 0 GiB hours of storage, 1 nvidia-a100 hours, "
            "0.000001 example.com/fpga hours");
}

TEST(Use, WhatCannotBeSignedIsRefused) {
  EXPECT_TRUE(validate(k_some));
  EXPECT_TRUE(validate(Use{.cpu_core_ms = k_max_use}));
  EXPECT_FALSE(validate(Use{.cpu_core_ms = k_max_use + 1}));
  EXPECT_FALSE(validate(Use{.memory_mib_s = -1}));
  EXPECT_FALSE(validate(Use{.gpu_ms = {{"b", 1}, {"a", 1}}}));
  EXPECT_FALSE(validate(Use{.gpu_ms = {{"a", 0}}}));
  EXPECT_FALSE(validate(Use{.extended_ms = {{"", 1}}}));
}

TEST(Use, ReadingsNameEachUnitOnce) {
  EXPECT_TRUE(check_readings("used", {{0, k_some}, {2, {}}}));
  EXPECT_FALSE(check_readings("used", {}));
  EXPECT_FALSE(check_readings("used", {{2, {}}, {0, {}}}));
  EXPECT_FALSE(check_readings("used", {{1, {}}, {1, {}}}));
  EXPECT_FALSE(check_readings("used", {{-1, {}}}));
  const Status status = check_readings("used", {{0, {.cpu_core_ms = -5}}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().thing, "used[0].use.cpu_core_ms");
}

}  // namespace
}  // namespace spillway::model
