// Pulses: whether the providers that this cluster bought from are there. Each is asked every few
// seconds, directly, with the identity that Liqo made of the handshake: never over the broker. The
// question is the renewal of our Lease in its cluster (fabric/fence.h), so that it knows the same
// of us.
//
// Who does not answer is not sent renewals any more, but asked to show the Lease: a renewal that
// arrives late would tell of somebody who has given up since. When it answers again, renewals go on
// after `renew`: once it is written down that they do.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fabric/death.h"
#include "host/lifeline.h"
#include "kube/access.h"
#include "kube/api.h"
#include "net/channel.h"
#include "services/fabric/hearing.h"
#include "services/log.h"

namespace spillway::agent {

struct PulseOptions {
  // To a provider's API server, as a kubeconfig says it; with bounds on how long it takes and how
  // much it says. Empty: nobody is asked, and nobody is found dead.
  std::function<Result<std::unique_ptr<net::Channel>>(const kube::Access& access)> dial = {};
  Duration every = seconds(5);
  Duration answer = seconds(4);  // who takes longer has not answered
};

class Pulses {
 public:
  static constexpr Duration k_long_refused = minutes(1);

  struct Calls {
    // It does not answer: no renewal can have arrived after that.
    std::function<void(const std::string& provider, Instant unheard)> silenced;
    // It does, for the first time or again; how often its Lease says that we gave up on it.
    std::function<void(const std::string& provider, int64_t turns)> answered;
  };
  Pulses(kube::Api& api, services::Log& log, PulseOptions options, AllowedServers allowed,
         Calls calls);

  // Asks it from now on; `space` is our tenant namespace there.
  void follow(const std::string& provider, const std::string& buyer, const std::string& space);
  void forget(const std::string& provider) { pulses_.erase(provider); }
  void renew(const std::string& provider, int64_t turns);

  fabric::Signs signs(const std::string& provider) const;  // but for Liqo's word
  // Why our Lease cannot be renewed, by somebody who answers; none: it is, or not for long.
  std::optional<Error> refusal(const std::string& provider) const;

 private:
  struct Pulse {
    std::string buyer;
    std::string space;
    uint64_t number = 0;  // of this following: timers of an earlier one are not heard
    uint64_t attempt = 0;
    bool is_under_way = false;
    std::unique_ptr<net::Channel> channel;
    std::string prefix;
    bool is_stale = false;  // the channel: another one before the next question
    bool may_renew = false;
    int64_t turns = 0;
    bool is_answered = false;
    std::optional<Instant> silent;
    Instant sent;  // the last renewal, or when following began
    std::optional<Error> refused;
    Instant refused_since;
  };

  void beat(const std::string& provider, uint64_t number);
  void open(const std::string& provider);
  Status connect(const std::string& provider, Pulse& pulse, const kube::Object& secret);
  void ask(const std::string& provider);
  void on_answer(const std::string& provider, bool is_renewal, const Result<net::Response>& answer);
  void on_silence(const std::string& provider, Pulse& pulse);
  Pulse* under_way(const std::string& provider, uint64_t attempt);
  void refuse(Pulse& pulse, const Error& why);

  kube::Api& api_;
  services::Log& log_;
  PulseOptions options_;
  AllowedServers allowed_;
  Calls calls_;
  std::map<std::string, Pulse> pulses_;
  uint64_t followed_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
