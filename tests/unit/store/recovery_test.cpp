#include "store/recovery.h"

#include <gtest/gtest.h>

#include "market/record_codec.h"
#include "store/group_commit.h"
#include "store/migrations.h"
#include "store/tables.h"
#include "support/sample_records.h"

namespace spillway::store {
namespace {

using namespace test;

const Instant k_now = k_sample_time + hours(1);

class Recovery : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::open(":memory:", {});
    ASSERT_TRUE(opened);
    connection = std::move(*opened);
    ASSERT_TRUE(migrate(*connection, migrations()));
    Tables tables(*connection);
    for (int n = 0; n < 5; ++n) {
      host::Commit commit;
      commit.at = k_sample_time;
      commit.expectations = {{market::key_of(sample_contract_id(n)), 0},
                             {market::key_of(sample_pool_id(n)), 0}};
      commit.puts = {{market::key_of(sample_contract_id(n)), shared(sample_contract(n))},
                     {market::key_of(sample_pool_id(n)), shared(sample_pool(n))}};
      commit.events = {sample_event(n)};
      const host::Commit* one = &commit;
      ASSERT_TRUE(commit_group(*connection, tables, {&one, 1})[0]);
    }
  }

  void execute(const std::string& sql) {
    const Status done = connection->execute(sql);
    ASSERT_TRUE(done) << done.error().message();
  }

  RecoveryReport recover_now() {
    auto report = recover(*connection, k_now);
    EXPECT_TRUE(report) << report.error().message();
    return std::move(*report);
  }

  std::unique_ptr<Connection> connection;
};

TEST_F(Recovery, AHealthyStoreIsLeftAlone) {
  const RecoveryReport report = recover_now();
  EXPECT_TRUE(report.is_clean()) << to_text(report);
  EXPECT_EQ(report.rows, 10);
  EXPECT_EQ(report.last_event, 5);
  EXPECT_TRUE(verify(*connection)->is_clean());
}

TEST_F(Recovery, ADamagedRowIsSetAsideAndItsKeyIsAnError) {
  const std::string id = sample_contract_id(2).text;
  execute(
      "UPDATE contract SET body = replace(body, '\"state\":\"hold\"', '\"state\":\"gone\"') "
      "WHERE id = '" +
      id + "'");
  const RecoveryReport report = recover_now();
  ASSERT_EQ(report.quarantined.size(), 1u);
  EXPECT_EQ(report.quarantined[0].key.id, id);
  EXPECT_EQ(report.quarantined[0].version, 3);
  EXPECT_NE(report.quarantined[0].reason.find("state"), std::string::npos);
  EXPECT_NE(to_text(report).find(id), std::string::npos);
  EXPECT_EQ(*connection->integer("SELECT count(*) FROM quarantine WHERE body LIKE '%gone%'"), 1);
  EXPECT_EQ(*connection->integer("SELECT count(*) FROM contract"), 4);

  Tables tables(*connection);
  const auto row = tables.read(market::key_of(sample_contract_id(2)), *tables.meta());
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code, Code::internal);
  EXPECT_NE(row.error().message().find("quarantined"), std::string::npos);
  EXPECT_EQ(tables.read(market::key_of(sample_contract_id(77)), *tables.meta())->version, 0);

  // It is not made anew in its place either.
  host::Commit commit;
  commit.expectations = {{market::key_of(sample_contract_id(2)), 0}};
  commit.puts = {{market::key_of(sample_contract_id(2)), shared(sample_contract(2))}};
  const host::Commit* one = &commit;
  const auto answer = commit_group(*connection, tables, {&one, 1})[0];
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::internal);

  const RecoveryReport again = recover_now();
  EXPECT_TRUE(again.quarantined.empty());
  EXPECT_EQ(again.quarantined_before, 1);
}

TEST_F(Recovery, EveryKindOfDamageHasAReason) {
  const auto id = [](int n) { return "'" + sample_contract_id(n).text + "'"; };
  execute("UPDATE contract SET version = 0 WHERE id = " + id(0));
  execute("UPDATE contract SET body = (SELECT body FROM contract WHERE id = " + id(4) +
          ") WHERE id = " + id(1));
  execute("UPDATE contract SET body = CAST(x'ff00fe' AS TEXT) WHERE id = " + id(2));
  execute("UPDATE pool SET body = '' WHERE id = 'edge-3/standard'");
  const RecoveryReport report = recover_now();
  ASSERT_EQ(report.quarantined.size(), 4u) << to_text(report);
  for (const Damaged& row : report.quarantined) EXPECT_FALSE(row.reason.empty());
}

TEST_F(Recovery, ColumnsThatAreDerivedAreMended) {
  execute("UPDATE contract SET grp = 'edge-9/other', due = 5 WHERE id = '" +
          sample_contract_id(3).text + "'");
  EXPECT_FALSE(verify(*connection)->is_clean());
  const RecoveryReport report = recover_now();
  ASSERT_EQ(report.reindexed.size(), 1u);
  EXPECT_TRUE(report.quarantined.empty());
  EXPECT_TRUE(recover_now().is_clean());
  EXPECT_TRUE(verify(*connection)->is_clean());
}

TEST_F(Recovery, MissingEventsAreNamed) {
  execute("DELETE FROM event WHERE seq IN (2, 3, 5)");
  const RecoveryReport report = recover_now();
  EXPECT_EQ(report.event_gaps, (std::vector<EventGap>{{2, 3}, {5, 5}}));
  EXPECT_EQ(verify(*connection)->event_gaps, report.event_gaps);
}

TEST_F(Recovery, DamagedEventsAreNamed) {
  execute("UPDATE event SET body = 'x' WHERE seq = 4");
  const RecoveryReport report = recover_now();
  ASSERT_EQ(report.damaged_events.size(), 1u);
  EXPECT_EQ(report.damaged_events[0].sequence, 4);
}

TEST_F(Recovery, CountersThatLagAreRaisedSoThatNoNumberIsGivenTwice) {
  execute("UPDATE meta SET last_commit = 2, last_event = 3");
  EXPECT_FALSE(verify(*connection)->is_clean());
  EXPECT_EQ(recover_now().reindexed.size(), 1u);
  Tables tables(*connection);
  EXPECT_EQ(tables.meta()->last_commit, 5);
  EXPECT_EQ(tables.meta()->last_event, 5);
  EXPECT_TRUE(recover_now().is_clean());
}

TEST_F(Recovery, DamageInHistoryIsFoundByVerifyOnly) {
  execute("UPDATE contract SET live = 0, body = 'x' WHERE id = '" + sample_contract_id(3).text +
          "'");
  EXPECT_TRUE(recover_now().is_clean());
  const auto found = verify(*connection);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->damaged.size(), 1u);
  EXPECT_EQ(found->damaged[0].key.id, sample_contract_id(3).text);
}

TEST_F(Recovery, AClockThatIsBehindIsTold) {
  auto report = recover(*connection, k_sample_time - minutes(5));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->clock_behind, minutes(5));
  EXPECT_NE(to_text(*report).find("5m"), std::string::npos) << to_text(*report);
}

}  // namespace
}  // namespace spillway::store
