// Agreements: signs what should be signed, and holds every row of the broker's book against what
// was. As provider, a hold that its buyer has signed is checked against our own offer and
// countersigned; what is wrong with it is told, and it is left to expire. On either side, what was
// signed is verified and kept, and a row that says what nobody signed is disputed: told by name,
// counted, and nothing follows from it that binds us for longer.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "host/lifeline.h"
#include "services/agent/context.h"

namespace spillway::agent {

class Agreements {
 public:
  struct Calls {
    std::function<void(const model::Contract&)> changed;  // as it is by the broker's answer
    std::function<void(const ContractId&, const Paper&)> verified;
  };
  Agreements(Context& context, Calls calls) : context_(context), calls_(std::move(calls)) {}

  void start();      // shows our card
  void show_card();  // again: the broker may have forgotten it
  void seen(const model::Contract& contract);
  Instant step();

  int64_t countersigned() const { return countersigned_; }                     // since the start
  int64_t refused() const { return refused_; }                                 // likewise
  int64_t disputed() const { return static_cast<int64_t>(disputes_.size()); }  // now
  const std::map<ContractId, std::string>& disputes() const { return disputes_; }

 private:
  struct Look {
    model::Contract row;
    bool is_due = true;  // not looked at yet, as it is
    bool is_refused = false;
    Attempt attempt;
  };

  void begin(const ContractId& id, Look& look);
  Signing::Sales sales();
  Status check_cover(const model::Contract& wanted);
  void on_countersigned(const ContractId& id, const model::Contract& row,
                        const Result<model::Contract>& told);
  void on_collected(const ContractId& id, const model::Contract& row,
                    const Result<Signing::Known>& known);
  Look* done(const ContractId& id);
  void settle(const ContractId& id, const model::Contract& row);
  void note_dispute(const ContractId& id, const std::string& why);
  void try_again(Look& look, std::string_view what, const Error& error);

  Context& context_;
  Calls calls_;
  std::map<ContractId, Look> looks_;
  std::set<ContractId> pledged_;  // holds that may have our signature by now
  std::map<ContractId, std::string> disputes_;
  Attempt card_;
  bool is_card_shown_ = false;
  int in_flight_ = 0;
  int64_t countersigned_ = 0;
  int64_t refused_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
