// Spot: a node of a document that is being read, with the way that led there. Errors are told to
// it; the first of a document is kept, with path and line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "model/node.h"

namespace spillway::model {

// Shared by all spots of one document.
struct Verdict {
  std::string_view what;
  Pointing pointing = Pointing::line_and_column;
  int version = 1;
  std::optional<Error> error = std::nullopt;
};

class Spot {
 public:
  Spot(Verdict& verdict, const Node& root) : verdict_(&verdict), node_(&root) {}

  const Node& node() const { return *node_; }
  int version() const { return verdict_->version; }
  void set_version(int version) const { verdict_->version = version; }
  bool failed() const { return verdict_->error.has_value(); }

  // A child borrows this spot: it must not outlive it.
  Spot member(const Node& member) const { return Spot(*this, member, k_by_key); }
  Spot item(size_t index) const { return Spot(*this, node_->items[index], index); }

  // False, and an error, when the node is of another kind.
  bool expect(Node::Kind kind) const;

  void refuse(std::string reason, std::string next = {}) const;
  void refuse(const Error& error) const { refuse(error.reason, error.next); }
  void refuse_missing(std::string_view name) const;
  void refuse_unknown(std::span<const std::string_view> known) const;
  void refuse_word(std::span<const std::string_view> known) const;

 private:
  static constexpr size_t k_by_key = static_cast<size_t>(-1);

  Spot(const Spot& parent, const Node& node, size_t index)
      : verdict_(parent.verdict_), node_(&node), parent_(&parent), index_(index) {}
  std::string path() const;
  void refuse_at(std::string path, Position position, std::string reason, std::string next) const;

  Verdict* verdict_;
  const Node* node_;
  const Spot* parent_ = nullptr;
  size_t index_ = k_by_key;
};

// An error of validate(), whose thing is a path, as one of the document.
Error locate(const Node& root, std::string_view what, Pointing pointing, Error error);

// Where a value is written to, as JSON.
struct Output {
  std::string& text;
  int version = 1;
};

// A scalar as its author wrote it, for errors; "an object", "a list" for the others.
std::string shown(const Node& node);

}  // namespace spillway::model
