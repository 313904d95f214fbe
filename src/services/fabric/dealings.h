// Dealings: all that a Fabric knows of where its contracts come from. What is to be real, what of
// it both sides stand by, what has to be kept, and a way to speak with the other party. An agent
// has them from signed contracts and speaks over the relay (services/agent/agent_dealings.h); a
// driver has them from its operator's orders and hands words over within its process
// (services/driver/driver_dealings.h). A Fabric cannot tell which.
//
// All of it outlives the Fabric and is called on one thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/buyer.h"
#include "fabric/deed.h"
#include "model/agreement.h"
#include "model/contract.h"
#include "model/offer.h"
#include "services/agent/received.h"
#include "services/fabric/fabric_state.h"

namespace spillway::agent {

class Dealings {
 public:
  virtual ~Dealings() = default;

  // ---- contracts ----
  // Live ones, as they are now. One that is not here is over, and what is there of it ends: so
  // whoever does not know yet shows what it last knew.
  virtual const std::map<ContractId, model::Contract>& contracts() const = 0;
  virtual bool is_bought(const model::Contract& contract) const = 0;  // by this cluster
  // What both sides stand by. Null: it is not known yet, and nothing is made of the contract. It
  // may grow by units, and changes in no other way.
  virtual const model::LiqoPart* part(const ContractId& contract) const = 0;
  // Spares that were bought, in order. Null: it is not known yet.
  virtual const std::vector<int32_t>* purchased(const ContractId& contract) const = 0;
  // What the contract's nodes look like. Not found: nobody knows any more. It is asked for until
  // there is an answer, however long that takes; never answered once the contract is over.
  virtual void find_offer(const model::Contract& contract,
                          std::function<void(const Result<model::Offer>&)> then) = 0;
  // What nodes get beside what their offer says. Nothing, for whoever knows offers alone.
  virtual void dress(fabric::Purchase& /*purchase*/) const {}
  // Whether a unit that has ended here leaves its contract by itself. One that was bought does not:
  // its buyer releases it.
  virtual bool gives_back() const { return false; }
  // Who was pinned by hand; an error: nobody can be trusted by that now.
  virtual void read_pins(std::function<void(const Result<std::set<ClusterId>>&)> then) = 0;

  // ---- what is kept ----
  virtual FabricState& state() = 0;
  virtual void touch() = 0;                            // it has changed: saved soon
  virtual void flush(std::function<void()> then) = 0;  // calls when all that is in it now is safe

  // ---- talk ----
  using Hear = std::function<void(const Received&)>;
  // Until the other party has it, or for as long as it is worth anything. Over quota: much of that
  // contract waits already.
  virtual Status say(const fabric::Say& said) = 0;
  virtual void hear(const std::string& step, Hear hear) = 0;
};

}  // namespace spillway::agent
