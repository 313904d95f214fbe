// The file's schema as a list of steps, each applied once, in order, in a transaction of its own.
//
// PRAGMA user_version counts the steps that a file has seen. A file with more than we know was
// written by a newer release: it is refused, untouched. Released steps never change. A change to
// the format of rows that the release before cannot read is a step too, so that no older broker
// starts on such rows and sets them aside as damaged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sqlite.h"

namespace spillway::store {

struct Migration {
  std::string_view what;  // for people, when it fails
  std::string sql;
};

std::span<const Migration> migrations();

// The provider of a row's group, which is a pool: the part of its id before the slash. A scan has
// to say it in these words, or SQLite does not find the index over them.
inline constexpr std::string_view k_provider_of_group = "substr(grp, 1, instr(grp, '/') - 1)";

// "SPLW", in the file's header. A file with another's mark, or with tables and no mark, is refused.
inline constexpr int64_t k_application_id = 0x53504c57;

Status check_is_ours(Connection& connection);
Status migrate(Connection& connection, std::span<const Migration> steps);

}  // namespace spillway::store
