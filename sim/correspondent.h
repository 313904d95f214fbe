// Correspondent: a party's end of the relay: the shipping mailbox, with a disk that it may be
// killed over. It writes to the other sides of what it has signed, and remembers what it was told.
//
// Laws: what is heard was said, by the other party of that contract, under that number; each once,
// in order, through crashes on both sides and brokers that lie.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/agent/mailbox.h"
#include "services/agent/papers.h"
#include "services/agent/signatory.h"
#include "sim/laws.h"
#include "sim/world.h"

namespace spillway::sim {

class Correspondent {
 public:
  Correspondent(Process& process, Laws& laws, wire::BrokerClient& client)
      : process_(process), laws_(laws), client_(client) {}

  // After every start, and with every new key.
  void begin(agent::Signatory signatory, const agent::MemoryPapers& papers);
  void end();  // after every crash
  void on_event(const wire::EventBody& event);
  // Says something to somebody, or asks what there is to hear.
  void chat();
  int64_t refused() const;

 private:
  struct Diary {
    agent::MailboxState mailbox;
    std::map<ContractId, int64_t> heard;  // the last number
  };

  const model::Agreement* agreement_on(const ContractId& id);
  void hear(const agent::Received& message);
  void save(std::function<void()> then);
  World& world() { return process_.world(); }

  Process& process_;
  Laws& laws_;
  wire::BrokerClient& client_;
  services::NoLog log_;
  const agent::MemoryPapers* papers_ = nullptr;
  std::optional<agent::Signatory> signatory_;
  Diary diary_;                     // in memory
  Diary saved_;                     // on disk
  std::optional<Diary> under_way_;  // to it
  uint64_t saves_ = 0;
  uint64_t last_saved_ = 0;  // a later one may be faster
  std::map<ContractId, model::Agreement> agreements_;
  std::optional<agent::Mailbox> mailbox_;
  int64_t refused_ = 0;
};

}  // namespace spillway::sim
