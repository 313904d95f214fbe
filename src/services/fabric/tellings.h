// Tellings: troubles of the fabric, told once each, in the log and as an event of the cluster. A
// peer can cause as many as it likes, of any length: each source has a room of its own for what it
// has to say, and what does not fit is told when there is room again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fabric/deed.h"
#include "host/lifeline.h"
#include "kube/api.h"
#include "services/log.h"

namespace spillway::agent {

class Tellings {
 public:
  static constexpr size_t k_most = 200;      // of one source; what is beyond is counted, not told
  static constexpr size_t k_longest = 1024;  // of one sentence: the API server's own bound
  // So long one sentence is not told again: what comes and goes by a peer's own will, at any rate
  // that it likes, is news once.
  static constexpr Duration k_quiet = minutes(5);

  Tellings(kube::Api& api, services::Log& log) : api_(api), log_(log) {}

  // All that there are now, of that source; `about` is the namespace that it happens in.
  void set(const std::string& source, const std::string& about,
           const std::vector<fabric::Trouble>& troubles);
  // Once, of what is right again already.
  void tell_once(const std::string& about, const fabric::Trouble& trouble);
  // That something was done to a pod: an event of it, and nothing that is counted.
  void tell_of_pod(const std::string& space, const std::string& pod, const std::string& uid,
                   const std::string& text);
  int64_t count() const;
  std::vector<std::string> all() const;

 private:
  struct About {
    std::string kind;
    std::string space;  // empty: it is in none
    std::string name;
    std::string uid = {};
  };
  enum class News { told_lately, told_now, too_much };
  News tell(const std::string& source, const std::string& text);
  void make_room(const std::string& source);
  void write_event(const About& about, std::string_view type, std::string text);

  kube::Api& api_;
  services::Log& log_;
  std::map<std::string, std::map<std::string, bool>> told_;     // by source: what there is
  std::map<std::string, std::map<std::string, Instant>> said_;  // by source: when, lately
  uint64_t number_ = 0;
  bool is_complained_ = false;
  host::Lifeline life_;
};

}  // namespace spillway::agent
