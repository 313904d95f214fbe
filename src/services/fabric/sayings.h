// Sayings: tells the other parties of contracts what a machine wants them to know: once, again
// when it has changed, and again after a while, as long as the machine sees no sign that they know.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fabric/deed.h"
#include "host/loop.h"
#include "services/fabric/dealings.h"

namespace spillway::agent {

class Sayings {
 public:
  static constexpr Duration k_again = seconds(10);

  // `said`: whoever carries it has it, and keeps it.
  Sayings(host::Loop& loop, Dealings& dealings, std::function<void(const fabric::Say&)> said)
      : loop_(loop), dealings_(dealings), said_(std::move(said)) {}

  // These, and no others any more. When the next is to be said again.
  Instant want(const std::vector<fabric::Deed>& deeds);

 private:
  struct Saying {
    std::string hash;  // of what was said last; empty: nothing was
    Instant due = {};
    bool is_wanted = false;
  };

  void say(const fabric::Say& wanted, Saying& saying, std::string hash);

  host::Loop& loop_;
  Dealings& dealings_;
  std::function<void(const fabric::Say&)> said_;
  std::map<std::pair<ContractId, std::string>, Saying> sayings_;  // by step
};

}  // namespace spillway::agent
