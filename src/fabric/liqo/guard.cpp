#include "fabric/liqo/guard.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ids.h"
#include "base/text.h"
#include "fabric/liqo/guard_rules.h"
#include "fabric/liqo/shape.h"
#include "fabric/liqo/writer.h"
#include "fabric/record.h"

namespace spillway::fabric::liqo {
namespace {

constexpr size_t k_longest_space = 63;  // of a namespace

model::Node word(std::string_view text) { return model::text_node(text); }

// Helm leaves them where they are when the rest of a chart goes: while there are tenants they are
// needed, and a binding with a parameter must not come and go (guard.h).
model::Node guard_meta(std::string_view name) {
  return object_of({{"name", word(name)},
                    {"labels", object_of({{k_guard_label, word(k_guard_edition)}})},
                    {"annotations", object_of({{"helm.sh/resource-policy", word("keep")}})}});
}

model::Node constraints_of(const GuardPolicy& policy) {
  std::vector<model::Node> rules;
  for (const GuardedKind& one : policy.kinds) {
    rules.push_back(object_of({{"apiGroups", list_of({word(one.group)})},
                               {"apiVersions", list_of({word("*")})},
                               {"operations", list_of({word("CREATE"), word("UPDATE")})},
                               {"resources", text_list(one.resources)}}));
  }
  model::Node made = object_of({{"resourceRules", list_of(std::move(rules))}});
  if (policy.with_record) {
    model::Node copies = object_of({{"key", word(k_replication_label)},
                                    {"operator", word("NotIn")},
                                    {"values", list_of({word("true")})}});
    model::put(made, "objectSelector",
               object_of({{"matchExpressions", list_of({std::move(copies)})}}));
  }
  if (policy.guarded == Guarded::in_guest_spaces) {
    model::Node guests = object_of({{"key", word(k_peer_label)}, {"operator", word("Exists")}});
    model::put(made, "namespaceSelector",
               object_of({{"matchExpressions", list_of({std::move(guests)})}}));
  }
  return made;
}

model::Node conditions_node(const GuardPolicy& policy) {
  std::vector<model::Node> made;
  for (const GuardCondition& one : conditions_of(policy)) {
    made.push_back(object_of({{"name", word(one.name)}, {"expression", word(one.holds)}}));
  }
  return list_of(std::move(made));
}

model::Node policy_of(const GuardPolicy& policy) {
  std::vector<model::Node> variables;
  for (const GuardVariable& one : policy.variables) {
    variables.push_back(
        object_of({{"name", word(one.name)}, {"expression", word(one.expression)}}));
  }
  std::vector<model::Node> rules;
  for (const GuardRule& one : policy.rules) {
    rules.push_back(object_of(
        {{"expression", word(guarded_rule(policy, one))}, {"message", word(one.message)}}));
  }
  model::Node spec = object_of({{"failurePolicy", word("Fail")},
                                {"matchConstraints", constraints_of(policy)},
                                {"validations", list_of(std::move(rules))}});
  if (!variables.empty()) model::put(spec, "variables", list_of(std::move(variables)));
  if (model::Node when = conditions_node(policy); !when.items.empty()) {
    model::put(spec, "matchConditions", std::move(when));
  }
  if (policy.with_record) {
    model::put(spec, "paramKind",
               object_of({{"apiVersion", word("v1")}, {"kind", word("ConfigMap")}}));
  }
  model::Node made = empty_object(k_policies);
  model::put(made, "metadata", guard_meta(policy.name));
  model::put(made, "spec", std::move(spec));
  return made;
}

model::Node binding_of(const GuardPolicy& policy) {
  model::Node spec = object_of(
      {{"policyName", word(policy.name)}, {"validationActions", list_of({word("Deny")})}});
  if (policy.with_record) {  // without a namespace: that of the request
    model::put(
        spec, "paramRef",
        object_of({{"name", word(k_record_name)}, {"parameterNotFoundAction", word("Deny")}}));
  }
  model::Node made = empty_object(k_policy_bindings);
  model::put(made, "metadata", guard_meta(policy.name));
  model::put(made, "spec", std::move(spec));
  return made;
}

}  // namespace

std::vector<GuardPolicy> guard_policies() {
  std::vector<GuardPolicy> policies = control_plane_policies();
  for (GuardPolicy& one : guest_policies()) policies.push_back(std::move(one));
  return policies;
}

std::vector<GuardCondition> conditions_of(const GuardPolicy& policy) {
  if (policy.guarded == Guarded::by_accounts) {
    return {{"an-account-asks",
             "request.userInfo.username.startsWith('system:serviceaccount:') &&"
             " request.userInfo.username.split(':')[3] == 'spillway-handshake'"}};
  }
  if (policy.guarded != Guarded::by_control_planes) return {};
  return {{"a-buyer-asks", "'liqo.io' in request.userInfo.groups"}};
}

std::string guarded_rule(const GuardPolicy& policy, const GuardRule& rule) {
  if (policy.except.empty()) return std::string(rule.holds);
  return fmt::format("({}) || ({})", policy.except, rule.holds);
}

std::string guest_space_prefix(std::string_view buyer) {
  return fmt::format("sw{}-{}-", buyer.size(), buyer);
}

Result<std::string> guest_space_name(std::string_view buyer, std::string_view space) {
  if (!check_cluster_id(buyer)) {
    return fail(
        Code::invalid, fmt::format("namespace {}", space),
        fmt::format("{} is no Liqo id that a name at a provider can begin with", in_quotes(buyer)),
        "give this cluster's Liqo an id of small letters, digits and \"-\"");
  }
  std::string name = guest_space_prefix(buyer) + std::string(space);
  if (name.size() <= k_longest_space) return name;
  return fail(Code::invalid, fmt::format("namespace {}", space),
              fmt::format("at a provider it would be called {}, which is longer than {} characters",
                          name, k_longest_space),
              "offload a namespace with a shorter name");
}

std::vector<GuardObject> guard_objects() {
  std::vector<GuardObject> made;
  for (const GuardPolicy& one : guard_policies()) {
    made.push_back({k_policies, std::string(one.name), policy_of(one)});
    made.push_back({k_policy_bindings, std::string(one.name), binding_of(one)});
  }
  return made;
}

bool has_all_of(const model::Node& seen, const model::Node& wanted) {
  if (wanted.kind == model::Node::Kind::object) {
    if (seen.kind != model::Node::Kind::object) return false;
    return std::all_of(wanted.items.begin(), wanted.items.end(), [&seen](const auto& member) {
      const model::Node* there = seen.find(member.key);
      return there != nullptr && has_all_of(*there, member);
    });
  }
  if (wanted.kind == model::Node::Kind::array) {
    if (seen.kind != model::Node::Kind::array) return false;
    return std::equal(seen.items.begin(), seen.items.end(), wanted.items.begin(),
                      wanted.items.end(),
                      [](const auto& a, const auto& b) { return has_all_of(a, b); });
  }
  return model::same(seen, wanted);
}

}  // namespace spillway::fabric::liqo
