// Node: a document as it was written, before anyone asks what it means. JSON and YAML both become
// one, and share everything that comes after. Numbers stay exact: an int64, or the text of a
// decimal; nothing here is ever a double.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spillway::model {

struct Position {
  uint32_t line = 1;  // both from 1; columns count bytes
  uint32_t column = 1;
};

struct Node {
  enum class Kind : uint8_t { null, boolean, integer, decimal, string, array, object };

  std::string key;          // of a member of an object
  std::string text;         // of a string or a decimal
  std::vector<Node> items;  // of an array, or the members of an object in the order written
  int64_t integer = 0;
  Position position;  // of a member: where its key is
  Kind kind = Kind::null;
  bool boolean = false;

  const Node* find(std::string_view member) const;
};

// The node that a path of validate() names ("units[3].charged"), or as far as the path leads: a
// field that the document left to its default has no node of its own.
const Node& find_path(const Node& root, std::string_view path);

// "offer.yaml line 7", "pool row line 1 column 34".
enum class Pointing { line, line_and_column };
std::string pointed(std::string_view what, Position position, Pointing pointing);

// What one document may be. Stored rows of many units are larger than anything that people send.
inline constexpr size_t k_max_document_bytes = size_t{1} << 20;
inline constexpr size_t k_max_row_bytes = size_t{4} << 20;
inline constexpr size_t k_max_depth = 32;
// Of documents that are not ours: a custom resource's schema nests this deep in good faith.
inline constexpr size_t k_max_foreign_depth = 128;

// Builds a Node from the events of a parser, within the limits above and without keys that are
// there twice. After the first refusal nothing more is taken; `reason` says why.
class NodeBuilder {
 public:
  explicit NodeBuilder(size_t max_depth = k_max_depth) : max_depth_(max_depth) {}

  bool open(Node::Kind kind, Position position);
  bool close();
  bool key(std::string text, Position position);
  bool value(Node node);

  bool awaits_key() const;
  const std::string& reason() const { return reason_; }
  Position where() const { return where_; }
  Node take() { return std::move(root_); }
  bool refuse(std::string reason, Position position);

 private:
  bool place(Node node);

  size_t max_depth_;
  std::vector<Node> open_;  // containers that are not closed yet, outermost first
  Node root_;
  std::string key_;
  Position key_position_;
  bool has_key_ = false;
  std::string reason_;
  Position where_;
};

}  // namespace spillway::model
