// Kind: one resource that the API serves: where it is found, what its documents are called, and in
// which ways its life differs from that of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::embedded {

struct Kind {
  std::string group;    // "" is the core group
  std::string version;  // in which objects are stored
  std::string plural;   // "pods"
  std::string name;     // "Pod"
  std::string singular = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> served = {};        // other versions; conversion is by name only
  std::vector<std::string> subresources = {};  // "status", "eviction"
  bool is_namespaced = true;
  bool counts_generation = false;
  bool needs_version = false;      // an update without a resourceVersion is refused
  bool creates_on_update = false;  // PUT makes what is missing
  bool returns_deleted = false;    // a DELETE that is done at once answers with the object
  bool is_custom = false;          // defined by a CustomResourceDefinition
  bool is_question = false;        // is answered, and never kept
  bool is_served = true;           // false: its definition is gone; kept for what still names it
  size_t number = 0;               // its place in the registry
  int64_t begins = 0;              // the version at which it was defined: before, nothing is told

  bool has(std::string_view subresource) const;
  bool serves(std::string_view wanted) const;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  std::string list_name() const { return name + "List"; }
  // "pods", "deployments.apps": as messages name it.
  std::string resource() const { return group.empty() ? plural : plural + "." + group; }
};

}  // namespace spillway::embedded
