#include "services/agent/supply_file.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/nouns.h"

namespace spillway::agent {
namespace {

const ClusterId k_cluster("edge-1");

std::string error_of(const std::string& text) {
  const auto supply = supply_from_yaml(text, k_cluster, "supply.yaml");
  return supply ? "it was taken" : supply.error().message();
}

const std::string k_good = R"(noun: supply
version: 1
pools:
  - id: edge-1/standard
    node: {cpu: 8, memory: 16Gi, pods: 80}
    capacity: {cpu: 24, memory: 48Gi, pods: 240}
offers:
  - id: edge-1/small
    pool: edge-1/standard
    shape: {cpu: 2, memory: 4Gi, pods: 20}
    price: {currency: EUR, unit_hour: 0.05}
    visibility: everyone
    place: {latitude: 45.07, longitude: 7.68, country: IT}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = k_good;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(SupplyFile, ReadsPoolsAndOffers) {
  const auto supply = supply_from_yaml(k_good, k_cluster, "supply.yaml");
  ASSERT_TRUE(supply) << supply.error().message();
  EXPECT_EQ(supply->pools.size(), 1U);
  EXPECT_EQ(supply->offers.at(0).shape.cpu_millis, 2000);
  const auto back = supply_from_json(to_json(*supply), k_cluster);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, *supply);
}

TEST(SupplyFile, MayBeEmpty) {
  const auto supply = supply_from_yaml("version: 1\n", k_cluster);
  ASSERT_TRUE(supply) << supply.error().message();
  EXPECT_EQ(*supply, Supply{});
}

TEST(SupplyFile, SaysWhereItIsWrong) {
  struct Row {
    std::string from;
    std::string to;
    std::string line;
    std::string reason;
  };
  const std::vector<Row> rows{
      {"version: 1", "version: 9", "line 2", "version"},
      {"noun: supply", "noun: offer", "line 1", "supply"},
      {"pools:", "pool:", "line 3", "pool"},
      {"pool: edge-1/standard", "pool: edge-1/standart", "line 9", "not in this file"},
      {"shape: {cpu: 2", "shape: {cpu: 9", "line 10", "larger than one node"},
      {"unit_hour: 0.05", "unit_hour: cheap", "line 11", "unit_hour"},
      {"visibility: everyone", "visbility: everyone", "line 12", "visibility"},
  };
  for (const Row& row : rows) {
    const std::string error = error_of(with(row.from, row.to));
    EXPECT_NE(error.find("supply.yaml " + row.line), std::string::npos) << row.to << ": " << error;
    EXPECT_NE(error.find(row.reason), std::string::npos) << row.to << ": " << error;
  }
}

TEST(SupplyFile, RefusesWhatBelongsToAnotherCluster) {
  const auto supply = supply_from_yaml(k_good, ClusterId("far"), "supply.yaml");
  ASSERT_FALSE(supply);
  const std::string error = supply.error().message();
  EXPECT_NE(error.find("supply.yaml line 4"), std::string::npos) << error;
  EXPECT_NE(error.find("another cluster"), std::string::npos) << error;
}

TEST(SupplyFile, RefusesAnIdThatIsThereTwice) {
  const std::string pool =
      k_good.substr(k_good.find("  - id"), k_good.find("offers:") - k_good.find("  - id"));
  const std::string error = error_of(with("offers:", pool + "offers:"));
  EXPECT_NE(error.find("line 7"), std::string::npos) << error;
  EXPECT_NE(error.find("twice"), std::string::npos) << error;
}

TEST(SupplyFile, TheExampleIsGood) {
  std::ifstream file("examples/agent-supply.yaml");
  std::stringstream text;
  text << file.rdbuf();
  const auto supply = supply_from_yaml(text.str(), ClusterId("turin"), "agent-supply.yaml");
  ASSERT_TRUE(supply) << supply.error().message();
  EXPECT_EQ(supply->pools.size(), 2U);
  EXPECT_EQ(supply->offers.size(), 2U);
}

}  // namespace
}  // namespace spillway::agent
