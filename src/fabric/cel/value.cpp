#include "fabric/cel/value.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace spillway::fabric::cel {
namespace {

using model::Node;

// As Kubernetes reads what is no integer.
Value decimal_value(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return {value};
  return failure_value("a number that is out of range");
}

bool is_number(const Value& value) { return value.as<int64_t>() || value.as<double>(); }

int sign_of(bool is_less, bool is_more) { return is_less ? -1 : is_more ? 1 : 0; }

constexpr double k_past_int64 = 9223372036854775808.0;  // 2^63

// Exactly, also where a double cannot tell neighbouring integers apart.
std::optional<int> compare_mixed(int64_t whole, double other) {
  if (other != other) return std::nullopt;
  if (other >= k_past_int64) return -1;
  if (other < -k_past_int64) return 1;
  const auto floor = static_cast<int64_t>(other);  // towards zero
  if (whole != floor) return whole < floor ? -1 : 1;
  const double rest = other - static_cast<double>(floor);
  return sign_of(rest > 0, rest < 0);
}

std::optional<int> compare_numbers(const Value& a, const Value& b) {
  const auto* const whole_a = a.as<int64_t>();
  const auto* const whole_b = b.as<int64_t>();
  if (whole_a && whole_b) return sign_of(*whole_a<*whole_b, *whole_a> * whole_b);
  if (whole_a) return compare_mixed(*whole_a, *b.as<double>());
  if (whole_b) {
    const auto other = compare_mixed(*whole_b, *a.as<double>());
    return other ? std::optional(-*other) : std::nullopt;
  }
  const double x = *a.as<double>();
  const double y = *b.as<double>();
  return x != x || y != y ? std::nullopt : std::optional(sign_of(x<y, x> y));
}

enum class Same { no, yes, unknown };  // unknown: there was no budget left to find out

Same same_values(const Value& a, const Value& b, Budget& budget);

Same same_lists(const Items& a, const Items& b, Budget& budget) {
  if (a.size() != b.size()) return Same::no;
  for (size_t i = 0; i < a.size(); ++i) {
    const Same one = same_values(a.at(i), b.at(i), budget);
    if (one != Same::yes) return one;
  }
  return Same::yes;
}

Same same_maps(const Items& a, const Items& b, Budget& budget) {
  if (a.size() != b.size()) return Same::no;
  for (size_t i = 0; i < a.size(); ++i) {
    // What was written in the same order is found at once.
    size_t there = i;
    if (b.key(i) != a.key(i)) {
      if (!budget.take_bytes(b.size())) return Same::unknown;
      there = b.find(a.key(i));
    }
    if (there == b.size()) return Same::no;
    const Same one = same_values(a.at(i), b.at(there), budget);
    if (one != Same::yes) return one;
  }
  return Same::yes;
}

Same same_if(bool is_same) { return is_same ? Same::yes : Same::no; }

Same same_optionals(const Optional& a, const Optional& b, Budget& budget) {
  if (!a.value || !b.value) return same_if(!a.value && !b.value);
  return same_values(*a.value, *b.value, budget);
}

bool same_quantities(const Quantity& a, const Quantity& b) {
  return a.down == b.down && a.up == b.up;
}

Same same_values(const Value& a, const Value& b, Budget& budget) {
  if (!budget.take()) return Same::unknown;
  if (is_number(a) && is_number(b)) return same_if(compare_numbers(a, b) == 0);
  const Items in_a(a);
  const Items in_b(b);
  if (in_a.is_list() && in_b.is_list()) return same_lists(in_a, in_b, budget);
  if (in_a.is_map() && in_b.is_map()) return same_maps(in_a, in_b, budget);
  if (a.is.index() != b.is.index()) return Same::no;
  if (const auto* text = a.as<Text>()) {
    if (!budget.take_bytes(text->view.size())) return Same::unknown;
    return same_if(text->view == b.as<Text>()->view);
  }
  if (const auto* one = a.as<Optional>()) return same_optionals(*one, *b.as<Optional>(), budget);
  if (const auto* one = a.as<bool>()) return same_if(*one == *b.as<bool>());
  if (const auto* one = a.as<Cidr>()) return same_if(*one == *b.as<Cidr>());
  if (const auto* one = a.as<Quantity>()) {
    return same_if(same_quantities(*one, *b.as<Quantity>()));
  }
  return same_if(a.as<std::monostate>() != nullptr);  // two nulls; or a list beside a map
}

}  // namespace

Value value_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return {};
    case Node::Kind::boolean:
      return {node.boolean};
    case Node::Kind::integer:
      return {node.integer};
    case Node::Kind::decimal:
      return decimal_value(node.text);
    case Node::Kind::string:
      return {Text{node.text}};
    case Node::Kind::array:
    case Node::Kind::object:
      return {&node};
  }
  return {};
}

Value text_value(std::string text) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  return {Text{*kept, kept}};
}

Value list_value(List items) { return {std::make_shared<const List>(std::move(items))}; }

Value optional_value(Value inner) {
  return {Optional{std::make_shared<const Value>(std::move(inner))}};
}

Value failure_value(std::string why) { return {Failure{std::move(why)}}; }

Value out_of_budget() { return failure_value("there is too much in it to be judged"); }

Items::Items(const Value& value) {
  if (const auto* node = value.as<const Node*>()) node_ = *node;
  if (const auto* list = value.as<std::shared_ptr<const List>>()) list_ = list->get();
  if (const auto* map = value.as<std::shared_ptr<const Map>>()) map_ = map->get();
}

bool Items::is_list() const {
  return list_ != nullptr || (node_ != nullptr && node_->kind == Node::Kind::array);
}

bool Items::is_map() const {
  return map_ != nullptr || (node_ != nullptr && node_->kind == Node::Kind::object);
}

size_t Items::size() const {
  if (node_ != nullptr) return node_->items.size();
  if (list_ != nullptr) return list_->size();
  return map_ != nullptr ? map_->size() : 0;
}

Value Items::at(size_t index) const {
  if (node_ != nullptr) return value_of(node_->items[index]);
  return list_ != nullptr ? (*list_)[index] : (*map_)[index].second;
}

std::string_view Items::key(size_t index) const {
  return node_ != nullptr ? std::string_view(node_->items[index].key)
                          : std::string_view((*map_)[index].first);
}

Value Items::key_value(size_t index) const {
  return node_ != nullptr ? Value{Text{key(index)}} : text_value(std::string(key(index)));
}

size_t Items::find(std::string_view wanted) const {
  for (size_t i = 0; i < size(); ++i) {
    if (key(i) == wanted) return i;
  }
  return size();
}

std::string_view kind_of(const Value& value) {
  constexpr std::string_view k_names[] = {"null",     "bool",     "int",  "double",
                                          "string",   "list",     "map",  "map",
                                          "optional", "quantity", "CIDR", "error"};
  if (Items(value).is_list()) return "list";
  return k_names[value.is.index()];
}

Value equal(const Value& a, const Value& b, Budget& budget) {
  const Same same = same_values(a, b, budget);
  return same == Same::unknown ? out_of_budget() : Value{same == Same::yes};
}

Value compare(const Value& a, const Value& b, Budget& budget) {
  std::optional<int> order;
  if (is_number(a) && is_number(b)) order = compare_numbers(a, b);
  if (a.as<Text>() && b.as<Text>()) {
    const std::string_view text = a.as<Text>()->view;
    if (!budget.take_bytes(text.size())) return out_of_budget();
    const int order_of_bytes = text.compare(b.as<Text>()->view);
    order = sign_of(order_of_bytes<0, order_of_bytes> 0);
  }
  if (order) return {int64_t{*order}};
  return failure_value(fmt::format("{} and {} have no order", kind_of(a), kind_of(b)));
}

}  // namespace spillway::fabric::cel
