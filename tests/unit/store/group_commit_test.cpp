#include "store/group_commit.h"

#include <gtest/gtest.h>

#include "store/migrations.h"
#include "support/sample_records.h"

namespace spillway::store {
namespace {

using namespace test;
using host::Commit;

class GroupCommit : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::open(":memory:", {});
    ASSERT_TRUE(opened);
    connection = std::move(*opened);
    ASSERT_TRUE(migrate(*connection, migrations()));
    tables = std::make_unique<Tables>(*connection);
  }

  std::vector<Result<host::Committed>> run(const std::vector<Commit>& commits) {
    std::vector<const Commit*> pointers;
    for (const Commit& commit : commits) pointers.push_back(&commit);
    return commit_group(*connection, *tables, pointers);
  }

  int64_t version(const market::Key& key) { return *tables->version_of(key, *tables->meta()); }

  std::unique_ptr<Connection> connection;
  std::unique_ptr<Tables> tables;
};

Commit put_pool(int64_t expected, int64_t sequence) {
  Commit commit;
  commit.at = k_sample_time + seconds(sequence);
  const market::Key key = market::key_of(sample_pool_id(1));
  commit.expectations = {{key, expected}};
  commit.puts = {{key, shared(sample_pool(1, sequence))}};
  commit.events = {sample_event(static_cast<int>(sequence))};
  return commit;
}

TEST_F(GroupCommit, EachSeesWhatThoseBeforeItWrote) {
  const auto answers = run({put_pool(0, 1), put_pool(1, 2), put_pool(2, 3)});
  for (const auto& answer : answers) ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(version(market::key_of(sample_pool_id(1))), 3);
  EXPECT_EQ(answers[2]->first_event, 3);
  EXPECT_EQ(tables->meta()->last_event, 3);
  EXPECT_EQ(tables->meta()->at, k_sample_time + seconds(3));
}

TEST_F(GroupCommit, AConflictRejectsOneAndLeavesNoGap) {
  const auto answers = run({put_pool(0, 1), put_pool(0, 2), put_pool(1, 3)});
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().code, Code::conflict);
  EXPECT_NE(answers[1].error().message().find("edge-1/standard"), std::string::npos);
  ASSERT_TRUE(answers[2]);
  EXPECT_EQ(answers[2]->first_event, 2);
  const auto events = tables->events_after(0, 10);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[1].subject, sample_contract_id(3).text);
}

TEST_F(GroupCommit, AConflictInTheLastExpectationWritesNothingOfTheCommit) {
  Commit mixed = put_pool(0, 1);
  mixed.expectations.push_back({market::epoch_key(), 5});
  const auto answers = run({mixed});
  EXPECT_FALSE(answers[0]);
  EXPECT_EQ(version(market::key_of(sample_pool_id(1))), 0);
  EXPECT_EQ(tables->meta()->last_event, 0);
}

TEST_F(GroupCommit, ARowThatIsMadeAnewNeverHasAnOldVersion) {
  ASSERT_TRUE(run({put_pool(0, 1)})[0]);
  Commit remove = put_pool(1, 2);
  remove.puts[0].record = {};
  const auto answers = run({remove, put_pool(1, 3), put_pool(0, 4)});
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
  EXPECT_TRUE(answers[2]);
  EXPECT_EQ(version(market::key_of(sample_pool_id(1))), 3);
}

TEST_F(GroupCommit, ReadingRowsWithoutWritingThemIsGuardedToo) {
  ASSERT_TRUE(run({put_pool(0, 1)})[0]);
  Commit reads = put_pool(1, 2);
  reads.puts.clear();
  EXPECT_TRUE(run({reads})[0]);
  EXPECT_EQ(version(market::key_of(sample_pool_id(1))), 1);  // read, not written
  reads.expectations[0].version = 2;
  EXPECT_FALSE(run({reads})[0]);
}

TEST_F(GroupCommit, TimeNeverGoesBack) {
  ASSERT_TRUE(run({put_pool(0, 9)})[0]);
  ASSERT_TRUE(run({put_pool(1, 2)})[0]);
  EXPECT_EQ(tables->meta()->at, k_sample_time + seconds(9));
}

TEST_F(GroupCommit, AFailingStatementFailsAllAndChangesNothing) {
  ASSERT_TRUE(run({put_pool(0, 1)})[0]);
  ASSERT_TRUE(connection->execute(
      "CREATE TRIGGER broken BEFORE INSERT ON event WHEN NEW.seq = 3 BEGIN SELECT "
      "RAISE(ABORT, 'the disk ate it'); END"));
  const auto answers = run({put_pool(1, 2), put_pool(1, 3), put_pool(2, 4)});
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, Code::unavailable);
  EXPECT_NE(answers[0].error().message().find("the disk ate it"), std::string::npos);
  EXPECT_EQ(answers[1].error().code, Code::conflict);
  EXPECT_EQ(answers[2].error().code, Code::unavailable);
  EXPECT_EQ(version(market::key_of(sample_pool_id(1))), 1);
  EXPECT_EQ(tables->meta()->last_event, 1);
  ASSERT_TRUE(connection->execute("DROP TRIGGER broken"));
  EXPECT_EQ(run({put_pool(1, 2)})[0]->first_event, 2);
}

using GroupCommitDeathTest = GroupCommit;

TEST_F(GroupCommitDeathTest, ARowThatWasNotExpectedIsNeverWritten) {
  Commit blind = put_pool(0, 1);
  blind.expectations.clear();
  EXPECT_DEATH(run({blind}), "not expected");
}

}  // namespace
}  // namespace spillway::store
