// SQLite's C API as values that clean up after themselves, with errors that name the file, SQLite's
// reason and the next step. Not thread-safe: one connection and its statements belong to one thread
// at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace spillway::store {

// One execution of a Statement; when it ends the statement is ready for the next. Parameters count
// from 1 and columns from 0. Bound text is not copied: it must outlive the Run.
class Run {
 public:
  explicit Run(sqlite3_stmt* statement) : statement_(statement) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  Run& bind(int parameter, int64_t value);
  Run& bind(int parameter, std::string_view text);
  Run& bind(int parameter, std::optional<int64_t> value);

  Result<bool> step();  // true: there is a row
  Status finish();      // for statements that answer no rows

  int64_t integer(int column) const;
  std::optional<int64_t> optional_integer(int column) const;
  std::string_view text(int column) const;  // valid until the next step

 private:
  void remember(int code);

  sqlite3_stmt* statement_;
  int bind_error_ = 0;
};

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  Run run() const { return Run(statement_.get()); }
  explicit operator bool() const { return statement_ != nullptr; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

struct ConnectionOptions {
  std::string vfs;  // empty: the default one
  // How long to wait for a lock that another process holds.
  Duration busy_timeout = seconds(5);
};

class Connection {
 public:
  // Creates the file when there is none. Nothing is read or written yet.
  static Result<std::unique_ptr<Connection>> open(const std::string& path,
                                                  ConnectionOptions options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  const std::string& path() const { return path_; }
  Status execute(const std::string& sql);  // one or more statements, their rows ignored
  Result<Statement> prepare(std::string_view sql);
  Result<int64_t> integer(std::string_view sql);   // first column of the first row, or 0
  Result<std::string> text(std::string_view sql);  // the same as text
  int64_t changes() const;                         // rows touched by the last statement

  // After a failure: waits a moment and says true if it was another process' lock and there is time
  // left. For the few statements that do not wait by themselves.
  bool wait_if_locked(int attempt);

 private:
  friend class Transaction;
  Connection(std::string path, Duration busy_timeout);
  static int wait_for_lock(void* self, int attempt);

  std::string path_;
  int64_t busy_timeout_ms_;
  int64_t busy_since_ms_ = 0;
  uint64_t jitter_ = 0x9e3779b97f4a7c15ULL;
  sqlite3* handle_ = nullptr;
  Statement begin_read_;
  Statement begin_write_;
  Statement commit_;
  Statement rollback_;
};

// Everything or nothing: rolled back unless commit() answered ok.
class Transaction {
 public:
  enum class For { read, write };
  // For writing it takes the file's only write lock at once, so that what it reads stays true.
  static Result<Transaction> begin(Connection& connection, For purpose);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // After an error the outcome is unknown to others, though this connection sees the state before.
  Status commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  void roll_back();

  Connection* connection_;
};

}  // namespace spillway::store
