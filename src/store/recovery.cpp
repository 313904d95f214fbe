#include "store/recovery.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "market/record_codec.h"
#include "store/tables.h"

namespace spillway::store {
namespace {

using market::Kind;

constexpr std::array<Kind, market::k_kinds> k_all_kinds = {
    Kind::pool,  Kind::offer,     Kind::account,  Kind::contract, Kind::request,
    Kind::epoch, Kind::heart,     Kind::identity, Kind::token,    Kind::card,
    Kind::liqo,  Kind::agreement, Kind::mailbox,  Kind::message};

constexpr int64_t k_newest_events = 1000;

struct KeyOf {
  market::Key operator()(const std::monostate&) const { return {}; }
  market::Key operator()(const market::Shared<market::PoolRecord>& record) const {
    return market::key_of(record->pool.id);
  }
  market::Key operator()(const market::Shared<market::OfferRecord>& record) const {
    return market::key_of(record->offer.id);
  }
  market::Key operator()(const market::Shared<market::AccountRecord>& record) const {
    return market::account_key(record->cluster.id);
  }
  market::Key operator()(const market::Shared<model::Contract>& record) const {
    return market::key_of(record->id);
  }
  market::Key operator()(const market::Shared<market::RequestRecord>& record) const {
    return market::request_key(record->buyer, record->key);
  }
  market::Key operator()(const market::Shared<market::EpochRecord>&) const {
    return market::epoch_key();
  }
  market::Key operator()(const market::Shared<market::HeartRecord>&) const {
    return market::heart_key();
  }
  market::Key operator()(const market::Shared<model::Identity>& record) const {
    return market::identity_key(record->name);
  }
  market::Key operator()(const market::Shared<market::TokenRecord>& record) const {
    return market::token_key(record->id);
  }
  market::Key operator()(const market::Shared<market::CardRecord>& record) const {
    return market::card_key(record->card.cluster);
  }
  market::Key operator()(const market::Shared<market::LiqoRecord>& record) const {
    return market::liqo_key(record->id);
  }
  market::Key operator()(const market::Shared<market::AgreementRecord>& record) const {
    return market::agreement_key(record->contract);
  }
  market::Key operator()(const market::Shared<market::MailboxRecord>& record) const {
    return market::mailbox_key(record->contract, record->direction);
  }
  market::Key operator()(const market::Shared<market::MessageRecord>& record) const {
    return market::message_key(record->contract, record->direction, record->sequence);
  }
};

std::string name_of(const market::Key& key) {
  return fmt::format("{} {}", table_of(key.kind), key.id);
}

// What a pass over rows and events has found.
struct Pass {
  int64_t rows = 0;
  int64_t newest_version = 0;
  int64_t newest_event = 0;
  std::vector<Damaged> damaged;
  std::vector<market::Key> misplaced;  // indexed under something else
  std::vector<EventGap> event_gaps;
  std::vector<DamagedEvent> damaged_events;

  // The counters in the meta row must never fall behind, or numbers would be given twice.
  bool is_ahead_of(const Meta& meta) const {
    return newest_version > meta.last_commit || newest_event > meta.last_event;
  }
};

bool is_placed(const Run& run, const market::Record& record) {
  const market::Facets facets = market::facets_of(record);
  std::optional<int64_t> due;
  if (facets.due) due = facets.due->ms;
  return run.integer(3) == int64_t{facets.live} && run.text(4) == facets.group &&
         run.text(5) == facets.owner && run.optional_integer(6) == due;
}

Status look_at(Connection& connection, Kind kind, std::string_view which, Pass& pass) {
  auto statement = connection.prepare(fmt::format(
      "SELECT id, version, body, live, grp, owner, due FROM {} {}", table_of(kind), which));
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = statement->run();
  while (true) {
    auto found = run.step();
    if (!found) return tl::unexpected(std::move(found).error());
    if (!*found) return {};
    ++pass.rows;
    market::Key key{kind, std::string(run.text(0))};
    const int64_t version = run.integer(1);
    pass.newest_version = std::max(pass.newest_version, version);
    auto record = judge_row(key, version, run.text(2));
    if (!record) {
      pass.damaged.push_back({std::move(key), version, record.error().message()});
    } else if (!is_placed(run, *record)) {
      pass.misplaced.push_back(std::move(key));
    }
  }
}

Result<int64_t> quarantine(Connection& connection, const Damaged& row, Instant now) {
  const std::string_view table = table_of(row.key.kind);
  auto copy = connection.prepare(
      fmt::format("INSERT OR REPLACE INTO quarantine (kind, id, version, body, reason, at) "
                  "SELECT '{0}', id, version, body, ?3, ?4 FROM {0} WHERE id = ?1 AND version = ?2",
                  table));
  if (!copy) return tl::unexpected(std::move(copy).error());
  SPILLWAY_TRY(copy->run()
                   .bind(1, row.key.id)
                   .bind(2, row.version)
                   .bind(3, row.reason)
                   .bind(4, now.ms)
                   .finish());
  if (connection.changes() == 0) return 0;  // another process has changed it or was faster
  auto remove = connection.prepare(fmt::format("DELETE FROM {} WHERE id = ?1", table));
  if (!remove) return tl::unexpected(std::move(remove).error());
  SPILLWAY_TRY(remove->run().bind(1, row.key.id).finish());
  return 1;
}

// From the row as it is now, since another process may have changed it meanwhile.
Status reindex(Connection& connection, const market::Key& key) {
  const std::string_view table = table_of(key.kind);
  auto read = connection.prepare(fmt::format("SELECT version, body FROM {} WHERE id = ?1", table));
  if (!read) return tl::unexpected(std::move(read).error());
  Run run = read->run();
  auto found = run.bind(1, key.id).step();
  if (!found) return tl::unexpected(std::move(found).error());
  if (!*found) return {};
  auto record = judge_row(key, run.integer(0), run.text(1));
  if (!record) return {};
  const market::Facets facets = market::facets_of(*record);
  std::optional<int64_t> due;
  if (facets.due) due = facets.due->ms;
  auto write = connection.prepare(
      fmt::format("UPDATE {} SET live = ?2, grp = ?3, owner = ?4, due = ?5 WHERE id = ?1", table));
  if (!write) return tl::unexpected(std::move(write).error());
  return write->run()
      .bind(1, key.id)
      .bind(2, int64_t{facets.live})
      .bind(3, facets.group)
      .bind(4, facets.owner)
      .bind(5, due)
      .finish();
}

// Events from `first` on must be there without a gap up to `last`, and decode. Answers how many.
Result<int64_t> look_at_events(Connection& connection, int64_t first, int64_t last, Pass& pass) {
  auto statement =
      connection.prepare("SELECT seq, at, body FROM event WHERE seq >= ?1 ORDER BY seq");
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = statement->run();
  run.bind(1, first);
  int64_t count = 0;
  int64_t expected = first;
  while (true) {
    auto found = run.step();
    if (!found) return tl::unexpected(std::move(found).error());
    if (!*found) break;
    ++count;
    const int64_t sequence = run.integer(0);
    if (sequence > expected) pass.event_gaps.push_back({expected, sequence - 1});
    expected = sequence + 1;
    auto event = judge_event(sequence, {run.integer(1)}, run.text(2));
    if (!event) pass.damaged_events.push_back({sequence, event.error().message()});
  }
  if (expected <= last) pass.event_gaps.push_back({expected, last});
  pass.newest_event = expected - 1;
  return count;
}

Status set_aside(Connection& connection, Tables& tables, const Pass& pass, Instant now,
                 RecoveryReport& report) {
  auto transaction = Transaction::begin(connection, Transaction::For::write);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  auto meta = tables.meta();
  if (!meta) return tl::unexpected(std::move(meta).error());
  for (const Damaged& row : pass.damaged) {
    auto moved = quarantine(connection, row, now);
    if (!moved) return tl::unexpected(std::move(moved).error());
    if (*moved != 0) report.quarantined.push_back(row);
  }
  for (const market::Key& key : pass.misplaced) {
    SPILLWAY_TRY(reindex(connection, key));
    report.reindexed.push_back(name_of(key));
  }
  auto held = connection.integer("SELECT count(*) FROM quarantine");
  if (!held) return tl::unexpected(std::move(held).error());
  meta->quarantined = *held;
  if (pass.is_ahead_of(*meta)) {
    meta->last_commit = std::max(meta->last_commit, pass.newest_version);
    meta->last_event = std::max(meta->last_event, pass.newest_event);
    report.reindexed.emplace_back("the counters of commits and events");
  }
  SPILLWAY_TRY(tables.set_meta(*meta));
  return transaction->commit();
}

}  // namespace

bool RecoveryReport::is_clean() const {
  return quarantined.empty() && quarantined_before == 0 && reindexed.empty() &&
         event_gaps.empty() && damaged_events.empty() && clock_behind == Duration{};
}

bool Verification::is_clean() const {
  return damaged.empty() && event_gaps.empty() && damaged_events.empty() && file.empty();
}

std::string to_text(const RecoveryReport& report) {
  std::string text = fmt::format("{} live rows, {} events", report.rows, report.last_event);
  for (const Damaged& row : report.quarantined) {
    text +=
        fmt::format("\nquarantined {} version {}: {}", name_of(row.key), row.version, row.reason);
  }
  if (report.quarantined_before > 0) {
    text += fmt::format("\n{} rows are in quarantine since earlier", report.quarantined_before);
  }
  for (const std::string& row : report.reindexed) text += fmt::format("\nindexed anew: {}", row);
  for (const EventGap& gap : report.event_gaps) {
    text += fmt::format("\nevents {} to {} are missing", gap.first, gap.last);
  }
  for (const DamagedEvent& event : report.damaged_events) {
    text += fmt::format("\nevent {} is damaged: {}", event.sequence, event.reason);
  }
  if (report.clock_behind > Duration{}) {
    text += fmt::format(
        "\nthis machine's clock is {} behind the latest commit; until it has caught "
        "up, the market's time runs on from that commit: set the clock",
        to_text(report.clock_behind));
  }
  return text;
}

Result<market::Record> judge_row(const market::Key& key, int64_t version, std::string_view body) {
  if (version < 1) {
    return fail(Code::internal, name_of(key), fmt::format("its version is {}", version));
  }
  auto record = market::decode(key.kind, body);
  if (!record) {
    Error error = std::move(record).error();
    return fail(Code::internal, name_of(key), error.message());
  }
  const market::Key own = std::visit(KeyOf(), *record);
  if (own != key) {
    return fail(Code::internal, name_of(key), fmt::format("its text is that of {}", name_of(own)));
  }
  return record;
}

Result<market::Event> judge_event(int64_t sequence, Instant at, std::string_view body) {
  auto event = market::decode_event(body);
  if (!event) {
    Error error = std::move(event).error();
    return fail(Code::internal, fmt::format("event {}", sequence), error.message());
  }
  if (event->sequence != sequence || event->at != at) {
    return fail(Code::internal, fmt::format("event {}", sequence),
                fmt::format("its text is that of event {}", event->sequence));
  }
  return event;
}

// A commit of our own syncs the log up to itself, and so all that lies before it. A checkpoint
// would not do: it gives way to other processes' readers.
Status settle(Connection& connection) {
  auto transaction = Transaction::begin(connection, Transaction::For::write);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  SPILLWAY_TRY(connection.execute("UPDATE meta SET openings = openings + 1"));
  return transaction->commit();
}

Result<RecoveryReport> recover(Connection& connection, Instant now) {
  RecoveryReport report;
  Tables tables(connection);
  Pass pass;
  bool counters_lag = false;
  {
    auto transaction = Transaction::begin(connection, Transaction::For::read);
    if (!transaction) return tl::unexpected(std::move(transaction).error());
    auto meta = tables.meta();
    if (!meta) return tl::unexpected(std::move(meta).error());
    report.last_event = meta->last_event;
    report.quarantined_before = meta->quarantined;
    if (meta->at > now) report.clock_behind = meta->at - now;
    for (const Kind kind : k_all_kinds) {
      SPILLWAY_TRY(look_at(connection, kind, "WHERE live = 1", pass));
    }
    const int64_t first = std::max(meta->first_event, meta->last_event - k_newest_events + 1);
    auto count = look_at_events(connection, first, meta->last_event, pass);
    if (!count) return tl::unexpected(std::move(count).error());
    counters_lag = pass.is_ahead_of(*meta);
  }
  report.rows = pass.rows;
  report.event_gaps = pass.event_gaps;
  report.damaged_events = pass.damaged_events;
  if (!pass.damaged.empty() || !pass.misplaced.empty() || counters_lag) {
    SPILLWAY_TRY(set_aside(connection, tables, pass, now, report));
  }
  return report;
}

Result<Verification> verify(Connection& connection) {
  auto transaction = Transaction::begin(connection, Transaction::For::read);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  Tables tables(connection);
  auto meta = tables.meta();
  if (!meta) return tl::unexpected(std::move(meta).error());

  Pass pass;
  for (const Kind kind : k_all_kinds) SPILLWAY_TRY(look_at(connection, kind, "", pass));
  auto events = look_at_events(connection, meta->first_event, meta->last_event, pass);
  if (!events) return tl::unexpected(std::move(events).error());
  for (market::Key& key : pass.misplaced) {
    pass.damaged.push_back({std::move(key), 0, "it is indexed under something else"});
  }

  Verification found;
  found.rows = pass.rows;
  found.events = *events;
  found.damaged = std::move(pass.damaged);
  found.event_gaps = std::move(pass.event_gaps);
  found.damaged_events = std::move(pass.damaged_events);
  if (pass.is_ahead_of(*meta)) found.file.emplace_back("the counters in the meta row lag behind");
  auto check = connection.prepare("PRAGMA integrity_check");
  if (!check) return tl::unexpected(std::move(check).error());
  Run run = check->run();
  while (true) {
    auto row = run.step();
    if (!row) return tl::unexpected(std::move(row).error());
    if (!*row) break;
    if (run.text(0) != "ok") found.file.emplace_back(run.text(0));
  }
  return found;
}

}  // namespace spillway::store
