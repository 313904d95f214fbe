#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "fabric/cel/evaluate.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric::cel {
namespace {

using model::Node;

class OneObject final : public Scope {
 public:
  explicit OneObject(const Node& object) : object_(object) {}
  std::optional<Value> name(std::string_view name) override {
    return name == "object" ? std::optional(value_of(object_)) : std::nullopt;
  }
  std::optional<Value> variable(std::string_view name) override {
    asked.emplace_back(name);
    return name == "known" ? std::optional(Value{int64_t{7}}) : std::nullopt;
  }
  std::vector<std::string> asked;

 private:
  const Node& object_;
};

Node json_of(const Value& value) {
  if (const auto* truth = value.as<bool>()) return model::boolean_node(*truth);
  if (const auto* number = value.as<int64_t>()) return model::integer_node(*number);
  if (const auto* text = value.as<Text>()) return model::text_node(text->view);
  if (const auto* node = value.as<const Node*>()) return **node;
  if (const auto* optional = value.as<Optional>(); optional && optional->value) {
    return json_of(*optional->value);
  }
  if (const auto* number = value.as<double>()) {  // none of the cases comes to a fraction
    return model::integer_node(static_cast<int64_t>(*number));
  }
  const Items items(value);
  if (items.is_list()) {
    Node made = model::array_node();
    for (size_t i = 0; i < items.size(); ++i) made.items.push_back(json_of(items.at(i)));
    return made;
  }
  return {};
}

Value result_of(std::string_view text, const Node& object, size_t steps = 100'000) {
  const auto expression = parse(text);
  if (!expression) return failure_value(expression.error().message());
  OneObject scope(object);
  Budget budget(steps);
  // What it comes to may look into the expression.
  static std::vector<std::unique_ptr<Expression>> kept;
  kept.push_back(std::make_unique<Expression>(*expression));
  return evaluate(*kept.back(), scope, budget);
}

std::string why(std::string_view text, const Node& object = {}) {
  const Value value = result_of(text, object);
  return value.failure() ? value.failure()->why : "it did not fail";
}

// Asked of cel-go with the libraries of Kubernetes 1.30: what there is here is as it is there.
TEST(Cel, IsWhatTheOriginalIs) {
  std::ifstream file("tests/data/cel/recorded.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto recorded = model::parse_json(text.str(), "recorded");
  ASSERT_TRUE(recorded) << recorded.error().message();
  const Node& object = *model::look(*recorded, {"object"});
  const auto& cases = model::items_at(*recorded, {"cases"});
  EXPECT_GT(cases.size(), 150U);
  for (const Node& one : cases) {
    const std::string_view expression = model::text_at(one, {"expression"});
    const Value value = result_of(expression, object);
    if (one.find("fails") != nullptr) {
      EXPECT_TRUE(value.failure()) << expression << " is " << model::to_json(json_of(value));
      continue;
    }
    ASSERT_FALSE(value.failure()) << expression << ": " << value.failure()->why;
    EXPECT_TRUE(model::same(json_of(value), *one.find("is")))
        << expression << " is " << model::to_json(json_of(value));
  }
}

TEST(Cel, NamesWhatItDoesNotHave) {
  EXPECT_NE(why("object.matches('a')").find(".matches() with 1 arguments is not supported"),
            std::string::npos);
  EXPECT_NE(why("has(object.a)").find("has() with 1 arguments is not supported"),
            std::string::npos);
  EXPECT_NE(why("1.5 < 2").find("whole ones alone"), std::string::npos);
  EXPECT_NE(why("2 * 3").find("\"*\" is not supported"), std::string::npos);
  EXPECT_NE(why("r'raw'").find("raw strings"), std::string::npos);
  EXPECT_NE(why("'a\\n'").find("of escapes"), std::string::npos);
  EXPECT_NE(why("nobody").find("\"nobody\" is not known here"), std::string::npos);
  EXPECT_NE(why("variables.unknown").find("there is no \"unknown\""), std::string::npos);
}

TEST(Cel, AnErrorTellsTheColumn) {
  const auto error = parse("a == == b").error();
  EXPECT_EQ(error.thing, "expression column 6");
  for (const std::string_view bad : {"", "(", "a b", "a.", "[1,", "{'a' 1}", "a ? b", "'open", "a[",
                                     "in", "a.all(1, true)", "a.all(x)", ")", "a &&", "\x01"}) {
    EXPECT_FALSE(parse(bad)) << bad;
  }
}

TEST(Cel, VariablesAreAskedForWhenTheyAreNeeded) {
  const Node object = model::object_node();
  OneObject scope(object);
  Budget budget(100);
  const auto expression = parse("false && variables.first == 1 || variables.known == 7");
  const Value value = evaluate(*expression, scope, budget);
  EXPECT_TRUE(value.as<bool>() && *value.as<bool>());
  EXPECT_EQ(scope.asked, std::vector<std::string>{"known"});
}

TEST(Cel, WhatNestsTooDeeplyIsNotRead) {
  const auto deep = [](size_t times, std::string_view open, std::string_view close) {
    std::string text;
    for (size_t i = 0; i < times; ++i) text += open;
    text += "1";
    for (size_t i = 0; i < times; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(parse(deep(30, "(", ")")));
  for (const auto& [open, close] :
       std::vector<std::pair<std::string, std::string>>{{"(", ")"},
                                                        {"[", "]"},
                                                        {"!", ""},
                                                        {"-", ""},
                                                        {"size(", ")"},
                                                        {"true ? 1 : ", ""},
                                                        {"", " + 1"},
                                                        {"", ".a"},
                                                        {"", "[0]"}}) {
    EXPECT_FALSE(parse(deep(1000, open, close))) << open << close;
  }
  EXPECT_FALSE(parse(std::string(k_longest_expression + 1, ' ')));
}

TEST(Cel, WorkIsBounded) {
  Node object = model::object_node();
  Node& many = model::put(object, "many", model::array_node());
  for (int i = 0; i < 2000; ++i) many.items.push_back(model::integer_node(i));
  Node& keys = model::put(object, "keys", model::object_node());
  for (int i = 0; i < 2000; ++i) {
    Node value = model::text_node("x");
    value.key = fmt::format("k{}", i);
    keys.items.push_back(std::move(value));
  }
  Node& text = model::put(object, "text", model::text_node(std::string(100'000, ',')));
  ASSERT_EQ(text.kind, Node::Kind::string);
  for (const std::string_view heavy :
       {"object.many.all(a, object.many.all(b, a == a))", "object.many.map(a, object.many + [a])",
        "object.keys.all(k, object.keys[k] == 'x')", "object.text.split(',').size() > 0",
        "object.many.exists(a, object.many == object.many + [a])",
        "object.many.map(a, object.text + object.text)", "object.many.filter(a, a in object.many)",
        "object.many.all(a, object.text.contains('b') || true)"}) {
    const Value value = result_of(heavy, object, 20'000);
    ASSERT_TRUE(value.failure()) << heavy;
    EXPECT_EQ(value.failure()->why, "there is too much in it to be judged") << heavy;
  }
  EXPECT_FALSE(result_of("object.many.all(a, a >= 0)", object).failure());
}

// What it is about was written by somebody else.
TEST(Cel, ErrorsShowNothingThatATerminalWouldActOn) {
  Node object = model::object_node();
  model::put(object, "name", model::text_node("\x1b[31m"));
  EXPECT_EQ(why("quantity(object.name).isGreaterThan(quantity('0'))", object),
            "\"\\x1b[31m\" is no quantity");
  EXPECT_EQ(why("object.name[object.name]", object), "there is no \"\\x1b[31m\"");
}

}  // namespace
}  // namespace spillway::fabric::cel
