// ClusterHome: where a service lives that keeps nothing on a disk: its identity and its state are
// Secrets of its own cluster, guarded by a Lease. Any number of them may be started for one home;
// the one that holds the Lease is in, the others wait.
//
// Whoever loses the Lease, or finds that somebody else has written, is out for good: on_lost, and
// the process ends. Going back to waiting would save a restart and would have to undo, without a
// slip, all that the agent has under way; an ended process has nothing under way.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "host/backoff.h"
#include "host/lifeline.h"
#include "kube/lease.h"
#include "services/agent/cluster_identity.h"
#include "services/agent/cluster_state.h"
#include "services/agent/shared_identity.h"
#include "services/log.h"

namespace spillway::agent {

struct ClusterHomeOptions {
  kube::Name identity;  // Secrets
  kube::Name state;
  kube::Name lease;
  std::string holder;      // this process, unlike any other
  std::string broker;      // its URL, to join when there is no identity yet
  std::string token_file;  // with this token
  StateKind kind = agent_state();
  bool reads_identity = false;  // another process keeps it: it is waited for, and never written
};

// The pod, and which of its processes: it may have been started before.
std::string holder_name(host::Random& random);

struct ClusterHomeCalls {
  std::function<void(const Credentials&)> on_home;  // once
  std::function<void(const Error&)> on_lost;        // once, perhaps without on_home: stop now
  ClusterIdentity::Connect connect;
};

class ClusterHome {
 public:
  ClusterHome(kube::Api& api, services::Log& log, ClusterHomeOptions options,
              ClusterHomeCalls calls);

  void start();
  // Gives the Lease up, so that another need not wait, and calls when that is done or has failed.
  void leave(std::function<void()> done);

  bool is_holder() const { return lease_.is_held() && !is_out_; }
  const std::string& holder() const { return lease_.holder(); }  // empty: not known yet
  StateStore& state() { return state_; }
  IdentityStore& identity() { return identity_; }        // which this process keeps
  SharedIdentity& shared_identity() { return shared_; }  // which it reads

 private:
  void claim();
  void claim_state();
  void enter();
  void read_shared();
  void join();
  void go_home(const Result<Credentials>& credentials);
  bool tries_again(const Error& error, void (ClusterHome::*step)());
  void lose(const Error& error);

  kube::Api& api_;
  services::Log& log_;
  ClusterHomeOptions options_;
  ClusterHomeCalls calls_;
  HeldSecret identity_secret_;
  HeldSecret state_secret_;
  ClusterIdentity identity_;
  SharedIdentity shared_;
  ClusterState state_;
  kube::Lease lease_;
  host::Backoff backoff_;
  std::string told_;  // the last trouble that was logged
  bool is_out_ = false;
  host::Lifeline life_;
};

}  // namespace spillway::agent
