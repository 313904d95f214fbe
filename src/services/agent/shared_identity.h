// SharedIdentity: the identity of a member, of which another process keeps it in the cluster
// (services/agent/cluster_identity.h). It is read, and never written: one process of a member
// renews its certificate, and the others find the new one where that has put it.
//
// Another key in it means that the member has joined anew. Whoever has signed with the old one
// begins anew, too.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "host/lifeline.h"
#include "kube/api.h"
#include "services/agent/credentials.h"
#include "services/log.h"

namespace spillway::agent {

class SharedIdentity {
 public:
  static constexpr Duration k_look = minutes(1);

  SharedIdentity(kube::Api& api, services::Log& log, kube::Name secret)
      : api_(api), log_(log), secret_(std::move(secret)) {}

  // Unavailable: its keeper has not joined yet.
  void read(std::function<void(Result<Credentials>)> then);
  // From what was read on: `renewed` for each other certificate, `replaced` once, for another key.
  void follow(Credentials known, std::function<void(const Credentials&)> renewed,
              std::function<void(const Error&)> replaced);

 private:
  void look_later();
  void on_read(const Result<Credentials>& seen);

  kube::Api& api_;
  services::Log& log_;
  kube::Name secret_;
  Credentials known_;
  std::function<void(const Credentials&)> renewed_;
  std::function<void(const Error&)> replaced_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
