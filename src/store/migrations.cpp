#include "store/migrations.h"

#include <array>

#include <fmt/format.h>

namespace spillway::store {
namespace {

// Rowid tables: rows of a kilobyte in a WITHOUT ROWID tree leave it little fan-out, and measured 30
// % slower to fill. New contracts go to the right edge of their table and of the index over ids, so
// a long history costs them nothing. Only live rows are indexed by anything but their id.
std::string row_table(std::string_view kind) {
  return fmt::format(
      "CREATE TABLE {} ("
      "id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, live INTEGER NOT NULL, "
      "grp TEXT NOT NULL, owner TEXT NOT NULL, due INTEGER, body TEXT NOT NULL) STRICT;\n",
      kind);
}

std::string live_index(std::string_view kind, std::string_view name, std::string_view columns) {
  return fmt::format("CREATE INDEX {0}_{1} ON {0} ({2}) WHERE live = 1;\n", kind, name, columns);
}

// Most pools are never due: what has no time is not in the index, so that a sale need not touch it.
std::string due_index(std::string_view kind) {
  return fmt::format("CREATE INDEX {0}_due ON {0} (due, id) WHERE live = 1 AND due IS NOT NULL;\n",
                     kind);
}

std::string first_schema() {
  std::string sql;
  for (std::string_view kind :
       {"pool", "offer", "account", "contract", "request", "epoch", "heart"}) {
    sql += row_table(kind);
  }
  sql += due_index("pool");
  sql += live_index("offer", "grp", "grp, id");
  sql += live_index("contract", "grp", "grp, id");
  sql += live_index("contract", "owner", "owner, id");
  sql += due_index("contract");
  sql += live_index("contract", "live", "id");
  sql += due_index("request");
  sql +=
      "CREATE TABLE event (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL) "
      "STRICT;\n"
      "CREATE TABLE quarantine (kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, "
      "body TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (kind, id)) "
      "STRICT;\n"
      // The one row that every transaction reads: the latest commit's time and number, the newest
      // event, how many rows are in quarantine, and how often the file was opened.
      "CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL, "
      "last_commit INTEGER NOT NULL, last_event INTEGER NOT NULL, quarantined INTEGER NOT NULL, "
      "openings INTEGER NOT NULL) STRICT;\n"
      "INSERT INTO meta VALUES (1, 0, 0, 0, 0, 0);\n";
  return sql;
}

// Who joined, and with which token; what a provider has on sale; a log that may forget its
// beginning. The owner of a pool or an offer is in its id.
std::string identities_schema() {
  std::string sql = row_table("identity") + row_table("token") + due_index("token");
  for (std::string_view kind : {"pool", "offer"}) {
    sql += fmt::format("UPDATE {} SET owner = substr(id, 1, instr(id, '/') - 1);\n", kind);
    sql += live_index(kind, "owner", "owner, id");
  }
  sql += "ALTER TABLE meta ADD COLUMN first_event INTEGER NOT NULL DEFAULT 1;\n";
  return sql;
}

// What a provider has sold, in order of id. An index over what is in the row already: there is no
// column that could disagree with it, and a renewal, which leaves the group alone, does not touch
// it.
std::string providers_schema() {
  return live_index("contract", "provider", fmt::format("{}, id", k_provider_of_group));
}

// What was signed, and what the parties of a contract tell each other.
std::string agreements_schema() {
  std::string sql;
  for (std::string_view kind : {"card", "liqo", "agreement", "mailbox", "message"}) {
    sql += row_table(kind);
  }
  return sql + due_index("mailbox");
}

// What a party has bought and sold and is over, in order of its end: invoices look for it. What
// never ran is in no invoice, and in no index.
std::string ended_index(std::string_view name, std::string_view party) {
  return fmt::format(
      "CREATE INDEX contract_{} ON contract ({}, due, id) WHERE live = 0 AND due IS NOT NULL;\n",
      name, party);
}

// Before, nothing but the body of an ended contract said whose it was. Times are written with three
// decimals of a second, or none.
std::string invoices_schema() {
  constexpr std::string_view k_end = "json_extract(body, '$.deadline')";
  return fmt::format(
             "UPDATE contract SET owner = json_extract(body, '$.buyer'), "
             "grp = json_extract(body, '$.pool'), "
             "due = CAST(strftime('%s', {0}) AS INTEGER) * 1000 + CASE instr({0}, '.') "
             "WHEN 0 THEN 0 ELSE CAST(substr({0}, instr({0}, '.') + 1, 3) AS INTEGER) END "
             "WHERE live = 0 AND json_valid(body) AND json_extract(body, '$.started') IS NOT NULL "
             "AND {0} IS NOT NULL;\n",
             k_end) +
         ended_index("bought", "owner") + ended_index("sold", k_provider_of_group);
}

Error not_ours(const Connection& connection, std::string reason) {
  return {Code::invalid, fmt::format("store {}", connection.path()), std::move(reason),
          "give the path of a Spillway store, or of no file yet"};
}

Status apply(Connection& connection, const Migration& step, int64_t version) {
  auto transaction = Transaction::begin(connection, Transaction::For::write);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  auto current = connection.integer("PRAGMA user_version");
  if (!current) return tl::unexpected(std::move(current).error());
  if (*current >= version) return {};  // another process was faster
  Status done = connection.execute(step.sql);
  if (done) {
    done = connection.execute(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}",
                                          version, k_application_id));
  }
  if (done) done = transaction->commit();
  if (!done) {
    Error error = std::move(done).error();
    error.reason = fmt::format("migration {} ({}): {}", version, step.what, error.reason);
    return tl::unexpected(std::move(error));
  }
  return {};
}

}  // namespace

std::span<const Migration> migrations() {
  static const std::array<Migration, 5> k_steps = {
      Migration{"rows, events, quarantine", first_schema()},
      Migration{"identities, tokens, owners, the log's beginning", identities_schema()},
      Migration{"contracts by their provider", providers_schema()},
      Migration{"cards, agreements, messages", agreements_schema()},
      Migration{"ended contracts by their parties", invoices_schema()},
  };
  return k_steps;
}

Status check_is_ours(Connection& connection) {
  // One state for both questions: between them another process may be making the file.
  auto transaction = Transaction::begin(connection, Transaction::For::read);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  auto mark = connection.integer("PRAGMA application_id");
  if (!mark) return tl::unexpected(std::move(mark).error());
  if (*mark == k_application_id) return {};
  if (*mark != 0) {
    return tl::unexpected(not_ours(
        connection, fmt::format("it is another application's SQLite file (mark {:#x})", *mark)));
  }
  auto tables = connection.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tl::unexpected(std::move(tables).error());
  if (*tables == 0) return {};
  return tl::unexpected(not_ours(connection, "it is an SQLite file with other tables in it"));
}

Status migrate(Connection& connection, std::span<const Migration> steps) {
  auto version = connection.integer("PRAGMA user_version");
  if (!version) return tl::unexpected(std::move(version).error());
  const auto known = static_cast<int64_t>(steps.size());
  if (*version > known || *version < 0) {
    return fail(
        Code::conflict, fmt::format("store {}", connection.path()),
        fmt::format("its schema is version {}, this release knows up to {}", *version, known),
        "start a release at least as new as the one that wrote it, or restore a backup");
  }
  for (int64_t next = *version; next < known; ++next) {
    SPILLWAY_TRY(apply(connection, steps[static_cast<size_t>(next)], next + 1));
  }
  return {};
}

}  // namespace spillway::store
