#include "model/yaml_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/json.h"

namespace spillway::model {
namespace {

// Plain when nobody could take it for anything else: a word that begins with a letter and is no
// other type's. All else is quoted as in JSON, which YAML understands.
bool may_be_plain(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_word = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '/' || c == '.';
  };
  if (text.empty() || !is_letter(text.front())) return false;
  if (!std::all_of(text.begin(), text.end(), is_word)) return false;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const std::string_view other :
       {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
    if (lower == other) return false;
  }
  return true;
}

std::string yaml_scalar(std::string_view text) {
  if (may_be_plain(text)) return std::string(text);
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

void write_yaml_block(std::string& out, const Node& node, size_t indent);

std::string inline_value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return fmt::format("{}", node.integer);
    case Node::Kind::decimal:
      return node.text;
    case Node::Kind::string:
      return yaml_scalar(node.text);
    case Node::Kind::array:
      return "[]";
    case Node::Kind::object:
      return "{}";
  }
  return "null";
}

void write_yaml_members(std::string& out, const Node& object, size_t indent, bool on_line_already) {
  for (const Node& member : object.items) {
    if (!on_line_already) out.append(indent, ' ');
    on_line_already = false;
    out += yaml_scalar(member.key) + ":";
    if (member.items.empty()) {
      out += " " + inline_value(member) + "\n";
    } else {
      out += "\n";
      write_yaml_block(out, member, member.kind == Node::Kind::array ? indent : indent + 2);
    }
  }
}

void write_yaml_block(std::string& out, const Node& node, size_t indent) {
  if (node.kind == Node::Kind::object) return write_yaml_members(out, node, indent, false);
  for (const Node& item : node.items) {
    out.append(indent, ' ');
    out += "- ";
    if (item.kind == Node::Kind::object && !item.items.empty()) {
      write_yaml_members(out, item, indent + 2, true);
    } else if (!item.items.empty()) {
      out += "\n";
      write_yaml_block(out, item, indent + 2);
    } else {
      out += inline_value(item) + "\n";
    }
  }
}

}  // namespace

std::string to_yaml(const Node& root) {
  if (root.items.empty()) return inline_value(root) + "\n";
  std::string out;
  write_yaml_block(out, root, 0);
  return out;
}

}  // namespace spillway::model
