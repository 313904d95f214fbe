// A party: whoever has an identity and talks to the brokers over the wire. It joins with the token
// that the operator sends it, renews its certificate, and may follow the events that are its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/agent/papers.h"
#include "services/agent/signing.h"
#include "services/wire/broker_client.h"
#include "sim/broker.h"
#include "sim/correspondent.h"
#include "sim/liar.h"
#include "sim/network.h"
#include "sim/wire.h"

namespace spillway::sim {

class Party;

// Where a party lives.
struct Surroundings {
  World& world;
  Network& network;
  Laws& laws;
  std::vector<std::unique_ptr<SimBroker>>& brokers;
  std::vector<ContractId> contracts = {};  // that anybody has got: ids are no secret
  std::vector<Party*> parties = {};        // all of them
  Liar* liar = nullptr;                    // who stands between all parties and all brokers

  std::vector<Door*> doors() const;
};

struct Person {
  std::string name;
  model::Roles roles;
  model::Labels labels = {};
};

class Party {
 public:
  Party(Surroundings& around, Address at, Person person);
  virtual ~Party() = default;
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  Process& process() { return process_; }
  Address address() const { return address_; }
  const Person& person() const { return person_; }
  const std::string& name() const { return person_.name; }
  void crash();
  void restart();
  void vanish();  // for ever: whatever restarts it
  bool has_vanished() const { return vanished_; }
  void start();  // the first time
  // The day is over: no new business, and nothing is kept up.
  void retire() { retired_ = true; }
  bool is_retired() const { return retired_; }

  // A letter from the operator.
  void invite(const std::string& token);
  // It has no identity, or none that a broker takes.
  bool needs_token() const { return certificate_.empty() || turned_away_; }
  void renew();
  bool has_joined() const { return !certificate_.empty(); }
  // What it keeps of its agreements, on its disk.
  agent::MemoryPapers& papers() { return papers_; }

  // When all is quiet: it has heard all that is its business, if it follows.
  virtual void check_settled();

 protected:
  virtual void begin() = 0;         // after every start; memory is what the derived class kept
  virtual void end() {}             // after every crash
  virtual void on_certificate() {}  // there is a first one, or another

  // Asks until there is an answer, or it was asked often enough.
  template <class T>
  void insist(std::function<void(wire::Then<T>)> ask, wire::Then<T> then, int tries = 6);
  void take_certificate(const std::string& text, const SimKey& key);
  const SimKey& key() const { return *key_; }  // of the certificate, once it has joined
  // Whether it signs at all: members of before signatures do not.
  bool signs() const { return signs_; }
  void always_signs() { signs_ = true; }
  agent::Signatory signatory() const;
  Correspondent& letters() { return letters_; }
  // An agent has a mailbox of its own: two of one member would use numbers twice.
  virtual bool has_agent() const { return false; }

  // The stream of its own events, resumed where it ended, checked.
  void follow();
  virtual void on_event(const wire::EventBody&) {}

  Surroundings& around_;
  World& world_;
  Laws& laws_;
  Process process_;
  SimChannel channel_;
  wire::BrokerClient client_;

 private:
  void watch_status(int status);
  void join(const std::string& token, const SimKey& key, int tries);
  void follow_later(Duration longest);
  void open_stream();

  void tell_key();
  void begin_letters();

  Address address_;
  Person person_;
  bool retired_ = false;
  bool signs_ = false;
  agent::MemoryPapers papers_;
  Correspondent letters_;
  bool vanished_ = false;
  // On disk.
  std::optional<SimKey> key_;
  std::string certificate_;
  std::string token_;  // that it has not joined with yet
  std::optional<SimKey> token_key_;
  int64_t last_event_ = -1;
  // In memory.
  bool turned_away_ = false;
  Instant denied_since_;
  bool is_denied_ = false;
  bool following_ = false;
  uint64_t turn_ = 0;
  std::unique_ptr<wire::EventStream> stream_;
};

template <class T>
void Party::insist(std::function<void(wire::Then<T>)> ask, wire::Then<T> then, int tries) {
  ask([this, ask, then = std::move(then), tries](Result<T> answer) {
    const bool unknown = !answer && (answer.error().code == Code::unavailable ||
                                     answer.error().code == Code::contended);
    if (!unknown || tries <= 1) return then(std::move(answer));
    process_.after(world_.between(milliseconds(100), seconds(2)),
                   [this, ask, then, tries] { insist<T>(ask, then, tries - 1); });
  });
}

}  // namespace spillway::sim
