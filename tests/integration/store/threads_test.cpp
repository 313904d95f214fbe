// Many threads on one store, and two stores on one file: every commit is answered once, versions
// admit one winner each, and what is left in the end is what the winners wrote.
#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "services/service_loop.h"
#include "support/store_driver.h"
#include "support/temporary_folder.h"

namespace spillway::store {
namespace {

using namespace test;

constexpr int k_pools = 4;

// A buyer: loads a pool, publishes it once more with the version that it saw, until it has won
// often enough. Everything after start() happens on the store's loop.
class Publisher {
 public:
  Publisher(SqliteStore& store, uint64_t seed, int wins)
      : store_(store), random_(seed), left_(wins) {}

  void start() { load(); }
  bool is_done() const { return left_ == 0; }
  int conflicts() const { return conflicts_; }
  int failures() const { return failures_; }
  const std::vector<int64_t>& events() const { return events_; }

 private:
  void load() {
    pool_ = static_cast<int>(random_() % k_pools);
    store_.load({{market::key_of(sample_pool_id(pool_))}, {}}, [this](Result<host::Snapshot> seen) {
      if (!seen) return fail_once();
      publish(seen->rows[0]);
    });
  }

  void publish(const host::Row& seen) {
    const auto* pool = std::get_if<market::Shared<market::PoolRecord>>(&seen.record);
    const int64_t sequence = pool == nullptr ? 1 : (*pool)->sequence + 1;
    store_.commit(sample_publish(pool_, seen.version, sequence),
                  [this](Result<host::Committed> result) {
                    if (result) {
                      events_.push_back(result->first_event);
                      --left_;
                    } else if (result.error().code == Code::conflict) {
                      ++conflicts_;
                    } else {
                      return fail_once();
                    }
                    if (left_ > 0) load();
                  });
  }

  void fail_once() {
    ++failures_;
    left_ = 0;
  }

  SqliteStore& store_;
  std::mt19937_64 random_;
  int pool_ = 0;
  std::atomic<int> left_;
  int conflicts_ = 0;
  int failures_ = 0;
  std::vector<int64_t> events_;
};

void expect_consistent(const std::string& path, const std::vector<int64_t>& events) {
  StoreDriver driver;
  ASSERT_EQ(driver.open(path), "");
  EXPECT_TRUE(driver.store().recovery_report().is_clean());
  EXPECT_TRUE(driver.verify()->is_clean());
  host::Load load;
  for (int p = 0; p < k_pools; ++p) load.keys.push_back(market::key_of(sample_pool_id(p)));
  const auto state = driver.load(load);
  ASSERT_TRUE(state);
  // Each winner counted on from the one before it.
  int64_t wins = 0;
  for (const host::Row& row : state->rows) {
    wins += std::get<market::Shared<market::PoolRecord>>(row.record)->sequence;
  }
  EXPECT_EQ(wins, static_cast<int64_t>(events.size()));
  EXPECT_EQ(state->last_event, static_cast<int64_t>(events.size()));
  // No two winners were told the same number, and none is missing.
  std::vector<int64_t> sorted = events;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], static_cast<int64_t>(i) + 1);
}

// A process' worth: a loop on a thread, a store, some publishers.
class Broker {
 public:
  Broker(const std::string& path, uint64_t seed, int publishers, int wins) {
    SqliteOptions options = StoreDriver::sample_options();
    options.busy_timeout = seconds(60);
    auto opened = SqliteStore::open(path, options, loop_);
    EXPECT_TRUE(opened) << opened.error().message();
    store_ = std::move(*opened);
    for (int i = 0; i < publishers; ++i) {
      publishers_.push_back(
          std::make_unique<Publisher>(*store_, seed + static_cast<uint64_t>(i), wins));
    }
    thread_ = std::thread([this] { loop_.run(); });
  }

  // Publishers are started by a thread each, as requests come in from anywhere.
  void start() {
    for (auto& publisher : publishers_) {
      starters_.emplace_back([&one = *publisher] { one.start(); });
    }
  }

  void finish(std::vector<int64_t>& events, int& conflicts) {
    for (std::thread& starter : starters_) starter.join();
    wait();
    store_.reset();
    loop_.stop();
    thread_.join();
    for (const auto& publisher : publishers_) {
      EXPECT_EQ(publisher->failures(), 0);
      conflicts += publisher->conflicts();
      events.insert(events.end(), publisher->events().begin(), publisher->events().end());
    }
  }

 private:
  void wait() {
    for (const auto& publisher : publishers_) {
      while (!publisher->is_done()) std::this_thread::yield();
    }
  }

  services::LoneLoop loop_;
  std::unique_ptr<SqliteStore> store_;
  std::vector<std::unique_ptr<Publisher>> publishers_;
  std::thread thread_;
  std::vector<std::thread> starters_;
};

TEST(StoreThreads, ManyPublishersOnOneStore) {
  const TemporaryFolder folder;
  std::vector<int64_t> events;
  int conflicts = 0;
  {
    Broker broker(folder / "market.db", 1, 16, 25);
    broker.start();
    broker.finish(events, conflicts);
  }
  EXPECT_EQ(events.size(), 400u);
  EXPECT_GT(conflicts, 0);
  expect_consistent(folder / "market.db", events);
}

TEST(StoreThreads, TwoStoresOnOneFile) {
  const TemporaryFolder folder;
  std::vector<int64_t> events;
  int conflicts = 0;
  {
    Broker one(folder / "market.db", 1, 4, 40);
    Broker two(folder / "market.db", 100, 4, 40);
    one.start();
    two.start();
    one.finish(events, conflicts);
    two.finish(events, conflicts);
  }
  EXPECT_EQ(events.size(), 320u);
  EXPECT_GT(conflicts, 0);
  expect_consistent(folder / "market.db", events);
}

// Commits that do not touch each other's rows, straight from many threads at once.
TEST(StoreThreads, CommitsFromManyThreadsAreAllAnswered) {
  const TemporaryFolder folder;
  StoreDriver driver;
  ASSERT_EQ(driver.open(folder / "market.db"), "");
  constexpr int k_threads = 8;
  constexpr int k_each = 100;
  int answered = 0;
  int refused = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < k_threads; ++t) {
    threads.emplace_back([&driver, &answered, &refused, t] {
      for (int i = 0; i < k_each; ++i) {
        driver.store().commit(sample_hold(t * k_each + i), [&answered, &refused](auto result) {
          ++answered;
          refused += result ? 0 : 1;
        });
      }
    });
  }
  driver.loop().run_until([&] { return answered == k_threads * k_each; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(driver.load({})->last_event, k_threads * k_each);
  EXPECT_TRUE(driver.verify()->is_clean());
}

// Whoever comes second finds the file locked in the middle of being made.
TEST(StoreThreads, SeveralMayOpenANewFileAtOnce) {
  constexpr int k_rounds = 20;
  for (int round = 0; round < k_rounds; ++round) {
    TemporaryFolder folder;
    const std::string path = folder / "market.db";
    std::array<std::string, 4> errors;
    std::vector<std::thread> threads;
    for (std::string& error : errors) {
      threads.emplace_back([&error, &path] {
        services::LoneLoop loop;
        const auto opened = SqliteStore::open(path, {}, loop);
        if (!opened) error = opened.error().message();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& error : errors) ASSERT_EQ(error, "") << "in round " << round;
  }
}

}  // namespace
}  // namespace spillway::store
