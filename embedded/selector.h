// Selectors: which objects somebody means, by labels or by a few fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "embedded/object.h"
#include "embedded/refusal.h"
#include "model/node.h"

namespace spillway::embedded {

struct Requirement {
  // greater and less compare whole numbers: for node affinity only.
  enum class Op { in, not_in, exists, missing, greater, less };
  std::string key;
  Op op = Op::in;
  std::vector<std::string> values;

  bool matches(const Pairs& pairs) const;
};

// All of them must hold; no requirement is met by everything.
struct Selector {
  std::vector<Requirement> requirements;
  bool matches(const Pairs& pairs) const;
  bool empty() const { return requirements.empty(); }
};

// "app=web,tier!=db,zone in (a, b),!spot", as in a query.
Answer<Selector> parse_label_selector(std::string_view text);
// "spec.nodeName=n1,status.phase!=Running"
Answer<Selector> parse_field_selector(std::string_view text);

// metav1.LabelSelector: matchLabels and matchExpressions. Null selects nothing, empty everything.
std::optional<Selector> read_selector(const model::Node* node);
// The expressions of a node selector term; also its matchFields.
Selector read_expressions(const std::vector<model::Node>& expressions);

Pairs read_labels(const model::Node* labels);

}  // namespace spillway::embedded
