// Visits: as a buyer, the paper's way of peering (fabric/account.h): with the kubeconfig that a
// provider has sent, reads the nonce there, makes our Tenant, and looks for Liqo's answer. One
// visit at a time to a provider, for a bounded time; nothing of it is written down: who is killed
// during a visit is sent a kubeconfig again.
//
// The provider ends the account when Liqo has answered. Who finds itself shut out then has done its
// part: the provider says the same answer over the relay.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "fabric/liqo/handshake.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "kube/access.h"
#include "kube/api.h"
#include "net/channel.h"

namespace spillway::agent {

class Visits {
 public:
  static constexpr Duration k_longest = seconds(30);
  static constexpr Duration k_look = milliseconds(100);

  using Dial = std::function<Result<std::unique_ptr<net::Channel>>(const kube::Access& access)>;
  struct Order {
    std::string provider;
    ContractId contract;
    std::string buyer;  // who we are: our Tenant's name
    Instant until;      // when the credential is worth nothing any more
  };
  struct Calls {
    // Our Tenant, with that nonce signed; an error: that is none to be signed.
    std::function<Result<model::Node>(const std::string& nonce)> tenant;
    std::function<void(const Order&, const fabric::liqo::Tenant&)> answered;
    // It came to nothing.
    std::function<void(const Order&, const Error&)> failed;
  };
  Visits(kube::Api& own, Dial dial, Calls calls)
      : own_(own), dial_(std::move(dial)), calls_(std::move(calls)) {}

  // `access` has been checked (services/fabric/hearing.h). While one is under way there nothing
  // follows.
  void go(const Order& order, const kube::Access& access);
  void end(const std::string& provider);

 private:
  struct Visit {
    Order order;
    uint64_t number = 0;  // of this one: what belongs to an earlier one is not heard
    std::string space;
    std::unique_ptr<net::Channel> channel;
    std::unique_ptr<kube::Api> api;
    host::Backoff backoff = {};
  };
  Visit* under_way(const std::string& provider, uint64_t number);
  template <class F>
  auto step(const Visit& visit, F then);
  void read_nonce(Visit& visit);
  void make_tenant(Visit& visit, const kube::Object& secret);
  void look(Visit& visit);
  void on_look(Visit& visit, const Result<kube::Object>& seen);
  void again(Visit& visit, const Error& why);

  kube::Api& own_;  // for its loop
  Dial dial_;
  Calls calls_;
  std::map<std::string, Visit> visits_;
  uint64_t number_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
