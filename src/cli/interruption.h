// Interruption: Ctrl-C and the like while there is something to clean up first.
//
// While it lives, a signal that would end the process ends the Poll instead, and stays pending.
// When it goes, the signal does what it would have done. So make it before what is to be cleaned
// up, and before any thread. Signals that are ignored or blocked are somebody else's and stay so.
#pragma once

#include <csignal>

#include "net/poll.h"

namespace spillway::cli {

class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  void ends(net::Poll& poll);

 private:
  sigset_t held_{};
  int fd_ = -1;
};

}  // namespace spillway::cli
