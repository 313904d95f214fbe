#include "model/json.h"

#include <gtest/gtest.h>

namespace spillway::model {
namespace {

std::string refusal(std::string_view text) {
  const auto node = parse_json(text);
  return node ? "accepted" : node.error().message();
}

TEST(Json, KeepsNumbersExactAndOrderAsWritten) {
  const auto root = parse_json("{\"b\": [1, -9223372036854775808, 0.10, 1E2],\n \"a\": null}");
  ASSERT_TRUE(root);
  ASSERT_EQ(root->items.size(), 2U);
  EXPECT_EQ(root->items[0].key, "b");
  const auto& list = root->items[0].items;
  EXPECT_EQ(list[0].integer, 1);
  EXPECT_EQ(list[1].integer, INT64_MIN);
  EXPECT_EQ(list[2].kind, Node::Kind::decimal);
  EXPECT_EQ(list[2].text, "0.10");
  EXPECT_EQ(list[3].text, "1E2");
  EXPECT_EQ(root->items[1].kind, Node::Kind::null);
}

TEST(Json, KnowsWhereEverythingIs) {
  const auto root = parse_json("{\"a\\\"b\" : \"x,:]\\\\\",\n  \"c\":[true,\n {\"d\":1.5}]}");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->items[0].text, "x,:]\\");
  EXPECT_EQ(root->items[1].position.line, 2U);
  EXPECT_EQ(root->items[1].position.column, 3U);
  const Node& inner = root->items[1].items[1];
  EXPECT_EQ(inner.position.line, 3U);
  EXPECT_EQ(inner.position.column, 2U);
  EXPECT_EQ(inner.items[0].position.column, 3U);
}

TEST(Json, PathsLeadToNodes) {
  const auto root = parse_json(R"({"a.b":{"c":[0,{"d":7}]},"a":{"b":{"c":8}}})");
  ASSERT_TRUE(root);
  EXPECT_EQ(find_path(*root, "a.b.c[1].d").integer, 7);
  EXPECT_EQ(find_path(*root, "a.b.c[0]").integer, 0);
  EXPECT_EQ(find_path(*root, "a.b.c[9].d").key, "c");
  EXPECT_EQ(find_path(*root, "a.x").key, "a");
  EXPECT_EQ(&find_path(*root, "nowhere"), &*root);
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("{\"a\":1,\n \"a\":2}"), "document line 2 column 2: \"a\" is there twice");
  EXPECT_EQ(refusal("[18446744073709551615]"),
            "document line 1 column 2: \"18446744073709551615\" is beyond 64 bits");
  EXPECT_EQ(refusal("[-9223372036854775809]"),
            "document line 1 column 2: \"-9223372036854775809\" is beyond 64 bits");
  EXPECT_EQ(refusal("[1] 2"), "document line 1 column 5: it is no JSON: extra data");
  EXPECT_EQ(refusal("\"\xff\""), "document: it is not UTF-8");
}

TEST(Json, RefusesAKeyThatIsThereTwiceAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_EQ(refusal(text + "\"k1000\":0}"), "accepted");
  EXPECT_NE(refusal(text + "\"k500\":0}").find("\"k500\" is there twice"), std::string::npos);
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "{]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a:1}",
                           "{'a':1}",
                           "[1,]",
                           "[01]",
                           "[+1]",
                           "[1.]",
                           "[.5]",
                           "[NaN]",
                           "[Infinity]",
                           "// x\n1",
                           "[1]]",
                           "\"\n\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\udc00x\"",
                           "tru",
                           "nul",
                           "\xef\xbb\xbf{}"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(Json, TakesThirtyTwoLevelsAndNoMore) {
  EXPECT_TRUE(parse_json(std::string(32, '[') + std::string(32, ']')));
  EXPECT_EQ(refusal(std::string(33, '[') + std::string(33, ']')),
            "document line 1 column 33: nested deeper than 32");
  EXPECT_EQ(refusal(std::string(1'000'000, '[')),
            "document line 1 column 33: nested deeper than 32");
}

TEST(Json, RefusesTenMegabytes) {
  EXPECT_EQ(refusal(std::string(10'000'000, '[')),
            "document: 10000000 bytes are too many; send at most 1048576");
}

TEST(Json, EscapesWhatJsonCannotHold) {
  std::string out;
  append_json_string(out, std::string_view("a\"\\\n\r\t\x01\x1f/é\0z", 13));
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\r\\t\\u0001\\u001f/é\\u0000z\"");
}

}  // namespace
}  // namespace spillway::model
