// Mailbox: a member's end of the relay. What is sent is signed, sealed, written down and then told
// to the broker until it has it; what comes is opened, judged and handed over, in order.
//
// Each is handed over once, through any kill: the number of a message and what its receiver made of
// it are one state, saved at once, and only then is the message acknowledged. Killed before that, a
// member has seen nothing and gets it again; killed after, it knows the number. So whoever is
// handed a message changes its own state and leaves what reaches outside until that is saved.
//
// The broker is not trusted: it can lose and delay. What it alters, replays, redirects, reorders or
// invents is refused, named in the log and counted.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "host/backoff.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "services/agent/letters.h"
#include "services/agent/mailbox_state.h"
#include "services/agent/received.h"
#include "services/log.h"
#include "services/wire/broker_client.h"

namespace spillway::agent {

// As many as may wait at the broker.
inline constexpr size_t k_most_unsent = 64;
inline constexpr Duration k_longest_message_ttl = minutes(10);
// What comes in so much time is acknowledged at once, and whatever came meanwhile is in the answer.
inline constexpr Duration k_gather_acknowledgements = milliseconds(5);

struct MailboxCounts {
  int64_t sent = 0;     // the broker has them
  int64_t dropped = 0;  // expired before the broker had them, or it will never take them
  int64_t received = 0;
  int64_t missed = 0;  // numbers that never came: expired, or kept back
  std::array<int64_t, k_refusals> refused{};

  int64_t all_refused() const {
    return std::accumulate(refused.begin(), refused.end(), int64_t{0});
  }
};

class Mailbox {
 public:
  struct Calls {
    // Null: there is none, or not yet. What was agreed never changes.
    std::function<const model::Agreement*(const ContractId&)> agreement;
    std::function<void(const Received&)> on_message;
    // Saves the whole state that MailboxState is part of, as it is now, and calls when that would
    // survive the loss of power.
    std::function<void(std::function<void()>)> save;
  };
  struct Ports {
    host::Loop& loop;
    host::Random& random;
    services::Log& log;
    wire::BrokerClient& client;
  };

  Mailbox(Ports ports, ClusterId own, LetterKeys keys, MailboxState& state, Calls calls);

  // Once, with the state as it was saved: goes on with what was not sent, and asks for what waits.
  void start();
  // The number that it got. On its way when that is saved; it expires `ttl` from now.
  Result<int64_t> send(const ContractId& contract, std::string_view step, std::string body,
                       Duration ttl = k_longest_message_ttl);
  void on_event(const wire::EventBody& event);  // any; looks at those that it is for
  // Asks for what waits: of contracts that are new here, and after events were missed.
  void look_at(const ContractId& contract);
  void forget(const ContractId& contract);  // it is closed

  const MailboxCounts& counts() const { return counts_; }

 private:
  // What is under way with one contract.
  struct Line {
    std::optional<Peer> peer;
    int64_t saved = 0;  // all numbers up to it are written down
    bool posting = false;
    bool asking = false;
    bool ask_again = false;
    bool acknowledged = false;  // the broker is known to have heard of all that was seen
    host::Backoff post_backoff;
    host::Backoff ask_backoff;
  };

  Result<const Peer*> peer_in(Line& line, const ContractId& contract);
  void write_down(std::function<void()> then);
  void save_now();

  void post_next(const ContractId& contract);
  void on_posted(const ContractId& contract, int64_t sequence, const Result<void>& answer);
  void drop(Correspondence& with, const ContractId& contract, const std::string& why);

  void ask(const ContractId& contract);
  void on_page(const ContractId& contract, const Result<wire::MessagePage>& page);
  void take(const ContractId& contract, int64_t through);
  void end_asking(const ContractId& contract);
  void ask_later(const ContractId& contract);
  // How many were handed over.
  int64_t hand_over(const ContractId& contract, const Peer& peer, const wire::MessagePage& page);
  void refuse(const ContractId& contract, const wire::MessageRow& row, Refusal why);

  Ports ports_;
  ClusterId own_;
  LetterKeys keys_;
  MailboxState& state_;
  Calls calls_;
  std::map<ContractId, Line> lines_;
  std::vector<std::function<void()>> unsaved_;  // to be called after the next save
  MailboxCounts counts_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
