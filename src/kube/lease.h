// Lease: one active holder among many, by a Lease object of the cluster
// (coordination.k8s.io), as Kubernetes' own controllers do it.
//
// Whoever holds it renews it. A holder that could not renew for `lasts` − `margin` counts itself
// out before the others may count it out: at no time do two believe that they hold it, as long as
// their clocks run equally fast. They need not agree, and may be set at any time: that a lease
// was not renewed is judged by how long its record has not changed here, by a timer, never by the
// times written in it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "host/lifeline.h"
#include "kube/api.h"

namespace spillway::kube {

struct LeaseOptions {
  Name name;
  std::string holder;  // this one, unlike any other
  // For whom it is held, if only those who hold it for the same may follow each other: whoever
  // holds it for another waits also when it is free, until it is deleted. Empty: anybody may.
  std::string party = {};
  Duration lasts = seconds(15);
  Duration margin = seconds(5);
  Duration renew = seconds(2);
};

struct LeaseCalls {
  std::function<void()> on_held;
  std::function<void()> on_lost;  // also when the server cannot be reached for too long
  std::function<void(const Error&)> on_trouble = [](const Error&) {};
  // Another has it, as was just seen; told again only of yet another, or when it was ours between.
  // Without a holder it is free, and that party's.
  std::function<void(const std::string& holder, const std::string& party)> on_other =
      [](const std::string&, const std::string&) {};
};

class Lease {
 public:
  Lease(Api& api, LeaseOptions options, LeaseCalls calls);

  void start();
  bool is_held() const { return is_held_; }
  const std::string& holder() const { return seen_holder_; }  // as far as is known; may be empty
  // Gives it up, so that another need not wait, and calls when that is done or has failed. After
  // it nothing more is called. `for_good`: also to those who hold it for another.
  void release(std::function<void()> done, bool for_good = true);

 private:
  void look();
  void on_found(Result<Object> found);
  void create();
  void take(Object lease);
  uint64_t begin_attempt();
  void on_written(const Result<Object>& written, uint64_t attempt);
  void note(const Object& lease);
  void write_record(Object& lease, Instant now) const;
  void set_held(bool held);
  void look_again();

  Api& api_;
  LeaseOptions options_;
  LeaseCalls calls_;
  bool is_held_ = false;
  bool is_ending_ = false;
  uint64_t attempt_ = 0;      // to write the record
  uint64_t renewed_by_ = 0;   // the last attempt that succeeded
  uint64_t run_out_ = 0;      // attempts up to this one are too old to hold by
  std::string seen_version_;  // of the record when it last changed
  std::string seen_holder_;
  std::string told_holder_;  // another, that was told of
  bool is_old_ = false;      // it has not changed for as long as it lasts
  host::Lifeline life_;
};

}  // namespace spillway::kube
