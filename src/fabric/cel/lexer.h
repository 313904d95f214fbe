// The words of an expression. A string is taken apart here, with its escapes; every other word is
// as it was written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::fabric::cel {

struct Token {
  enum class Kind : uint8_t { end, name, number, string, sign };
  Kind kind = Kind::end;
  std::string text;
  size_t at = 0;  // in the expression
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Result<Token> next();

 private:
  Result<Token> read_string();
  Token read_while(Token::Kind kind, bool (*is_part)(char));

  std::string_view text_;
  size_t at_ = 0;
};

// "expression column 7: reason".
tl::unexpected<Error> no_expression(size_t at, std::string reason);

}  // namespace spillway::fabric::cel
