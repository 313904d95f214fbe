// The buyer of the demo at work: asks for a ranking, takes the best, gives back; and tells what it
// sees. Every number comes from the broker or from the clock.
#pragma once

#include <string>
#include <vector>

#include "cli/demo_federation.h"
#include "model/intent.h"

namespace spillway::cli {

struct Pod {
  std::string name;
  std::string wish;  // in words
  model::Intent intent;
};

// What the pods of the story want; all in USD.
Pod web_pod(const std::string& name);  // near its users
Pod batch_pod();                       // large
Pod report_pod();                      // green
Pod archive_pod();                     // cheap, wherever

class Trade {
 public:
  explicit Trade(DemoFederation& federation) : federation_(federation) {}

  Result<wire::QueryAnswer> ask(const model::Intent& intent);
  Status take(const Pod& pod);
  Status give_back_all();
  Status tell_bill();
  Result<std::vector<model::Contract>> contracts();  // by the broker's word
  size_t held() const { return held_.size(); }

 private:
  struct Held {
    std::string pod;
    ContractId contract;
    OfferId offer;
    ClusterId provider;
  };

  Result<ContractId> hold(const Pod& pod, const wire::Candidate& best);
  Status confirm(const ContractId& id, const wire::Candidate& best, double held_ms);
  Status give_back(const Held& held);

  DemoFederation& federation_;
  std::vector<Held> held_;
  std::vector<Held> ended_;
};

}  // namespace spillway::cli
