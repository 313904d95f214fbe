#include "supply/placement.h"

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

Placement placed(std::string_view spec) {
  return read_placement(object(fmt::format("{{spec: {}}}", spec)));
}

Placement with_terms(std::string_view terms) {
  return placed(
      fmt::format("{{affinity: {{nodeAffinity: "
                  "{{requiredDuringSchedulingIgnoredDuringExecution: "
                  "{{nodeSelectorTerms: {}}}}}}}}}",
                  terms));
}

NodeRow node_with(model::Labels labels) {
  NodeRow row = plain_node();
  row.labels = std::move(labels);
  return row;
}

TEST(Placement, AdmitsEverywhereWithoutAnyWish) { EXPECT_TRUE(admits(placed("{}"), plain_node())); }

TEST(Placement, FollowsTheNodeSelector) {
  EXPECT_TRUE(admits(placed("{nodeSelector: {zone: a}}"), plain_node()));
  EXPECT_FALSE(admits(placed("{nodeSelector: {zone: b}}"), plain_node()));
  EXPECT_FALSE(admits(placed("{nodeSelector: {disk: ssd}}"), plain_node()));
}

TEST(Placement, FollowsEveryOperatorOfNodeAffinity) {
  const NodeRow node = node_with({{"cores", "16"}, {"zone", "a"}});
  const auto one = [&node](std::string_view line) {
    return admits(with_terms(fmt::format("[{{matchExpressions: [{}]}}]", line)), node);
  };
  EXPECT_TRUE(one("{key: zone, operator: In, values: [b, a]}"));
  EXPECT_FALSE(one("{key: zone, operator: In, values: [b]}"));
  EXPECT_FALSE(one("{key: zone, operator: NotIn, values: [a]}"));
  EXPECT_TRUE(one("{key: disk, operator: NotIn, values: [ssd]}"));
  EXPECT_TRUE(one("{key: zone, operator: Exists}"));
  EXPECT_FALSE(one("{key: disk, operator: Exists}"));
  EXPECT_TRUE(one("{key: disk, operator: DoesNotExist}"));
  EXPECT_TRUE(one("{key: cores, operator: Gt, values: ['15']}"));
  EXPECT_FALSE(one("{key: cores, operator: Gt, values: ['16']}"));
  EXPECT_TRUE(one("{key: cores, operator: Lt, values: ['17']}"));
  EXPECT_FALSE(one("{key: zone, operator: Lt, values: ['17']}"));
  EXPECT_TRUE(one("{key: zone, operator: Resembles, values: [x]}"));
}

TEST(Placement, WantsOneTermInFullAndAnEmptyTermSelectsNothing) {
  const NodeRow node = node_with({{"disk", "ssd"}, {"zone", "a"}});
  EXPECT_TRUE(admits(with_terms("[{matchExpressions: [{key: zone, operator: In, values: [b]}]}, "
                                "{matchExpressions: [{key: disk, operator: Exists}]}]"),
                     node));
  EXPECT_FALSE(admits(with_terms("[{matchExpressions: [{key: zone, operator: In, values: [b]}, "
                                 "{key: disk, operator: Exists}]}]"),
                      node));
  EXPECT_FALSE(admits(with_terms("[{}]"), node));
}

// So DaemonSets choose their nodes.
TEST(Placement, MatchesTheNodesNameByField) {
  const auto to = [](std::string_view name) {
    return with_terms(fmt::format(
        "[{{matchFields: [{{key: metadata.name, operator: In, values: [{}]}}]}}]", name));
  };
  EXPECT_TRUE(admits(to("n1"), plain_node("n1")));
  EXPECT_FALSE(admits(to("n2"), plain_node("n1")));
  EXPECT_EQ(named_nodes(to("n2")), (std::vector<std::string_view>{"n2"}));
  EXPECT_FALSE(named_nodes(placed("{}")));
  EXPECT_FALSE(
      named_nodes(with_terms("[{matchFields: [{key: metadata.name, operator: In, values: "
                             "[n1]}]}, {matchExpressions: [{key: a, operator: Exists}]}]")));
}

TEST(Placement, ToleratesByTheRulesOfKubernetes) {
  NodeRow node = plain_node();
  node.taints = {{"team", "blue", model::TaintEffect::no_schedule}};
  const auto with = [&node](std::string_view toleration) {
    return admits(placed(fmt::format("{{tolerations: [{}]}}", toleration)), node);
  };
  EXPECT_FALSE(admits(placed("{}"), node));
  EXPECT_TRUE(with("{key: team, value: blue}"));
  EXPECT_TRUE(with("{key: team, operator: Equal, value: blue, effect: NoSchedule}"));
  EXPECT_FALSE(with("{key: team, value: red}"));
  EXPECT_FALSE(with("{key: team, value: blue, effect: NoExecute}"));
  EXPECT_TRUE(with("{key: team, operator: Exists}"));
  EXPECT_TRUE(with("{operator: Exists}"));
  EXPECT_FALSE(with("{key: crew, operator: Exists}"));
  node.taints[0].effect = model::TaintEffect::prefer_no_schedule;
  EXPECT_TRUE(admits(placed("{}"), node));
}

TEST(Placement, DoesNotKeepAwayByWhatCannotBeRead) {
  EXPECT_TRUE(admits(placed("{nodeSelector: [zone], tolerations: 7, affinity: 7}"), plain_node()));
  EXPECT_TRUE(admits(with_terms("7"), plain_node()));
}

}  // namespace
}  // namespace spillway::supply
