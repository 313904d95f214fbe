// Standings: whether a buyer's Liqo id has rights in this cluster before it becomes a tenant
// (fabric/liqo/standing.h). Bindings are many and change rarely: they are listed when a buyer is to
// be let in, not watched; and listed again after a while as long as it is not.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "host/lifeline.h"
#include "kube/api.h"

namespace spillway::agent {

class Standings {
 public:
  static constexpr Duration k_fresh = seconds(30);  // an answer is good for so long

  Standings(kube::Api& api, std::function<void(const std::string& buyer)> answered)
      : api_(api), answered_(std::move(answered)) {}

  struct Answer {
    bool has_none = false;          // looked at just now: it may be let in
    std::optional<Error> why = {};  // it may not, as of the last look
    Instant look_again = k_last_instant;
  };
  // Looks if the last answer is old; `answered` tells when there is another.
  Answer ask(const std::string& buyer);

 private:
  struct Look {
    bool is_under_way = false;
    std::optional<Instant> answered = {};
    std::optional<Error> why = {};
    std::optional<Error> found = {};  // in the list that is under way
  };

  void list(const std::string& buyer, bool of_cluster);
  void end(const std::string& buyer, std::optional<Error> why);

  kube::Api& api_;
  std::function<void(const std::string&)> answered_;
  std::map<std::string, Look> looks_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
