// What a member must still know of its messages after it was killed. Part of the state of whoever
// has the mailbox: it is saved together with what messages have led to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace spillway::agent {

// Sealed once: under its number there is never another envelope.
struct Outgoing {
  int64_t sequence = 0;
  std::string step;
  std::string envelope;  // base64
  Instant expires;
  bool operator==(const Outgoing&) const = default;
};

// With the other party of one contract.
struct Correspondence {
  int64_t sent = 0;              // the last number that was used
  int64_t seen = 0;              // the last number that was handed over
  std::vector<Outgoing> unsent;  // which the broker is not known to have, by number
  bool operator==(const Correspondence&) const = default;
};

struct MailboxState {
  std::map<ContractId, Correspondence> contracts;
  bool operator==(const MailboxState&) const = default;
};

}  // namespace spillway::agent
