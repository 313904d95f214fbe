#include "store/sqlite_store.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "store/group_commit.h"
#include "store/migrations.h"
#include "store/sqlite.h"
#include "store/tables.h"

namespace spillway::store {
namespace {

// Of reads that may wait, between two commits: about as long as a commit waits for the disk.
constexpr std::chrono::milliseconds k_slice_time{2};
constexpr size_t k_slice_reads = 16;

Instant system_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

Duration system_steady() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

// Whoever gives a clock says what time it is: none passes beside it.
void complete_clocks(SqliteOptions& options) {
  if (!options.steady) {
    options.steady = options.clock ? [] { return Duration{}; } : system_steady;
  }
  if (!options.clock) options.clock = system_now;
}

// The reason of a pragma is beside it. mmap stays off: a failing disk would then be a signal, where
// it is an Error now.
Status configure(Connection& connection, const SqliteOptions& options) {
  SPILLWAY_TRY(connection.execute("PRAGMA auto_vacuum = NONE"));  // only a new file listens
  // SQLite does not wait for the lock here, and two brokers may start on a new file at once.
  auto mode = connection.text("PRAGMA journal_mode = WAL");
  for (int attempt = 0; !mode && connection.wait_if_locked(attempt); ++attempt) {
    mode = connection.text("PRAGMA journal_mode = WAL");
  }
  if (!mode) return tl::unexpected(std::move(mode).error());
  if (*mode != "wal") {
    return fail(
        Code::unavailable, fmt::format("store {}", connection.path()),
        fmt::format("its write-ahead log cannot be used: the journal stays in mode {}", *mode),
        "keep the file on a local disk with shared memory, and make it writable");
  }
  const bool full = options.synchronous == Synchronous::full;
  SPILLWAY_TRY(connection.execute(fmt::format(
      "PRAGMA synchronous = {};"  // the log is synced with every commit
      "PRAGMA wal_autocheckpoint = {};"
      "PRAGMA journal_size_limit = {};"  // a log that once grew gives its space back
      "PRAGMA cache_size = -65536;"      // 64 MiB
      "PRAGMA secure_delete = OFF;"      // Debian's default zeroes what is freed: needless writes
      "PRAGMA temp_store = MEMORY;"
      "PRAGMA cell_size_check = ON;"  // a damaged page is an error, not a wild read
      "PRAGMA trusted_schema = OFF",
      full ? "FULL" : "OFF", options.checkpoint_pages, int64_t{64} << 20)));
  return {};
}

template <class T>
host::Task bind_answer(host::Then<T> then, Result<T> result) {
  return
      [then = std::move(then), result = std::move(result)]() mutable { then(std::move(result)); };
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path,
                                                       SqliteOptions options, host::Loop& loop) {
  complete_clocks(options);
  auto connection = Connection::open(path, {options.vfs, options.busy_timeout});
  if (!connection) return tl::unexpected(std::move(connection).error());
  SPILLWAY_TRY(check_is_ours(**connection));
  SPILLWAY_TRY(configure(**connection, options));
  SPILLWAY_TRY(migrate(**connection, migrations()));
  SPILLWAY_TRY(settle(**connection));
  auto report = recover(**connection, options.clock());
  if (!report) return tl::unexpected(std::move(report).error());
  return std::unique_ptr<SqliteStore>(
      new SqliteStore(std::move(*connection), std::move(*report), std::move(options), loop));
}

SqliteStore::SqliteStore(std::unique_ptr<Connection> connection, RecoveryReport report,
                         SqliteOptions options, host::Loop& loop)
    : loop_(loop),
      options_(std::move(options)),
      report_(std::move(report)),
      connection_(std::move(connection)),
      tables_(std::make_unique<Tables>(*connection_)),
      told_at_(options_.steady()),
      thread_([this] { serve(); }) {}

SqliteStore::~SqliteStore() {
  {
    const std::lock_guard lock(signal_->mutex);
    stopping_ = true;
  }
  signal_->wake.notify_one();
  thread_.join();
}

bool SqliteStore::enqueue(Read read, bool may_wait) {
  {
    const std::lock_guard lock(signal_->mutex);
    if (may_wait ? waiting_.size() >= options_.max_queue : is_full()) return false;
    if (may_wait) {
      waiting_.push_back(std::move(read));
    } else {
      reads_.push_back(std::move(read));
    }
  }
  signal_->wake.notify_one();
  return true;
}

bool SqliteStore::enqueue(CommitRequest request) {
  {
    const std::lock_guard lock(signal_->mutex);
    if (is_full()) return false;
    commits_.push_back(std::move(request));
  }
  signal_->wake.notify_one();
  return true;
}

template <class T>
void SqliteStore::turn_away(host::Then<T> then) {
  auto refusal =
      fail(Code::unavailable, fmt::format("store {}", connection_->path()),
           fmt::format("{} requests wait already, this one was not begun", options_.max_queue),
           "try again later, or send less at once");
  loop_.post(bind_answer<T>(std::move(then), std::move(refusal)));
}

template <class T, class Ask>
void SqliteStore::read(bool may_wait, host::Then<T> then, Ask ask) {
  Read asking = [then, ask = std::move(ask)]() { return bind_answer<T>(then, ask()); };
  if (!enqueue(std::move(asking), may_wait)) turn_away(std::move(then));
}

void SqliteStore::load(host::Load what, host::Then<host::Snapshot> then) {
  const bool may_wait = what.may_wait;
  read(may_wait, std::move(then), [this, what = std::move(what)] { return load_now(what); });
}

void SqliteStore::events_after(const host::EventsAsked& asked,
                               host::Then<std::vector<market::Event>> then) {
  read(asked.may_wait, std::move(then),
       [this, asked] { return events_now(asked.after, asked.limit); });
}

void SqliteStore::forget_events(Instant before, int32_t at_most, host::Then<int64_t> then) {
  read(true, std::move(then), [this, before, at_most] { return forget_now(before, at_most); });
}

void SqliteStore::verify(host::Then<Verification> then) {
  read(true, std::move(then), [this] { return store::verify(*connection_); });
}

void SqliteStore::commit(host::Commit what, host::Then<host::Committed> then) {
  if (!enqueue(CommitRequest{std::move(what), then})) turn_away(std::move(then));
}

void SqliteStore::serve() {
  std::vector<Read> reads;
  std::vector<CommitRequest> commits;
  while (take(reads, commits)) {
    // Reads first: their askers decide while the commits wait for the disk.
    if (!reads.empty()) serve_reads(std::exchange(reads, {}));
    if (!commits.empty()) serve_commits(std::exchange(commits, {}));
    serve_slice();
  }
}

bool SqliteStore::take(std::vector<Read>& reads, std::vector<CommitRequest>& commits) {
  std::unique_lock lock(signal_->mutex);
  const auto idle = [this] { return reads_.empty() && commits_.empty() && !may_slice(); };
  signal_->wake.wait(lock, [&] { return stopping_ || !idle(); });
  if (idle()) return false;
  reads.swap(reads_);
  const auto end =
      commits_.begin() + static_cast<ptrdiff_t>(std::min(commits_.size(), options_.max_group));
  commits.assign(std::make_move_iterator(commits_.begin()), std::make_move_iterator(end));
  commits_.erase(commits_.begin(), end);
  return true;
}

SqliteStore::Read SqliteStore::take_waiting() {
  const std::lock_guard lock(signal_->mutex);
  if (!may_slice()) return {};
  Read read = std::move(waiting_.front());
  waiting_.pop_front();
  return read;
}

// At least one, so that those who may wait come to their turn however much is sold. The bound in
// number is for the loop, which has to tell all the answers of a slice at once.
void SqliteStore::serve_slice() {
  const auto until = std::chrono::steady_clock::now() + k_slice_time;
  std::vector<host::Task> answers;
  do {
    const Read ask = take_waiting();
    if (!ask) break;
    answers.push_back(ask());
  } while (answers.size() < k_slice_reads && std::chrono::steady_clock::now() < until);
  if (!answers.empty()) post_slice(std::move(answers));
}

void SqliteStore::post_slice(std::vector<host::Task> answers) {
  {
    const std::lock_guard lock(signal_->mutex);
    signal_->telling = true;
  }
  answers.emplace_back([signal = signal_] {
    {
      const std::lock_guard lock(signal->mutex);
      signal->telling = false;
    }
    signal->wake.notify_one();
  });
  post(std::move(answers));
}

void SqliteStore::serve_reads(const std::vector<Read>& reads) {
  std::vector<host::Task> answers;
  answers.reserve(reads.size());
  for (const Read& ask : reads) answers.push_back(ask());
  post(std::move(answers));
}

// Never back. A clock that once ran ahead and was set right must not freeze time until it has
// caught up, or nothing would expire for as long: meanwhile time runs on from the latest that was
// told. Both readings of `steady` are whole milliseconds since the same moment, so that what is cut
// off does not add up, however often it is asked.
Instant SqliteStore::tell_time(Instant latest_commit) {
  const Duration steady = options_.steady();
  latest_ = std::max({latest_ + (steady - told_at_), options_.clock(), latest_commit});
  told_at_ = steady;
  return latest_;
}

Result<host::Snapshot> SqliteStore::load_now(const host::Load& what) {
  auto transaction = Transaction::begin(*connection_, Transaction::For::read);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  auto meta = tables_->meta();
  if (!meta) return tl::unexpected(std::move(meta).error());

  host::Snapshot snapshot;
  snapshot.now = tell_time(meta->at);
  snapshot.first_event = meta->first_event;
  snapshot.last_event = meta->last_event;
  snapshot.rows.reserve(what.keys.size());
  for (const market::Key& key : what.keys) {
    auto row = tables_->read(key, *meta);
    if (!row) return tl::unexpected(std::move(row).error());
    snapshot.rows.push_back(std::move(*row));
  }
  for (const host::Scan& scan : what.scans) {
    auto rows = tables_->scan(scan);
    if (!rows) return tl::unexpected(std::move(rows).error());
    snapshot.found.push_back(std::move(*rows));
  }
  return snapshot;
}

Result<std::vector<market::Event>> SqliteStore::events_now(int64_t sequence, int32_t limit) {
  auto transaction = Transaction::begin(*connection_, Transaction::For::read);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  return tables_->events_after(sequence, limit);
}

Result<int64_t> SqliteStore::forget_now(Instant before, int32_t at_most) {
  auto transaction = Transaction::begin(*connection_, Transaction::For::write);
  if (!transaction) return tl::unexpected(std::move(transaction).error());
  auto meta = tables_->meta();
  if (!meta) return tl::unexpected(std::move(meta).error());
  const int64_t first = meta->first_event;
  SPILLWAY_TRY(tables_->forget_events(before, at_most, *meta));
  if (meta->first_event == first) return first;
  SPILLWAY_TRY(tables_->set_meta(*meta));
  SPILLWAY_TRY(transaction->commit());
  return meta->first_event;
}

void SqliteStore::serve_commits(std::vector<CommitRequest> requests) {
  std::vector<const host::Commit*> commits;
  commits.reserve(requests.size());
  for (const CommitRequest& request : requests) commits.push_back(&request.what);
  std::vector<Result<host::Committed>> results = commit_group(*connection_, *tables_, commits);

  std::vector<host::Task> answers;
  answers.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    answers.push_back(
        bind_answer<host::Committed>(std::move(requests[i].then), std::move(results[i])));
  }
  post(std::move(answers));
}

// One wake-up of the loop for all of them.
void SqliteStore::post(std::vector<host::Task> answers) {
  loop_.post([held = std::make_shared<std::vector<host::Task>>(std::move(answers))] {
    for (host::Task& task : *held) task();
  });
}

}  // namespace spillway::store
