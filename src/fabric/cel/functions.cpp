#include "fabric/cel/functions.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"

namespace spillway::fabric::cel {
namespace {

using Arguments = std::span<const Value>;

Value no_overload(std::string_view name, Arguments arguments) {
  std::string kinds;
  for (const Value& one : arguments) {
    kinds += kinds.empty() ? "" : ", ";
    kinds += kind_of(one);
  }
  return failure_value(fmt::format("{} is not for {}", name, kinds));
}

// ---- strings: characters are code points, in valid UTF-8 ----

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), begins_character);
}

// Where the character of that number begins; nothing if there are fewer.
std::optional<size_t> offset_of(std::string_view text, int64_t character) {
  if (character < 0) return std::nullopt;
  int64_t seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (seen == character) return i;
    ++seen;
  }
  return seen == character ? std::optional(text.size()) : std::nullopt;
}

// A part of a text that somebody keeps.
Value part_of(const Text& whole, size_t from, size_t to) {
  return {Text{whole.view.substr(from, to - from), whole.kept}};
}

Value size_of(Arguments arguments, Budget& budget) {
  const Items items(arguments[0]);
  if (items.is_list() || items.is_map()) return {static_cast<int64_t>(items.size())};
  const auto* text = arguments[0].as<Text>();
  if (text == nullptr) return no_overload("size", arguments);
  return budget.take_bytes(text->view.size()) ? Value{characters_in(text->view)} : out_of_budget();
}

Value string_of(Arguments arguments, Budget& /*budget*/) {
  const Value& one = arguments[0];
  if (one.as<Text>()) return one;
  if (const auto* number = one.as<int64_t>()) return text_value(std::to_string(*number));
  if (const auto* truth = one.as<bool>()) return text_value(*truth ? "true" : "false");
  return no_overload("string", arguments);
}

Value test_text(std::string_view name, Arguments arguments, Budget& budget, auto test) {
  const auto* text = arguments[0].as<Text>();
  const auto* other = arguments[1].as<Text>();
  if (text == nullptr || other == nullptr) return no_overload(name, arguments);
  if (!budget.take_bytes(text->view.size() + other->view.size())) return out_of_budget();
  return {test(text->view, other->view)};
}

Value starts_with(Arguments arguments, Budget& budget) {
  return test_text(
      "startsWith", arguments, budget,
      [](std::string_view text, std::string_view with) { return text.starts_with(with); });
}

Value contains(Arguments arguments, Budget& budget) {
  return test_text("contains", arguments, budget, [](std::string_view text, std::string_view what) {
    return text.find(what) != std::string_view::npos;
  });
}

// Nothing between: every character by itself.
Value split(Arguments arguments, Budget& budget) {
  const auto* text = arguments[0].as<Text>();
  const auto* between = arguments[1].as<Text>();
  if (text == nullptr || between == nullptr) return no_overload("split", arguments);
  if (!budget.take_bytes(text->view.size())) return out_of_budget();
  const std::string_view whole = text->view;
  const bool by_character = between->view.empty();
  List parts;
  size_t from = 0;
  const auto end_of_part = [&] {
    if (!by_character) return whole.find(between->view, from);
    size_t end = from + 1;
    while (end < whole.size() && !begins_character(whole[end])) ++end;
    return end < whole.size() ? end : std::string_view::npos;
  };
  if (by_character && whole.empty()) return list_value({});
  for (;;) {
    if (!budget.take()) return out_of_budget();
    const size_t end = end_of_part();
    parts.push_back(part_of(*text, from, std::min(end, whole.size())));
    if (end == std::string_view::npos) return list_value(std::move(parts));
    from = end + between->view.size();
  }
}

Value substring(Arguments arguments, Budget& budget) {
  const auto* text = arguments[0].as<Text>();
  const auto* first = arguments[1].as<int64_t>();
  const auto* last = arguments.size() > 2 ? arguments[2].as<int64_t>() : nullptr;
  if (text == nullptr || first == nullptr || (arguments.size() > 2 && last == nullptr)) {
    return no_overload("substring", arguments);
  }
  if (!budget.take_bytes(2 * text->view.size())) return out_of_budget();
  const auto from = offset_of(text->view, *first);
  const auto to = last == nullptr ? std::optional(text->view.size()) : offset_of(text->view, *last);
  if (!from || !to || *from > *to) return failure_value("substring begins or ends outside of it");
  return part_of(*text, *from, *to);
}

// ---- optionals ----

Value has_value(Arguments arguments, Budget& /*budget*/) {
  const auto* optional = arguments[0].as<Optional>();
  return optional ? Value{optional->value != nullptr} : no_overload("hasValue", arguments);
}

Value or_value(Arguments arguments, Budget& /*budget*/) {
  const auto* optional = arguments[0].as<Optional>();
  if (optional == nullptr) return no_overload("orValue", arguments);
  return optional->value ? *optional->value : arguments[1];
}

// ---- Kubernetes ----

Value quantity_of(Arguments arguments, Budget& /*budget*/) {
  const auto* text = arguments[0].as<Text>();
  if (text == nullptr) return no_overload("quantity", arguments);
  const auto down = parse_quantity(text->view, QuantityStep::milli, Rounding::down);
  const auto up = parse_quantity(text->view, QuantityStep::milli, Rounding::up);
  if (!down || !up) return failure_value(fmt::format("{} is no quantity", in_quotes(text->view)));
  return {Quantity{*down, *up}};
}

Value is_greater(Arguments arguments, Budget& /*budget*/) {
  const auto* a = arguments[0].as<Quantity>();
  const auto* b = arguments[1].as<Quantity>();
  if (a == nullptr || b == nullptr) return no_overload("isGreaterThan", arguments);
  const bool a_is_fine = a->down != a->up;
  const bool b_is_fine = b->down != b->up;
  if (a_is_fine && b_is_fine && a->down == b->down) {
    return failure_value("quantities that are too fine to be compared");
  }
  // A fine one lies between its bounds, and is neither of them.
  if (b_is_fine) return {a->down >= b->up};
  return {a_is_fine ? a->down >= b->down : a->down > b->down};
}

Value is_ip(Arguments arguments, Budget& /*budget*/) {
  const auto* text = arguments[0].as<Text>();
  return text ? Value{parse_address(text->view).has_value()} : no_overload("isIP", arguments);
}

Value is_cidr(Arguments arguments, Budget& /*budget*/) {
  const auto* text = arguments[0].as<Text>();
  return text ? Value{parse_cidr(text->view).has_value()} : no_overload("isCIDR", arguments);
}

Value cidr_of(Arguments arguments, Budget& /*budget*/) {
  const auto* text = arguments[0].as<Text>();
  if (text == nullptr) return no_overload("cidr", arguments);
  const auto range = parse_cidr(text->view);
  if (!range) return failure_value(fmt::format("{} is no range", in_quotes(text->view)));
  return {*range};
}

Value contains_ip(Arguments arguments, Budget& /*budget*/) {
  const auto* range = arguments[0].as<Cidr>();
  const auto* text = arguments[1].as<Text>();
  if (range == nullptr || text == nullptr) return no_overload("containsIP", arguments);
  const auto address = parse_address(text->view);
  if (!address) return failure_value(fmt::format("{} is no address", in_quotes(text->view)));
  return {range->contains(*address)};
}

struct Function {
  std::string_view name;
  Called called;
  size_t fewest;  // arguments
  size_t most;
  Value (*run)(Arguments, Budget&);
};

constexpr std::array<Function, 15> k_functions{{
    {"size", Called::on_nothing, 1, 1, &size_of},
    {"size", Called::on_a_value, 0, 0, &size_of},
    {"string", Called::on_nothing, 1, 1, &string_of},
    {"startsWith", Called::on_a_value, 1, 1, &starts_with},
    {"contains", Called::on_a_value, 1, 1, &contains},
    {"split", Called::on_a_value, 1, 1, &split},
    {"substring", Called::on_a_value, 1, 2, &substring},
    {"hasValue", Called::on_a_value, 0, 0, &has_value},
    {"orValue", Called::on_a_value, 1, 1, &or_value},
    {"quantity", Called::on_nothing, 1, 1, &quantity_of},
    {"isGreaterThan", Called::on_a_value, 1, 1, &is_greater},
    {"isIP", Called::on_nothing, 1, 1, &is_ip},
    {"isCIDR", Called::on_nothing, 1, 1, &is_cidr},
    {"cidr", Called::on_nothing, 1, 1, &cidr_of},
    {"containsIP", Called::on_a_value, 1, 1, &contains_ip},
}};

const Function* find_function(std::string_view name, Called called) {
  const auto* const found =
      std::find_if(k_functions.begin(), k_functions.end(),
                   [&](const Function& one) { return one.name == name && one.called == called; });
  return found == k_functions.end() ? nullptr : found;
}

}  // namespace

bool has_function(std::string_view name, Called called, size_t arguments) {
  const Function* found = find_function(name, called);
  return found != nullptr && arguments >= found->fewest && arguments <= found->most;
}

Value call(std::string_view name, Called called, std::span<const Value> arguments, Budget& budget) {
  return find_function(name, called)->run(arguments, budget);
}

}  // namespace spillway::fabric::cel
