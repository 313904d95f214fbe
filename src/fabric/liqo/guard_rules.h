// The rules of the guard as tables: what each policy is about, and what must hold, in CEL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway::fabric::liqo {

struct GuardedKind {
  std::string_view group;
  std::vector<std::string_view> resources;
};
struct GuardVariable {
  std::string_view name;
  std::string_view expression;
};
struct GuardRule {
  std::string_view message;  // begins with the rule that it is part of
  std::string_view holds;
};

struct GuardCondition {
  std::string_view name;
  std::string_view holds;
};

enum class Guarded {
  by_control_planes,  // requests of buyers' control planes
  by_accounts,        // of accounts that buyers get for the handshake (fabric/account.h)
  in_guest_spaces,    // requests in their guest namespaces, whoever asks
  everywhere,         // what nobody but buyers has a reason to make
};

struct GuardPolicy {
  std::string_view name;
  Guarded guarded = Guarded::by_control_planes;
  std::vector<GuardedKind> kinds;
  bool with_record = false;      // its parameter is the buyer's record; asked of copies only
  std::string_view except = {};  // then none of the rules is asked
  // A webhook is asked only about objects with it, or that had it; empty: about all. For kinds that
  // everything in a cluster writes all the time.
  std::string_view webhook_label = {};
  std::vector<GuardVariable> variables;
  std::vector<GuardRule> rules;
};

std::vector<GuardPolicy> control_plane_policies();
std::vector<GuardPolicy> guest_policies();
std::vector<GuardPolicy> guard_policies();  // all, in the order in which they are asked

// What a request must be like for the policy to be asked.
std::vector<GuardCondition> conditions_of(const GuardPolicy& policy);
// The whole of a rule, with what is excepted.
std::string guarded_rule(const GuardPolicy& policy, const GuardRule& rule);

}  // namespace spillway::fabric::liqo
