// Ask: a request to the API as Kubernetes understands it: which verb, on which resource.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "embedded/object.h"
#include "embedded/refusal.h"
#include "embedded/registry.h"
#include "embedded/selector.h"
#include "net/exchange.h"

namespace spillway::embedded {

struct User {
  std::string name;
  std::vector<std::string> groups;
  bool is_in(std::string_view group) const;
};

struct Ask {
  // get list watch create update patch delete deletecollection; for paths that are no resource, the
  // method in lower case
  std::string verb;
  const Kind* kind = nullptr;  // null: no resource
  std::string version;         // of the kind, as asked for
  std::string space;           // empty: all, or the kind lies in none
  std::string name;
  std::string subresource;
  User user;
  net::Request request;
  net::Target target;
  std::string peer;  // address

  std::string_view parameter(std::string_view wanted) const;  // else empty
  bool is_set(std::string_view wanted) const;                 // "true" or "1"
  bool is_dry_run() const { return parameter("dryRun") == "All"; }
  std::string_view header(std::string_view wanted) const;  // else empty
  std::string content_type() const;                        // without its parameters
  bool wants_table() const;
  Key key() const { return {space, name}; }
  // "pods/eviction"
  std::string resource() const;
};

// Verb and resource by method and path. None: nothing is served there; `ask.kind` may be null when
// the path is one of discovery's.
bool route(const Registry& registry, Ask& ask);

// Which objects a list, watch or deletecollection means.
struct Filter {
  std::string space;
  Selector labels;
  Selector fields;
  bool matches(const Object& object) const;
};
Answer<Filter> read_filter(const Ask& ask);

// resourceVersion of a query; -1 when there is none.
Answer<int64_t> read_version(const Ask& ask);

}  // namespace spillway::embedded
