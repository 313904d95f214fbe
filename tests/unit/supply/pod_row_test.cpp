#include "supply/pod_row.h"

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

PodRow row_of(std::string_view yaml, const GuestRule& guests = {}) {
  return pod_row(object(yaml), guests).value();
}

Requests of_spec(std::string_view spec) {
  return pod_requests(object(fmt::format("{{spec: {}}}", spec))).value();
}

TEST(PodRow, IsBoundUntilItIsOver) {
  const PodRow row = row_of(
      "{metadata: {namespace: a, name: b, deletionTimestamp: x}, spec: {nodeName: n1, containers: "
      "[{resources: {requests: {cpu: 100m}}}]}, status: {phase: Running}}");
  EXPECT_EQ(row.key, "a/b");
  EXPECT_EQ(row.state, PodState::bound);
  EXPECT_EQ(row.node, "n1");
  EXPECT_EQ(row.requests.cpu_millis, 100);
  EXPECT_FALSE(row.guest);
}

TEST(PodRow, TakesNothingWhenItEnded) {
  for (const std::string_view phase : {"Succeeded", "Failed"}) {
    EXPECT_EQ(row_of(fmt::format("{{metadata: {{namespace: a, name: b}}, spec: {{nodeName: n}}, "
                                 "status: {{phase: {}}}}}",
                                 phase))
                  .state,
              PodState::over);
  }
  EXPECT_EQ(row_of("{metadata: {namespace: a, name: b, deletionTimestamp: x}, spec: {}}").state,
            PodState::over);
}

TEST(PodRow, TellsGatedFromPending) {
  EXPECT_EQ(row_of("{metadata: {namespace: a, name: b}, spec: {nodeName: ''}}").state,
            PodState::pending);
  EXPECT_EQ(
      row_of("{metadata: {namespace: a, name: b}, spec: {schedulingGates: [{name: q}]}}").state,
      PodState::gated);
}

TEST(PodRow, KnowsLiqosGuestsByTheirLabel) {
  const std::string_view pod =
      "{metadata: {namespace: a, name: b, labels: {liqo.io/managed-by: shadowpod, "
      "offloading.liqo.io/origin: milan}}, spec: {nodeName: n}}";
  EXPECT_TRUE(row_of(pod).guest);
  GuestRule other;
  other.labels = {{"tenant", "yes"}};
  EXPECT_FALSE(row_of(pod, other).guest);
  other.namespaces = {"a"};
  EXPECT_TRUE(row_of(pod, other).guest);
}

// Without a rule for guests everything is the owner's.
TEST(PodRow, IsTheOwnersInDoubt) {
  GuestRule none;
  none.labels.clear();
  EXPECT_FALSE(row_of("{metadata: {namespace: a, name: b}, spec: {}}", none).guest);
  EXPECT_FALSE(
      row_of("{metadata: {namespace: a, name: b, labels: [liqo.io/managed-by]}, spec: {}}").guest);
}

TEST(PodRow, SaysWhatCannotBeRead) {
  for (const std::string_view spec :
       {"{nodeName: 7}", "{nodeName: n, containers: 7}", "{nodeName: n, containers: [7]}",
        "{nodeName: n, initContainers: {}}", "{nodeName: n, overhead: 7}",
        "{nodeName: n, containers: [{resources: {requests: {cpu: -1}}}]}",
        "{nodeName: n, containers: [{resources: {requests: [1]}}]}",
        "{nodeName: n, containers: [{resources: {limits: {memory: lots}}}]}",
        "{nodeName: n, resources: {requests: {cpu: x}}}", "{containers: [null]}"}) {
    const PodRow row =
        row_of(fmt::format("{{metadata: {{namespace: a, name: b}}, spec: {}}}", spec));
    EXPECT_NE(row.problem, "") << spec;
  }
}

TEST(PodRow, IsNoneWithoutNameAndNamespace) {
  for (const std::string_view yaml :
       {"{}", "7", "{metadata: {name: b}}", "{metadata: {namespace: a}}"}) {
    EXPECT_FALSE(pod_row(object(yaml), {})) << yaml;
    EXPECT_FALSE(pod_key(object(yaml))) << yaml;
  }
}

TEST(PodRequests, SumContainers) {
  const Requests sum = of_spec(
      "{containers: [{resources: {requests: {cpu: 100m, memory: 1Gi, ephemeral-storage: 1Gi}}}, "
      "{resources: {requests: {cpu: 1, nvidia.com/gpu: 2, hugepages-2Mi: 4Mi}}}, {name: bare}]}");
  EXPECT_EQ(sum, (Requests{1100, k_gib, k_gib, {{"nvidia.com/gpu", 2}}}));
}

TEST(PodRequests, TakeALimitForARequestThatIsMissing) {
  EXPECT_EQ(of_spec("{containers: [{resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: "
                    "0}}}]}"),
            (Requests{0, k_gib, 0, {}}));
}

TEST(PodRequests, AreThoseOfTheLargestInitContainerWhenItIsLarger) {
  EXPECT_EQ(of_spec("{initContainers: [{resources: {requests: {cpu: 2}}}, {resources: {requests: "
                    "{memory: 1Gi}}}], containers: [{resources: {requests: {cpu: 500m}}}]}"),
            (Requests{2000, k_gib, 0, {}}));
}

// k8s.io/component-helpers: a sidecar runs beside all that starts after it, and beside containers.
TEST(PodRequests, CountSidecarsFromTheirTurnOn) {
  EXPECT_EQ(of_spec("{initContainers: ["
                    "{resources: {requests: {cpu: 3}}}, "
                    "{restartPolicy: Always, resources: {requests: {cpu: 1}}}, "
                    "{resources: {requests: {cpu: 4}}}], "
                    "containers: [{resources: {requests: {cpu: 2}}}]}")
                .cpu_millis,
            5000);
  EXPECT_EQ(of_spec("{initContainers: ["
                    "{resources: {requests: {cpu: 3}}}, "
                    "{restartPolicy: Always, resources: {requests: {cpu: 1}}}], "
                    "containers: [{resources: {requests: {cpu: 4}}}]}")
                .cpu_millis,
            5000);
}

TEST(PodRequests, AddOverheadAndHeedThePodsOwnLevel) {
  EXPECT_EQ(of_spec("{overhead: {cpu: 250m}, resources: {requests: {cpu: 3}}, containers: "
                    "[{resources: {requests: {cpu: 1, memory: 1Gi}}}]}"),
            (Requests{3250, k_gib, 0, {}}));
}

TEST(PodRequests, TakeTheLargestOfAResize) {
  const auto pod = object(
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]}, "
      "status: {containerStatuses: [{name: a, allocatedResources: {cpu: 2}, resources: {requests: "
      "{memory: 3Gi}}}, {name: b, allocatedResources: {cpu: 9}}]}}");
  EXPECT_EQ(pod_requests(pod).value(), (Requests{2000, 3 * k_gib, 0, {}}));
}

TEST(PodRequests, RoundUpAndCapWhatIsAbsurd) {
  const Requests sum = of_spec(
      "{containers: [{resources: {requests: {cpu: 100100u, memory: 9Ei, example.com/x: 8E}}}, "
      "{resources: {requests: {memory: 9Ei, example.com/x: 1}}}]}");
  EXPECT_EQ(sum, (Requests{101, model::k_max_amount, 0, {{"example.com/x", model::k_max_amount}}}));
}

}  // namespace
}  // namespace spillway::supply
