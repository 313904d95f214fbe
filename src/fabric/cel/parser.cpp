// By descent, one function a rank of operators, lowest first:
//   ?:    ||    &&    == != < <= > >= in    + -    ! -    . [ ] ( )
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "fabric/cel/expression.h"
#include "fabric/cel/functions.h"
#include "fabric/cel/lexer.h"

namespace spillway::fabric::cel {
namespace {

using Kind = Expression::Kind;

constexpr std::array<std::string_view, 4> k_folds{"all", "exists", "filter", "map"};
constexpr std::array<std::string_view, 7> k_relations{"==", "!=", "<", "<=", ">", ">=", "in"};
constexpr std::array<std::string_view, 2> k_sums{"+", "-"};
constexpr std::array<std::string_view, 1> k_or{"||"};
constexpr std::array<std::string_view, 1> k_and{"&&"};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Expression> whole() {
    SPILLWAY_TRY(advance());
    auto made = choice();
    if (made && token_.kind != Token::Kind::end) return unexpected_token("the end");
    return made;
  }

 private:
  using Rank = Result<Expression> (Parser::*)();

  Status advance() {
    auto next = lexer_.next();
    if (!next) return tl::unexpected(std::move(next).error());
    token_ = std::move(*next);
    return {};
  }

  bool is_sign(std::string_view sign) const {
    return token_.kind == Token::Kind::sign && token_.text == sign;
  }

  Status expect(std::string_view sign) {
    if (!is_sign(sign)) return unexpected_token(sign);
    return advance();
  }

  tl::unexpected<Error> unexpected_token(std::string_view wanted) const {
    const std::string seen = token_.kind == Token::Kind::end ? "its end" : in_quotes(token_.text);
    return no_expression(token_.at, fmt::format("{} where {} was expected", seen, wanted));
  }

  Result<Expression> grown(Kind kind, std::string text, std::vector<Expression> parts) const {
    Expression made{kind, std::move(text), {}, {}, std::move(parts)};
    for (const Expression& part : made.parts) made.depth = std::max(made.depth, part.depth + 1);
    if (made.depth > k_deepest_expression) return no_expression(token_.at, "it nests too deeply");
    return made;
  }

  // What nests in the text nests here, too: brackets, signs before a value, choices.
  template <class F>
  Result<Expression> nested(F rank) {
    if (++nesting_ > k_deepest_expression) return no_expression(token_.at, "it nests too deeply");
    auto made = rank();
    --nesting_;
    return made;
  }

  Result<Expression> choice() {
    return nested([this]() -> Result<Expression> {
      auto condition = disjunction();
      if (!condition || !is_sign("?")) return condition;
      SPILLWAY_TRY(advance());
      auto yes = disjunction();
      if (!yes) return yes;
      SPILLWAY_TRY(expect(":"));
      auto no = choice();
      if (!no) return no;
      return grown(Kind::choose, {}, {std::move(*condition), std::move(*yes), std::move(*no)});
    });
  }

  // Operators of one rank, from the left.
  Result<Expression> chain(std::span<const std::string_view> signs, Kind kind, Rank rank) {
    auto left = (this->*rank)();
    while (left && token_.kind != Token::Kind::string &&
           std::find(signs.begin(), signs.end(), token_.text) != signs.end()) {
      std::string sign = token_.text;
      SPILLWAY_TRY(advance());
      auto right = (this->*rank)();
      if (!right) return right;
      left = grown(kind, std::move(sign), {std::move(*left), std::move(*right)});
    }
    return left;
  }
  Result<Expression> disjunction() { return chain(k_or, Kind::either, &Parser::conjunction); }
  Result<Expression> conjunction() { return chain(k_and, Kind::both, &Parser::relation); }
  Result<Expression> relation() { return chain(k_relations, Kind::binary, &Parser::sum); }
  Result<Expression> sum() { return chain(k_sums, Kind::binary, &Parser::unary); }

  Result<Expression> unary() {
    if (!is_sign("!") && !is_sign("-")) return member();
    return nested([this]() -> Result<Expression> {
      std::string sign = token_.text;
      SPILLWAY_TRY(advance());
      auto of = unary();
      if (!of) return of;
      return grown(Kind::negate, std::move(sign), {std::move(*of)});
    });
  }

  Result<Expression> member() {
    auto made = primary();
    while (made && (is_sign(".") || is_sign("["))) {
      made = is_sign(".") ? dotted(std::move(*made)) : indexed(std::move(*made));
    }
    return made;
  }

  Result<bool> takes_question_mark() {
    const bool is_maybe = is_sign("?");
    if (is_maybe) SPILLWAY_TRY(advance());
    return is_maybe;
  }

  Result<Expression> dotted(Expression of) {
    SPILLWAY_TRY(advance());
    const auto is_maybe = takes_question_mark();
    if (!is_maybe) return tl::unexpected(is_maybe.error());
    if (token_.kind != Token::Kind::name) return unexpected_token("a name");
    const Token name = token_;
    SPILLWAY_TRY(advance());
    if (*is_maybe || !is_sign("(")) {
      return grown(*is_maybe ? Kind::maybe_select : Kind::select, name.text, {std::move(of)});
    }
    auto arguments = items("(", ")");
    if (!arguments) return tl::unexpected(arguments.error());
    if (std::find(k_folds.begin(), k_folds.end(), name.text) != k_folds.end()) {
      return fold(name, std::move(of), std::move(*arguments));
    }
    if (!has_function(name.text, Called::on_a_value, arguments->size())) {
      return no_function(name, ".", arguments->size());
    }
    arguments->insert(arguments->begin(), std::move(of));
    return grown(Kind::method, name.text, std::move(*arguments));
  }

  Result<Expression> fold(const Token& name, Expression range, std::vector<Expression> arguments) {
    if (arguments.size() != 2 || arguments[0].kind != Kind::name) {
      return no_expression(name.at, fmt::format("{} takes a name and an expression", name.text));
    }
    std::string variable = std::move(arguments[0].text);
    auto made = grown(Kind::fold, name.text, {std::move(range), std::move(arguments[1])});
    if (made) made->variable = std::move(variable);
    return made;
  }

  Result<Expression> indexed(Expression of) {
    SPILLWAY_TRY(advance());
    const auto is_maybe = takes_question_mark();
    if (!is_maybe) return tl::unexpected(is_maybe.error());
    auto by = choice();
    if (!by) return by;
    SPILLWAY_TRY(expect("]"));
    return grown(*is_maybe ? Kind::maybe_index : Kind::index, {}, {std::move(of), std::move(*by)});
  }

  static tl::unexpected<Error> no_function(const Token& name, std::string_view before,
                                           size_t arguments) {
    return no_expression(name.at, fmt::format("{}{}() with {} arguments is not supported", before,
                                              name.text, arguments));
  }

  // From the bracket to its end.
  Result<std::vector<Expression>> items(std::string_view open, std::string_view close) {
    SPILLWAY_TRY(expect(open));
    std::vector<Expression> made;
    while (!is_sign(close)) {
      if (!made.empty()) SPILLWAY_TRY(expect(","));
      auto one = choice();
      if (!one) return tl::unexpected(std::move(one).error());
      made.push_back(std::move(*one));
    }
    SPILLWAY_TRY(advance());
    return made;
  }

  Result<Expression> map() {
    SPILLWAY_TRY(expect("{"));
    std::vector<Expression> made;
    while (!is_sign("}")) {
      if (!made.empty()) SPILLWAY_TRY(expect(","));
      auto key = choice();
      if (!key) return key;
      SPILLWAY_TRY(expect(":"));
      auto value = choice();
      if (!value) return value;
      made.push_back(std::move(*key));
      made.push_back(std::move(*value));
    }
    SPILLWAY_TRY(advance());
    return grown(Kind::map, {}, std::move(made));
  }

  Result<Expression> literal(Value value) {
    SPILLWAY_TRY(advance());
    return Expression{Kind::literal, {}, {}, std::move(value), {}};
  }

  Result<Expression> number() {
    int64_t value = 0;
    const std::string& text = token_.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return no_expression(token_.at, "the number is too large");
    return literal({value});
  }

  Result<Expression> named() {
    if (token_.text == "true") return literal({true});
    if (token_.text == "false") return literal({false});
    if (token_.text == "null") return literal({});
    if (token_.text == "in") return unexpected_token("a value");
    const Token name = token_;
    SPILLWAY_TRY(advance());
    if (!is_sign("(")) return Expression{Kind::name, name.text, {}, {}, {}};
    auto arguments = items("(", ")");
    if (!arguments) return tl::unexpected(arguments.error());
    if (!has_function(name.text, Called::on_nothing, arguments->size())) {
      return no_function(name, "", arguments->size());
    }
    return grown(Kind::call, name.text, std::move(*arguments));
  }

  Result<Expression> primary() {
    if (token_.kind == Token::Kind::number) return number();
    if (token_.kind == Token::Kind::string) return literal(text_value(token_.text));
    if (token_.kind == Token::Kind::name) return named();
    if (is_sign("{")) return map();
    if (is_sign("[")) {
      auto made = items("[", "]");
      if (!made) return tl::unexpected(std::move(made).error());
      return grown(Kind::list, {}, std::move(*made));
    }
    if (!is_sign("(")) return unexpected_token("a value");
    SPILLWAY_TRY(advance());
    auto made = choice();
    if (!made) return made;
    SPILLWAY_TRY(expect(")"));
    return made;
  }

  Lexer lexer_;
  Token token_;
  int nesting_ = 0;
};

}  // namespace

Result<Expression> parse(std::string_view text) {
  if (text.size() > k_longest_expression) return no_expression(0, "it is too long");
  return Parser(text).whole();
}

}  // namespace spillway::fabric::cel
