#include "store/migrations.h"

#include <gtest/gtest.h>

#include "market/record_codec.h"
#include "store/recovery.h"
#include "store/tables.h"
#include "support/sample_records.h"
#include "support/temporary_folder.h"

namespace spillway::store {
namespace {

std::unique_ptr<Connection> open_connection(const std::string& path) {
  auto connection = Connection::open(path, {});
  EXPECT_TRUE(connection) << connection.error().message();
  return std::move(*connection);
}

const std::vector<Migration> k_steps = {
    {"notes",
     "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO note VALUES "
     "(1, 'kept');"},
    {"colours", "ALTER TABLE note ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"},
    {"authors", "ALTER TABLE note ADD COLUMN author TEXT NOT NULL DEFAULT 'us';"},
};

TEST(Migrations, AnOlderFileGetsTheMissingStepsAndKeepsItsRows) {
  const test::TemporaryFolder folder;
  {
    auto old = open_connection(folder / "a.db");
    ASSERT_TRUE(migrate(*old, std::span(k_steps).first(1)));
    EXPECT_EQ(*old->integer("PRAGMA user_version"), 1);
  }
  auto now = open_connection(folder / "a.db");
  ASSERT_TRUE(check_is_ours(*now));
  ASSERT_TRUE(migrate(*now, k_steps));
  EXPECT_EQ(*now->integer("PRAGMA user_version"), 3);
  EXPECT_EQ(*now->text("SELECT body || ' ' || colour || ' ' || author FROM note"), "kept red us");
  ASSERT_TRUE(migrate(*now, k_steps));  // nothing left to do
}

TEST(Migrations, ANewerFileIsRefusedUntouched) {
  const test::TemporaryFolder folder;
  auto connection = open_connection(folder / "a.db");
  ASSERT_TRUE(migrate(*connection, k_steps));
  const Status refused = migrate(*connection, std::span(k_steps).first(2));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("version 3"), std::string::npos);
  EXPECT_NE(refused.error().message().find("up to 2"), std::string::npos);
  EXPECT_EQ(*connection->integer("PRAGMA user_version"), 3);
}

TEST(Migrations, AStepThatFailsLeavesTheVersionBefore) {
  const test::TemporaryFolder folder;
  auto connection = open_connection(folder / "a.db");
  std::vector<Migration> steps = k_steps;
  steps[1].sql = "CREATE TABLE half (id INTEGER); CREATE TABLE note (id INTEGER);";
  const Status failed = migrate(*connection, steps);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("migration 2 (colours)"), std::string::npos)
      << failed.error().message();
  EXPECT_EQ(*connection->integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*connection->integer("SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
  EXPECT_TRUE(migrate(*connection, k_steps));
}

TEST(Migrations, AForeignFileIsRefused) {
  const test::TemporaryFolder folder;
  auto foreign = open_connection(folder / "foreign.db");
  ASSERT_TRUE(foreign->execute("CREATE TABLE cookies (id INTEGER)"));
  EXPECT_FALSE(check_is_ours(*foreign));
  auto marked = open_connection(folder / "marked.db");
  ASSERT_TRUE(marked->execute("PRAGMA application_id = 42"));
  const Status refused = check_is_ours(*marked);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("0x2a"), std::string::npos);
  EXPECT_TRUE(check_is_ours(*open_connection(folder / "fresh.db")));
}

// What the first release wrote must be readable for ever: this is its schema, word for word.
TEST(Migrations, TheFirstSchemaHasNotChanged) {
  const test::TemporaryFolder folder;
  auto connection = open_connection(folder / "a.db");
  ASSERT_TRUE(migrate(*connection, migrations().first(1)));
  EXPECT_EQ(*connection->text("SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema "
                              "WHERE name NOT LIKE 'sqlite%' ORDER BY name)"),
            "account contract contract_due contract_grp contract_live contract_owner epoch event "
            "heart meta offer offer_grp pool pool_due quarantine request request_due");
  EXPECT_EQ(*connection->text("SELECT sql FROM sqlite_schema WHERE name = 'contract'"),
            "CREATE TABLE contract (id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, live "
            "INTEGER NOT NULL, grp TEXT NOT NULL, owner TEXT NOT NULL, due INTEGER, body TEXT NOT "
            "NULL) STRICT");
}

// A store of the first release: pools and offers had no owner, the log began at 1.
TEST(Migrations, TheSecondStepKnowsTheOwnersOfWhatIsThere) {
  const test::TemporaryFolder folder;
  auto connection = open_connection(folder / "a.db");
  ASSERT_TRUE(migrate(*connection, migrations().first(1)));
  const auto pool = test::shared(test::sample_pool(3));
  const auto offer = test::shared(test::sample_offer(3));
  ASSERT_TRUE(connection->execute(
      fmt::format("INSERT INTO pool VALUES ('{}', 1, 1, '', '', NULL, '{}'); "
                  "INSERT INTO offer VALUES ('{}', 1, 1, '{}', '', NULL, '{}'); "
                  "UPDATE meta SET last_commit = 1",
                  test::sample_pool_id(3).text, market::encode(pool), test::sample_offer_id(3).text,
                  test::sample_pool_id(3).text, market::encode(offer))));
  ASSERT_TRUE(migrate(*connection, migrations()));
  EXPECT_EQ(*connection->text("SELECT owner FROM pool"), "edge-3");
  EXPECT_EQ(*connection->integer("SELECT first_event FROM meta"), 1);
  const auto report = recover(*connection, test::k_sample_time);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->is_clean()) << to_text(*report);
  EXPECT_EQ(report->rows, 2);
}

// A store of the second step, with a contract that lives and one that has ended.
TEST(Migrations, TheThirdStepFindsTheContractsThatAreThereByTheirProvider) {
  const test::TemporaryFolder folder;
  auto connection = open_connection(folder / "a.db");
  ASSERT_TRUE(migrate(*connection, migrations().first(2)));
  const model::Contract contract = test::sample_contract(1, 3);
  ASSERT_TRUE(connection->execute(
      fmt::format("INSERT INTO contract VALUES ('{}', 1, 1, '{}', '{}', {}, '{}'); "
                  "INSERT INTO contract VALUES ('{}', 1, 0, '', '', NULL, '{{}}'); "
                  "UPDATE meta SET last_commit = 1",
                  contract.id.text, contract.pool.text, contract.buyer.text, contract.deadline.ms,
                  market::encode(test::shared(contract)), test::sample_contract_id(2).text)));
  ASSERT_TRUE(migrate(*connection, migrations()));
  EXPECT_EQ(*connection->text("SELECT sql FROM sqlite_schema WHERE name = 'contract_provider'"),
            "CREATE INDEX contract_provider ON contract (substr(grp, 1, instr(grp, '/') - 1), id) "
            "WHERE live = 1");
  Tables tables(*connection);
  host::Scan sold;
  sold.by = host::Scan::By::provider;
  sold.name = "edge-3";
  const auto rows = tables.scan(sold);
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0].key.id, contract.id.text);
  const auto report = recover(*connection, test::k_sample_time);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->is_clean()) << to_text(*report);
}

// A store of the fourth step: of what has ended, nothing but the body says whose it was.
TEST(Migrations, TheFifthStepFindsTheContractsThatHaveEnded) {
  const test::TemporaryFolder folder;
  auto connection = open_connection(folder / "a.db");
  ASSERT_TRUE(migrate(*connection, migrations().first(4)));
  const auto add = [&](int n, Duration after, bool ran) {
    model::Contract contract = test::sample_contract(n, 3);
    contract.state = model::ContractState::closed;
    contract.reason = ran ? model::EndReason::released : model::EndReason::expired;
    if (ran) contract.started = test::k_sample_time;
    contract.deadline = test::k_sample_time + after;
    for (model::Unit& unit : contract.units) {
      unit.live = false;
      unit.ended = contract.deadline;
    }
    ASSERT_TRUE(connection->execute(
        fmt::format("INSERT INTO contract VALUES ('{}', 1, 0, '', '', NULL, '{}')",
                    contract.id.text, market::encode(test::shared(contract)))));
  };
  add(1, milliseconds(61'007), true);
  add(2, seconds(60), true);
  add(3, seconds(60), false);
  ASSERT_TRUE(
      connection->execute("INSERT INTO contract VALUES ('damaged', 1, 0, '', '', NULL, '{oops'); "
                          "UPDATE meta SET last_commit = 1"));
  ASSERT_TRUE(migrate(*connection, migrations()));
  Tables tables(*connection);
  host::Scan sold;
  sold.by = host::Scan::By::sold;
  sold.name = "edge-3";
  const auto rows = tables.scan(sold);
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].key.id, test::sample_contract_id(2).text);
  EXPECT_EQ((*rows)[1].key.id, test::sample_contract_id(1).text);
  // The columns are what the rows say: nothing has to be indexed anew.
  ASSERT_TRUE(connection->execute("DELETE FROM contract WHERE id = 'damaged'"));
  const auto report = verify(*connection);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->is_clean()) << report->damaged.size() << " rows are damaged";
}

}  // namespace
}  // namespace spillway::store
