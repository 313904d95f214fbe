// Placement: on which nodes a pod may run, as far as labels and taints decide it: nodeSelector,
// required node affinity and tolerations, by the rules of the kube-scheduler.
//
// It is asked about the owner's pending pods, for whom room is kept. So in doubt a pod may run: a
// part that cannot be read does not keep it away, and affinity between pods is not looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "model/labels.h"
#include "model/node.h"
#include "supply/node_row.h"

namespace spillway::supply {

struct Toleration {
  std::string key;                           // empty: any
  std::optional<std::string> value;          // none: any
  std::optional<model::TaintEffect> effect;  // none: any
  bool operator==(const Toleration&) const = default;
};

// One line of a node selector term, on a label or (metadata.name) on the node's name.
struct Requirement {
  enum class Operator : uint8_t { in, not_in, exists, absent, greater, less, unknown };
  std::string key;
  Operator op = Operator::unknown;
  bool on_field = false;
  std::vector<std::string> values;
  bool operator==(const Requirement&) const = default;
};

struct Placement {
  model::Labels selector;
  std::vector<Toleration> tolerations;
  std::optional<std::vector<std::vector<Requirement>>> terms;  // one of them, all of its lines
  bool operator==(const Placement&) const = default;
};

Placement read_placement(const model::Node& pod);

// The nodes, by name, outside of which it cannot run: so DaemonSets place their pods. None: any.
std::optional<std::vector<std::string_view>> named_nodes(const Placement& placement);

void add_to(Digest& digest, const Placement& placement);

bool tolerates(const Placement& placement, const model::Taint& taint);
bool admits(const Placement& placement, const NodeRow& node);

}  // namespace spillway::supply
