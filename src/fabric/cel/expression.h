// Expression: one of CEL, read once and evaluated often. What Kubernetes' dialect has beyond the
// guard's need is not there: parse() says so, by name.
//
// There are: null, booleans, whole numbers, strings; lists and maps; a.b, a[b], a.?b, a[?b];
// ! - + == != < <= > >= in && || ?:; the macros all, exists, filter, map; and the functions of
// fabric/cel/functions.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/cel/value.h"

namespace spillway::fabric::cel {

struct Expression {
  enum class Kind : uint8_t {
    literal,       // value
    name,          // text
    list,          // parts
    map,           // parts: key, value, key, value
    select,        // text of parts[0]
    maybe_select,  //
    index,         // parts[1] of parts[0]
    maybe_index,   //
    call,          // text(parts); of a method, parts[0] is what it is called on
    method,        //
    fold,          // parts[0].text(variable, parts[1])
    negate,        // parts[0], by "!" or "-"
    both,          // parts[0] && parts[1]
    either,        // parts[0] || parts[1]
    choose,        // parts[0] ? parts[1] : parts[2]
    binary,        // parts[0] text parts[1]
  };

  Kind kind = Kind::literal;
  std::string text;
  std::string variable;
  Value value;
  std::vector<Expression> parts;
  int depth = 1;  // of the tree from here on
};

inline constexpr size_t k_longest_expression = 16 * 1024;
inline constexpr int k_deepest_expression = 64;

// Invalid: it is no CEL, or more of it than there is here.
Result<Expression> parse(std::string_view text);

}  // namespace spillway::fabric::cel
