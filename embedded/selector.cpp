#include "embedded/selector.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;
using Op = Requirement::Op;

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool compares(const std::string& value, const Requirement& requirement) {
  const auto left = whole(value);
  const auto right = requirement.values.empty() ? std::nullopt : whole(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == Op::greater ? *left > *right : *left < *right;
}

// At commas that are not within parentheses.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      terms.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && depth > 0) {
      --depth;
    }
  }
  return terms;
}

bool is_key(std::string_view text) {
  return !text.empty() && text.find_first_of(" ()=!,") == std::string_view::npos;
}

std::optional<Requirement> parse_equality(std::string_view term) {
  const size_t at = term.find('=');
  if (at == std::string_view::npos) return std::nullopt;
  const bool negated = at > 0 && term[at - 1] == '!';
  const bool doubled = at + 1 < term.size() && term[at + 1] == '=';
  const std::string_view key = trim(term.substr(0, negated ? at - 1 : at));
  const std::string_view value = trim(term.substr(at + (doubled ? 2 : 1)));
  if (!is_key(key) || value.find_first_of("=!()") != std::string_view::npos) return std::nullopt;
  return Requirement{std::string(key), negated ? Op::not_in : Op::in, {std::string(value)}};
}

std::optional<Requirement> parse_set(std::string_view term) {
  const size_t open = term.find('(');
  if (open == std::string_view::npos || !term.ends_with(')')) return std::nullopt;
  const std::string_view head = trim(term.substr(0, open));
  const size_t space = head.find_last_of(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = head.substr(space + 1);
  const std::string_view key = trim(head.substr(0, space));
  if (!is_key(key) || (word != "in" && word != "notin")) return std::nullopt;
  Requirement requirement{std::string(key), word == "in" ? Op::in : Op::not_in, {}};
  for (const std::string_view value : split_terms(term.substr(open + 1, term.size() - open - 2))) {
    requirement.values.emplace_back(value);
  }
  return requirement;
}

std::optional<Requirement> parse_term(std::string_view term) {
  if (auto set = parse_set(term)) return set;
  if (auto equality = parse_equality(term)) return equality;
  if (term.starts_with('!')) {
    const std::string_view key = trim(term.substr(1));
    if (is_key(key)) return Requirement{std::string(key), Op::missing, {}};
    return std::nullopt;
  }
  if (is_key(term)) return Requirement{std::string(term), Op::exists, {}};
  return std::nullopt;
}

Op read_op(std::string_view text) {
  if (text == "In") return Op::in;
  if (text == "NotIn") return Op::not_in;
  if (text == "Exists") return Op::exists;
  if (text == "DoesNotExist") return Op::missing;
  return text == "Gt" ? Op::greater : Op::less;
}

}  // namespace

bool Requirement::matches(const Pairs& pairs) const {
  const std::string* value = find_pair(pairs, key);
  const auto is_listed = [&] {
    return std::find(values.begin(), values.end(), *value) != values.end();
  };
  switch (op) {
    case Op::in:
      return value != nullptr && is_listed();
    case Op::not_in:
      return value == nullptr || !is_listed();
    case Op::exists:
      return value != nullptr;
    case Op::missing:
      return value == nullptr;
    case Op::greater:
    case Op::less:
      break;
  }
  return value != nullptr && compares(*value, *this);
}

bool Selector::matches(const Pairs& pairs) const {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const Requirement& requirement) { return requirement.matches(pairs); });
}

Answer<Selector> parse_label_selector(std::string_view text) {
  Selector selector;
  if (trim(text).empty()) return selector;
  for (const std::string_view term : split_terms(text)) {
    auto requirement = parse_term(term);
    if (!requirement) {
      return bad_request(fmt::format(
          "unable to parse requirement: found '{}', expected: identifier, '!', 'in', 'notin', '='",
          term));
    }
    selector.requirements.push_back(std::move(*requirement));
  }
  return selector;
}

Answer<Selector> parse_field_selector(std::string_view text) {
  Selector selector;
  if (trim(text).empty()) return selector;
  for (const std::string_view term : split_terms(text)) {
    auto requirement = parse_equality(term);
    if (!requirement) {
      return bad_request(
          fmt::format("invalid field selector: '{}'; can't understand '{}'", text, term));
    }
    selector.requirements.push_back(std::move(*requirement));
  }
  return selector;
}

std::optional<Selector> read_selector(const Node* node) {
  if (node == nullptr) return std::nullopt;
  Selector selector = read_expressions(model::items_at(*node, {"matchExpressions"}));
  for (const Node& label : model::items_at(*node, {"matchLabels"})) {
    selector.requirements.push_back({label.key, Op::in, {label.text}});
  }
  return selector;
}

Selector read_expressions(const std::vector<Node>& expressions) {
  Selector selector;
  for (const Node& expression : expressions) {
    Requirement requirement{std::string(model::text_at(expression, {"key"})),
                            read_op(model::text_at(expression, {"operator"})),
                            {}};
    for (const Node& value : model::items_at(expression, {"values"})) {
      requirement.values.push_back(value.text);
    }
    selector.requirements.push_back(std::move(requirement));
  }
  return selector;
}

Pairs read_labels(const Node* labels) {
  Pairs pairs;
  if (labels == nullptr) return pairs;
  for (const Node& label : labels->items) pairs.emplace_back(label.key, label.text);
  return pairs;
}

}  // namespace spillway::embedded
