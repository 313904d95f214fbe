// Callers: who may ask a driver for what. Known by their certificates; whoever is not listed may
// nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/exchange.h"

namespace spillway::driver {

inline constexpr const char* k_any_cluster = "*";

struct Rights {
  std::string name;                         // in logs and refusals
  bool sees_all = false;                    // a viewer, who may order nothing by that
  std::vector<std::string> consumers = {};  // clusters that it may order for; "*": any
  std::vector<std::string> providers = {};  // and from
  bool operator==(const Rights&) const = default;

  bool may_order(const std::string& consumer, const std::string& provider) const;
  bool may_see(const std::string& consumer, const std::string& provider) const {
    return sees_all || may_order(consumer, provider);
  }
};

class Callers {
 public:
  using Keys = std::optional<std::set<std::string>>;
  // By the SAN URI of the certificate, and whose key has signed it; none: any authority's that the
  // port trusts; an empty set: nobody's.
  void add(const std::string& uri, Rights rights, Keys authorities = {}) {
    by_uri_[uri] = {std::move(rights), std::move(authorities)};
  }
  // Every certificate of the authorities that were given: for a port of one cluster.
  void add_everyone(Rights rights) { everyone_ = std::move(rights); }

  // Null: it may nothing.
  const Rights* find(const net::PeerCertificate& certificate) const;

 private:
  struct Listed {
    Rights rights;
    Keys authorities;
  };
  std::map<std::string, Listed> by_uri_;
  std::optional<Rights> everyone_;
};

}  // namespace spillway::driver
