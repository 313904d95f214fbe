#include "fabric/liqo/guard_webhook.h"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "fabric/liqo/guard.h"
#include "fabric/liqo/guard_rules.h"
#include "fabric/liqo/guard_standing.h"
#include "model/tree.h"
#include "model/yaml_text.h"

namespace spillway::fabric::liqo {
namespace {

using model::Node;

const WebhookPlace k_chart_place{
    .url = {}, .space = "spillway", .service = "spillway-agent-guard", .port = 9443};

std::vector<Node> entries_of(const Node& object) { return model::items_at(object, {"webhooks"}); }

Node configuration_of(const WebhookPlace& place, std::string_view authorities) {
  return webhook_objects(place, authorities).at(0).object;
}

std::set<std::string> resources_of(const Node& entry) {
  std::set<std::string> made;
  for (const Node& rule : model::items_at(entry, {"rules"})) {
    for (const Node& group : model::items_at(rule, {"apiGroups"})) {
      for (const Node& resource : model::items_at(rule, {"resources"})) {
        made.insert(group.text + "/" + resource.text);
      }
    }
  }
  return made;
}

TEST(GuardWebhook, IsAskedAboutEveryKindThatAPolicyGuardsOnce) {
  std::multiset<std::string> asked;
  for (const Node& entry : entries_of(configuration_of(k_chart_place, {}))) {
    for (const std::string& one : resources_of(entry)) asked.insert(one);
  }
  std::set<std::string> guarded;
  for (const GuardPolicy& policy : guard_policies()) {
    for (const GuardedKind& kind : policy.kinds) {
      for (const std::string_view one : kind.resources) {
        guarded.insert(std::string(kind.group) + "/" + std::string(one));
      }
    }
  }
  EXPECT_EQ(asked, std::multiset<std::string>(guarded.begin(), guarded.end()));
}

// A Lease of a node, a Secret of Liqo's: while nobody answers they must be written all the same.
TEST(GuardWebhook, LeavesTheRestOfTheClusterAlone) {
  for (const Node& entry : entries_of(configuration_of(k_chart_place, {}))) {
    const auto resources = resources_of(entry);
    if (resources.contains("coordination.k8s.io/leases")) {
      EXPECT_EQ(resources.size(), 1U);
      EXPECT_EQ(model::text_at(model::items_at(entry, {"objectSelector", "matchExpressions"}).at(0),
                               {"key"}),
                k_guard_label);
      continue;
    }
    const auto& spaces = model::items_at(entry, {"namespaceSelector", "matchExpressions"});
    const bool is_of_all_clusters = resources.contains("/secrets");
    EXPECT_EQ(spaces.size(), is_of_all_clusters ? 2U : 0U);
    if (!is_of_all_clusters) {
      for (const std::string& one : resources) {
        EXPECT_NE(one.find(".liqo.io/"), std::string::npos) << one;
      }
      continue;
    }
    EXPECT_EQ(model::text_at(spaces[0], {"key"}), k_peer_label);
    EXPECT_EQ(model::text_at(spaces[1], {"operator"}), "DoesNotExist");
    EXPECT_FALSE(resources.contains("offloading.liqo.io/shadowpods"));  // the first entry's
  }
}

TEST(GuardWebhook, RefusesWhenNobodyAnswersAndKnowsOldServers) {
  for (const Node& entry : entries_of(configuration_of(k_chart_place, {}))) {
    EXPECT_EQ(model::text_at(entry, {"failurePolicy"}), "Fail");
    EXPECT_EQ(model::text_at(entry, {"sideEffects"}), "None");
    EXPECT_EQ(model::integer_at(entry, {"timeoutSeconds"}), k_webhook_seconds);
    EXPECT_EQ(entry.find("matchConditions"), nullptr);
    EXPECT_EQ(model::text_at(entry, {"clientConfig", "service", "path"}), k_webhook_path);
  }
}

TEST(GuardWebhook, APlaceIsAUrlOrAService) {
  EXPECT_EQ(parse_webhook_place("https://10.0.0.5:9443")->url, "https://10.0.0.5:9443/guard");
  EXPECT_EQ(parse_webhook_place("spillway/spillway-agent-guard:9443"), k_chart_place);
  EXPECT_EQ(parse_webhook_place("a/b")->port, 443);
  for (const std::string_view bad :
       {"", "http://a", "https://", "https://a/b", "https://u@a", "a", "/b", "a/", "a/b:", "a/b:0",
        "a/b:65536", "a/b:x", "a/B", "a/b/c"}) {
    EXPECT_FALSE(parse_webhook_place(bad)) << bad;
  }
}

TEST(GuardWebhook, AuthoritiesArePutWhereTheyAreNot) {
  Node object = configuration_of(k_chart_place, {});
  EXPECT_TRUE(set_authorities(object, "PEM"));
  EXPECT_FALSE(set_authorities(object, "PEM"));
  for (const Node& entry : entries_of(object)) {
    EXPECT_EQ(model::text_at(entry, {"clientConfig", "caBundle"}), to_base64("PEM"));
  }
  EXPECT_TRUE(set_authorities(object, "another"));
  EXPECT_TRUE(model::same(object, configuration_of(k_chart_place, "another")));
}

TEST(GuardWebhook, EnforcesAllPartOrNothing) {
  const auto seen_of = [](const WebhookPlace& place, std::string_view authorities) {
    GuardSeen seen;
    for (const GuardObject& one : webhook_objects(place, authorities)) {
      seen[guard_key(one.kind, one.name)] = one.object;
    }
    return seen;
  };
  const auto mode = [](const GuardSeen& seen) { return enforcement_of(judge_guard(seen)); };
  const GuardSeen whole = seen_of(k_chart_place, "PEM");
  EXPECT_EQ(mode(whole), model::Enforcement::full);
  EXPECT_TRUE(judge_guard(whole).is_by_webhook());
  // Nobody knows whom to trust.
  EXPECT_EQ(mode(seen_of(k_chart_place, {})), model::Enforcement::none);
  EXPECT_EQ(mode(seen_of({.url = "https://a/guard"}, {})), model::Enforcement::full);
  for (const auto& [key, object] : whole) {
    GuardSeen seen = whole;
    seen.erase(key);
    EXPECT_EQ(mode(seen), model::Enforcement::partial) << "without " << key;
    seen = whole;
    for (Node& member : seen[key].items) {
      if (member.key != "webhooks") continue;
      model::put(member.items[0], "failurePolicy", model::text_node("Ignore"));
    }
    EXPECT_EQ(mode(seen), model::Enforcement::partial) << key;
  }
  EXPECT_EQ(mode({}), model::Enforcement::none);
}

// Of the chart: spillway fabric guard --webhook spillway/spillway-agent-guard:9443
TEST(GuardWebhook, TheChartHasWhatThisVersionPrints) {
  std::ifstream file("deploy/charts/spillway/files/guard-webhook.yaml");
  std::stringstream text;
  text << file.rdbuf();
  std::string printed;
  for (const GuardObject& one : webhook_objects(k_chart_place, {})) {
    printed += "---\n" + model::to_yaml(one.object);
  }
  EXPECT_EQ(text.str(), printed);
}

}  // namespace
}  // namespace spillway::fabric::liqo
