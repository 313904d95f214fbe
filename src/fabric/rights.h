// Rights that a buyer gets in its tenant namespace beyond Liqo's: a Role and its binding, of one
// name, which must be exactly as they are written here.
#pragma once

#include <string>
#include <string_view>

#include "fabric/deed.h"

namespace spillway::fabric {

enum class Right { absent, wrong, right };  // of an object that must be exactly so

// Of a Role or its binding, and of what goes with them.
struct RightsAt {
  std::string space;
  std::string_view name;

  Place place(const liqo::Kind& kind) const { return {kind, space, std::string(name)}; }
};

model::Node bare_object(const liqo::Kind& kind, const RightsAt& at);  // nothing but its name
// By name where there are any: the right is to these and to no others.
model::Node rule_of(const liqo::Kind& kind, std::string_view name,
                    std::initializer_list<std::string_view> verbs);

Right judge_role(const model::Node& role, const model::Node& rules);
Right judge_binding(const model::Node& binding, std::string_view role, const model::Node& subjects);
void keep_role(Right seen, const RightsAt& at, model::Node rules, Plan& plan);
void keep_binding(Right seen, const RightsAt& at, model::Node subjects, Plan& plan);

}  // namespace spillway::fabric
