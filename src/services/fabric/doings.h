// Doings: does what one machine wants done, by the API server. A machine says the same deed again
// as long as it sees the need; here it is done once, again after a while if nothing came of it, and
// with growing waits where it is refused.
//
// What is there already when it is made, and gone already when it is removed, is as wanted. Whoever
// was faster (contended) makes for another look, and is no trouble. What is there and still wanted
// after that has lost the labels by which it is seen: they are put on it again. If it has them it
// cannot be read, and that is told. Nothing is removed
// while it is still being made: a request that is late would make again what has just gone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/deed.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "kube/api.h"

namespace spillway::agent {

// Labels by which an object is known to Liqo and to us, of those that it was to be made with. Of
// others, a pod-security level for instance, whoever runs the cluster may have set another.
struct MissingLabels {
  model::Node patch;  // merge patch; without members: none
  std::string names;
};
MissingLabels missing_labels(const model::Node& wanted, const kube::Object& seen);

class Doings {
 public:
  static constexpr Duration k_settle = seconds(1);  // what was done is seen by then
  static constexpr int k_late_sights = 5;           // times: longer than a watch is late
  static constexpr int k_most_in_flight = 32;       // of all peers together
  static constexpr int k_most_of_one = 24;          // one with much to do leaves room for others
  static constexpr Duration k_full_wait = milliseconds(50);  // nobody tells when there is room

  struct Calls {
    std::function<void()> answered;  // another look may find more
    std::function<void(const fabric::Place&)> removed;
    std::function<void(const fabric::Place&)> changed = [](const fabric::Place&) {};
    // By us, just now: it was not there.
    std::function<void(const fabric::Place&)> made = [](const fabric::Place&) {};
    // It was there without these labels, and has them again.
    std::function<void(const fabric::Place&, const std::string& labels)> labelled =
        [](const fabric::Place&, const std::string&) {};
  };
  // `in_flight`: what is under way for all peers.
  Doings(kube::Api& api, int& in_flight, Calls calls)
      : api_(api), in_flight_(in_flight), calls_(std::move(calls)) {}
  ~Doings();
  Doings(const Doings&) = delete;
  Doings& operator=(const Doings&) = delete;

  // These, and no others any more. When one that waits is due.
  Instant want(const std::vector<fabric::Deed>& deeds);
  std::vector<fabric::Trouble> troubles() const;
  // What was refused, or never answered, is due now.
  void hurry();

 private:
  struct Doing {
    bool is_wanted = false;
    bool is_under_way = false;
    bool is_contended = false;  // the last time; `version` is what it was about then
    int was_there = 0;          // so often, in a row, when it was to be made
    std::string version = {};
    Instant due = {};
    host::Backoff backoff = {};
    std::optional<Error> refused = {};
  };

  bool is_being_made(const fabric::Deed& deed) const;
  void begin(const std::string& key, const fabric::Deed& deed);
  void create(const std::string& key, const fabric::Create& deed);
  void label(const std::string& key, const fabric::Create& deed);
  std::optional<Error> unseen(const std::string& key, const fabric::Place& at) const;
  void merge(const std::string& key, const fabric::Merge& deed);
  void remove(const std::string& key, const fabric::Remove& deed);
  void evict(const std::string& key, const fabric::Evict& deed);
  void end(const std::string& key, const std::optional<Error>& refused);

  kube::Api& api_;
  int& in_flight_;
  int own_in_flight_ = 0;
  Calls calls_;
  std::map<std::string, Doing> doings_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
