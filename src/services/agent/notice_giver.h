// NoticeGiver: when the book says that a pool has sold more than it has, gives notice until what
// stays fits; to each contract at most once. Waits until it knows every contract as it is: nobody
// is told to leave because of one that has left already.
#pragma once

#include <functional>
#include <map>

#include "host/lifeline.h"
#include "services/agent/context.h"
#include "services/agent/tenancy.h"

namespace spillway::agent {

class NoticeGiver {
 public:
  NoticeGiver(Context& context, Tenancy& tenancy) : context_(context), tenancy_(tenancy) {}

  void on_event(const wire::EventBody& event);
  Instant step();

 private:
  struct Notice {
    bool given = false;  // or refused for good
    Attempt attempt;
  };

  void give(const ContractId& id, Notice& notice);
  void on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer);

  Context& context_;
  Tenancy& tenancy_;
  std::map<ContractId, Notice> notices_;  // of contracts that were chosen and still live
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
