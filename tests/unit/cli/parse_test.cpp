#include "cli/parse.h"

#include <gtest/gtest.h>

namespace spillway::cli {
namespace {

using model::Role;

TEST(Parse, Roles) {
  EXPECT_EQ(*parse_roles("consumer,provider"), (model::Roles{Role::provider, Role::consumer}));
  EXPECT_EQ(*parse_roles("provider,provider"), model::Roles{Role::provider});
  EXPECT_FALSE(parse_roles("").has_value());
  EXPECT_FALSE(parse_roles("operator").has_value());  // that is --operator NAME
  EXPECT_EQ(parse_roles("king").error().thing, "--roles");
}

TEST(Parse, LabelsAreSorted) {
  EXPECT_EQ(*parse_labels("zone=a,tier=gold"), (model::Labels{{"tier", "gold"}, {"zone", "a"}}));
  EXPECT_EQ(*parse_labels(""), model::Labels{});
  EXPECT_EQ(*parse_labels("k="), (model::Labels{{"k", ""}}));
  EXPECT_FALSE(parse_labels("tier").has_value());
  EXPECT_FALSE(parse_labels("=gold").has_value());
  EXPECT_FALSE(parse_labels("a=1,a=2").has_value());
}

TEST(Parse, Counts) {
  EXPECT_EQ(*parse_count("--gpu", "nvidia-a100=2"), (model::Count{"nvidia-a100", 2}));
  EXPECT_EQ(*parse_count("--gpu", "nvidia-a100"), (model::Count{"nvidia-a100", 1}));
  EXPECT_FALSE(parse_count("--gpu", "=2").has_value());
  EXPECT_FALSE(parse_count("--gpu", "a=-1").has_value());
  EXPECT_EQ(parse_count("--gpu", "a=x").error().thing, "--gpu");
  model::Counts counts{{"b", 1}};
  put_count(counts, {"c", 3});
  put_count(counts, {"a", 2});
  put_count(counts, {"b", 5});
  EXPECT_EQ(counts, (model::Counts{{"a", 2}, {"b", 5}, {"c", 3}}));
}

TEST(Parse, Places) {
  const auto place = parse_place("45.46,-9.191383");
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->latitude_microdegrees, 45'460'000);
  EXPECT_EQ(place->longitude_microdegrees, -9'191'383);
  for (const char* wrong : {"", "45", "45,", ",9", "91,0", "0,181", "a,b", "1,2,3"}) {
    EXPECT_FALSE(parse_place(wrong).has_value()) << wrong;
  }
}

TEST(Parse, CapsMayBeTakenAway) {
  EXPECT_EQ(**parse_cap("--quota-cpu", "500m", true), 500);
  EXPECT_EQ(**parse_cap("--quota-memory", "1Ki", false), 1024);
  EXPECT_EQ(*parse_cap("--quota-units", "none", false), std::nullopt);
  EXPECT_EQ(parse_cap("--quota-units", "many", false).error().thing, "--quota-units");
}

}  // namespace
}  // namespace spillway::cli
