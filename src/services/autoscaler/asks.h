// Asks: brings every ask of the ledger to its end: held and confirmed, or refused.
//
//   saved → hold under the ask's key → confirm → granted → saved → the caller is told
//
// Confirming is signing, where both sides sign: then the provider's signature is waited for, for as
// long as it is held. A hold that its provider did not sign is refused.
//
// A purchase of spares is one question: they are agreed on already.
//
// What the broker refused is refused. Whatever leaves the outcome open (silence, a broken
// connection, our own death) is asked again under the same key, which tells what came of it the
// first time: from the hold on, for a hold that nobody confirmed costs nothing and ends by itself.
// An ask that everybody has given up meanwhile is still followed to its end, and what it got is
// given back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "host/lifeline.h"
#include "services/agent/context.h"
#include "services/autoscaler/ledger_keeper.h"

namespace spillway::autoscaler {

class Asks {
 public:
  using Then = std::function<void(Status)>;
  // The same in every try, or it would be another hold. Long enough to confirm in several tries.
  static constexpr Duration k_hold = minutes(2);
  // Events tell when the provider has signed; this is for those that are lost.
  static constexpr Duration k_look_again = seconds(2);

  // `granted` hears of every contract that has come of an ask, once the ledger has it.
  Asks(agent::Context& context, LedgerKeeper& keeper,
       std::function<void(const model::Contract&)> granted)
      : context_(context), keeper_(keeper), granted_(std::move(granted)) {}

  void start();  // with those that the ledger knows of
  // `then` is called when the outcome is known, and safe.
  void add(const OfferId& group, const demand::Ask& ask, Then then);
  void hear(const ContractId& contract);  // something happened to it
  Instant step();

 private:
  struct Going {
    OfferId group;
    agent::Attempt attempt;
    Then then;
    std::optional<ContractId> waiting = {};  // for the provider's signature
    bool again = false;                      // it was heard of while we asked
    bool may_hold = false;                   // an earlier try may have, and may have signed
  };

  const demand::Ask* find(const Going& going, int64_t generation) const;
  void begin(int64_t generation, Going& going);
  void hold(int64_t generation, const Going& going);
  void on_hold(int64_t generation, const Result<wire::HoldAnswer>& answer);
  void buy(int64_t generation, const demand::Ask& ask);
  void on_bought(int64_t generation, const Result<wire::ContractAnswer>& answer);
  void confirm(int64_t generation, const ContractId& contract);
  void sign(int64_t generation, const ContractId& contract);
  void on_signed(int64_t generation, const ContractId& contract,
                 const Result<model::Contract>& answer);
  void wait(int64_t generation, const ContractId& contract);
  void on_confirm(int64_t generation, const ContractId& contract,
                  const Result<wire::ContractAnswer>& answer);
  void leave(int64_t generation, const ContractId& contract, const Error& error);
  void give_back(int64_t generation, const ContractId& contract, const Error& why);
  void grant(int64_t generation, const model::Contract& contract);
  void refuse(int64_t generation, const Error& error);
  void try_again(int64_t generation, const Error& error);
  void settle(int64_t generation, const Status& status);
  template <class F>
  auto heard(int64_t generation, F then);

  agent::Context& context_;
  LedgerKeeper& keeper_;
  std::function<void(const model::Contract&)> granted_;
  std::map<int64_t, Going> going_;  // by generation
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
