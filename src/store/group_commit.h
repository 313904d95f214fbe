// Several commits, one transaction, one wait for the disk.
#pragma once

#include <span>
#include <vector>

#include "host/store.h"
#include "store/sqlite.h"
#include "store/tables.h"

namespace spillway::store {

// Commits in order, each on the state that those before it left. All of a commit's expectations are
// looked at before the first of its rows is written, so a conflict rejects that commit and leaves
// no trace in the others. Answers are true once this returns: those that are ok are on the disk. If
// the disk fails, all that were ok until then are answered with its error.
std::vector<Result<host::Committed>> commit_group(Connection& connection, Tables& tables,
                                                  std::span<const host::Commit* const> commits);

}  // namespace spillway::store
