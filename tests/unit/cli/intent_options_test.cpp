#include "cli/intent_options.h"

#include <gtest/gtest.h>

namespace spillway::cli {
namespace {

TEST(IntentOptions, MakeAnIntent) {
  IntentOptions options;
  options.cpu = "500m";
  options.memory = "16Gi";
  options.gpus = {"nvidia-a100=2"};
  options.units = 3;
  options.currency = "CHF";
  options.countries = {"IT"};
  options.labels = {"kubernetes.io/arch=amd64"};
  options.near = "45.46,9.19";
  options.max_price = "2.50";
  options.max_distance = "500";
  options.carbon_worth = "0.10";
  const auto intent = intent_from(options);
  ASSERT_TRUE(intent.has_value()) << intent.error().message();
  EXPECT_EQ(intent->shape.cpu_millis, 500);
  EXPECT_EQ(intent->shape.memory_bytes, int64_t{16} << 30);
  EXPECT_EQ(intent->shape.gpus, (model::Counts{{"nvidia-a100", 2}}));
  EXPECT_EQ(intent->units, 3);
  EXPECT_EQ(intent->currency.text(), "CHF");
  EXPECT_EQ(intent->constraints.countries, std::vector<std::string>{"IT"});
  EXPECT_EQ(intent->constraints.labels.size(), 1u);
  EXPECT_EQ(intent->constraints.max_unit_hour, 2'500'000);
  EXPECT_EQ(intent->constraints.max_distance_metres, 500'000);
  EXPECT_EQ(intent->worth.carbon_kg, 100'000);
  EXPECT_TRUE(intent->near.has_value());
}

TEST(IntentOptions, CountBeforeTheFile) {
  IntentOptions options;
  options.file = "examples/intent.yaml";
  const auto file = intent_from(options);
  ASSERT_TRUE(file.has_value()) << file.error().message();
  options.cpu = "8";
  options.countries = {"DE"};
  const auto both = intent_from(options);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->shape.cpu_millis, 8000);
  EXPECT_EQ(both->shape.memory_bytes, file->shape.memory_bytes);
  EXPECT_EQ(both->constraints.countries, std::vector<std::string>{"DE"});
  EXPECT_EQ(both->units, file->units);
}

TEST(IntentOptions, WhoLooksAroundAsksForTheLeast) {
  EXPECT_EQ(intent_from({})->shape.cpu_millis, 1);
}

TEST(IntentOptions, ErrorsNameTheOption) {
  IntentOptions options;
  options.memory = "much";
  EXPECT_EQ(intent_from(options).error().thing, "--memory");
  options = {};
  options.max_price = "2.5.0";
  EXPECT_EQ(intent_from(options).error().thing, "--max-price");
  options = {};
  options.near = "here";
  EXPECT_EQ(intent_from(options).error().thing, "--near");
  options = {};
  options.file = "examples/none.yaml";
  EXPECT_EQ(intent_from(options).error().code, Code::not_found);
}

}  // namespace
}  // namespace spillway::cli
