#include "model/yaml.h"

#include <gtest/gtest.h>

namespace spillway::model {
namespace {

std::string refusal(std::string_view text) {
  const auto node = parse_yaml(text);
  return node ? "accepted" : node.error().message();
}

TEST(Yaml, TypesPlainScalarsByTheCoreSchema) {
  const auto root = parse_yaml(
      "[~, null, true, FALSE, 12, -3, +4, 0x1F, 0o17, 010, 1.50, .5, 1e3, NO, yes, 1.2.3, '12', "
      "\"true\", 0x, 12abc, -, 2026-01-31T09:30:00Z]");
  ASSERT_TRUE(root) << root.error().message();
  using Kind = Node::Kind;
  const std::vector<Kind> expected{
      Kind::null,    Kind::null,    Kind::boolean, Kind::boolean, Kind::integer, Kind::integer,
      Kind::integer, Kind::integer, Kind::integer, Kind::integer, Kind::decimal, Kind::decimal,
      Kind::decimal, Kind::string,  Kind::string,  Kind::string,  Kind::string,  Kind::string,
      Kind::string,  Kind::string,  Kind::string,  Kind::string};
  ASSERT_EQ(root->items.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(root->items[i].kind, expected[i]) << i;
  EXPECT_EQ(root->items[6].integer, 4);
  EXPECT_EQ(root->items[7].integer, 31);
  EXPECT_EQ(root->items[8].integer, 15);
  EXPECT_EQ(root->items[9].integer, 10);
  EXPECT_EQ(root->items[10].text, "1.50");
}

TEST(Yaml, KnowsTheLinesOfKeys) {
  const auto root = parse_yaml("a: 1\nb:\n  c: 2\n  d:\n    - x\n");
  ASSERT_TRUE(root);
  EXPECT_EQ(find_path(*root, "b").position.line, 2U);
  EXPECT_EQ(find_path(*root, "b.d").position.line, 4U);
  EXPECT_EQ(find_path(*root, "b.d[0]").position.line, 5U);
}

TEST(Yaml, RefusesWhatMakesSmallTextsLarge) {
  EXPECT_EQ(refusal("a: &x 1\nb: *x\n"),
            "document line 1: an anchor; write the value out where it is used");
  EXPECT_EQ(refusal("a: 1\nb: !!int '2'\n"),
            "document line 2: a tag: \"tag:yaml.org,2002:int\"; leave it out");
  EXPECT_FALSE(parse_yaml("a: *nobody"));
  EXPECT_FALSE(parse_yaml("!x {a: 1}"));
  EXPECT_FALSE(parse_yaml("&x [1]"));
}

TEST(Yaml, RefusesTheAmbiguous) {
  EXPECT_EQ(refusal("a: 1\na: 2\n"), "document line 2: \"a\" is there twice");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"), "document line 2: a second document begins");
  EXPECT_EQ(refusal("? [a]\n: 1\n"), "document line 1: a key that is no text");
  EXPECT_EQ(refusal("? {a: b}\n: 1\n"), "document line 1: a key that is no text");
  EXPECT_EQ(refusal("a: 99999999999999999999"),
            "document line 1: \"99999999999999999999\" is beyond 64 bits");
  EXPECT_EQ(refusal(""), "document: it is empty; look whether it is the right one");
  EXPECT_EQ(refusal(std::string("a: \0b", 5)), "document: it has control characters");
  EXPECT_EQ(refusal("a: \xc3\x28"), "document: it is not UTF-8");
}

TEST(Yaml, RefusesWhatIsNoYaml) {
  for (const char* text :
       {"a: [", "a: {b: 1", "a: b: c", "\ta: 1", "a: 'x", "a: \"x", "a: \"x\nb: 5\n",
        "a: 'x\nb: 5\n \n", "@x", "`x`", "a: %x\n%y", "- a\nb: c", "[a]]", "%YAML 9\n---\na: 1"}) {
    EXPECT_FALSE(parse_yaml(text)) << text;
  }
}

TEST(Yaml, RefusesDeepNestingInEveryForm) {
  EXPECT_TRUE(parse_yaml(std::string(32, '[') + std::string(32, ']')));
  EXPECT_EQ(refusal(std::string(33, '[') + std::string(33, ']')),
            "document line 1: nested deeper than 32");
  EXPECT_FALSE(parse_yaml(std::string(1'000'000, '[')));
  EXPECT_FALSE(parse_yaml(std::string(1'000'000, '{')));
  std::string dashes;
  for (int i = 0; i < 250'000; ++i) dashes += "- ";
  EXPECT_FALSE(parse_yaml(dashes));
  std::string keys;
  for (int i = 0; i < 100'000; ++i) keys += "? ";
  EXPECT_FALSE(parse_yaml(keys));
  std::string indented;
  for (size_t i = 0; i < 1000; ++i) indented += std::string(i, ' ') + "a:\n";
  EXPECT_FALSE(parse_yaml(indented));
}

TEST(Yaml, RefusesTenMegabytes) {
  EXPECT_EQ(refusal(std::string(10'000'000, '[')),
            "document: 10000000 bytes are too many; send at most 1048576");
}

}  // namespace
}  // namespace spillway::model
