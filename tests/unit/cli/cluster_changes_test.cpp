#include "cli/cluster_changes.h"

#include <gtest/gtest.h>

namespace spillway::cli {
namespace {

constexpr Instant k_now{1'769'936'400'000};
constexpr Instant k_before{1'769'000'000'000};

model::Cluster cluster() {
  model::Cluster cluster;
  cluster.id = ClusterId("milan-edge");
  cluster.labels = {{"sector", "research"}, {"tier", "gold"}};
  cluster.quota.units = 20;
  cluster.budget = model::Budget{{1'000'000, {}}, k_before};
  return cluster;
}

model::Cluster changed(const ClusterChanges& changes) {
  model::Cluster now = cluster();
  const Status status = apply(changes, k_now, now);
  EXPECT_TRUE(status.has_value()) << status.error().message();
  return now;
}

TEST(ClusterChanges, LeaveTheRestAlone) {
  ClusterChanges changes;
  EXPECT_TRUE(changes.empty());
  EXPECT_EQ(changed(changes), cluster());
  changes.cpu = "1500m";
  changes.gpus = {"nvidia-a100=4"};
  model::Cluster expected = cluster();
  expected.quota.cpu_millis = 1500;
  expected.quota.gpus = {{"nvidia-a100", 4}};
  EXPECT_EQ(changed(changes), expected);
}

TEST(ClusterChanges, TakeCapsAndLabelsAway) {
  ClusterChanges changes;
  changes.units = "none";
  changes.budget = "none";
  changes.labels = {"tier-,zone=a", "sector=trade"};
  const model::Cluster now = changed(changes);
  EXPECT_EQ(now.quota.units, std::nullopt);
  EXPECT_EQ(now.budget, std::nullopt);
  EXPECT_EQ(now.labels, (model::Labels{{"sector", "trade"}, {"zone", "a"}}));
}

TEST(ClusterChanges, AnotherBudgetGoesOnCountingUnlessToldSo) {
  ClusterChanges changes;
  changes.budget = "100 EUR";
  EXPECT_EQ(changed(changes).budget->from, k_before);
  changes.new_budget = true;
  EXPECT_EQ(changed(changes).budget->from, k_now);
  EXPECT_EQ(changed(changes).budget->limit.micros, 100'000'000);
}

TEST(ClusterChanges, NameTheOptionThatIsWrong) {
  ClusterChanges changes;
  changes.budget = "much";
  model::Cluster now = cluster();
  EXPECT_EQ(apply(changes, k_now, now).error().thing, "--budget");
}

}  // namespace
}  // namespace spillway::cli
