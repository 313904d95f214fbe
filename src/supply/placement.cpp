#include "supply/placement.h"

#include <algorithm>
#include <charconv>

#include "supply/document.h"

namespace spillway::supply {
namespace {

using model::Node;
using model::TaintEffect;
using Operator = Requirement::Operator;

Operator operator_of(std::string_view text) {
  if (text == "In") return Operator::in;
  if (text == "NotIn") return Operator::not_in;
  if (text == "Exists") return Operator::exists;
  if (text == "DoesNotExist") return Operator::absent;
  if (text == "Gt") return Operator::greater;
  return text == "Lt" ? Operator::less : Operator::unknown;
}

std::vector<std::string> read_texts(const Node* list) {
  std::vector<std::string> texts;
  for (const Node& item : items_of(list)) texts.push_back(item.text);
  return texts;
}

void read_lines(std::vector<Requirement>& lines, const Node* list, bool on_field) {
  for (const Node& item : items_of(list)) {
    lines.push_back({std::string(text_at(item, {"key"})), operator_of(text_at(item, {"operator"})),
                     on_field, read_texts(find(item, {"values"}))});
  }
}

Toleration read_toleration(const Node& item) {
  Toleration toleration;
  toleration.key = text_at(item, {"key"});
  const std::string_view op = text_at(item, {"operator"});
  if ((op.empty() || op == "Equal") && !toleration.key.empty()) {
    toleration.value = text_at(item, {"value"});
  }
  const std::string_view effect = text_at(item, {"effect"});
  if (effect == "NoSchedule") toleration.effect = TaintEffect::no_schedule;
  if (effect == "NoExecute") toleration.effect = TaintEffect::no_execute;
  if (effect == "PreferNoSchedule") toleration.effect = TaintEffect::prefer_no_schedule;
  return toleration;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// As the scheduler: what is no whole number, on either side, is neither greater nor less.
bool compare(const std::string* value, const Requirement& line) {
  if (value == nullptr || line.values.size() != 1) return false;
  const auto has = whole_number(*value);
  const auto limit = whole_number(line.values.front());
  if (!has || !limit) return false;
  return line.op == Operator::greater ? *has > *limit : *has < *limit;
}

bool holds(const Requirement& line, const NodeRow& node) {
  if (line.on_field && line.key != "metadata.name") return true;
  const std::string* value = line.on_field ? &node.name : model::find_label(node.labels, line.key);
  const bool listed = value != nullptr && std::find(line.values.begin(), line.values.end(),
                                                    *value) != line.values.end();
  switch (line.op) {
    case Operator::in:
      return listed;
    case Operator::not_in:
      return !listed;
    case Operator::exists:
      return value != nullptr;
    case Operator::absent:
      return value == nullptr;
    case Operator::greater:
    case Operator::less:
      return compare(value, line);
    case Operator::unknown:
      return true;
  }
  return true;
}

// An empty term selects nothing: so says Kubernetes.
bool holds(const std::vector<Requirement>& term, const NodeRow& node) {
  return !term.empty() && std::all_of(term.begin(), term.end(), [&node](const Requirement& line) {
    return holds(line, node);
  });
}

}  // namespace

Placement read_placement(const Node& pod) {
  Placement placement;
  if (auto labels = read_labels(find(pod, {"spec", "nodeSelector"}))) {
    placement.selector = std::move(*labels);
  }
  for (const Node& item : items_of(find(pod, {"spec", "tolerations"}))) {
    placement.tolerations.push_back(read_toleration(item));
  }
  const Node* required = find(
      pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  const Node* terms = required == nullptr ? nullptr : find(*required, {"nodeSelectorTerms"});
  if (terms == nullptr || terms->kind != Node::Kind::array) return placement;
  placement.terms.emplace();
  for (const Node& term : terms->items) {
    auto& lines = placement.terms->emplace_back();
    read_lines(lines, find(term, {"matchExpressions"}), false);
    read_lines(lines, find(term, {"matchFields"}), true);
  }
  return placement;
}

std::optional<std::vector<std::string_view>> named_nodes(const Placement& placement) {
  if (!placement.terms) return std::nullopt;
  std::vector<std::string_view> names;
  for (const std::vector<Requirement>& term : *placement.terms) {
    if (term.empty()) continue;  // selects nothing
    const auto line = std::find_if(term.begin(), term.end(), [](const Requirement& r) {
      return r.on_field && r.key == "metadata.name" && r.op == Operator::in;
    });
    if (line == term.end()) return std::nullopt;
    names.insert(names.end(), line->values.begin(), line->values.end());
  }
  return names;
}

void add_to(Digest& digest, const Placement& placement) {
  const auto count = [&digest](size_t n) { digest.add(static_cast<int64_t>(n)); };
  count(placement.selector.size());
  for (const model::Label& label : placement.selector) digest.add(label.key).add(label.value);
  count(placement.tolerations.size());
  for (const Toleration& t : placement.tolerations) {
    digest.add(t.key).add(t.value ? 1 : 0).add(t.value.value_or(""));
    digest.add(t.effect ? static_cast<int64_t>(*t.effect) : -1);
  }
  digest.add(placement.terms ? static_cast<int64_t>(placement.terms->size()) : -1);
  if (!placement.terms) return;
  for (const std::vector<Requirement>& term : *placement.terms) {
    count(term.size());
    for (const Requirement& line : term) {
      digest.add(line.key).add(static_cast<int64_t>(line.op)).add(line.on_field ? 1 : 0);
      count(line.values.size());
      for (const std::string& value : line.values) digest.add(value);
    }
  }
}

bool tolerates(const Placement& placement, const model::Taint& taint) {
  if (taint.effect == TaintEffect::prefer_no_schedule) return true;
  return std::any_of(
      placement.tolerations.begin(), placement.tolerations.end(), [&taint](const Toleration& t) {
        return (t.key.empty() || t.key == taint.key) && (!t.value || *t.value == taint.value) &&
               (!t.effect || *t.effect == taint.effect);
      });
}

bool admits(const Placement& placement, const NodeRow& node) {
  const auto& taints = node.taints;
  const bool welcome =
      model::contains_all(node.labels, placement.selector) &&
      std::all_of(taints.begin(), taints.end(),
                  [&placement](const model::Taint& t) { return tolerates(placement, t); });
  if (!welcome || !placement.terms) return welcome;
  return std::any_of(placement.terms->begin(), placement.terms->end(),
                     [&node](const std::vector<Requirement>& term) { return holds(term, node); });
}

}  // namespace spillway::supply
