// The book: a pure transition function. Rows in, a command in, rows and events out, or a refusal
// that changes nothing. Whoever commits the rows must expect the versions that were read; then no
// interleaving of any number of brokers can sell the same unit twice.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "market/commands.h"
#include "market/rules.h"
#include "market/workspace.h"

namespace spillway::market {

struct Context {
  Instant now;  // the store's time
  Rules rules;
};

// Decides `command` on `workspace`. When the workspace lacks rows afterwards, nothing has been
// decided: add them and decide again. Otherwise success is kept in the workspace, a refusal not.
Result<Answer> decide(Workspace& workspace, const Command& command, const Context& context);

}  // namespace spillway::market
