// The rules of the guard as tables: what each policy is about, and what must hold, in CEL.
#pragma once

#include <span>
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
  std::vector<GuardVariable> variables;
  std::vector<GuardRule> rules;
};

std::vector<GuardPolicy> control_plane_policies();
std::vector<GuardPolicy> guest_policies();

}  // namespace spillway::fabric::liqo
