// What may wait and what decisions wait for, at the same store: neither keeps the other from being
// served.
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "store/sqlite.h"
#include "support/store_driver.h"
#include "support/temporary_folder.h"

namespace spillway::store {
namespace {

using namespace test;

// The store's thread is kept waiting while requests queue up, so that their order is the store's
// alone: another process is in the middle of a commit.
class Fairness : public testing::Test {
 protected:
  void SetUp() override {
    SqliteOptions options = StoreDriver::sample_options();
    options.busy_timeout = seconds(30);
    options.max_group = 1;  // a round for each commit
    options.max_queue = 400;
    ASSERT_EQ(driver.open(folder / "market.db", options), "");
    auto opened = Connection::open(folder / "market.db", {});
    ASSERT_TRUE(opened);
    other = std::move(*opened);
  }

  void block() {
    auto begun = Transaction::begin(*other, Transaction::For::write);
    ASSERT_TRUE(begun);
    held.emplace(std::move(*begun));
    commit(k_first);
  }
  void release() { held.reset(); }

  // A page of all contracts, as those who look through a market ask for it.
  void list() {
    host::Load load;
    load.scans.resize(1);
    load.scans[0].by = host::Scan::By::all;
    load.may_wait = true;
    driver.store().load(load, [this](const Result<host::Snapshot>& found) {
      EXPECT_TRUE(found);
      ++lists_told;
      commits_before_list = commits_told;
    });
  }

  void commit(int n) {
    driver.store().commit(sample_hold(n), [this](const Result<host::Committed>& done) {
      EXPECT_TRUE(done);
      ++commits_told;
      lists_before_commit = lists_told;
    });
  }

  static constexpr int k_first = 1000;
  TemporaryFolder folder;
  StoreDriver driver;
  std::unique_ptr<Connection> other;
  std::optional<Transaction> held;
  int lists_told = 0;
  int commits_before_list = -1;
  int commits_told = 0;
  int lists_before_commit = -1;
};

TEST_F(Fairness, WhoReadsListsDoesNotKeepOthersFromBuying) {
  for (int n = 0; n < 100; ++n) ASSERT_TRUE(driver.commit(sample_hold(n)));
  block();
  for (int n = 0; n < 300; ++n) list();
  int lists_before_load = -1;
  driver.store().load({{market::epoch_key()}, {}}, [&](const Result<host::Snapshot>& found) {
    EXPECT_TRUE(found);
    lists_before_load = lists_told;
  });
  commit(k_first + 1);
  release();
  driver.loop().run_until([&] { return lists_told == 300; });
  EXPECT_GE(lists_before_load, 0);
  EXPECT_LT(lists_before_load, 100);
  EXPECT_EQ(commits_told, 2);
  EXPECT_LT(lists_before_commit, 100);
}

TEST_F(Fairness, WhoBuysDoesNotKeepOthersFromReadingLists) {
  block();
  for (int n = 0; n < 300; ++n) commit(n);
  list();
  release();
  driver.loop().run_until([&] { return commits_told == 301; });
  EXPECT_EQ(lists_told, 1);
  EXPECT_LT(commits_before_list, 100);
}

// A loop that writes lists more slowly than the store finds them would else have them all before
// the answer to a sale. Here it stands still until twenty rounds are over.
TEST_F(Fairness, NoSliceBeginsBeforeTheAnswersOfTheLastAreTold) {
  block();
  for (int n = 0; n < 300; ++n) list();
  for (int n = 1; n <= 20; ++n) commit(k_first + n);
  release();
  while (other->integer("SELECT last_commit FROM meta").value() < 21) std::this_thread::yield();
  driver.loop().run_until([&] { return commits_told == 21; });
  EXPECT_LE(lists_before_commit, 100);
  driver.loop().run_until([&] { return lists_told == 300; });
}

// The queue of those who may wait is their own: full of lists, the store still takes a sale.
TEST_F(Fairness, ListsTurnNobodyAwayWhoBuys) {
  block();
  int turned_away = 0;
  for (int n = 0; n < 500; ++n) {
    driver.store().events_after({0, 1, true},
                                [&](const auto& told) { turned_away += told ? 0 : 1; });
  }
  commit(k_first + 1);
  driver.loop().run_until([&] { return turned_away == 100; });
  release();
  driver.loop().run_until([&] { return commits_told == 2; });
}

}  // namespace
}  // namespace spillway::store
