// Which namespaces of a buyer have a twin at a provider: what the buyer wants of one namespace
// (NamespaceOffloading), and what it wants of one provider in sum (NamespaceMap, which Liqo makes
// and copies there).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

enum class Mapping { default_name, same_name, selected_name };
enum class Placement { local_and_remote, local, remote };

struct Requirement {
  std::string key;
  std::string relation;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  bool operator==(const Requirement&) const = default;
};
struct SelectorTerm {
  std::vector<Requirement> requirements;  // all of them
  bool operator==(const SelectorTerm&) const = default;
};

struct NamespaceOffloading {
  static constexpr const Kind& k_kind = k_namespace_offloadings;
  Meta meta;  // its namespace is the one that is offloaded
  Mapping mapping = Mapping::default_name;
  std::string remote_name;  // when it is selected
  Placement placement = Placement::local_and_remote;
  std::vector<SelectorTerm> selector;  // any of them; never empty when we write it
  std::string phase;                   // status: "Ready", "InProgress", "NoClusterSelected", …
  std::string remote_space;            // status: the name there
  int64_t observed_generation = 0;     // status
  bool operator==(const NamespaceOffloading&) const = default;
};
// To the virtual nodes of any provider, under that name there.
NamespaceOffloading new_offloading(std::string_view space, std::string_view remote_name);
Result<NamespaceOffloading> read_namespace_offloading(const model::Node& object);
model::Node to_object(const NamespaceOffloading& offloading);

struct MappedNamespace {
  std::string remote;
  std::string phase;  // "Accepted", "CreationLoopBackOff", "Terminating"
  bool operator==(const MappedNamespace&) const = default;
};

struct NamespaceMap {
  static constexpr const Kind& k_kind = k_namespace_maps;
  Meta meta;
  Texts wanted;                                               // name here → name there
  std::map<std::string, MappedNamespace, std::less<>> there;  // status
  bool operator==(const NamespaceMap&) const = default;
};
Result<NamespaceMap> read_namespace_map(const model::Node& object);
model::Node to_object(const NamespaceMap& map);

}  // namespace spillway::fabric::liqo
