// Untold: what a provider has ended by itself, since the broker was silent beyond the stated point
// (tenancy.h). When the broker is back it is told, until it knows: a contract that it still has for
// active gets notice, one that is closing is drained. So nobody pays for what does not run.
#pragma once

#include <map>

#include "host/lifeline.h"
#include "services/agent/context.h"

namespace spillway::agent {

class Untold {
 public:
  explicit Untold(Context& context) : context_(context) {}

  void hurry();  // the broker is back
  Instant step();

 private:
  void on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer);
  void take(const model::Contract& contract);
  void forget(const ContractId& id);
  wire::Then<wire::ContractAnswer> heard(const ContractId& id);

  Context& context_;
  std::map<ContractId, Attempt> attempts_;
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
