// Messages: an agent's end of the relay: the mailbox over the agent's own state. It writes on
// contracts that both sides have signed and that live, and on no others: what a broker says of any
// other name is not looked at.
//
// Whoever hears a message changes the agent's state and leaves what reaches outside until that is
// saved (mailbox.h). A step that nobody here hears is told, and is over.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/agent/context.h"
#include "services/agent/mailbox.h"

namespace spillway::agent {

class Messages {
 public:
  using Hear = std::function<void(const Received&)>;

  explicit Messages(Context& context) : context_(context) {}

  void start();  // with the state as it was saved
  void hear(const std::string& step, Hear hear) { hears_[step] = std::move(hear); }
  Result<int64_t> send(const ContractId& contract, std::string_view step, std::string body,
                       Duration ttl = k_longest_message_ttl);

  void on_event(const wire::EventBody& event);
  void look_at_all();                          // events may have been missed
  void seen(const model::Contract& contract);  // as it is now; also the last time
  void verified(const ContractId& contract, const Paper& paper);
  // What both have signed, of a contract that lives. Null: there is none, or it is not verified
  // yet.
  const model::Agreement* agreement(const ContractId& contract) const;
  // Spares that its buyer has signed to buy, in order. Null: it is not verified yet.
  const std::vector<int32_t>* purchased(const ContractId& contract) const;

  MailboxCounts counts() const { return mailbox_ ? mailbox_->counts() : MailboxCounts{}; }

 private:
  void on_message(const Received& message);

  Context& context_;
  std::map<std::string, Hear> hears_;
  std::map<ContractId, model::Agreement> agreements_;  // of contracts that live
  std::map<ContractId, std::vector<int32_t>> purchased_;
  std::optional<Mailbox> mailbox_;  // none: this member does not sign
};

}  // namespace spillway::agent
