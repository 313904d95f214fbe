// FabricHolder: one fabric at a time in a cluster, whoever hosts it, by a Lease in Liqo's
// namespace. Two of them would each take down what only the other has contracts for.
//
// Who cannot renew the Lease leaves all as it is until it can: while an API server is away nobody
// else can have taken it, and what is promised to providers goes on. Who finds that another has it
// is out until that one lets go. Holders have names that outlive restarts, so that one who was
// killed goes on at once; that no two processes have the same name is for whoever gives it.
#pragma once

#include <functional>
#include <string>

#include "kube/lease.h"
#include "services/log.h"

namespace spillway::agent {

inline constexpr const char* k_fabric_lease = "spillway-fabric";

class FabricHolder {
 public:
  struct Calls {
    std::function<void()> begin;  // or go on: this cluster's fabric is ours
    std::function<void()> pause;  // it may not be, for all that is known
    std::function<void()> stop;   // it is another's
  };
  // `party`: whose contracts or orders they are. Who works for another would take down all that
  // this one has made, so it does not follow this one, unless nothing was left or the Lease is
  // deleted by somebody who knows.
  FabricHolder(kube::Api& api, services::Log& log, std::string name, std::string party,
               Calls calls);

  void start() { lease_.start(); }
  bool is_held() const { return lease_.is_held(); }
  std::string why_not() const;  // it is not held
  // Gives it up, so that another need not wait, and calls when that is done or has failed.
  // `is_empty`: nothing is left that another party would take down.
  void release(bool is_empty, std::function<void()> done) {
    lease_.release(std::move(done), is_empty);
  }

 private:
  kube::LeaseCalls lease_calls();
  void tell(const Error& trouble);

  services::Log& log_;
  Calls calls_;
  std::string told_;   // the last trouble that was logged
  std::string other_;  // whose it is
  kube::Lease lease_;
};

// Of a program that keeps its state in that folder of this machine, locked.
std::string folder_holder(const std::string& who, const std::string& folder);

}  // namespace spillway::agent
