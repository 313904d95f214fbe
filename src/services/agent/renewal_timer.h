// RenewalTimer: another certificate for the same key when two thirds of the present one's life are
// over, or at once when it has run out already: the broker takes it for 30 days after that, for
// this alone.
#pragma once

#include <functional>
#include <string>

#include "host/alarm.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "net/client.h"
#include "services/agent/credentials.h"
#include "services/log.h"
#include "services/wire/broker_client.h"

namespace spillway::agent {

// For connections from now on; what fails is told, and the old certificate stays in use.
void take_into_use(const Credentials& renewed, net::Client& client, services::Log& log);

class RenewalTimer {
 public:
  // `renewed` is called with what is in the store by then.
  RenewalTimer(host::Loop& loop, host::Random& random, net::Channel& channel, services::Log& log,
               IdentityStore& store, Credentials credentials,
               std::function<void(const Credentials&)> renewed);

  void start();
  Instant due() const { return due_; }

 private:
  void look();
  void plan();
  void renew();
  void on_answer(const Result<wire::CertificateAnswer>& told);
  void on_stored(Result<Credentials> kept);
  void fail(const Error& error);

  host::Loop& loop_;
  host::Random& random_;
  wire::BrokerClient client_;
  services::Log& log_;
  IdentityStore& store_;
  Credentials credentials_;
  std::function<void(const Credentials&)> renewed_;
  Instant due_;
  bool asking_ = false;
  host::Backoff backoff_;
  host::Alarm alarm_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
