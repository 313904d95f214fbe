#include "supply/node_row.h"

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

constexpr std::string_view k_node = R"({
  metadata: {name: n1, labels: {kubernetes.io/arch: arm64, zone: a}},
  spec: {taints: [{key: team, value: blue, effect: NoSchedule}]},
  status: {
    allocatable: {cpu: 3920m, memory: 16Gi, pods: "110", ephemeral-storage: 100Gi,
                  nvidia.com/gpu: "4", hugepages-2Mi: 1Gi, attachable-volumes-x: 39},
    conditions: [{type: MemoryPressure, status: "False"}, {type: Ready, status: "True"}]}})";

NodeRow row_of(std::string_view yaml) { return node_row(object(yaml)).value(); }

TEST(NodeRow, HasWhatIsSoldByIt) {
  const NodeRow row = row_of(k_node);
  EXPECT_EQ(row.name, "n1");
  EXPECT_EQ(row.arch, "arm64");
  EXPECT_EQ(row.allocatable.cpu_millis, 3920);
  EXPECT_EQ(row.allocatable.memory_bytes, 16 * k_gib);
  EXPECT_EQ(row.allocatable.pods, 110);
  EXPECT_EQ(row.allocatable.storage_bytes, 100 * k_gib);
  EXPECT_EQ(row.allocatable.extended, (model::Counts{{"nvidia.com/gpu", 4}}));
  EXPECT_EQ(row.taints.size(), 1U);
  EXPECT_TRUE(row.ready);
  EXPECT_FALSE(row.cordoned || row.going || row.is_virtual);
  EXPECT_EQ(row.problem, "");
}

TEST(NodeRow, RoundsDownWhatANodeHas) {
  const NodeRow row = row_of("{metadata: {name: n}, status: {allocatable: {memory: 1500m}}}");
  EXPECT_EQ(row.allocatable.memory_bytes, 1);
}

TEST(NodeRow, TakesNoReadyConditionForNotReady) {
  EXPECT_FALSE(row_of("{metadata: {name: n}}").ready);
  EXPECT_FALSE(row_of("{metadata: {name: n}, status: {conditions: [{type: Ready, status: "
                      "Unknown}]}}")
                   .ready);
  EXPECT_FALSE(row_of("{metadata: {name: n}, status: {conditions: {type: Ready}}}").ready);
}

TEST(NodeRow, KnowsOneThatIsIll) {
  const auto ill = [](auto bend) {
    NodeRow row = gpu_node("n1", 4);
    row.devices = row.allocatable.extended;
    bend(row);
    return is_ill(row);
  };
  EXPECT_FALSE(ill([](NodeRow&) {}));
  EXPECT_FALSE(ill([](NodeRow& r) { r.cordoned = true; }));
  EXPECT_TRUE(ill([](NodeRow& r) { r.ready = false; }));
  EXPECT_TRUE(ill([](NodeRow& r) { r.allocatable.extended[0].amount = 3; }));
  EXPECT_TRUE(ill([](NodeRow& r) { r.allocatable.extended.clear(); }));
  const auto tainted = [&ill](const char* key) {
    return ill([key](NodeRow& r) { r.taints = {{key, "", model::TaintEffect::no_schedule}}; });
  };
  EXPECT_TRUE(tainted("node.kubernetes.io/unreachable"));
  EXPECT_TRUE(tainted("node.kubernetes.io/memory-pressure"));
  EXPECT_FALSE(tainted("node.kubernetes.io/unschedulable"));
  EXPECT_FALSE(tainted("team"));
}

TEST(NodeRow, KnowsTheDevicesOfTheMachineBesideThoseThatAreWell) {
  const NodeRow row = row_of(
      "{metadata: {name: n}, status: {capacity: {cpu: 8, nvidia.com/gpu: 4}, "
      "allocatable: {nvidia.com/gpu: 0}}}");
  EXPECT_EQ(row.devices, (model::Counts{{"nvidia.com/gpu", 4}}));
  EXPECT_TRUE(row.allocatable.extended.empty());
  const NodeRow forgotten = row_of(
      "{metadata: {name: n}, status: {capacity: {nvidia.com/gpu: 0}, "
      "allocatable: {nvidia.com/gpu: 0}}}");
  EXPECT_EQ(forgotten.devices, (model::Counts{{"nvidia.com/gpu", 0}}));
}

TEST(NodeRow, TakesADoubtAboutCordoningForCordoned) {
  EXPECT_TRUE(row_of("{metadata: {name: n}, spec: {unschedulable: true}}").cordoned);
  EXPECT_TRUE(row_of("{metadata: {name: n}, spec: {unschedulable: perhaps}}").cordoned);
  EXPECT_FALSE(row_of("{metadata: {name: n}, spec: {unschedulable: false}}").cordoned);
}

TEST(NodeRow, KnowsOneThatIsBeingDeleted) {
  EXPECT_TRUE(row_of("{metadata: {name: n, deletionTimestamp: 2026-01-01T00:00:00Z}}").going);
  EXPECT_FALSE(row_of("{metadata: {name: n, deletionTimestamp: null}}").going);
}

TEST(NodeRow, KnowsVirtualNodesByEachOfTheirMarks) {
  EXPECT_TRUE(row_of("{metadata: {name: n, labels: {liqo.io/type: virtual-node}}}").is_virtual);
  EXPECT_TRUE(row_of("{metadata: {name: n, labels: {type: virtual-kubelet}}}").is_virtual);
  EXPECT_TRUE(row_of("{metadata: {name: n}, spec: {providerID: 'spillway://x/0'}}").is_virtual);
  EXPECT_TRUE(row_of("{metadata: {name: n}, spec: {taints: [{key: "
                     "virtual-node.liqo.io/not-allowed, effect: NoExecute}]}}")
                  .is_virtual);
}

TEST(NodeRow, TakesAnUnknownEffectOfATaintForNoSchedule) {
  const NodeRow row = row_of("{metadata: {name: n}, spec: {taints: [{key: a, effect: NoAdmit}]}}");
  EXPECT_EQ(row.taints.at(0).effect, model::TaintEffect::no_schedule);
}

TEST(NodeRow, SaysWhatCannotBeRead) {
  for (const std::string_view yaml :
       {"{metadata: {name: n}}", "{metadata: {name: n}, status: {allocatable: 3}}",
        "{metadata: {name: n}, status: {allocatable: {cpu: much}}}",
        "{metadata: {name: n}, status: {allocatable: {cpu: -1}}}",
        "{metadata: {name: n}, status: {allocatable: {cpu: [1]}}}",
        "{metadata: {name: n, labels: [a]}, status: {allocatable: {cpu: 1}}}",
        "{metadata: {name: n, labels: {'a b': c}}, status: {allocatable: {cpu: 1}}}",
        "{metadata: {name: n}, spec: {taints: [7]}, status: {allocatable: {cpu: 1}}}",
        "{metadata: {name: n}, spec: {taints: 7}, status: {allocatable: {cpu: 1}}}"}) {
    EXPECT_NE(row_of(yaml).problem, "") << yaml;
  }
}

TEST(NodeRow, IsNoneWithoutAName) {
  for (const std::string_view yaml : {"{}", "[]", "7", "{metadata: {name: 7}}", "{metadata: n}"}) {
    EXPECT_FALSE(node_row(object(yaml))) << yaml;
  }
}

}  // namespace
}  // namespace spillway::supply
