// The relay: messages between the two parties of a signed contract. The book does not read them, it
// keeps them in order, bounded, until they are taken or expire.
//
// The receiver is told by one event when a message comes into a mailbox where none waits; whoever
// was told asks until nothing waits any more. So a stream of messages costs one event, and none is
// overlooked: that nothing waits is decided in the same commits.
#pragma once

#include <vector>

#include "market/book.h"

namespace spillway::market {

// In which `party` is sent to.
inline Direction direction_to(const model::Contract& contract, const ClusterId& party) {
  return contract.provider == party ? Direction::to_provider : Direction::to_buyer;
}

// The messages that wait above a number, in order.
std::vector<Key> waiting_after(const MailboxRecord& mailbox, int64_t after, Instant now);

// Drops what has expired; forgets a mailbox whose contract is closed.
void attend_mailbox(Workspace& workspace, const MailboxRecord& mailbox, const Context& context);

}  // namespace spillway::market
