#include "fabric/cel/evaluate.h"

#include <utility>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/text.h"
#include "fabric/cel/functions.h"

namespace spillway::fabric::cel {
namespace {

using Kind = Expression::Kind;

Value no_key(std::string_view key) {
  return failure_value(fmt::format("there is no {}", in_quotes(key)));
}

Value no_operator(std::string_view sign, const Value& a, const Value& b) {
  return failure_value(fmt::format("{} is not for {} and {}", sign, kind_of(a), kind_of(b)));
}

Value no_truth(std::string_view what, const Value& value) {
  return failure_value(fmt::format("{} wants a bool, and this is a {}", what, kind_of(value)));
}

class Evaluation {
 public:
  Evaluation(Scope& scope, Budget& budget) : scope_(scope), budget_(budget) {}

  Value of(const Expression& e) {
    if (!budget_.take()) return out_of_budget();
    switch (e.kind) {
      case Kind::literal:
        return e.value;
      case Kind::name:
        return name(e.text);
      case Kind::list:
        return list(e);
      case Kind::map:
        return map(e);
      case Kind::select:
        return select(e);
      case Kind::maybe_select:
        return maybe(of(e.parts[0]), Value{Text{e.text}});
      case Kind::index:
        return index(of(e.parts[0]), of(e.parts[1]));
      case Kind::maybe_index:
        return maybe(of(e.parts[0]), of(e.parts[1]));
      case Kind::call:
        return called(e, Called::on_nothing);
      case Kind::method:
        return method(e);
      case Kind::fold:
        return fold(e);
      case Kind::negate:
        return negate(e);
      case Kind::both:
        return logical(e, false);
      case Kind::either:
        return logical(e, true);
      case Kind::choose:
        return choose(e);
      case Kind::binary:
        return binary(e.text, of(e.parts[0]), of(e.parts[1]));
    }
    return failure_value("an expression of no kind");
  }

 private:
  Value name(std::string_view name) {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->first == name) return local->second;
    }
    auto found = scope_.name(name);
    return found ? std::move(*found)
                 : failure_value(fmt::format("{} is not known here", in_quotes(name)));
  }

  bool is_local(std::string_view name) const {
    for (const auto& local : locals_) {
      if (local.first == name) return true;
    }
    return false;
  }

  Value list(const Expression& e) {
    List items;
    for (const Expression& part : e.parts) {
      Value item = of(part);
      if (item.failure()) return item;
      items.push_back(std::move(item));
    }
    return list_value(std::move(items));
  }

  Value map(const Expression& e) {
    Map members;
    for (size_t i = 0; i < e.parts.size(); i += 2) {
      const Value key = of(e.parts[i]);
      Value value = of(e.parts[i + 1]);
      if (key.failure()) return key;
      if (value.failure()) return value;
      const auto* text = key.as<Text>();
      if (text == nullptr) return failure_value("of maps there are those with strings as keys");
      members.emplace_back(text->view, std::move(value));
    }
    return {std::make_shared<const Map>(std::move(members))};
  }

  // Nothing: there is no such thing in it; a number, for instance, has nothing in it at all.
  std::optional<Value> look(const Value& in, const Value& by) {
    const Items items(in);
    if (items.is_list()) {
      const auto* at = by.as<int64_t>();
      if (at == nullptr) return no_operator("[]", in, by);
      const bool is_there = *at >= 0 && static_cast<uint64_t>(*at) < items.size();
      return is_there ? std::optional(items.at(static_cast<size_t>(*at))) : std::nullopt;
    }
    const auto* key = by.as<Text>();
    if (!items.is_map() || key == nullptr) return std::nullopt;
    if (!budget_.take_bytes(items.size())) return out_of_budget();
    const size_t found = items.find(key->view);
    return found == items.size() ? std::nullopt : std::optional(items.at(found));
  }

  Value select(const Expression& e) {
    const Expression& from = e.parts[0];
    if (from.kind == Kind::name && from.text == "variables" && !is_local(from.text)) {
      auto found = scope_.variable(e.text);
      return found ? std::move(*found) : no_key(e.text);
    }
    return index(of(from), Value{Text{e.text}});
  }

  Value index(const Value& in, const Value& by) {
    if (in.failure()) return in;
    if (by.failure()) return by;
    if (in.as<Optional>()) return maybe(in, by);  // what comes of it may be missing, too
    auto found = look(in, by);
    if (found) return std::move(*found);
    return by.as<Text>() ? no_key(by.as<Text>()->view)
                         : failure_value("there is no item so far on");
  }

  Value maybe(const Value& in, const Value& by) {
    if (in.failure()) return in;
    if (by.failure()) return by;
    const auto* optional = in.as<Optional>();
    if (optional != nullptr && optional->value == nullptr) return in;
    auto found = look(optional ? *optional->value : in, by);
    if (!found) return {Optional{}};
    return found->failure() ? std::move(*found) : optional_value(std::move(*found));
  }

  Value called(const Expression& e, Called how) {
    List arguments;
    for (const Expression& part : e.parts) {
      Value argument = of(part);
      if (argument.failure()) return argument;
      arguments.push_back(std::move(argument));
    }
    return call(e.text, how, arguments, budget_);
  }

  // What stands for something missing is looked at only if it is missing.
  Value method(const Expression& e) {
    if (e.text != "orValue") return called(e, Called::on_a_value);
    Value maybe = of(e.parts[0]);
    const auto* optional = maybe.as<Optional>();
    if (maybe.failure() || (optional && optional->value)) {
      return optional ? *optional->value : maybe;
    }
    if (optional == nullptr) return no_operator("orValue", maybe, {});
    return of(e.parts[1]);
  }

  Value negate(const Expression& e) {
    const Value value = of(e.parts[0]);
    if (value.failure()) return value;
    if (const auto* truth = value.as<bool>(); truth && e.text == "!") return {!*truth};
    if (const auto* number = value.as<double>(); number && e.text == "-") return {-*number};
    const auto* number = value.as<int64_t>();
    if (number == nullptr || e.text == "!") {
      return failure_value(fmt::format("{} is not for {}", e.text, kind_of(value)));
    }
    if (*number == INT64_MIN) return failure_value("a number left its range");
    return {-*number};
  }

  // CEL's own: one side that decides is enough, whichever it is and whatever the other does.
  static Value joined(Value a, Value b, bool deciding) {
    const auto* first = a.as<bool>();
    const auto* second = b.as<bool>();
    if ((first && *first == deciding) || (second && *second == deciding)) return {deciding};
    if (first && second) return {!deciding};
    Value& wrong = first ? b : a;
    return wrong.failure() ? std::move(wrong) : no_truth(deciding ? "||" : "&&", wrong);
  }

  Value logical(const Expression& e, bool deciding) {
    Value left = of(e.parts[0]);
    if (const auto* truth = left.as<bool>(); truth && *truth == deciding) return left;
    return joined(std::move(left), of(e.parts[1]), deciding);
  }

  Value choose(const Expression& e) {
    const Value condition = of(e.parts[0]);
    if (condition.failure()) return condition;
    const auto* truth = condition.as<bool>();
    if (truth == nullptr) return no_truth("?:", condition);
    return of(e.parts[*truth ? 1 : 2]);
  }

  Value binary(std::string_view sign, const Value& a, const Value& b) {
    if (a.failure()) return a;
    if (b.failure()) return b;
    if (sign == "==") return equal(a, b, budget_);
    if (sign == "in") return is_in(a, b);
    if (sign == "+") return add(a, b);
    if (sign == "-") return subtract(a, b);
    if (sign == "!=") {
      const Value same = equal(a, b, budget_);
      return same.failure() ? same : Value{!*same.as<bool>()};
    }
    const Value order = compare(a, b, budget_);
    if (order.failure()) return order;
    const int64_t sides = *order.as<int64_t>();
    if (sides == 0) return {sign == "<=" || sign == ">="};
    return {(sides < 0) == sign.starts_with('<')};
  }

  Value is_in(const Value& a, const Value& b) {
    const Items items(b);
    if (items.is_map()) {
      const auto* key = a.as<Text>();
      if (!budget_.take_bytes(items.size())) return out_of_budget();
      return {key != nullptr && items.find(key->view) != items.size()};
    }
    if (!items.is_list()) return no_operator("in", a, b);
    for (size_t i = 0; i < items.size(); ++i) {
      Value same = equal(a, items.at(i), budget_);
      if (same.failure() || *same.as<bool>()) return same;
    }
    return {false};
  }

  static Value number_or_failure(std::optional<int64_t> number) {
    return number ? Value{*number} : failure_value("a number left its range");
  }

  Value add(const Value& a, const Value& b) {
    if (a.as<int64_t>() && b.as<int64_t>()) {
      return number_or_failure(try_add(*a.as<int64_t>(), *b.as<int64_t>()));
    }
    if (a.as<double>() && b.as<double>()) return {*a.as<double>() + *b.as<double>()};
    if (a.as<Text>() && b.as<Text>()) {
      const std::string_view first = a.as<Text>()->view;
      const std::string_view second = b.as<Text>()->view;
      if (!budget_.take_bytes(first.size() + second.size())) return out_of_budget();
      return text_value(fmt::format("{}{}", first, second));
    }
    const Items first(a);
    const Items second(b);
    if (!first.is_list() || !second.is_list()) return no_operator("+", a, b);
    if (!budget_.take(first.size() + second.size())) return out_of_budget();
    List sum;
    for (size_t i = 0; i < first.size(); ++i) sum.push_back(first.at(i));
    for (size_t i = 0; i < second.size(); ++i) sum.push_back(second.at(i));
    return list_value(std::move(sum));
  }

  static Value subtract(const Value& a, const Value& b) {
    if (a.as<double>() && b.as<double>()) return {*a.as<double>() - *b.as<double>()};
    if (!a.as<int64_t>() || !b.as<int64_t>()) return no_operator("-", a, b);
    int64_t difference = 0;
    const bool is_past = __builtin_sub_overflow(*a.as<int64_t>(), *b.as<int64_t>(), &difference);
    return number_or_failure(is_past ? std::nullopt : std::optional(difference));
  }

  Value fold(const Expression& e) {
    const Value range = of(e.parts[0]);
    if (range.failure()) return range;
    const Items items(range);
    if (!items.is_list() && !items.is_map()) {
      return failure_value(fmt::format("{} is not for {}", e.text, kind_of(range)));
    }
    const bool is_list = items.is_list();
    const auto each = [&](size_t i) {
      Value item = is_list ? items.at(i) : items.key_value(i);
      locals_.emplace_back(e.variable, item);
      Value result = of(e.parts[1]);
      locals_.pop_back();
      return std::pair(std::move(item), std::move(result));
    };
    if (e.text == "all" || e.text == "exists") return any_or_all(items.size(), e.text, each);
    return gather(items.size(), e.text, each);
  }

  // As `&&`, or `||`, of what every item comes to: a later one may decide in spite of a Failure.
  template <class Each>
  Value any_or_all(size_t size, std::string_view name, Each each) {
    const bool deciding = name == "exists";
    Value so_far{!deciding};
    for (size_t i = 0; i < size; ++i) {
      so_far = joined(std::move(so_far), each(i).second, deciding);
      if (const auto* truth = so_far.as<bool>(); truth && *truth == deciding) return so_far;
      if (!budget_.take()) return out_of_budget();
    }
    return so_far;
  }

  template <class Each>
  Value gather(size_t size, std::string_view name, Each each) {
    List gathered;
    for (size_t i = 0; i < size; ++i) {
      auto [item, result] = each(i);
      if (result.failure()) return std::move(result);
      if (name == "map") {
        gathered.push_back(std::move(result));
        continue;
      }
      const auto* is_wanted = result.template as<bool>();
      if (is_wanted == nullptr) return no_truth(name, result);
      if (*is_wanted) gathered.push_back(std::move(item));
    }
    return list_value(std::move(gathered));
  }

  Scope& scope_;
  Budget& budget_;
  std::vector<std::pair<std::string_view, Value>> locals_;
};

}  // namespace

Value evaluate(const Expression& expression, Scope& scope, Budget& budget) {
  return Evaluation(scope, budget).of(expression);
}

}  // namespace spillway::fabric::cel
