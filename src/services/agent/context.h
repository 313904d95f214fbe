// What all parts of an agent share: its ports, its options, and its state.
#pragma once

#include <functional>
#include <string>

#include "host/backoff.h"
#include "host/loop.h"
#include "host/random.h"
#include "services/agent/never.h"
#include "services/agent/signing.h"
#include "services/agent/state_keeper.h"
#include "services/log.h"
#include "services/wire/broker_client.h"

namespace spillway::agent {

struct AgentOptions {
  ClusterId cluster;
  Duration pool_lease = minutes(2);  // a pool is sold so long after the agent was last heard
  bool renew = true;                 // the leases of what was bought
  // Both, for a member that signs.
  std::optional<Signatory> signatory = {};
  Papers* papers = nullptr;  // outlive it
  // Of a member whose contracts are made real by Liqo: its id there, and what a purchase asks for.
  std::optional<std::string> liqo = {};
  Signing::FabricOf fabric_of = {};
  // Clocks differ, and an answer takes its time: so long after a deadline we would have heard.
  Duration overdue = seconds(30);
};

struct Context {
  host::Loop& loop;
  host::Random& random;
  services::Log& log;
  AgentOptions options;
  wire::BrokerClient client;
  StateKeeper& keeper;
  std::function<void(Instant)> wake_by;  // then step() of every part is called
  Signing* signing = nullptr;            // null: it signs nothing
  std::string last_error = {};
  Instant heard = {};  // the broker's last word, by our own clock; at first, when we began

  void hear() { heard = loop.now(); }
  AgentState& state() { return keeper.state(); }
  Instant now() { return loop.now(); }
};

// Of a member that signs; none of any other.
inline std::optional<Signing> signing_of(net::Channel& channel, host::Loop& loop,
                                         const AgentOptions& options) {
  if (!options.signatory || options.papers == nullptr) return std::nullopt;
  std::optional<Signing> made(std::in_place, wire::BrokerClient(channel), *options.papers,
                              *options.signatory, [&loop] { return loop.now(); });
  made->bind_fabric(options.fabric_of);
  return made;
}

// For giving back: of a contract that is active and unsigned nothing is signed, so there is nothing
// to ask about. Should the broker lie about that, we have given back all the same.
inline Signing* signing_to_release(Context& context, const ContractId& id) {
  const auto& contracts = context.state().contracts;
  const auto known = contracts.find(id);
  const bool is_unsigned =
      known != contracts.end() && known->second.started && known->second.agreement.empty();
  return is_unsigned ? nullptr : context.signing;
}

// No part may have more requests under way than this; what is left waits its turn.
inline constexpr int k_most_in_flight = 8;
// Changes that come together are told together.
inline constexpr Duration k_coalesce = milliseconds(20);
// One thing that is asked of the broker until it is done.
struct Attempt {
  bool in_flight = false;
  Instant due;
  host::Backoff backoff;
  std::string told;  // the last refusal that was logged

  // A due time further away than anyone would wait is one of before the clock was put back.
  bool is_due(Instant now, Duration longest) const {
    return !in_flight && (due <= now || due - now > longest);
  }
  void succeed() {
    backoff.reset();
    told.clear();
  }
  // Sets when to try again. A refusal is logged once; that the broker is away is the follower's
  // to tell.
  void fail(Context& context, std::string_view what, const Error& error,
            Duration longest = host::k_longest_wait) {
    const bool not_now = describe(error.code).not_now;
    const Duration wait = backoff.next(context.random, longest);
    due = context.now() +
          (not_now ? wait
                   : host::between(context.random, Duration{host::k_refused_wait.ms / 2},
                                   host::k_refused_wait));
    if (error.code == Code::unavailable || error.code == Code::contended) return;
    const std::string message = error.message();
    context.last_error = message;
    if (std::exchange(told, message) == message) return;
    context.log.write(services::Level::warning, what, {{"why", message}});
  }
};

}  // namespace spillway::agent
