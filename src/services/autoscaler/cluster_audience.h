// ClusterAudience: tells by events of the cluster, and watches which pods are pending.
//
// An event is for people and costs the API server a write: the same thing is not said again within
// k_quiet, and what would be said in a burst beyond k_most_waiting is not said at all. Nothing here
// holds anything up: who may not write events is told so once, in the log.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "host/lifeline.h"
#include "kube/watch.h"
#include "services/autoscaler/audience.h"
#include "services/log.h"

namespace spillway::autoscaler {

class ClusterAudience final : public Audience {
 public:
  static constexpr Duration k_quiet = minutes(10);
  static constexpr size_t k_most_waiting = 500;
  static constexpr size_t k_most_said = 20'000;  // that are remembered; more is not said
  static constexpr Duration k_forget_every = minutes(1);
  static constexpr int k_most_at_once = 4;
  static constexpr size_t k_longest_message = 1024;  // the API server's own bound

  ClusterAudience(host::Loop& loop, kube::Api& api, services::Log& log, std::string component);

  void start() { pods_.start(); }
  void tell(const Announcement& announcement) override;
  std::vector<PendingPod> pending() const override;

 private:
  void on_pod(const kube::Object& pod);
  void send_next();
  void on_sent(const Result<kube::Object>& answer);
  kube::Object event_of(const Announcement& announcement);

  host::Loop& loop_;
  kube::Api& api_;
  services::Log& log_;
  std::string component_;
  std::map<kube::Name, PendingPod> pending_;
  std::map<std::string, Instant> said_;  // what to whom
  Instant forgot_;                       // when what was said long ago was last forgotten
  std::deque<Announcement> waiting_;
  int in_flight_ = 0;
  uint64_t number_ = 0;
  bool is_complained_ = false;
  kube::Watch pods_;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
