// ResourceQuotas: keeps the status of quotas: what there is in their namespace of what they limit.
// Nothing is refused for their sake. Of amounts only what pods request is counted, not their
// limits.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "embedded/amounts.h"
#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class ResourceQuotas {
 public:
  ResourceQuotas(Objects& objects, host::Loop& loop);

 private:
  void work();
  void count(const Object& quota);
  std::optional<int64_t> used(const std::string& space, std::string_view what) const;
  std::optional<int64_t> count_of(const std::string& space, std::string_view resource) const;
  int64_t live_pods(const std::string& space) const;
  Amounts requested(const std::string& space) const;
  int64_t service_ports(const std::string& space, bool of_balancers) const;

  Objects& objects_;
  std::set<std::string> limited_;  // namespaces that have a quota
  std::set<std::string> changed_;
  Turn turn_;
};

}  // namespace spillway::embedded
