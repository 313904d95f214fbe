#include "fabric/liqo/guard_standing.h"

#include <gtest/gtest.h>

#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

GuardSeen all_there() {
  GuardSeen seen;
  for (const GuardObject& one : guard_objects()) seen[guard_key(one.kind, one.name)] = one.object;
  return seen;
}

TEST(GuardStanding, IsFullOnlyWithEveryPolicyAndBindingAsTheyAreWritten) {
  GuardSeen seen = all_there();
  EXPECT_EQ(enforcement_of(judge_guard(seen)), model::Enforcement::full);
  model::put(model::ensure(seen.begin()->second, {"spec"}), "addedByTheServer",
             model::text_node("a default"));
  EXPECT_EQ(enforcement_of(judge_guard(seen)), model::Enforcement::full);
  EXPECT_EQ(enforcement_of(judge_guard({})), model::Enforcement::none);
}

TEST(GuardStanding, IsPartialWithoutAnyOneOfThemOrWithOneThatWasChanged) {
  const GuardSeen whole = all_there();
  for (const auto& [key, object] : whole) {
    GuardSeen seen = whole;
    seen.erase(key);
    EXPECT_EQ(enforcement_of(judge_guard(seen)), model::Enforcement::partial) << "without " << key;
    seen = whole;
    model::erase(seen[key], "spec");
    const GuardStanding standing = judge_guard(seen);
    EXPECT_EQ(enforcement_of(standing), model::Enforcement::partial) << key;
    EXPECT_EQ(standing.changed, std::vector{key});
  }
}

TEST(GuardStanding, IsNoneWhereEveryBindingIsSwitchedOff) {
  GuardSeen seen = all_there();
  for (auto& [key, object] : seen) {
    if (!key.starts_with(k_policy_bindings.kind)) continue;
    model::put(model::ensure(object, {"spec"}), "validationActions", model::array_node())
        .items.push_back(model::text_node("Audit"));
  }
  const GuardStanding standing = judge_guard(seen);
  EXPECT_TRUE(standing.missing.empty());
  EXPECT_EQ(enforcement_of(standing), model::Enforcement::none);
}

TEST(GuardStanding, OnlyWhatWasTriedIsSaidToBe) {
  EXPECT_TRUE(is_tried_liqo("v1.2.0"));
  EXPECT_TRUE(is_tried_liqo("v1.1.2"));
  EXPECT_FALSE(is_tried_liqo("v1.2.1"));
  EXPECT_FALSE(is_tried_liqo("of an unknown version"));
}

}  // namespace
}  // namespace spillway::fabric::liqo
