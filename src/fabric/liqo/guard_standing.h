// How much of the guard (guard.h) an API server has, as this release would write it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "fabric/liqo/guard.h"
#include "fabric/liqo/guard_webhook.h"
#include "model/offer.h"

namespace spillway::fabric::liqo {

// Policies, bindings and webhooks that are there, by kind and name.
using GuardSeen = std::map<std::string, model::Node>;
std::string guard_key(const Kind& kind, std::string_view name);

struct GuardStanding {
  size_t policies = 0;  // that there should be
  std::vector<std::string> missing;
  std::vector<std::string> changed;  // not as this release writes them
  size_t in_force = 0;               // policies that are as written, bindings and all
  WebhookStanding webhook = {};      // which may have the rules instead
  bool has_webhook = false;          // there is one, as written or not

  bool is_by_policies() const { return in_force == policies; }
  bool is_by_webhook() const { return has_webhook && webhook.in_force == webhook.entries; }
};
GuardStanding judge_guard(const GuardSeen& seen);

// Whether the rules were tried on that Liqo, as `app.kubernetes.io/version` names it: v1.2.0.
bool is_tried_liqo(std::string_view version);

// Full by either: the rules are the same. None also if all of them were changed: of what others
// write nobody knows what it refuses.
model::Enforcement enforcement_of(const GuardStanding& standing);

}  // namespace spillway::fabric::liqo
