// Object: one state of one document in the cluster, never changed once it is made. The document is
// kept as text: it is mostly sent on as it is, and as a tree it would take eight times the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "embedded/kind.h"
#include "model/node.h"

namespace spillway::embedded {

struct Key {
  std::string space;  // the namespace; empty for what lies in none
  std::string name;
  auto operator<=>(const Key&) const = default;
};

// What selectors look at, so that no document has to be read for them.
using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Object {
  const Kind* kind = nullptr;
  Key key;
  std::string uid;
  int64_t version = 0;
  std::string text;  // begins with apiVersion and kind
  Pairs labels;
  Pairs fields;                     // "spec.nodeName", "status.phase", …
  std::vector<std::string> owners;  // uids
  bool is_deleting = false;
  bool is_ready = false;  // its condition Ready is True

  model::Node document() const;
  // As the version of a kind that was asked for has it.
  std::string text_as(std::string_view version) const;
};
using ObjectPtr = std::shared_ptr<const Object>;

// Writes the version into the document; none for 0, which a dry run gives.
ObjectPtr make_object(const Kind& kind, model::Node document, int64_t version);

const std::string* find_pair(const Pairs& pairs, std::string_view key);

}  // namespace spillway::embedded
