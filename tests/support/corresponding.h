// A member with a mailbox before a LyingRelay. What it was handed is part of its state, as with a
// real one: a kill throws both back to what was saved.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/random.h"
#include "pki/ed25519.h"
#include "services/agent/mailbox.h"
#include "support/lying_relay.h"
#include "support/manual_loop.h"

namespace spillway::test {

class Corresponding {
 public:
  using Handed = std::vector<std::pair<int64_t, std::string>>;  // number and body
  struct State {
    agent::MailboxState mailbox;
    Handed handed;
  };

  Corresponding(ManualLoop& loop, LyingRelay& relay, ClusterId own)
      : own_(std::move(own)),
        loop_(loop),
        channel_(relay.channel_of(own_)),
        client_(std::make_unique<wire::BrokerClient>(*channel_)) {}

  pki::Key key = pki::Key::generate_member();
  pki::SealingKey sealing = pki::SealingKey::generate();
  std::map<ContractId, model::Agreement> agreements;
  State state;
  bool disk_works = true;  // else nothing is saved, and nobody hears
  services::Log* log = &no_log_;

  void start() {
    mailbox_ = std::make_unique<agent::Mailbox>(
        agent::Mailbox::Ports{loop_, random_, *log, *client_}, own_,
        agent::LetterKeys{key, sealing}, state.mailbox,
        agent::Mailbox::Calls{[this](const ContractId& id) {
                                const auto found = agreements.find(id);
                                return found == agreements.end() ? nullptr : &found->second;
                              },
                              [this](const agent::Received& message) {
                                state.handed.emplace_back(message.sequence, message.body);
                              },
                              [this](std::function<void()> then) {
                                if (!disk_works) return;
                                saved_ = state;
                                loop_.post(std::move(then));
                              }});
    mailbox_->start();
  }
  // As kill -9: what was not saved is lost.
  void kill() {
    mailbox_.reset();
    state = saved_;
  }
  bool is_alive() const { return mailbox_ != nullptr; }
  agent::Mailbox& mailbox() { return *mailbox_; }
  const Handed& handed() const { return state.handed; }
  int64_t refused(agent::Refusal why) const {
    return mailbox_->counts().refused[static_cast<size_t>(why)];
  }
  const ClusterId& own() const { return own_; }
  model::Signatory signatory() const {
    return {own_, *pki::signing_key_text(key.public_key()), to_text(sealing.public_key()), 1};
  }

 private:
  services::NoLog no_log_;
  ClusterId own_;
  ManualLoop& loop_;
  std::unique_ptr<ScriptedChannel> channel_;
  std::unique_ptr<wire::BrokerClient> client_;
  host::SeededRandom random_{7};
  State saved_;
  std::unique_ptr<agent::Mailbox> mailbox_;
};

// What the two have signed on a contract of the relay's book.
inline void agree(LyingRelay& relay, const ContractId& id, Corresponding& buyer,
                  Corresponding& provider) {
  model::Agreement agreement = agreement_on(relay.book.contract(id), "alps");
  agreement.buyer = buyer.signatory();
  agreement.provider = provider.signatory();
  buyer.agreements[id] = agreement;
  provider.agreements[id] = agreement;
}

}  // namespace spillway::test
