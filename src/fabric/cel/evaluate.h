// What an expression comes to, given what it can name. Never throws, never runs for long: what
// cannot be told is a Failure, and whoever asked a rule takes that for a refusal.
#pragma once

#include <optional>
#include <string_view>

#include "fabric/cel/expression.h"

namespace spillway::fabric::cel {

class Scope {
 public:
  virtual ~Scope() = default;
  // "object", "request", …; nothing: it is not known here.
  virtual std::optional<Value> name(std::string_view name) = 0;
  // Of "variables.NAME".
  virtual std::optional<Value> variable(std::string_view name) = 0;
};

Value evaluate(const Expression& expression, Scope& scope, Budget& budget);

}  // namespace spillway::fabric::cel
