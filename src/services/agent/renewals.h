// Renewals: keeps the leases of what was bought, each at half of it, and tries again until the
// broker says that it is over. Clocks differ: whatever ours says, a lease is renewed no later than
// half of it after we last heard of it, and no sooner than a quarter.
#pragma once

#include <functional>
#include <map>

#include "host/lifeline.h"
#include "services/agent/context.h"

namespace spillway::agent {

class Renewals {
 public:
  struct Calls {
    std::function<void(const model::Contract&)> renewed;
    std::function<void(const ContractId&)> doubt;  // it was refused: look at it
  };
  Renewals(Context& context, Calls calls) : context_(context), calls_(std::move(calls)) {}

  void seen(const model::Contract& contract);
  void hurry(const ContractId& id);  // its lease ends soon
  Instant step();

 private:
  struct Lease {
    Duration length;
    Instant deadline;
    Attempt attempt;
  };

  void renew(const ContractId& id, Lease& lease);
  void on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer);

  Context& context_;
  Calls calls_;
  std::map<ContractId, Lease> leases_;
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
