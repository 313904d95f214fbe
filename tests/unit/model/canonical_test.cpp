#include "model/canonical.h"

#include <gtest/gtest.h>

#include "model/tree.h"

namespace spillway::model {
namespace {

std::string canonical(std::string_view text) {
  const Result<std::string> written = canonical_json(text);
  return written ? *written : written.error().message();
}

std::string canonical_refusal(const Node& node) {
  const Result<std::string> written = canonical_json(node);
  return written ? "accepted" : written.error().message();
}

TEST(Canonical, SortsAsTheRfcDoes) {
  // RFC 8785 section 3.2.3.
  EXPECT_EQ(canonical(R"({
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  })"),
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
            "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\","
            "\"\xe2\x82\xac\":\"Euro Sign\","
            "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
            "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

TEST(Canonical, SpellsTextsAndLiteralsAsTheRfcDoes) {
  // RFC 8785 section 3.2.2, without its fractions.
  EXPECT_EQ(canonical(R"({
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  })"),
            "{\"literals\":[null,true,false],"
            "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
  EXPECT_EQ(canonical("\"\\u0000\\u0008\\u0009\\u000A\\u000C\\u000D\\u001F\\u007F\\u2028\""),
            "\"\\u0000\\b\\t\\n\\f\\r\\u001f\x7f\xe2\x80\xa8\"");
}

TEST(Canonical, SortsWhatNestsAndKeepsTheOrderOfLists) {
  EXPECT_EQ(canonical(R"([{"b":[3,1,2],"a":{"d":{},"c":[]}}, ""])"),
            R"([{"a":{"c":[],"d":{}},"b":[3,1,2]},""])");
  EXPECT_EQ(canonical(R"({"aa":1,"a":2,"":3,"a\u0000":4,"B":5})"),
            R"({"":3,"B":5,"a":2,"a\u0000":4,"aa":1})");
}

TEST(Canonical, WritesIntegersThatEveryReaderSeesAlike) {
  // The rows of RFC 8785 appendix B that are integers within 53 bits, and the two at the edge.
  EXPECT_EQ(canonical("[0,-0,1,-1,9007199254740991,-9007199254740991]"),
            "[0,0,1,-1,9007199254740991,-9007199254740991]");
}

TEST(Canonical, RefusesNumbersThatReadersMaySeeDifferently) {
  EXPECT_EQ(canonical("[9007199254740992]"),
            "document line 1 column 2: 9007199254740992 is beyond 53 bits; send it as a text");
  EXPECT_EQ(canonical("{\"a\":-9007199254740992}"),
            "document line 1 column 2: -9007199254740992 is beyond 53 bits; send it as a text");
  EXPECT_EQ(canonical("295147905179352830000"),
            "document line 1 column 1: \"295147905179352830000\" is beyond 64 bits");
  for (const char* number : {"1.0", "1e2", "0.5", "-0.0", "1E400"}) {
    const Result<std::string> written = canonical_json(number);
    ASSERT_FALSE(written) << number;
    EXPECT_NE(written.error().reason.find("is no integer"), std::string::npos)
        << written.error().message();
  }
}

TEST(Canonical, RefusesWhatIsNoDocument) {
  EXPECT_EQ(canonical(R"({"a":1,"\u0061":2})"), "document line 1 column 8: \"a\" is there twice");
  EXPECT_EQ(canonical("\"\xff\""), "document: it is not UTF-8");
  for (const char* text :
       {"", "{", "[1,]", "01", "+1", "'a'", "NaN", "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\n\""}) {
    EXPECT_FALSE(canonical_json(text)) << text;
  }
}

// Trees that no parser has seen get the same care.
TEST(Canonical, RefusesTreesThatAreNoDocument) {
  Node twice = object_node();
  put(twice, "a", integer_node(1));
  twice.items.push_back(twice.items.front());
  EXPECT_EQ(canonical_refusal(twice), "document line 1 column 1: \"a\" is there twice");
  EXPECT_NE(canonical_refusal(text_node("\xc0\x80")).find("not UTF-8"), std::string::npos);
  Node key = object_node();
  put(key, "\xed\xa0\x80", integer_node(1));
  EXPECT_NE(canonical_refusal(key).find("not UTF-8"), std::string::npos);
}

TEST(Canonical, ReadsOnlyItsOwnSpelling) {
  ASSERT_TRUE(parse_canonical_json(R"({"a":1,"b":"\n"})"));
  for (const char* text :
       {R"({"b":1,"a":1})", R"({"a": 1})", R"({"a":"\u000a"})", "[-0]", "[1]\n", R"({"a":"\/"})"}) {
    const Result<Node> node = parse_canonical_json(text);
    ASSERT_FALSE(node) << text;
    EXPECT_NE(node.error().reason.find("RFC 8785"), std::string::npos) << node.error().message();
  }
}

}  // namespace
}  // namespace spillway::model
