#include "model/tree.h"

#include <gtest/gtest.h>

#include "model/json.h"

namespace spillway::model {
namespace {

Node parsed(std::string_view text) { return parse_json(text).value(); }

TEST(Tree, WritesWhatItRead) {
  for (const std::string text :
       {R"({"a":[1,-2,1.50,1e3,"x\"\n",true,null,{}],"b":{"c":[]}})", R"([])", R"("é")"}) {
    EXPECT_EQ(to_json(parsed(text)), text);
  }
}

TEST(Tree, FindsWhatIsThereAndTakesAbsenceAsAnAnswer) {
  const Node pod = parsed(R"({"metadata":{"name":"p"},"spec":{"priority":3,"x":null},"l":[1,2]})");
  EXPECT_EQ(text_at(pod, {"metadata", "name"}), "p");
  EXPECT_EQ(text_at(pod, {"metadata", "name", "deeper"}), "");
  EXPECT_EQ(text_at(pod, {"spec", "priority"}), "");
  EXPECT_EQ(integer_at(pod, {"spec", "priority"}), 3);
  EXPECT_EQ(integer_at(pod, {"spec", "other"}, 7), 7);
  EXPECT_TRUE(boolean_at(pod, {"spec", "other"}, true));
  EXPECT_EQ(look(pod, {"spec", "x"}), nullptr);
  EXPECT_EQ(items_at(pod, {"l"}).size(), 2U);
  EXPECT_TRUE(items_at(pod, {"m"}).empty());
}

TEST(Tree, PutsErasesAndMakesTheWay) {
  Node object = parsed(R"({"a":1,"b":"text"})");
  put(object, "a", integer_node(2));
  put(ensure(object, {"b", "c"}), "d", boolean_node(true));
  put(ensure(object, {"b", "c"}), "e", text_node("x"));
  EXPECT_EQ(to_json(object), R"({"a":2,"b":{"c":{"d":true,"e":"x"}}})");
  EXPECT_TRUE(erase(object, "a"));
  EXPECT_FALSE(erase(object, "a"));
  EXPECT_EQ(to_json(object), R"({"b":{"c":{"d":true,"e":"x"}}})");
}

// The examples of RFC 7386, appendix A.
TEST(Tree, MergesAsTheStandardSays) {
  const std::vector<std::array<std::string, 3>> cases = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [target, patch, merged] : cases) {
    Node document = parsed(target);
    merge(document, parsed(patch));
    EXPECT_EQ(to_json(document), merged) << target << " with " << patch;
  }
}

TEST(Tree, IsTheSameInAnyOrderOfMembers) {
  EXPECT_TRUE(same(parsed(R"({"a":1,"b":[1,2]})"), parsed(R"({"b":[1,2],"a":1})")));
  EXPECT_FALSE(same(parsed(R"({"b":[1,2]})"), parsed(R"({"b":[2,1]})")));
  EXPECT_FALSE(same(parsed(R"({"a":1})"), parsed(R"({"a":1,"b":1})")));
  EXPECT_FALSE(same(parsed(R"({"a":1})"), parsed(R"({"b":1})")));
  EXPECT_FALSE(same(parsed(R"({"a":1})"), parsed(R"({"a":"1"})")));
}

TEST(Tree, ForeignDocumentsMayBeDeeperThanOurs) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "{\"a\":";
  text += "1" + std::string(100, '}');
  EXPECT_FALSE(parse_json(text));
  const auto read = parse_json(text, "crd", k_max_document_bytes, k_max_foreign_depth);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_json(*read), text);
  EXPECT_FALSE(parse_json("[" + text + "]", "crd", k_max_document_bytes, 100));
}

}  // namespace
}  // namespace spillway::model
