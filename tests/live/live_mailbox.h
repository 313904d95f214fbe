// A member's mailbox on a thread with others, before a real broker: it follows the events, and
// keeps its state in memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "host/random.h"
#include "live/agreeing.h"
#include "services/agent/mailbox.h"

namespace spillway::test {

// A party of many contracts at once: what it asks for one does not wait for another.
inline constexpr size_t k_mailbox_connections = 16;

class LiveMailbox {
 public:
  using OnMessage = std::function<void(const agent::Received&)>;

  // `on_message` is called on the thread.
  LiveMailbox(PollThread& thread, Members& members, const Signer& signer, OnMessage on_message)
      : thread_(thread), on_message_(std::move(on_message)) {
    auto options = members.options(signer.papers);
    options.connections = k_mailbox_connections;
    auto made = net::Client::create(thread.poll(), options);
    SPILLWAY_CHECK(made.has_value(), "no client");
    client_ = std::move(*made);
    wire_ = std::make_unique<wire::BrokerClient>(*client_);
    thread_.ask<bool>([&](auto opened) {
      mailbox_ = std::make_unique<agent::Mailbox>(
          agent::Mailbox::Ports{loop_, random_, log_, *wire_}, signer.cluster(),
          agent::LetterKeys{signer.key, signer.sealing}, state_, calls());
      mailbox_->start();
      follow(-1, [opened] { opened(true); });
    });
  }
  ~LiveMailbox() {
    thread_.run([this] {
      stream_.reset();
      mailbox_.reset();
      wire_.reset();
      client_.reset();
      return true;
    });
  }
  LiveMailbox(const LiveMailbox&) = delete;
  LiveMailbox& operator=(const LiveMailbox&) = delete;

  void know(const model::Agreement& agreement) {
    thread_.run([&] {
      agreements_[agreement.hold] = agreement;
      return true;
    });
  }
  agent::Mailbox& mailbox() { return *mailbox_; }  // on the thread only
  Result<int64_t> send(const ContractId& id, const std::string& body) {
    return thread_.run([&] { return mailbox_->send(id, "step", body); });
  }
  agent::MailboxCounts counts() {
    return thread_.run([this] { return mailbox_->counts(); });
  }

 private:
  agent::Mailbox::Calls calls() {
    return {[this](const ContractId& id) {
              const auto found = agreements_.find(id);
              return found == agreements_.end() ? nullptr : &found->second;
            },
            [this](const agent::Received& message) { on_message_(message); },
            [this](std::function<void()> then) { loop_.post(std::move(then)); }};
  }

  // From the last that was heard, again whenever it ends.
  void follow(int64_t after, std::function<void()> opened) {
    stream_ = wire_->follow(after, {[opened] { opened(); },
                                    [this](const wire::EventBody& event) {
                                      last_ = event.sequence;
                                      mailbox_->on_event(event);
                                    },
                                    [this](const Error&, const wire::SnapshotAnswer* snapshot) {
                                      if (snapshot != nullptr) last_ = snapshot->sequence;
                                      loop_.after(milliseconds(100), life_.guard([this] {
                                        follow(last_, [this] {
                                          for (const auto& known : agreements_)
                                            mailbox_->look_at(known.first);
                                        });
                                      }));
                                    }});
  }

  PollThread& thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  services::NoLog log_;
  OnMessage on_message_;
  std::map<ContractId, model::Agreement> agreements_;
  agent::MailboxState state_;
  int64_t last_ = -1;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<wire::BrokerClient> wire_;
  std::unique_ptr<agent::Mailbox> mailbox_;
  std::unique_ptr<wire::EventStream> stream_;
  host::Lifeline life_;
};

}  // namespace spillway::test
