// The book on SQLite: 64 holders at once on one pool. Wall time, since the disk is in it; ratios
// are of runs that took turns.
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/bench.h"
#include "bench/holding.h"
#include "host/book_host.h"
#include "services/service_loop.h"
#include "store/sqlite_store.h"

namespace spillway::bench {
namespace {

constexpr int k_holders = 64;
constexpr int64_t k_holds = 20'000;
constexpr int64_t k_history = 1'000'000;

// On the disk that the build is on: a file system in memory would flatter.
class BenchFile {
 public:
  explicit BenchFile(const std::string& name) : path_("build/bench/" + name) {
    std::filesystem::create_directories("build/bench");
    remove();
  }
  ~BenchFile() { remove(); }
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  void remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  std::string path_;
};

// A broker's loop, book and store in this process.
class Market {
 public:
  Market(const std::string& path, store::Synchronous synchronous) {
    store::SqliteOptions options;
    options.synchronous = synchronous;
    auto opened = store::SqliteStore::open(path, options, loop_);
    SPILLWAY_CHECK(opened.has_value(), opened ? "" : opened.error().message());
    store_ = std::move(*opened);
    host_ = std::make_unique<host::BookHost>(loop_, *store_, random_, host::BookOptions{});
    thread_ = std::thread([this] { loop_.run(); });
    loop_.post([this] { host_->start(); });
  }
  ~Market() {
    run_on_loop([this](const std::function<void()>& done) {
      host_.reset();
      done();
    });
    loop_.stop();
    thread_.join();
  }
  Market(const Market&) = delete;
  Market& operator=(const Market&) = delete;

  void tell(const std::vector<market::Command>& commands) {
    for (const market::Command& command : commands) {
      run_on_loop([&](const std::function<void()>& done) {
        host_->submit(command, [done](const Result<market::Answer>& answer) {
          SPILLWAY_CHECK(answer.has_value(), answer ? "" : answer.error().message());
          done();
        });
      });
    }
  }

  // Each holder asks for its next hold when the last one is durable. Answers with holds/s.
  double hold(int64_t holds) {
    const double start = wall_seconds();
    run_on_loop([&](const std::function<void()>& done) {
      left_ = holds;
      for (int i = 0; i < k_holders; ++i) hold_next(done);
    });
    return static_cast<double>(holds) / (wall_seconds() - start);
  }

  host::Store& store() { return *store_; }

  void run_on_loop(const std::function<void(std::function<void()>)>& begin) {
    std::mutex mutex;
    std::condition_variable wake;
    bool finished = false;
    loop_.post([&] {
      begin([&] {
        const std::lock_guard lock(mutex);
        finished = true;
        wake.notify_one();
      });
    });
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return finished; });
  }

 private:
  void hold_next(const std::function<void()>& done) {
    host_->submit(hold_number(next_++, k_holders), [this, done](Result<market::Answer> answer) {
      SPILLWAY_CHECK(answer.has_value(), answer ? "" : answer.error().message());
      if (--left_ == 0) return done();
      if (left_ >= k_holders) hold_next(done);
    });
  }

  services::LoneLoop loop_;
  host::SystemRandom random_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<host::BookHost> host_;
  std::thread thread_;
  int64_t next_ = 0;
  int64_t left_ = 0;
};

double holds_per_second(store::Synchronous synchronous) {
  const BenchFile file("holds.db");
  Market market(file.path(), synchronous);
  market.tell(market_of_one_pool(500'000, k_holders));
  return market.hold(k_holds);
}

// A contract as it looks long after its end.
market::Shared<model::Contract> closed_contract(const model::Contract& like, int64_t number) {
  model::Contract contract = like;
  contract.id = make_contract_id(Instant{1'700'000'000'000 + number * 1000}, 1,
                                 static_cast<uint64_t>(number));
  contract.state = model::ContractState::closed;
  contract.reason = model::EndReason::released;
  for (model::Unit& unit : contract.units) {
    unit.live = false;
    unit.ended = contract.created;
    unit.reserved = 0;
  }
  return std::make_shared<const model::Contract>(std::move(contract));
}

host::Commit history_commit(const model::Contract& like, int64_t first, int64_t count) {
  host::Commit commit;
  for (int64_t i = first; i < first + count; ++i) {
    auto contract = closed_contract(like, i);
    const market::Key key = market::key_of(contract->id);
    for (const auto kind : {market::EventKind::contract_held, market::EventKind::contract_closed}) {
      commit.events.push_back({.sequence = 0,
                               .at = contract->created,
                               .kind = kind,
                               .subject = contract->id.text,
                               .pool = contract->pool,
                               .provider = contract->provider,
                               .buyer = contract->buyer,
                               .detail = "1 units"});
    }
    commit.expectations.push_back({key, 0});
    commit.puts.push_back({key, std::move(contract)});
  }
  return commit;
}

model::Contract any_contract(Market& market) {
  host::Load load;
  host::Scan scan;
  scan.by = host::Scan::By::all;
  scan.limit = 1;
  load.scans.push_back(scan);
  model::Contract found;
  market.run_on_loop([&](const std::function<void()>& done) {
    market.store().load(load, [&found, done](Result<host::Snapshot> snapshot) {
      found = *std::get<market::Shared<model::Contract>>(snapshot->found[0].at(0).record);
      done();
    });
  });
  return found;
}

void write_history(Market& market) {
  constexpr int64_t k_at_once = 5000;
  const model::Contract like = any_contract(market);
  for (int64_t first = 0; first < k_history; first += k_at_once) {
    market.run_on_loop([&](const std::function<void()>& done) {
      market.store().commit(history_commit(like, first, k_at_once),
                            [done](const Result<host::Committed>& committed) {
                              SPILLWAY_CHECK(committed.has_value(), "history was not written");
                              done();
                            });
    });
  }
}

}  // namespace

SPILLWAY_BENCH(book, sqlite) {
  std::vector<double> full;
  std::vector<double> ratio;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    full.push_back(holds_per_second(store::Synchronous::full));
    ratio.push_back(full.back() / holds_per_second(store::Synchronous::off));
  }
  report.at_least("sqlite_holds_per_s", full, "holds/s", 5'000);
  report.at_least("sync_ratio", ratio, "full/off", 0.7);
}

SPILLWAY_BENCH(book, history) {
  const BenchFile young_file("young.db");
  const BenchFile old_file("old.db");
  Market young(young_file.path(), store::Synchronous::full);
  Market old(old_file.path(), store::Synchronous::full);
  for (Market* market : {&young, &old}) {
    market->tell(market_of_one_pool(500'000, k_holders));
    market->hold(k_holds / 4);
  }
  write_history(old);
  std::vector<double> slowdown;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const double young_rate = young.hold(k_holds);
    slowdown.push_back((young_rate / old.hold(k_holds) - 1) * 100);
  }
  report.at_most("history_slowdown_pct", slowdown, "%", 20);
}

}  // namespace spillway::bench
