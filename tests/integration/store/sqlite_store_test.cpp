#include "store/sqlite_store.h"

#include <chrono>
#include <fstream>

#include <gtest/gtest.h>

#include "support/store_driver.h"
#include "support/temporary_folder.h"

namespace spillway::store {
namespace {

using namespace test;

class SqliteStoreTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(driver.open(path), ""); }

  TemporaryFolder folder;
  std::string path = folder / "market.db";
  StoreDriver driver;
};

TEST_F(SqliteStoreTest, WhatWasCommittedIsThereAfterReopening) {
  ASSERT_TRUE(driver.commit(sample_hold(1)));
  const auto second = driver.commit(sample_hold(2));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->first_event, 2);
  ASSERT_EQ(driver.open(path), "");
  EXPECT_TRUE(driver.store().recovery_report().is_clean());

  const market::Key key = market::key_of(sample_contract_id(2));
  const auto snapshot = driver.load({{key, market::epoch_key()}, {}});
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->last_event, 2);
  ASSERT_EQ(snapshot->rows.size(), 2u);
  EXPECT_EQ(snapshot->rows[0].version, 2);
  EXPECT_EQ(*std::get<market::Shared<model::Contract>>(snapshot->rows[0].record),
            sample_contract(2));
  EXPECT_EQ(snapshot->rows[1].version, 0);
  EXPECT_TRUE(market::is_absent(snapshot->rows[1].record));

  const auto events = driver.events_after(1);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 1u);
  market::Event expected = sample_event(2);
  expected.sequence = 2;
  EXPECT_EQ((*events)[0], expected);
  EXPECT_EQ(driver.events_after(0, 1)->size(), 1u);
  EXPECT_TRUE(driver.events_after(0, 0)->empty());
  EXPECT_TRUE(driver.verify()->is_clean());
}

TEST_F(SqliteStoreTest, ScansComeInTheOrderInWhichTheyWereAsked) {
  for (int n = 0; n < 4; ++n) ASSERT_TRUE(driver.commit(sample_hold(n)));
  host::Scan all;
  all.by = host::Scan::By::all;
  host::Scan none;
  none.name = "edge-9/standard";
  host::Scan requests;
  requests.kind = market::Kind::request;
  requests.by = host::Scan::By::due;
  requests.due_until = k_sample_time + hours(24);
  const auto snapshot = driver.load({{}, {all, none, requests}});
  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->found.size(), 3u);
  EXPECT_EQ(snapshot->found[0].size(), 4u);
  EXPECT_TRUE(snapshot->found[1].empty());
  EXPECT_EQ(snapshot->found[2].size(), 4u);
}

TEST_F(SqliteStoreTest, TheStoresTimeNeverGoesBack) {
  Instant clock = k_sample_time;
  SqliteOptions options;
  options.clock = [&clock] { return clock; };
  ASSERT_EQ(driver.open(path, options), "");
  EXPECT_EQ(driver.load({})->now, k_sample_time);
  clock = k_sample_time + hours(1);
  EXPECT_EQ(driver.load({})->now, clock);
  host::Commit commit = sample_hold(1);
  commit.at = clock;
  ASSERT_TRUE(driver.commit(commit));
  clock = k_sample_time - hours(5);
  EXPECT_EQ(driver.load({})->now, k_sample_time + hours(1));
  ASSERT_EQ(driver.open(path, options), "");
  EXPECT_EQ(driver.load({})->now, k_sample_time + hours(1));
  EXPECT_EQ(driver.store().recovery_report().clock_behind, hours(6));
}

TEST_F(SqliteStoreTest, WhileTheClockIsBehindTimeRunsOnSteadily) {
  Instant clock = k_sample_time + hours(1);
  Duration steady = hours(500);
  SqliteOptions options;
  options.clock = [&clock] { return clock; };
  options.steady = [&steady] { return steady; };
  ASSERT_EQ(driver.open(path, options), "");
  EXPECT_EQ(driver.load({})->now, k_sample_time + hours(1));
  clock = k_sample_time;  // it is set right
  EXPECT_EQ(driver.load({})->now, k_sample_time + hours(1));
  steady = steady + minutes(10);
  clock = clock + minutes(10);
  EXPECT_EQ(driver.load({})->now, k_sample_time + hours(1) + minutes(10));
  steady = steady + milliseconds(1);
  EXPECT_EQ(driver.load({})->now, k_sample_time + hours(1) + minutes(10) + milliseconds(1));
  clock = k_sample_time + hours(2);  // it has caught up, and leads from here on
  EXPECT_EQ(driver.load({})->now, clock);

  host::Commit ahead = sample_hold(1);  // by another broker whose clock is ahead
  ahead.at = clock + hours(1);
  ASSERT_TRUE(driver.commit(ahead));
  EXPECT_EQ(driver.load({})->now, ahead.at);
  steady = steady + seconds(1);
  EXPECT_EQ(driver.load({})->now, ahead.at + seconds(1));
}

// Nothing is injected here: time passes by itself while the test asks.
TEST_F(SqliteStoreTest, ASystemClockThatOnceRanAheadDoesNotFreezeTheStoresTime) {
  ASSERT_EQ(driver.open(path, {}), "");
  host::Commit commit = sample_hold(1);
  commit.at = driver.load({})->now + hours(24);
  ASSERT_TRUE(driver.commit(commit));
  ASSERT_EQ(driver.open(path, {}), "");
  Instant now = driver.load({})->now;
  EXPECT_GE(now, commit.at);
  EXPECT_LT(now, commit.at + hours(1));
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (now < commit.at + milliseconds(50) && std::chrono::steady_clock::now() < give_up) {
    const Instant next = driver.load({})->now;
    ASSERT_GE(next, now);
    now = next;
  }
  EXPECT_GE(now, commit.at + milliseconds(50));
}

TEST_F(SqliteStoreTest, TwoStoresOnOneFileAgreeOnVersions) {
  StoreDriver other;
  ASSERT_EQ(other.open(path), "");
  ASSERT_TRUE(driver.commit(sample_publish(1, 0, 1)));
  EXPECT_EQ(other.version(market::key_of(sample_pool_id(1))), 1);
  ASSERT_TRUE(other.commit(sample_publish(1, 1, 2)));
  const auto late = driver.commit(sample_publish(1, 1, 3));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::conflict);
  const auto next = driver.commit(sample_publish(1, 2, 3));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->first_event, 3);
  EXPECT_TRUE(other.verify()->is_clean());
}

TEST_F(SqliteStoreTest, BeyondItsQueueItTurnsRequestsAwayAtOnce) {
  SqliteOptions options = StoreDriver::sample_options();
  options.max_queue = 10;
  options.busy_timeout = seconds(30);
  ASSERT_EQ(driver.open(path, options), "");
  // Another process in the middle of a commit: the store's thread waits.
  auto other = Connection::open(path, {});
  ASSERT_TRUE(other);
  auto held = Transaction::begin(**other, Transaction::For::write);
  ASSERT_TRUE(held);

  int done = 0;
  int turned_away = 0;
  for (int n = 0; n < 50; ++n) {
    driver.store().commit(sample_hold(n), [&](Result<host::Committed> result) {
      ++done;
      if (result) return;
      ++turned_away;
      EXPECT_EQ(result.error().code, Code::unavailable);
      EXPECT_NE(result.error().message().find("10 requests wait"), std::string::npos);
    });
  }
  // A group that the thread took out of the queue at most, and a full queue.
  driver.loop().run_until([&] { return done >= 30; });
  EXPECT_EQ(done, turned_away);
  { const Transaction dropped = std::move(*held); }
  driver.loop().run_until([&] { return done == 50; });
  EXPECT_GE(turned_away, 30);
  EXPECT_LE(turned_away, 40);
  EXPECT_TRUE(driver.commit(sample_hold(100)));
}

TEST_F(SqliteStoreTest, AnotherProcessThatKeepsTheLockIsNamed) {
  SqliteOptions options = StoreDriver::sample_options();
  options.busy_timeout = milliseconds(20);
  ASSERT_EQ(driver.open(path, options), "");
  auto other = Connection::open(path, {});
  ASSERT_TRUE(other);
  {
    auto held = Transaction::begin(**other, Transaction::For::write);
    ASSERT_TRUE(held);
    const auto late = driver.commit(sample_hold(1));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::unavailable);
    EXPECT_NE(late.error().message().find("lock"), std::string::npos) << late.error().message();
    EXPECT_TRUE(driver.load({}));  // reading needs no lock
  }
  EXPECT_TRUE(driver.commit(sample_hold(1)));
}

TEST_F(SqliteStoreTest, WhatIsQueuedIsStillServedWhenItCloses) {
  int done = 0;
  for (int n = 0; n < 100; ++n) {
    driver.store().commit(sample_hold(n), [&](auto result) { done += result ? 1 : 1000; });
  }
  driver.close();
  driver.loop().run_until([&] { return done >= 100; });
  EXPECT_EQ(done, 100);
  ASSERT_EQ(driver.open(path), "");
  EXPECT_EQ(driver.load({})->last_event, 100);
}

TEST_F(SqliteStoreTest, ARowThatIsDamagedOnDiskIsQuarantinedAtTheNextStart) {
  ASSERT_TRUE(driver.commit(sample_hold(1)));
  ASSERT_TRUE(driver.commit(sample_hold(2)));
  {
    auto knife = Connection::open(path, {});
    ASSERT_TRUE(knife);
    ASSERT_TRUE((*knife)->execute("UPDATE contract SET body = substr(body, 1, 50) WHERE id = '" +
                                  sample_contract_id(1).text + "'"));
  }
  const market::Key key = market::key_of(sample_contract_id(1));
  const auto running = driver.load({{key}, {}});
  ASSERT_FALSE(running);
  EXPECT_NE(running.error().message().find("restart"), std::string::npos);

  ASSERT_EQ(driver.open(path), "");
  ASSERT_EQ(driver.store().recovery_report().quarantined.size(), 1u);
  EXPECT_EQ(driver.store().recovery_report().quarantined[0].key, key);
  const auto loaded = driver.load({{key}, {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::internal);
  EXPECT_NE(loaded.error().message().find("quarantined"), std::string::npos);
  // The others go on.
  host::Scan all;
  all.by = host::Scan::By::all;
  EXPECT_EQ(driver.load({{}, {all}})->found[0].size(), 1u);
  EXPECT_TRUE(driver.commit(sample_hold(3)));
}

TEST(SqliteStoreOpen, RefusesWhatIsNotAStore) {
  const TemporaryFolder folder;
  StoreDriver driver;
  std::ofstream(folder / "text") << std::string(5000, 'x');
  EXPECT_NE(driver.open(folder / "text").find("not a database"), std::string::npos)
      << driver.open(folder / "text");
  EXPECT_EQ(std::filesystem::file_size(folder / "text"), 5000u);
  {
    auto foreign = Connection::open(folder / "foreign", {});
    ASSERT_TRUE((*foreign)->execute("CREATE TABLE cookies (id INTEGER)"));
  }
  EXPECT_NE(driver.open(folder / "foreign").find("other tables"), std::string::npos);
  EXPECT_NE(driver.open(folder / "no/such/folder/market.db").find("folder exists"),
            std::string::npos)
      << driver.open(folder / "no/such/folder/market.db");
  EXPECT_NE(driver.open(folder.path().string()).find("open"), std::string::npos);
}

TEST(SqliteStoreOpen, RefusesANewerSchema) {
  const TemporaryFolder folder;
  StoreDriver driver;
  ASSERT_EQ(driver.open(folder / "a.db"), "");
  driver.close();
  {
    auto newer = Connection::open(folder / "a.db", {});
    ASSERT_TRUE((*newer)->execute("PRAGMA user_version = 999"));
  }
  const std::string refusal = driver.open(folder / "a.db");
  EXPECT_NE(refusal.find("schema is version 999"), std::string::npos) << refusal;
}

TEST(SqliteStoreOpen, IsInWalMode) {
  const TemporaryFolder folder;
  StoreDriver driver;
  ASSERT_EQ(driver.open(folder / "a.db"), "");
  ASSERT_TRUE(driver.commit(sample_hold(1)));
  auto other = Connection::open(folder / "a.db", {});
  ASSERT_TRUE(other);
  EXPECT_EQ(*(*other)->text("PRAGMA journal_mode"), "wal");
}

TEST_F(SqliteStoreTest, WhatIsForgottenStaysForgottenAndTheRestIsClean) {
  for (int n = 1; n <= 5; ++n) {
    host::Commit commit = sample_hold(n);
    commit.events[0].at = k_sample_time + seconds(n);
    ASSERT_TRUE(driver.commit(commit));
  }
  EXPECT_EQ(driver.load({})->first_event, 1);
  EXPECT_EQ(*driver.forget_events(k_sample_time + seconds(3), 100), 3);
  EXPECT_EQ(*driver.forget_events(k_sample_time + seconds(3), 100), 3);
  ASSERT_EQ(driver.open(path), "");
  EXPECT_TRUE(driver.store().recovery_report().is_clean())
      << to_text(driver.store().recovery_report());
  EXPECT_TRUE(driver.verify()->is_clean());
  EXPECT_EQ(driver.load({})->first_event, 3);
  EXPECT_EQ(driver.load({})->last_event, 5);
  EXPECT_EQ(driver.events_after(2)->front().sequence, 3);
  const auto gone = driver.events_after(1);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::gone);
  // None is left; the next has the next number all the same.
  EXPECT_EQ(*driver.forget_events(k_sample_time + hours(1), 100), 6);
  ASSERT_EQ(driver.open(path), "");
  EXPECT_TRUE(driver.store().recovery_report().is_clean());
  EXPECT_TRUE(driver.events_after(5)->empty());
  EXPECT_EQ(driver.commit(sample_hold(6))->first_event, 6);
}

TEST_F(SqliteStoreTest, IdentitiesAndTokensAreThereAfterReopening) {
  host::Commit commit;
  commit.at = k_sample_time;
  const market::Key who = market::identity_key(sample_identity(1).name);
  const market::Key token = market::token_key(sample_token(1).id);
  commit.expectations = {{who, 0}, {token, 0}};
  commit.puts = {{who, shared(sample_identity(1))}, {token, shared(sample_token(1))}};
  ASSERT_TRUE(driver.commit(commit));
  ASSERT_EQ(driver.open(path), "");
  EXPECT_TRUE(driver.store().recovery_report().is_clean());
  host::Scan due;
  due.kind = market::Kind::token;
  due.by = host::Scan::By::due;
  due.due_until = sample_token(1).forget_at;
  const auto snapshot = driver.load({{who}, {due}});
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(*std::get<market::Shared<model::Identity>>(snapshot->rows[0].record),
            sample_identity(1));
  ASSERT_EQ(snapshot->found[0].size(), 1u);
  EXPECT_EQ(*std::get<market::Shared<market::TokenRecord>>(snapshot->found[0][0].record),
            sample_token(1));
}

}  // namespace
}  // namespace spillway::store
