#include "model/canonical.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "model/json.h"

namespace spillway::model {
namespace {

// Where a byte of UTF-8 stands in the order of UTF-16: as in the order of bytes, but that what
// needs a surrogate pair (from 0xF0 on) comes before U+E000 to U+FFFF (0xEE and 0xEF).
int utf16_rank(char c) {
  const int byte = static_cast<unsigned char>(c);
  return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
}

bool comes_before(const Node* a, const Node* b) {
  return std::lexicographical_compare(
      a->key.begin(), a->key.end(), b->key.begin(), b->key.end(),
      [](char left, char right) { return utf16_rank(left) < utf16_rank(right); });
}

class CanonicalWriter {
 public:
  explicit CanonicalWriter(std::string_view what) : what_(what) {}

  Status write(const Node& node) {
    switch (node.kind) {
      case Node::Kind::null:
        text_ += "null";
        return {};
      case Node::Kind::boolean:
        text_ += node.boolean ? "true" : "false";
        return {};
      case Node::Kind::integer:
        return write_integer(node);
      case Node::Kind::decimal:
        return refuse(node, in_quotes(node.text) + " is no integer in digits alone",
                      "send it as a text, or in a smaller unit");
      case Node::Kind::string:
        return write_text(node, node.text);
      case Node::Kind::array:
        return write_array(node);
      case Node::Kind::object:
        return write_object(node);
    }
    return {};
  }

  std::string take() { return std::move(text_); }

 private:
  Status refuse(const Node& node, std::string reason, std::string next = {}) const {
    return fail(Code::invalid, pointed(what_, node.position, Pointing::line_and_column),
                std::move(reason), std::move(next));
  }

  Status write_integer(const Node& node) {
    if (node.integer > k_max_canonical_integer || node.integer < -k_max_canonical_integer) {
      return refuse(node, fmt::format("{} is beyond 53 bits", node.integer), "send it as a text");
    }
    fmt::format_to(std::back_inserter(text_), "{}", node.integer);
    return {};
  }

  Status write_text(const Node& node, std::string_view text) {
    if (!is_utf8(text)) return refuse(node, in_quotes(text) + " is not UTF-8");
    append_json_string(text_, text);
    return {};
  }

  Status write_array(const Node& node) {
    text_ += '[';
    for (const Node& item : node.items) {
      if (&item != &node.items.front()) text_ += ',';
      SPILLWAY_TRY(write(item));
    }
    text_ += ']';
    return {};
  }

  Status write_object(const Node& node) {
    std::vector<const Node*> members;
    members.reserve(node.items.size());
    for (const Node& item : node.items) members.push_back(&item);
    std::sort(members.begin(), members.end(), comes_before);
    text_ += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      const Node& member = *members[i];
      if (i > 0 && members[i - 1]->key == member.key) {
        return refuse(member, in_quotes(member.key) + " is there twice");
      }
      if (i > 0) text_ += ',';
      SPILLWAY_TRY(write_text(member, member.key));
      text_ += ':';
      SPILLWAY_TRY(write(member));
    }
    text_ += '}';
    return {};
  }

  std::string_view what_;
  std::string text_;
};

}  // namespace

Result<std::string> canonical_json(const Node& node, std::string_view what) {
  CanonicalWriter writer(what);
  SPILLWAY_TRY(writer.write(node));
  return writer.take();
}

Result<std::string> canonical_json(std::string_view text, std::string_view what) {
  const Result<Node> node = parse_json(text, what);
  if (!node) return tl::unexpected(node.error());
  return canonical_json(*node, what);
}

Result<Node> parse_canonical_json(std::string_view text, std::string_view what) {
  Result<Node> node = parse_json(text, what);
  if (!node) return node;
  const Result<std::string> canonical = canonical_json(*node, what);
  if (!canonical) return tl::unexpected(canonical.error());
  if (*canonical != text) {
    return fail(Code::invalid, std::string(what), "it is JSON, but not as RFC 8785 writes it",
                "send it as it was signed, byte by byte");
  }
  return node;
}

}  // namespace spillway::model
