// Canonical JSON says the same as what it was made of, in one way only.
#include "model/canonical.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "model/json.h"
#include "model/tree.h"
#include "support/any_below.h"

namespace spillway::model {
namespace {

// From every stretch of UTF-8 that its order, or its spelling, treats in its own way.
std::string any_text() {
  static const std::vector<std::string> k_letters{std::string(1, '\0'),
                                                  "\b",
                                                  "\n",
                                                  "\x1f",
                                                  " ",
                                                  "\"",
                                                  "/",
                                                  "A",
                                                  "\\",
                                                  "z",
                                                  "\x7f",
                                                  "\xc2\x80",
                                                  "\xe2\x82\xac",
                                                  "\xed\x9f\xbf",
                                                  "\xee\x80\x80",
                                                  "\xef\xbf\xbf",
                                                  "\xf0\x90\x80\x80",
                                                  "\xf4\x8f\xbf\xbf"};
  std::string text;
  const int letters = test::any_below(4);
  for (int i = 0; i < letters; ++i) text += *rc::gen::elementOf(k_letters);
  return text;
}

Node any_object(int depth);

Node any_tree(int depth) {
  switch (test::any_below(depth == 0 ? 4 : 6)) {
    case 0:
      return Node{};
    case 1:
      return boolean_node(*rc::gen::arbitrary<bool>());
    case 2:
      return integer_node(*rc::gen::inRange(-k_max_canonical_integer, k_max_canonical_integer + 1));
    case 3:
      return text_node(any_text());
    case 4: {
      Node list = array_node();
      const int items = test::any_below(4);
      for (int i = 0; i < items; ++i) list.items.push_back(any_tree(depth - 1));
      return list;
    }
    default:
      return any_object(depth);
  }
}

Node any_object(int depth) {
  Node object = object_node();
  const int members = test::any_below(6);
  for (int i = 0; i < members; ++i) put(object, any_text(), any_tree(depth - 1));
  return object;
}

// The order of RFC 8785, the slow way: by the code units themselves.
std::u16string utf16(std::string_view text) {
  std::u16string units;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (size_t j = 1; j < length; ++j) {
      point = (point << 6) | (static_cast<unsigned char>(text[i + j]) & 0x3FU);
    }
    if (point >= 0x10000) {
      units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF));
    } else {
      units += static_cast<char16_t>(point);
    }
    i += length;
  }
  return units;
}

bool is_sorted_throughout(const Node& node) {
  const bool sorted =
      node.kind != Node::Kind::object ||
      std::is_sorted(node.items.begin(), node.items.end(),
                     [](const Node& a, const Node& b) { return utf16(a.key) < utf16(b.key); });
  return sorted && std::all_of(node.items.begin(), node.items.end(), is_sorted_throughout);
}

void shuffle(Node& node) {
  if (node.kind == Node::Kind::object && !node.items.empty()) {
    const auto at = *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(node.items));
    std::rotate(node.items.begin(), node.items.begin() + at, node.items.end());
  }
  for (Node& item : node.items) shuffle(item);
}

RC_GTEST_PROP(Canonical, SaysTheSameInOneWayOnly, ()) {
  Node tree = any_object(4);
  const Result<std::string> text = canonical_json(tree);
  if (!text) RC_FAIL(text.error().message());
  RC_LOG() << *text;
  const Result<Node> back = parse_canonical_json(*text);
  if (!back) RC_FAIL(back.error().message());
  RC_ASSERT(same(*back, tree));
  RC_ASSERT(is_sorted_throughout(*back));
  RC_ASSERT(*canonical_json(*text) == *text);
  shuffle(tree);
  RC_ASSERT(*canonical_json(tree) == *text);
  RC_ASSERT(*canonical_json(to_json(tree)) == *text);
}

}  // namespace
}  // namespace spillway::model
