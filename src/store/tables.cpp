#include "store/tables.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "market/record_codec.h"
#include "store/migrations.h"
#include "store/recovery.h"

namespace spillway::store {
namespace {

std::optional<int64_t> due_ms(const market::Facets& facets) {
  if (!facets.due) return std::nullopt;
  return facets.due->ms;
}

// Row values, so that SQLite begins in the index where the page before ended.
constexpr std::string_view k_ended_order =
    "AND due IS NOT NULL AND (due, id) > (?4, ?3) ORDER BY due, id LIMIT ?2";

// Each of these walks an index in its order (tests/unit/store/tables_test.cpp).
std::string scan_sql(const host::Scan& scan) {
  const std::string_view table = table_of(scan.kind);
  const std::string select = fmt::format("SELECT id, version, body FROM {} ", table);
  switch (scan.by) {
    case host::Scan::By::group:
      return select + "WHERE live = 1 AND grp = ?1 AND id > ?3 ORDER BY id LIMIT ?2";
    case host::Scan::By::owner:
      return select + "WHERE live = 1 AND owner = ?1 AND id > ?3 ORDER BY id LIMIT ?2";
    case host::Scan::By::provider:
      return select + fmt::format("WHERE live = 1 AND {} = ?1 AND id > ?3 ORDER BY id LIMIT ?2",
                                  k_provider_of_group);
    case host::Scan::By::due:
      return select + "WHERE live = 1 AND due <= ?1 ORDER BY due, id LIMIT ?2";
    case host::Scan::By::all:
      return select + "WHERE live = 1 AND id > ?1 ORDER BY id LIMIT ?2";
    case host::Scan::By::bought:
      return select + fmt::format("WHERE live = 0 AND owner = ?1 {}", k_ended_order);
    case host::Scan::By::sold:
      return select +
             fmt::format("WHERE live = 0 AND {} = ?1 {}", k_provider_of_group, k_ended_order);
  }
  return {};
}

// A decision on a group, an owner or a provider needs all of its rows, and so does an invoice: one
// that cannot be read is an error there. What is due or listed concerns each row by itself: were a
// damaged one an error, it alone would keep every other contract from expiring, until somebody
// restarts a broker.
bool skips_damaged(host::Scan::By by) {
  return by == host::Scan::By::due || by == host::Scan::By::all;
}

// Rows that are skipped do not count: enough of them would hide all that come after, and a page
// that they left short would seem the last. So those scans are ended here, not by SQLite.
int64_t sql_limit(const host::Scan& scan) {
  if (skips_damaged(scan.by)) return -1;  // none
  return std::max(scan.limit, 0);         // a negative one would be none
}

}  // namespace

Result<Statement*> Tables::prepared(Statement& statement, std::string_view sql) {
  if (!statement) {
    auto fresh = connection_.prepare(sql);
    if (!fresh) return tl::unexpected(std::move(fresh).error());
    statement = std::move(*fresh);
  }
  return &statement;
}

Result<Statement*> Tables::prepared(Use use, market::Kind kind) {
  static constexpr std::array<std::string_view, k_uses> k_sql = {
      "SELECT version FROM {} WHERE id = ?1",
      "SELECT version, body FROM {} WHERE id = ?1",
      "INSERT INTO {} (id, version, live, grp, owner, due, body) VALUES (?1,?2,?3,?4,?5,?6,?7)",
      "UPDATE {} SET version = ?2, due = ?6, body = ?7 "
      "WHERE id = ?1 AND live = 1 AND ?3 = 1 AND grp = ?4 AND owner = ?5",
      "UPDATE {} SET version = ?2, live = ?3, grp = ?4, owner = ?5, due = ?6, body = ?7 "
      "WHERE id = ?1",
      "DELETE FROM {} WHERE id = ?1"};
  const auto row = static_cast<size_t>(use);
  Statement& statement = by_use_[row][static_cast<size_t>(kind)];
  if (statement) return &statement;
  return prepared(statement, fmt::format(fmt::runtime(k_sql[row]), table_of(kind)));
}

Result<Statement*> Tables::prepared(const host::Scan& scan) {
  Statement& statement = scans_[static_cast<size_t>(scan.by)][static_cast<size_t>(scan.kind)];
  if (statement) return &statement;
  return prepared(statement, scan_sql(scan));
}

Result<Meta> Tables::meta() {
  auto statement =
      prepared(meta_,
               "SELECT at, last_commit, first_event, last_event, quarantined FROM meta "
               "WHERE one = 1");
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = (*statement)->run();
  auto found = run.step();
  if (!found) return tl::unexpected(std::move(found).error());
  if (!*found) {
    return fail(Code::internal, fmt::format("store {}", connection_.path()),
                "its meta row is missing", "restore the last backup");
  }
  return Meta{{run.integer(0)}, run.integer(1), run.integer(2), run.integer(3), run.integer(4)};
}

Status Tables::set_meta(const Meta& meta) {
  auto statement = prepared(set_meta_,
                            "UPDATE meta SET at = ?1, last_commit = ?2, last_event = ?3, "
                            "quarantined = ?4, first_event = ?5 WHERE one = 1");
  if (!statement) return tl::unexpected(std::move(statement).error());
  return (*statement)
      ->run()
      .bind(1, meta.at.ms)
      .bind(2, meta.last_commit)
      .bind(3, meta.last_event)
      .bind(4, meta.quarantined)
      .bind(5, meta.first_event)
      .finish();
}

Status Tables::check_not_quarantined(const market::Key& key, const Meta& meta) {
  if (meta.quarantined == 0) return {};
  auto statement =
      prepared(quarantined_, "SELECT reason FROM quarantine WHERE kind = ?1 AND id = ?2");
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = (*statement)->run();
  auto found = run.bind(1, table_of(key.kind)).bind(2, key.id).step();
  if (!found) return tl::unexpected(std::move(found).error());
  if (!*found) return {};
  return fail(Code::internal, fmt::format("{} {}", table_of(key.kind), key.id),
              fmt::format("it is quarantined: {}", run.text(0)),
              "look at it in the table quarantine of the store, mend it and put it back");
}

Result<int64_t> Tables::version_of(const market::Key& key, const Meta& meta) {
  auto statement = prepared(Use::version, key.kind);
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = (*statement)->run();
  auto found = run.bind(1, key.id).step();
  if (!found) return tl::unexpected(std::move(found).error());
  if (*found) return run.integer(0);
  SPILLWAY_TRY(check_not_quarantined(key, meta));
  return 0;
}

Result<host::Row> Tables::decode(market::Key key, int64_t version, std::string_view body) {
  if (const market::Record* known = cache_.find(key, body)) {
    return host::Row{std::move(key), version, *known};
  }
  auto record = judge_row(key, version, body);
  if (!record) {
    Error error = std::move(record).error();
    error.next = "restart a broker on this store: it sets damaged rows aside when it starts";
    return tl::unexpected(std::move(error));
  }
  cache_.keep(key, std::string(body), *record);
  return host::Row{std::move(key), version, std::move(*record)};
}

Result<host::Row> Tables::read(const market::Key& key, const Meta& meta) {
  auto statement = prepared(Use::read, key.kind);
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = (*statement)->run();
  auto found = run.bind(1, key.id).step();
  if (!found) return tl::unexpected(std::move(found).error());
  if (*found) return decode(key, run.integer(0), run.text(1));
  SPILLWAY_TRY(check_not_quarantined(key, meta));
  return host::Row{key, 0, {}};
}

Result<std::vector<host::Row>> Tables::scan(const host::Scan& scan) {
  auto statement = prepared(scan);
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = (*statement)->run();
  switch (scan.by) {
    case host::Scan::By::group:
    case host::Scan::By::owner:
    case host::Scan::By::provider:
      run.bind(1, scan.name).bind(3, scan.after);
      break;
    case host::Scan::By::bought:
    case host::Scan::By::sold:
      run.bind(1, scan.name).bind(3, scan.after).bind(4, scan.ended_from.ms);
      break;
    case host::Scan::By::due:
      run.bind(1, scan.due_until.ms);
      break;
    case host::Scan::By::all:
      run.bind(1, scan.after);
      break;
  }
  run.bind(2, sql_limit(scan));

  std::vector<host::Row> rows;
  while (std::cmp_less(rows.size(), scan.limit)) {
    auto found = run.step();
    if (!found) return tl::unexpected(std::move(found).error());
    if (!*found) break;
    auto row = decode({scan.kind, std::string(run.text(0))}, run.integer(1), run.text(2));
    if (row) {
      rows.push_back(std::move(*row));
    } else if (!skips_damaged(scan.by)) {
      return tl::unexpected(std::move(row).error());
    }
  }
  return rows;
}

Status Tables::put(const market::Key& key, bool exists, int64_t version,
                   const market::Record& record) {
  if (market::is_absent(record)) {
    auto statement = prepared(Use::remove, key.kind);
    if (!statement) return tl::unexpected(std::move(statement).error());
    return (*statement)->run().bind(1, key.id).finish();
  }

  const market::Facets facets = market::facets_of(record);
  std::string body = market::encode(record);
  auto write = [&](Use use) -> Status {
    auto statement = prepared(use, key.kind);
    if (!statement) return tl::unexpected(std::move(statement).error());
    return (*statement)
        ->run()
        .bind(1, key.id)
        .bind(2, version)
        .bind(3, int64_t{facets.live})
        .bind(4, facets.group)
        .bind(5, facets.owner)
        .bind(6, due_ms(facets))
        .bind(7, body)
        .finish();
  };
  if (!exists) {
    SPILLWAY_TRY(write(Use::insert));
  } else {
    // Mostly a live row stays live in its group: then only the index by time is touched.
    SPILLWAY_TRY(write(Use::refresh));
    if (connection_.changes() == 0) SPILLWAY_TRY(write(Use::update));
    SPILLWAY_CHECK(connection_.changes() == 1, "a row vanished inside a transaction");
  }
  // What was asked for under a key is read again only by who retries.
  if (key.kind != market::Kind::request) cache_.keep(key, std::move(body), record);
  return {};
}

Status Tables::append(const market::Event& event) {
  auto statement = prepared(append_, "INSERT INTO event (seq, at, body) VALUES (?1, ?2, ?3)");
  if (!statement) return tl::unexpected(std::move(statement).error());
  const std::string body = market::encode(event);
  return (*statement)->run().bind(1, event.sequence).bind(2, event.at.ms).bind(3, body).finish();
}

Result<std::vector<market::Event>> Tables::events_after(int64_t sequence, int32_t limit) {
  auto meta = this->meta();
  if (!meta) return tl::unexpected(std::move(meta).error());
  if (sequence < meta->first_event - 1) return host::events_gone(sequence, meta->first_event);
  auto statement =
      prepared(events_, "SELECT seq, at, body FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2");
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = (*statement)->run();
  run.bind(1, sequence).bind(2, int64_t{std::max(limit, 0)});
  std::vector<market::Event> events;
  while (true) {
    auto found = run.step();
    if (!found) return tl::unexpected(std::move(found).error());
    if (!*found) return events;
    auto event = judge_event(run.integer(0), {run.integer(1)}, run.text(2));
    if (!event) return tl::unexpected(std::move(event).error());
    events.push_back(std::move(*event));
  }
}

Status Tables::forget_events(Instant before, int32_t at_most, Meta& meta) {
  auto times =
      prepared(event_times_, "SELECT seq, at FROM event WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
  if (!times) return tl::unexpected(std::move(times).error());
  int64_t kept = meta.first_event;
  {
    Run run = (*times)->run();
    run.bind(1, meta.first_event).bind(2, int64_t{std::max(at_most, 0)});
    while (true) {
      auto found = run.step();
      if (!found) return tl::unexpected(std::move(found).error());
      if (!*found || run.integer(1) >= before.ms) break;
      kept = run.integer(0) + 1;
    }
  }
  if (kept == meta.first_event) return {};
  auto forget = prepared(forget_, "DELETE FROM event WHERE seq < ?1");
  if (!forget) return tl::unexpected(std::move(forget).error());
  SPILLWAY_TRY((*forget)->run().bind(1, kept).finish());
  meta.first_event = kept;
  return {};
}

}  // namespace spillway::store
