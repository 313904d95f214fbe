#include "fabric/rights.h"

#include "fabric/liqo/shape.h"
#include "fabric/liqo/writer.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

using liqo::list_of;
using liqo::object_of;
using model::Node;
using model::text_node;

Node reference_to(std::string_view role) {
  return object_of({{"apiGroup", text_node(liqo::k_roles.group)},
                    {"kind", text_node(liqo::k_roles.kind)},
                    {"name", text_node(role)}});
}

void keep(Right seen, const Place& at, Node object, Plan& plan) {
  if (seen == Right::right) return;
  if (seen == Right::wrong) {  // what a binding refers to cannot be changed
    plan.troubles.push_back({to_text(at), "somebody edited what it allows", "it is made anew"});
    return plan.deeds.emplace_back(Remove{at, {}}), void();
  }
  plan.deeds.emplace_back(Create{at, std::move(object)});
}

}  // namespace

Node bare_object(const liqo::Kind& kind, const RightsAt& at) {
  Node made = liqo::empty_object(kind);
  model::put(made, "metadata",
             object_of({{"name", text_node(at.name)}, {"namespace", text_node(at.space)}}));
  return made;
}

Node rule_of(const liqo::Kind& kind, std::string_view name,
             std::initializer_list<std::string_view> verbs) {
  Node rule = object_of({{"apiGroups", list_of({text_node(kind.group)})},
                         {"resources", list_of({text_node(kind.plural)})}});
  if (!name.empty()) model::put(rule, "resourceNames", list_of({text_node(name)}));
  model::put(rule, "verbs", liqo::text_list(verbs));
  return rule;
}

Right judge_role(const Node& role, const Node& rules) {
  const Node* seen = role.find("rules");
  return seen != nullptr && model::same(*seen, rules) ? Right::right : Right::wrong;
}

Right judge_binding(const Node& binding, std::string_view role, const Node& subjects) {
  const Node* reference = binding.find("roleRef");
  const Node* seen = binding.find("subjects");
  const bool is_right = reference != nullptr && seen != nullptr &&
                        model::same(*reference, reference_to(role)) && model::same(*seen, subjects);
  return is_right ? Right::right : Right::wrong;
}

void keep_role(Right seen, const RightsAt& at, Node rules, Plan& plan) {
  Node role = bare_object(liqo::k_roles, at);
  model::put(role, "rules", std::move(rules));
  keep(seen, at.place(liqo::k_roles), std::move(role), plan);
}

void keep_binding(Right seen, const RightsAt& at, Node subjects, Plan& plan) {
  Node binding = bare_object(liqo::k_role_bindings, at);
  model::put(binding, "roleRef", reference_to(at.name));
  model::put(binding, "subjects", std::move(subjects));
  keep(seen, at.place(liqo::k_role_bindings), std::move(binding), plan);
}

}  // namespace spillway::fabric
