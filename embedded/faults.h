// Faults: in which ways the API server misbehaves, by rules that tests and simulations add and take
// away while it runs. A rule says what it applies to, how often, and what happens then.
//
// Faults of the whole cluster (history that is forgotten, versions that go back, a clock that is
// wrong, a certificate that has expired) are calls of Cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "embedded/ask.h"
#include "host/random.h"

namespace spillway::embedded {

struct Fault {
  // What it applies to; empty is everything. `resource` as in "pods" or "pods/eviction".
  std::string verb = {};
  std::string resource = {};
  // How often: not to the first `skip`, then to every `every`-th, `times` times at most (0: without
  // end), and to so many of 1000 of those, by lot.
  int64_t skip = 0;
  int64_t every = 1;
  int64_t times = 0;
  uint32_t per_mille = 1000;

  // What happens. First the delay; then, if there is a code, the refusal instead of the answer.
  Duration delay{};
  int code = 0;  // 409, 410, 429, 500, 503, 504; others are given without a reason
  int retry_after_seconds = 0;
  // The request is carried out, but the answer never comes: the connection is cut.
  bool loses_answer = false;
  // The connection is cut before anything is done.
  bool cuts = false;
  // The answer's body ends in the middle (a JSON document that is none).
  bool garbles = false;
  // Bodies and watch events come in drops of this size, one each `drop_every`; 0: whole.
  size_t drop_bytes = 0;
  Duration drop_every = milliseconds(100);
  // Of watches: after so many events the stream is cut, or a line that is no event is sent; 0:
  // never.
  int64_t cut_after_events = 0;
  int64_t garbage_after_events = 0;
  Duration cut_after{};  // 0: never
};

class Faults {
 public:
  explicit Faults(host::Random& random) : random_(random) {}

  // Rules are asked in the order in which they were added; the first that applies is taken.
  void add(Fault fault) { rules_.push_back({std::move(fault)}); }
  void clear() { rules_.clear(); }
  int64_t injected() const { return injected_; }  // since the start

  // What shall happen to this request; counts it.
  std::optional<Fault> next(const Ask& ask);

 private:
  struct Rule {
    Fault fault;
    int64_t seen = 0;
    int64_t done = 0;
  };
  bool applies(Rule& rule, const Ask& ask);

  host::Random& random_;
  std::vector<Rule> rules_;
  int64_t injected_ = 0;
};

// How the API server words it: "the server has asked for the client to …".
Refusal refusal_of(const Fault& fault, const Ask& ask);

}  // namespace spillway::embedded
