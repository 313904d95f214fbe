#include "fabric/liqo/guard.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "fabric/liqo/guard_rules.h"
#include "model/json.h"
#include "model/tree.h"
#include "model/yaml_text.h"

namespace spillway::fabric::liqo {
namespace {

using model::items_at;
using model::text_at;

model::Node parsed(std::string_view text) { return model::parse_json(text, "test").value(); }

bool is_policy(const GuardObject& one) { return one.kind.plural == k_policies.plural; }

TEST(Guard, EveryPolicyIsBoundAndDeniesWhatItCannotJudge) {
  std::set<std::string> policies;
  std::set<std::string_view> bound;
  const auto objects = guard_objects();
  for (const GuardObject& one : objects) {
    EXPECT_EQ(text_at(one.object, {"metadata", "name"}), one.name);
    EXPECT_EQ(text_at(one.object, {"metadata", "labels", k_guard_label}), k_guard_edition);
    if (is_policy(one)) {
      EXPECT_TRUE(policies.insert(one.name).second) << one.name;
      EXPECT_EQ(text_at(one.object, {"spec", "failurePolicy"}), "Fail") << one.name;
      continue;
    }
    bound.insert(text_at(one.object, {"spec", "policyName"}));
    const auto& actions = items_at(one.object, {"spec", "validationActions"});
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(actions[0].text, "Deny");
  }
  EXPECT_FALSE(policies.empty());
  EXPECT_EQ(bound, std::set<std::string_view>(policies.begin(), policies.end()));
}

// Liqo's replicator never comes back after a refusal with the reason Forbidden.
TEST(Guard, RefusalsNameTheirRuleAndHaveNoReason) {
  for (const GuardObject& one : guard_objects()) {
    if (!is_policy(one)) continue;
    const auto& rules = items_at(one.object, {"spec", "validations"});
    EXPECT_FALSE(rules.empty()) << one.name;
    for (const model::Node& rule : rules) {
      EXPECT_EQ(rule.find("reason"), nullptr);
      const auto message = text_at(rule, {"message"});
      EXPECT_TRUE(message.size() > 4 && message[0] == 'R' && message[1] >= '1' && message[1] <= '8')
          << message;
    }
  }
}

// The namespace is not known there: a condition that asks for it would refuse everybody.
TEST(Guard, ConditionsAskForNoNamespace) {
  for (const GuardObject& one : guard_objects()) {
    for (const model::Node& when : items_at(one.object, {"spec", "matchConditions"})) {
      EXPECT_EQ(text_at(when, {"expression"}).find("namespaceObject"), std::string::npos);
    }
  }
}

TEST(Guard, OnlyThePolicyOfSlicesReadsTheRecordAndNoneWithoutIt) {
  for (const GuardObject& one : guard_objects()) {
    const bool is_slices = one.name == "spillway-slices";
    if (is_policy(one)) {
      EXPECT_EQ(text_at(one.object, {"spec", "paramKind", "kind"}), is_slices ? "ConfigMap" : "");
      continue;
    }
    EXPECT_EQ(text_at(one.object, {"spec", "paramRef", "name"}), is_slices ? "spillway-units" : "");
    EXPECT_EQ(text_at(one.object, {"spec", "paramRef", "parameterNotFoundAction"}),
              is_slices ? "Deny" : "");
    // That of the request's own namespace.
    EXPECT_EQ(text_at(one.object, {"spec", "paramRef", "namespace"}), "");
  }
}

// A cluster that sells and buys has others' slices and its own in one namespace, and may have no
// record there: its own are not asked for one, and no buyer can pass for it.
TEST(Guard, OnlyCopiesNeedTheRecordAndBuyersMakeNothingElse) {
  bool is_seen_to = false;
  for (const GuardObject& one : guard_objects()) {
    if (!is_policy(one)) continue;
    const auto chosen =
        items_at(one.object, {"spec", "matchConstraints", "objectSelector", "matchExpressions"});
    EXPECT_EQ(chosen.size(), one.name == "spillway-slices" ? 1U : 0U) << one.name;
    if (!chosen.empty()) {
      EXPECT_EQ(text_at(chosen[0], {"key"}), "liqo.io/replication");
      EXPECT_EQ(text_at(chosen[0], {"operator"}), "NotIn");
    }
    if (one.name != "spillway-copies") continue;
    EXPECT_EQ(model::look(one.object, {"spec", "paramKind"}), nullptr);
    for (const model::Node& rule : items_at(one.object, {"spec", "validations"})) {
      is_seen_to =
          is_seen_to ||
          text_at(rule, {"expression"})
                  .find("variables.labels[?'liqo.io/replication'].orValue('') == 'false'") !=
              std::string::npos;
    }
  }
  EXPECT_TRUE(is_seen_to);
}

// What Liqo 1.2.0 lets a buyer create or change, by its roles liqo-remote-controlplane and
// liqo-virtual-kubelet-remote. Events are only told; exec and the like reach its own guests.
TEST(Guard, CoversEverythingThatABuyerMayWrite) {
  std::set<std::string> covered;
  for (const auto& policies : {control_plane_policies(), guest_policies()}) {
    for (const GuardPolicy& policy : policies) {
      for (const GuardedKind& kind : policy.kinds) {
        for (const auto& resource : kind.resources) {
          covered.insert(std::string(kind.group) + "/" + std::string(resource));
        }
      }
    }
  }
  for (const char* wanted :
       {"authentication.liqo.io/renews", "authentication.liqo.io/renews/status",
        "authentication.liqo.io/resourceslices", "authentication.liqo.io/resourceslices/status",
        "offloading.liqo.io/namespacemaps", "offloading.liqo.io/namespacemaps/status",
        "offloading.liqo.io/shadowpods", "offloading.liqo.io/shadowendpointslices", "/configmaps",
        "/persistentvolumeclaims", "/secrets", "/services", "networking.k8s.io/ingresses"}) {
    EXPECT_TRUE(covered.contains(wanted)) << wanted;
  }
}

// The rules spell these in CEL, where no constant reaches.
TEST(Guard, RulesSpellOurWordsAsTheRestDoes) {
  std::string all;
  for (const GuardObject& one : guard_objects()) model::append_json(all, one.object);
  for (const auto word :
       {k_tolerable_annotation, k_storage_annotation, k_ingress_annotation,
        k_load_balancer_annotation, k_endpoints_annotation, k_selectors_annotation, k_guard_label,
        k_peer_label, k_replicated_label, k_replication_label, k_origin_label, k_destination_label,
        k_class, k_control_plane_group}) {
    EXPECT_NE(all.find("'" + std::string(word) + "'"), std::string::npos) << word;
  }
}

TEST(Guard, NoBuyersPrefixBeginsAnothers) {
  const std::vector<std::string> buyers{"b", "a-b", "b-a", "5-b", "b-5-b", "bb", "1-b", "11-b"};
  for (const std::string& one : buyers) {
    for (const std::string& other : buyers) {
      if (one == other) continue;
      EXPECT_FALSE(guest_space_prefix(one).starts_with(guest_space_prefix(other)))
          << one << " " << other;
    }
  }
  EXPECT_EQ(guest_space_name("milan", "shop").value(), "sw5-milan-shop");
}

TEST(Guard, ANamespaceWhoseTwinHasNoRoomForItsNameIsRefused) {
  EXPECT_TRUE(guest_space_name("milan", std::string(53, 'a')).has_value());
  const auto refused = guest_space_name("milan", std::string(54, 'a'));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::invalid);
}

TEST(Guard, AnObjectHasAllThatIsWantedWhateverElseItHas) {
  const auto has = [](const char* seen, const char* wanted) {
    return has_all_of(parsed(seen), parsed(wanted));
  };
  EXPECT_TRUE(has(R"({"a":1,"b":{"c":"d","e":1}})", R"({"b":{"c":"d"}})"));
  EXPECT_TRUE(has(R"({"a":[{"b":1,"c":2}]})", R"({"a":[{"b":1}]})"));
  EXPECT_FALSE(has(R"({"a":[{"b":1},{"b":2}]})", R"({"a":[{"b":1}]})"));
  EXPECT_FALSE(has(R"({"a":[]})", R"({"a":[{"b":1}]})"));
  EXPECT_FALSE(has(R"({"a":1})", R"({"b":1})"));
  EXPECT_FALSE(has(R"({"a":"1"})", R"({"a":1})"));
  EXPECT_FALSE(has(R"({"a":[]})", R"({"a":{}})"));
}

// Of the chart: spillway fabric guard > deploy/charts/spillway/files/guard.yaml
TEST(Guard, TheChartHasWhatThisVersionPrints) {
  std::ifstream file("deploy/charts/spillway/files/guard.yaml");
  std::stringstream text;
  text << file.rdbuf();
  std::string printed;
  for (const GuardObject& one : guard_objects()) printed += "---\n" + model::to_yaml(one.object);
  EXPECT_EQ(text.str(), printed);
}

}  // namespace
}  // namespace spillway::fabric::liqo
