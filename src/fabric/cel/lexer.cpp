#include "fabric/cel/lexer.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace spillway::fabric::cel {
namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr std::array<std::string_view, 6> k_long_signs{"==", "!=", "<=", ">=", "&&", "||"};
constexpr std::string_view k_short_signs = "<>!?:+-.,()[]{}";

}  // namespace

tl::unexpected<Error> no_expression(size_t at, std::string reason) {
  return fail(Code::invalid, fmt::format("expression column {}", at + 1), std::move(reason),
              "write it with what fabric/cel/expression.h lists");
}

Token Lexer::read_while(Token::Kind kind, bool (*is_part)(char)) {
  const size_t from = at_;
  while (at_ < text_.size() && is_part(text_[at_])) ++at_;
  return {kind, std::string(text_.substr(from, at_ - from)), from};
}

Result<Token> Lexer::read_string() {
  Token token{Token::Kind::string, {}, at_};
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote) {
    char c = text_[at_++];
    if (c == '\n') return no_expression(at_ - 1, "a string does not go over lines");
    if (c == '\\') {
      const char escaped = at_ < text_.size() ? text_[at_++] : '\0';
      if (escaped != '\\' && escaped != '\'' && escaped != '"') {
        return no_expression(at_ - 1, "of escapes there are \\\\, \\' and \\\" alone");
      }
      c = escaped;
    }
    token.text += c;
  }
  if (at_ == text_.size()) return no_expression(token.at, "the string does not end");
  ++at_;
  if (!is_utf8(token.text)) return no_expression(token.at, "the string is no UTF-8");
  return token;
}

Result<Token> Lexer::next() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  if (at_ == text_.size()) return Token{Token::Kind::end, {}, at_};
  const char c = text_[at_];
  if (c == '\'' || c == '"') return read_string();
  if (begins_name(c)) {
    Token name = read_while(Token::Kind::name, &continues_name);
    const bool is_prefix = at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"');
    if (is_prefix) return no_expression(name.at, "raw strings and bytes are not supported");
    return name;
  }
  if (is_digit(c)) {
    Token number = read_while(Token::Kind::number, &is_digit);
    const char after = at_ < text_.size() ? text_[at_] : ' ';
    if (after == '.' || continues_name(after)) {
      return no_expression(number.at, "of numbers there are whole ones alone, in decimal");
    }
    return number;
  }
  for (const std::string_view sign : k_long_signs) {
    if (!text_.substr(at_).starts_with(sign)) continue;
    at_ += sign.size();
    return Token{Token::Kind::sign, std::string(sign), at_ - sign.size()};
  }
  if (k_short_signs.find(c) == std::string_view::npos) {
    return no_expression(at_, fmt::format("{} is not supported", in_quotes(text_.substr(at_, 1))));
  }
  return Token{Token::Kind::sign, std::string(1, c), at_++};
}

}  // namespace spillway::fabric::cel
