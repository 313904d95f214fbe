// SqliteStore: the market's state in one SQLite file.
//
// One thread owns the connection. It goes round: it takes all that have queued up while the last
// commit was on its way to the disk. Reads that decisions wait for are answered first; then all
// commits go into one transaction and share one wait for the disk (group_commit.h), and are
// answered after it; then comes a slice of what may wait, lists and events, which has a bound. The
// next slice begins when the loop has told the answers of the last: else the loop, which takes
// longer to write a list than the store to find it, would have a queue of them before every other
// answer. So who reads long lists cannot keep others from buying, nor the other way round. The file
// is in WAL mode with synchronous FULL, so what was answered is on the disk.
//
// Several processes may have the file open: the write lock is taken before expectations are looked
// at, so versions mean the same to all of them. Keep it on a local disk; locks on network shares
// lie.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/loop.h"
#include "host/store.h"
#include "store/recovery.h"

namespace spillway::store {

class Connection;
class Tables;

// `off` loses what was acknowledged when the power goes. It exists to measure what `full` costs,
// and to show that the tests of durability can fail.
enum class Synchronous { full, off };

struct SqliteOptions {
  Synchronous synchronous = Synchronous::full;
  std::function<Instant()> clock;  // empty: the system's
  // Time that passes whatever is done to the clock, since any moment. Empty: the system's; beside a
  // clock that is given none passes.
  std::function<Duration()> steady;
  std::string vfs;         // empty: the system's
  size_t max_group = 256;  // commits in one transaction
  // Requests; beyond it they are turned away at once. What may wait is counted by itself, so that
  // it turns nobody away who buys.
  size_t max_queue = 4096;
  Duration busy_timeout = seconds(5);  // how long to wait for another process' commit
  // Of the log, before they are copied into the file: a pause of about 20 ms per 4,000 pages, in
  // return for which a page that changes often is copied once.
  int64_t checkpoint_pages = 4000;
};

class SqliteStore final : public host::Store {
 public:
  // Makes the file when there is none, migrates it, looks it over (recovery.h). Answers go to
  // `loop`, which must outlive the store.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, SqliteOptions options,
                                                   host::Loop& loop);
  // Requests that are queued are still served.
  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  // Any thread may call these; answers come on the loop.
  void load(host::Load what, host::Then<host::Snapshot> then) override;
  void commit(host::Commit what, host::Then<host::Committed> then) override;
  void events_after(const host::EventsAsked& asked,
                    host::Then<std::vector<market::Event>> then) override;
  void forget_events(Instant before, int32_t at_most, host::Then<int64_t> then) override;
  // Reads the whole file; nothing else is served meanwhile.
  void verify(host::Then<Verification> then);

  const RecoveryReport& recovery_report() const { return report_; }

 private:
  struct CommitRequest {
    host::Commit what;
    host::Then<host::Committed> then;
  };
  // Shared with the answers on their way, which may be told after the store is gone.
  struct Signal {
    std::mutex mutex;
    std::condition_variable wake;
    bool telling = false;  // the answers of a slice are on their way
  };
  // Asks something of the connection, on the thread; what it returns tells the asker, on the loop.
  using Read = std::function<host::Task()>;

  SqliteStore(std::unique_ptr<Connection> connection, RecoveryReport report, SqliteOptions options,
              host::Loop& loop);

  template <class T, class Ask>
  void read(bool may_wait, host::Then<T> then, Ask ask);
  bool enqueue(Read read, bool may_wait);  // false: the queue is full
  bool enqueue(CommitRequest request);
  bool is_full() const { return reads_.size() + commits_.size() >= options_.max_queue; }
  template <class T>
  void turn_away(host::Then<T> then);

  void serve();  // the thread
  // Waits until there is something to do. False: never again.
  bool take(std::vector<Read>& reads, std::vector<CommitRequest>& commits);
  void serve_reads(const std::vector<Read>& reads);
  void serve_commits(std::vector<CommitRequest> requests);
  bool may_slice() const { return !waiting_.empty() && (!signal_->telling || stopping_); }
  void serve_slice();
  Read take_waiting();  // empty: none waits, or not now
  void post_slice(std::vector<host::Task> answers);
  Instant tell_time(Instant latest_commit);
  Result<host::Snapshot> load_now(const host::Load& what);
  Result<std::vector<market::Event>> events_now(int64_t sequence, int32_t limit);
  Result<int64_t> forget_now(Instant before, int32_t at_most);
  void post(std::vector<host::Task> answers);

  host::Loop& loop_;
  const SqliteOptions options_;
  const RecoveryReport report_;

  // Of the thread.
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Tables> tables_;
  Instant latest_;    // that was told anyone
  Duration told_at_;  // and when, by options_.steady

  const std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
  // Under its mutex.
  std::vector<Read> reads_;
  std::deque<CommitRequest> commits_;
  std::deque<Read> waiting_;  // reads that may wait
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace spillway::store
