// Value: what an expression comes to. Errors are values, too: CEL's `false && error` is false.
//
// Objects of the API stay where they are: a Value of one points into its Node, which must outlive
// the evaluation, and so do strings. Only what an expression makes itself is owned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fabric/cel/budget.h"
#include "fabric/cidr.h"
#include "model/node.h"

namespace spillway::fabric::cel {

struct Value;
using List = std::vector<Value>;
using Map = std::vector<std::pair<std::string, Value>>;  // keys are strings, as in JSON

struct Text {
  std::string_view view;
  std::shared_ptr<const std::string> kept = nullptr;  // what `view` looks into, if it is our own
};

struct Optional {
  std::shared_ptr<const Value> value = nullptr;  // null: none
};

// Of Kubernetes, in thousandths: the two differ when it is finer than these.
struct Quantity {
  int64_t down = 0;
  int64_t up = 0;
};

struct Failure {
  std::string why;
};

struct Value {
  using Is = std::variant<std::monostate, bool, int64_t, double, Text, std::shared_ptr<const List>,
                          std::shared_ptr<const Map>, const model::Node*, Optional, Quantity, Cidr,
                          Failure>;
  Is is;  // nothing: null. A Node is an array or an object.

  template <class T>
  const T* as() const {
    return std::get_if<T>(&is);
  }
  const Failure* failure() const { return as<Failure>(); }
};

Value value_of(const model::Node& node);
Value text_value(std::string text);
Value list_value(List items);
Value optional_value(Value inner);
Value failure_value(std::string why);
Value out_of_budget();

// A list or a map, whoever made it: of the API, or of an expression. It looks into the value.
class Items {
 public:
  explicit Items(const Value& value);

  bool is_list() const;
  bool is_map() const;
  size_t size() const;
  Value at(size_t index) const;              // an item, or what a key has
  std::string_view key(size_t index) const;  // of a map
  Value key_value(size_t index) const;       // the same, and it may outlive the map
  size_t find(std::string_view key) const;   // of a map; size(): it is not there

 private:
  const model::Node* node_ = nullptr;
  const List* list_ = nullptr;
  const Map* map_ = nullptr;
};

// "list", "map", "string", "int", …; for errors.
std::string_view kind_of(const Value& value);

// As CEL has it: values of different kinds are not equal, but 1 == 1.0. A Failure when it takes too
// long.
Value equal(const Value& a, const Value& b, Budget& budget);
// Less than 0, 0, more than 0; a Failure when the two have no order.
Value compare(const Value& a, const Value& b, Budget& budget);

}  // namespace spillway::fabric::cel
