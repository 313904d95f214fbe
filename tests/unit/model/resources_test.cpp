#include "model/resources.h"

#include <gtest/gtest.h>

#include "support/nouns.h"

namespace spillway::model {
namespace {

std::string refusal(const Resources& resources) {
  const Status status = validate(resources);
  return status ? "accepted" : status.error().message();
}

TEST(Resources, ListsLoseNamesThatComeToZero) {
  Resources pool;
  pool.gpus = {{"a100", 4}, {"h100", 2}};
  Resources unit;
  unit.gpus = {{"a100", 4}};
  pool -= unit;
  EXPECT_EQ(pool.gpus, (Counts{{"h100", 2}}));
  pool -= unit;
  EXPECT_EQ(pool.gpus, (Counts{{"a100", -4}, {"h100", 2}}));
  EXPECT_EQ(unit.times(0), Resources{});
}

TEST(Resources, ADeficitCoversNothingNotEvenWhatDoesNotNeedIt) {
  Resources pool = test::plain_shape().times(10);
  pool.storage_bytes = -1;
  EXPECT_FALSE(pool.covers(test::plain_shape()));
  EXPECT_EQ(pool.how_many(test::plain_shape()), 0);
  EXPECT_EQ(pool.first_short(test::plain_shape()), "storage");
}

TEST(Resources, NamesTheFirstThatIsShort) {
  const Resources pool = test::plain_shape();
  Resources part = pool;
  EXPECT_EQ(pool.first_short(part), "");
  part.extended = {{"example.com/fpga", 1}};
  EXPECT_EQ(pool.first_short(part), "example.com/fpga");
  part.gpus = {{"a100", 1}};
  EXPECT_EQ(pool.first_short(part), "a100");
  part.pods = 21;
  EXPECT_EQ(pool.first_short(part), "pods");
  part.memory_bytes += 1;
  EXPECT_EQ(pool.first_short(part), "memory");
  part.cpu_millis += 1;
  EXPECT_EQ(pool.first_short(part), "cpu");
}

TEST(Resources, HowManyIsBoundedByTheScarcest) {
  Resources pool = test::plain_shape().times(10);
  EXPECT_EQ(pool.how_many(test::plain_shape()), 10);
  pool.memory_bytes -= 1;
  EXPECT_EQ(pool.how_many(test::plain_shape()), 9);
  EXPECT_EQ(pool.how_many(Resources{}), INT32_MAX);
  Resources crumb;
  crumb.cpu_millis = 1;
  Resources huge;
  huge.cpu_millis = k_max_amount;
  EXPECT_EQ(huge.how_many(crumb), INT32_MAX);
}

TEST(Resources, ReadLikeASentence) {
  Resources r = test::plain_shape();
  r.gpus = {{"nvidia-a100", 1}};
  EXPECT_EQ(to_text(r), "2 cpu, 4Gi memory, 20 pods, 1 × nvidia-a100");
  EXPECT_EQ(to_text(Resources{}), "nothing");
}

TEST(Resources, ShowBytesAsPeopleWriteThem) {
  const auto shown = [](int64_t bytes) {
    Resources r;
    r.memory_bytes = bytes;
    return to_text(r);
  };
  constexpr int64_t k_gi = int64_t{1} << 30;
  EXPECT_EQ(shown(31 * k_gi), "31Gi memory");
  EXPECT_EQ(shown(512 * k_gi / 1024), "512Mi memory");
  EXPECT_EQ(shown(1500), "1500 memory");
  EXPECT_EQ(shown(5'000'000'000), "5G memory");
  // As nodes less a share of them have it: never more than there is.
  EXPECT_EQ(shown(33'285'996'545), "31Gi memory");
  EXPECT_EQ(shown(33'285'996'544 - k_gi / 10), "30.9Gi memory");
  EXPECT_EQ(shown(-33'285'996'545), "-31Gi memory");
  EXPECT_EQ(shown(k_max_amount - 1), "1023.9Ti memory");
  EXPECT_EQ(shown(1'234'567), "1.1Mi memory");
}

TEST(ResourcesDeath, SumsThatLeaveInt64Abort) {
  Resources r;
  r.cpu_millis = INT64_MAX;
  EXPECT_DEATH(r += test::plain_shape(), "left the range of int64");
}

TEST(Resources, RefusesAmountsThatAreNegativeOrAbsurd) {
  Resources r;
  r.memory_bytes = -1;
  EXPECT_EQ(refusal(r), "memory: -1 is negative; use 0 to 1Pi");
  r.memory_bytes = k_max_amount + 1;
  EXPECT_EQ(refusal(r), "memory: 1125899906842625 is out of range; use 0 to 1Pi");
  r = {};
  r.gpus = {{"a100", 0}};
  EXPECT_EQ(refusal(r), "gpus.a100: 0 is out of range; use 1 to 1125899906842624");
}

TEST(Resources, RefusesNamesThatKubernetesWould) {
  Resources r;
  r.extended = {{"fpga", 1}};
  EXPECT_EQ(refusal(r),
            "extended: \"fpga\" is no resource name; write <DNS name>/<name>, such as "
            "example.com/fpga");
  for (const char* name : {"", "/x", "example.com/", "Example.com/x", "example..com/x", "-e.com/x",
                           "e.com-/x", "example.com/a/b", "example.com/-a", "example.com/a b"}) {
    r.extended = {{name, 1}};
    EXPECT_FALSE(validate(r)) << name;
  }
  r.extended = {{"b.com/x", 1}, {"a.com/x", 1}};
  EXPECT_FALSE(validate(r));
  r.extended = {{"a.com/x", 1}, {"a.com/x", 1}};
  EXPECT_FALSE(validate(r));
  r.extended.clear();
  for (int i = 100; i < 165; ++i) r.gpus.push_back({"gpu-" + std::to_string(i), 1});
  EXPECT_EQ(refusal(r), "gpus: 65 entries are too many; give at most 64");
}

}  // namespace
}  // namespace spillway::model
