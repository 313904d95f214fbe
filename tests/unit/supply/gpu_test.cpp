#include "supply/gpu.h"

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

std::string model_of(const NodeRow& node, const std::map<std::string, std::string>& models = {}) {
  return gpu_kinds(node, models).at(0).model;
}

TEST(Gpu, IsTheModelOfTheNodesLabel) {
  EXPECT_EQ(model_of(gpu_node("n", 1, "NVIDIA-A100-SXM4-40GB")), "nvidia-a100-sxm4-40gb");
  EXPECT_EQ(model_of(gpu_node("n", 1, "Tesla-T4")), "nvidia-tesla-t4");
  EXPECT_EQ(model_of(gpu_node("n", 1, "NVIDIA-A100"), {{"NVIDIA-A100", "a100"}}), "a100");
  EXPECT_EQ(model_of(gpu_node("n", 1, std::string(63, 'X'))), std::string(63, 'x'));
}

TEST(Gpu, OfAmdHasItsOwnLabels) {
  NodeRow node = plain_node();
  node.allocatable.extended = {{"amd.com/gpu", 8}};
  EXPECT_EQ(model_of(node), "amd-gpu");
  node.labels = {{"beta.amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}};
  EXPECT_EQ(model_of(node), "amd-instinct-mi300x-oam");
  node.labels = {{"amd.com/gpu.product-name", "MI210"}};
  EXPECT_EQ(model_of(node), "amd-mi210");
}

TEST(Gpu, HasADefaultModelWithoutALabel) {
  NodeRow node = plain_node();
  node.allocatable.extended = {{"nvidia.com/gpu", 2}};
  EXPECT_EQ(model_of(node), "nvidia-gpu");
}

TEST(Gpu, IsCountedByModelAndTheRestStays) {
  const NodeRow node = gpu_node("n", 4);
  model::Resources resources;
  resources.extended = {{"example.com/fpga", 1}, {"nvidia.com/gpu", 3}};
  const model::Resources counted = by_model(resources, gpu_kinds(node, {}));
  EXPECT_EQ(counted.gpus, (model::Counts{{"nvidia-a100", 3}}));
  EXPECT_EQ(counted.extended, (model::Counts{{"example.com/fpga", 1}}));
}

TEST(Gpu, OfTwoVendorsAreBothThere) {
  NodeRow node = gpu_node("n", 4);
  node.allocatable.extended = {{"amd.com/gpu", 2}, {"nvidia.com/gpu", 4}};
  EXPECT_EQ(by_model(node.allocatable, gpu_kinds(node, {})).gpus,
            (model::Counts{{"amd-gpu", 2}, {"nvidia-a100", 4}}));
  EXPECT_TRUE(gpu_kinds(plain_node(), {}).empty());
}

}  // namespace
}  // namespace spillway::supply
