#include "store/sqlite.h"

#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.h"

namespace spillway::store {
namespace {

struct Advice {
  Code code;
  std::string_view next;
};

// What to do about a primary result code of SQLite. Whatever may pass by itself, or once an
// operator has mended something, is unavailable; what no retry mends is internal.
Advice advice_for(int primary) {
  switch (primary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::unavailable,
              "another process holds the file's lock for long: see which one (fuser), then retry"};
    case SQLITE_FULL:
      return {Code::unavailable, "the disk is full: make room, then retry"};
    case SQLITE_READONLY:
      return {Code::unavailable, "make the file and its folder writable for this user, then retry"};
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return {Code::unavailable,
              "see that the folder exists and that this user may write in it, then retry"};
    case SQLITE_IOERR:
      return {Code::unavailable,
              "see the disk's health, its free space and limits on file size, then retry"};
    case SQLITE_PROTOCOL:
      return {Code::unavailable,
              "locks do not work there: keep the file on a local disk, not a network share"};
    case SQLITE_NOMEM:
      return {Code::unavailable, "give the process more memory"};
    case SQLITE_CORRUPT:
      return {Code::internal,
              "stop all brokers, keep a copy of the file and restore the last backup"};
    case SQLITE_NOTADB:
      return {Code::invalid, "give the path of a Spillway store, or of no file yet"};
    default:
      return {Code::internal, "report it together with this message"};
  }
}

Error error_of(sqlite3* handle, int code, std::string_view path, std::string_view doing) {
  const Advice advice = advice_for(code & 0xff);
  std::string reason = fmt::format("{}: {}", doing, sqlite3_errstr(code));
  if (handle != nullptr) {
    const std::string_view detail = sqlite3_errmsg(handle);
    if (detail != sqlite3_errstr(code) && detail != "not an error") {
      reason += fmt::format(": {}", detail);
    }
    const int system = sqlite3_system_errno(handle);
    const int primary = code & 0xff;
    if (system != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
      reason += fmt::format(": {}", std::strerror(system));
    }
  }
  reason += fmt::format(" (SQLite code {})", code);
  return {advice.code, fmt::format("store {}", path), std::move(reason), std::string(advice.next)};
}

Error error_of(sqlite3_stmt* statement, int code) {
  sqlite3* handle = sqlite3_db_handle(statement);
  const char* path = sqlite3_db_filename(handle, "main");
  return error_of(handle, code, path == nullptr ? "" : path, sqlite3_sql(statement));
}

int64_t steady_ms() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

}  // namespace

Run::~Run() { sqlite3_reset(statement_); }

void Run::remember(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

Run& Run::bind(int parameter, int64_t value) {
  remember(sqlite3_bind_int64(statement_, parameter, value));
  return *this;
}

Run& Run::bind(int parameter, std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* data = text.empty() ? "" : text.data();
  remember(
      sqlite3_bind_text64(statement_, parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Run& Run::bind(int parameter, std::optional<int64_t> value) {
  if (value) return bind(parameter, *value);
  remember(sqlite3_bind_null(statement_, parameter));
  return *this;
}

Result<bool> Run::step() {
  if (bind_error_ != SQLITE_OK) return tl::unexpected(error_of(statement_, bind_error_));
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(error_of(statement_, code));
}

Status Run::finish() {
  auto more = step();
  if (!more) return tl::unexpected(std::move(more).error());
  SPILLWAY_CHECK(!*more, "a statement that answers rows was run as one that does not");
  return {};
}

int64_t Run::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<int64_t> Run::optional_integer(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string_view Run::text(int column) const {
  const void* data = sqlite3_column_text(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Connection::Connection(std::string path, Duration busy_timeout)
    : path_(std::move(path)), busy_timeout_ms_(busy_timeout.ms) {}

// SQLite's own handler backs off to 100 ms, which is long beside a commit of one or two: the
// waiting process would starve. Short waits with jitter, up to the deadline.
int Connection::wait_for_lock(void* self, int attempt) {
  auto& connection = *static_cast<Connection*>(self);
  const int64_t now = steady_ms();
  if (attempt == 0) connection.busy_since_ms_ = now;
  if (now - connection.busy_since_ms_ >= connection.busy_timeout_ms_) return 0;
  connection.jitter_ ^= connection.jitter_ << 13;
  connection.jitter_ ^= connection.jitter_ >> 7;
  connection.jitter_ ^= connection.jitter_ << 17;
  std::this_thread::sleep_for(
      std::chrono::microseconds(50 + static_cast<int64_t>(connection.jitter_ % 400)));
  return 1;
}

bool Connection::wait_if_locked(int attempt) {
  const int primary = sqlite3_errcode(handle_) & 0xff;
  return primary == SQLITE_BUSY && wait_for_lock(this, attempt) != 0;
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path,
                                                     ConnectionOptions options) {
  std::unique_ptr<Connection> connection(new Connection(path, options.busy_timeout));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &connection->handle_, flags,
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  sqlite3* handle = connection->handle_;
  if (code != SQLITE_OK) {
    return tl::unexpected(error_of(
        handle, handle == nullptr ? code : sqlite3_extended_errcode(handle), path, "open"));
  }
  // SQLite opens what it may not write for reading only, and says so at the first commit.
  if (sqlite3_db_readonly(handle, "main") == 1) {
    return tl::unexpected(error_of(nullptr, SQLITE_READONLY, path, "open"));
  }
  sqlite3_extended_result_codes(handle, 1);
  // Two connections of one process must not wait in step.
  connection->jitter_ ^= reinterpret_cast<uintptr_t>(handle);
  sqlite3_busy_handler(handle, &Connection::wait_for_lock, connection.get());
  return connection;
}

Connection::~Connection() {
  for (Statement* statement : {&begin_read_, &begin_write_, &commit_, &rollback_}) {
    *statement = Statement();
  }
  sqlite3_close_v2(handle_);
}

Status Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return tl::unexpected(error_of(handle_, code, path_, sql));
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error_of(handle_, code, path_, sql));
  return Statement(statement);
}

Result<int64_t> Connection::integer(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = statement->run();
  auto found = run.step();
  if (!found) return tl::unexpected(std::move(found).error());
  return *found ? run.integer(0) : 0;
}

Result<std::string> Connection::text(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(std::move(statement).error());
  Run run = statement->run();
  auto found = run.step();
  if (!found) return tl::unexpected(std::move(found).error());
  return *found ? std::string(run.text(0)) : std::string();
}

int64_t Connection::changes() const { return sqlite3_changes64(handle_); }

Result<Transaction> Transaction::begin(Connection& connection, For purpose) {
  Statement& statement = purpose == For::write ? connection.begin_write_ : connection.begin_read_;
  if (!statement) {
    auto prepared = connection.prepare(purpose == For::write ? "BEGIN IMMEDIATE" : "BEGIN");
    if (!prepared) return tl::unexpected(std::move(prepared).error());
    statement = std::move(*prepared);
  }
  if (!connection.commit_) {
    auto commit = connection.prepare("COMMIT");
    if (!commit) return tl::unexpected(std::move(commit).error());
    auto rollback = connection.prepare("ROLLBACK");
    if (!rollback) return tl::unexpected(std::move(rollback).error());
    connection.commit_ = std::move(*commit);
    connection.rollback_ = std::move(*rollback);
  }
  SPILLWAY_TRY(statement.run().finish());
  return Transaction(connection);
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)) {}

Transaction::~Transaction() {
  if (connection_ != nullptr) roll_back();
}

Status Transaction::commit() {
  Status done = connection_->commit_.run().finish();
  if (done) connection_ = nullptr;
  return done;
}

// Some errors have rolled back already; then there is nothing left to do. It cannot fail otherwise:
// what it undoes is only in memory and in a part of the log that nobody reads.
void Transaction::roll_back() {
  if (sqlite3_get_autocommit(connection_->handle_) == 0) {
    (void)connection_->rollback_.run().step();
  }
  SPILLWAY_CHECK(sqlite3_get_autocommit(connection_->handle_) != 0,
                 "a transaction could be neither committed nor rolled back");
}

}  // namespace spillway::store
