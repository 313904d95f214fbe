#include "store/tables.h"

#include <gtest/gtest.h>

#include "store/migrations.h"
#include "support/sample_records.h"

namespace spillway::store {
namespace {

using namespace test;
using host::Scan;

class TablesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::open(":memory:", {});
    ASSERT_TRUE(opened);
    connection = std::move(*opened);
    ASSERT_TRUE(migrate(*connection, migrations()));
    tables = std::make_unique<Tables>(*connection);
  }

  void put(const model::Contract& contract, bool exists = false) {
    const Status done =
        tables->put(market::key_of(contract.id), exists, exists ? 2 : 1, shared(contract));
    ASSERT_TRUE(done) << done.error().message();
  }

  std::vector<std::string> ids(const Scan& scan) {
    auto rows = tables->scan(scan);
    if (!rows) return {rows.error().message()};
    std::vector<std::string> found;
    for (const host::Row& row : *rows) found.push_back(row.key.id);
    return found;
  }

  std::string plan(const std::string& sql) {
    auto statement = connection->prepare("EXPLAIN QUERY PLAN " + sql);
    EXPECT_TRUE(statement) << statement.error().message();
    auto run = statement->run();
    std::string text;
    while (*run.step()) text += std::string(run.text(3)) + "\n";
    return text;
  }

  std::unique_ptr<Connection> connection;
  std::unique_ptr<Tables> tables;
};

Scan by(Scan::By what, std::string name = {}) {
  Scan scan;
  scan.by = what;
  scan.name = std::move(name);
  return scan;
}

TEST_F(TablesTest, ScansFindLiveRowsByGroupOwnerAndAll) {
  for (int n = 0; n < 6; ++n) put(sample_contract(n, n % 2));
  model::Contract closed = sample_contract(2, 0);
  closed.state = model::ContractState::closed;
  closed.reason = model::EndReason::expired;
  for (model::Unit& unit : closed.units) {
    unit.live = false;
    unit.ended = k_sample_time;
  }
  put(closed, true);

  const auto id = [](int n) { return sample_contract_id(n).text; };
  EXPECT_EQ(ids(by(Scan::By::group, sample_pool_id(0).text)),
            (std::vector<std::string>{id(0), id(4)}));
  EXPECT_EQ(ids(by(Scan::By::owner, sample_cluster(1003).text)), std::vector<std::string>{id(3)});
  EXPECT_EQ(ids(by(Scan::By::all)), (std::vector<std::string>{id(0), id(1), id(3), id(4), id(5)}));
  Scan page = by(Scan::By::all);
  page.after = id(1);
  page.limit = 2;
  EXPECT_EQ(ids(page), (std::vector<std::string>{id(3), id(4)}));
  page.limit = 0;
  EXPECT_TRUE(ids(page).empty());
  Scan group = by(Scan::By::group, sample_pool_id(1).text);
  group.after = id(1);
  group.limit = 1;
  EXPECT_EQ(ids(group), std::vector<std::string>{id(3)});
  Scan owner = by(Scan::By::owner, sample_cluster(1003).text);
  owner.after = id(3);
  EXPECT_TRUE(ids(owner).empty());
  // The row itself is still there.
  EXPECT_EQ(tables->read(market::key_of(closed.id), {})->version, 2);
}

// From all its pools together, in order of id, whatever order the pools are in.
TEST_F(TablesTest, AProvidersContractsAreFoundByItsName) {
  const auto sell = [&](int n, int provider, const char* pool) {
    model::Contract contract = sample_contract(n, provider);
    contract.pool = PoolId(sample_cluster(provider).text + pool);
    put(contract);
  };
  sell(1, 1, "/zebra");
  sell(2, 1, "/ape");
  sell(3, 10, "/ape");  // edge-10 begins as edge-1 does
  sell(4, 1, "/zebra");
  sell(5, 1, "/ape");
  const auto id = [](int n) { return sample_contract_id(n).text; };
  Scan sold = by(Scan::By::provider, sample_cluster(1).text);
  EXPECT_EQ(ids(sold), (std::vector<std::string>{id(1), id(2), id(4), id(5)}));
  sold.after = id(1);
  sold.limit = 2;
  EXPECT_EQ(ids(sold), (std::vector<std::string>{id(2), id(4)}));
  EXPECT_EQ(ids(by(Scan::By::provider, sample_cluster(10).text)), std::vector<std::string>{id(3)});
  EXPECT_TRUE(ids(by(Scan::By::provider, "edge")).empty());
}

model::Contract ended_contract(int n, int pool, Duration after) {
  model::Contract contract = sample_contract(n, pool);
  contract.state = model::ContractState::closed;
  contract.reason = model::EndReason::released;
  contract.started = k_sample_time;
  contract.deadline = k_sample_time + after;
  for (model::Unit& unit : contract.units) {
    unit.live = false;
    unit.ended = contract.deadline;
  }
  return contract;
}

// In order of their end, which is not that of their ids; two have the same.
TEST_F(TablesTest, WhatHasEndedIsFoundByItsPartiesInPages) {
  put(ended_contract(1, 1, seconds(50)));
  put(ended_contract(8, 1, seconds(20)));
  put(ended_contract(15, 2, seconds(20)));
  put(ended_contract(22, 1, seconds(10)));
  put(ended_contract(2, 1, seconds(20)));  // another buyer's
  put(sample_contract(29, 1));             // live
  model::Contract never_ran = ended_contract(36, 1, seconds(30));
  never_ran.started.reset();
  put(never_ran);
  const auto id = [](int n) { return sample_contract_id(n).text; };
  Scan bought = by(Scan::By::bought, sample_cluster(1001).text);
  EXPECT_EQ(ids(bought), (std::vector<std::string>{id(22), id(8), id(15), id(1)}));
  bought.ended_from = k_sample_time + seconds(20);
  EXPECT_EQ(ids(bought), (std::vector<std::string>{id(8), id(15), id(1)}));
  bought.limit = 1;
  bought.after = id(8);
  EXPECT_EQ(ids(bought), (std::vector<std::string>{id(15)}));
  Scan sold = by(Scan::By::sold, sample_cluster(1).text);
  EXPECT_EQ(ids(sold), (std::vector<std::string>{id(22), id(2), id(8), id(1)}));
  for (const std::string party : {"owner", "substr(grp, 1, instr(grp, '/') - 1)"}) {
    const std::string text =
        plan("SELECT id, version, body FROM contract WHERE live = 0 AND " + party +
             " = ?1 AND due IS NOT NULL AND (due, id) > (?4, ?3) ORDER BY due, id LIMIT ?2");
    EXPECT_NE(text.find(party == "owner" ? "contract_bought" : "contract_sold"), std::string::npos)
        << text;
    EXPECT_EQ(text.find("TEMP B-TREE"), std::string::npos) << text;
  }
}

TEST_F(TablesTest, DueRowsComeFirstDueFirst) {
  for (int n = 0; n < 5; ++n) {
    model::Contract contract = sample_contract(n);
    contract.deadline = k_sample_time + seconds(100 - 10 * n);
    put(contract);
  }
  Scan due = by(Scan::By::due);
  due.due_until = k_sample_time + seconds(80);
  const auto id = [](int n) { return sample_contract_id(n).text; };
  EXPECT_EQ(ids(due), (std::vector<std::string>{id(4), id(3), id(2)}));
  due.limit = 1;
  EXPECT_EQ(ids(due), std::vector<std::string>{id(4)});
  due.kind = market::Kind::pool;
  EXPECT_TRUE(ids(due).empty());
}

TEST_F(TablesTest, AMovedDeadlineMovesInTheIndex) {
  model::Contract contract = sample_contract(1);
  put(contract);
  contract.deadline = k_sample_time + hours(2);
  put(contract, true);
  Scan due = by(Scan::By::due);
  due.due_until = k_sample_time + hours(1);
  EXPECT_TRUE(ids(due).empty());
  due.due_until = k_sample_time + hours(2);
  EXPECT_EQ(ids(due).size(), 1u);
}

// History must cost nothing to those who look for what is live: scans walk indexes of live rows.
TEST_F(TablesTest, ScansOfContractsUseTheIndexesOfLiveRows) {
  const std::string select = "SELECT id, version, body FROM contract WHERE live = 1 AND ";
  const std::string group = plan(select + "grp = ?1 AND id > ?3 ORDER BY id LIMIT ?2");
  EXPECT_NE(group.find("contract_grp (grp=? AND id>?)"), std::string::npos) << group;
  EXPECT_EQ(group.find("TEMP B-TREE"), std::string::npos) << group;
  const std::string owner = plan(select + "owner = ?1 AND id > ?3 ORDER BY id LIMIT ?2");
  EXPECT_NE(owner.find("contract_owner (owner=? AND id>?)"), std::string::npos) << owner;
  const std::string sold =
      plan(select + std::string(k_provider_of_group) + " = ?1 AND id > ?3 ORDER BY id LIMIT ?2");
  EXPECT_NE(sold.find("contract_provider (<expr>=? AND id>?)"), std::string::npos) << sold;
  EXPECT_EQ(sold.find("TEMP B-TREE"), std::string::npos) << sold;
  const std::string due = plan(select + "due <= ?1 ORDER BY due, id LIMIT ?2");
  EXPECT_NE(due.find("contract_due"), std::string::npos) << due;
  EXPECT_EQ(due.find("TEMP B-TREE"), std::string::npos) << due;
  const std::string all = plan(select + "id > ?1 ORDER BY id LIMIT ?2");
  EXPECT_NE(all.find("contract_live"), std::string::npos) << all;
  const std::string start = plan("SELECT id, version, body, live FROM contract WHERE live = 1");
  EXPECT_NE(start.find("INDEX contract_"), std::string::npos) << start;
  const std::string pools =
      plan("SELECT id FROM pool WHERE live = 1 AND due <= ?1 ORDER BY due, id LIMIT ?2");
  EXPECT_NE(pools.find("pool_due"), std::string::npos) << pools;
}

TEST_F(TablesTest, ADamagedRowIsAnErrorThatNamesIt) {
  put(sample_contract(1));
  ASSERT_TRUE(connection->execute("UPDATE contract SET body = '{\"version\":1}'"));
  const auto row = tables->read(market::key_of(sample_contract_id(1)), {});
  ASSERT_FALSE(row);
  EXPECT_NE(row.error().message().find(sample_contract_id(1).text), std::string::npos);
}

class DamagedRows : public TablesTest {
 protected:
  void SetUp() override {
    TablesTest::SetUp();
    for (int n = 0; n < 5; ++n) put(sample_contract(n));
    for (int n = 0; n < 3; ++n) {
      ASSERT_TRUE(
          connection->execute("UPDATE contract SET body = substr(body, 1, 50) WHERE id = '" +
                              sample_contract_id(n).text + "'"));
    }
  }

  const std::vector<std::string> good{sample_contract_id(3).text, sample_contract_id(4).text};
};

TEST_F(DamagedRows, DoNotKeepOthersFromBeingDueOrListed) {
  Scan due = by(Scan::By::due);
  due.due_until = k_sample_time + hours(1);
  EXPECT_EQ(ids(due), good);
  EXPECT_EQ(ids(by(Scan::By::all)), good);
}

// Else as many damaged rows as the limit would hide all that come after them for ever, and a page
// that is not full would seem the last.
TEST_F(DamagedRows, DoNotCountTowardsTheLimit) {
  Scan due = by(Scan::By::due);
  due.due_until = k_sample_time + hours(1);
  due.limit = 2;
  EXPECT_EQ(ids(due), good);
  Scan all = by(Scan::By::all);
  all.limit = 1;
  EXPECT_EQ(ids(all), std::vector<std::string>{good[0]});
  all.after = good[0];
  EXPECT_EQ(ids(all), std::vector<std::string>{good[1]});
  all.limit = 0;
  EXPECT_TRUE(ids(all).empty());
  all.limit = -1;
  EXPECT_TRUE(ids(all).empty());
}

TEST_F(DamagedRows, AreAnErrorWhereAllRowsMatter) {
  EXPECT_FALSE(tables->scan(by(Scan::By::group, sample_pool_id(1).text)));
  EXPECT_FALSE(tables->scan(by(Scan::By::provider, sample_cluster(1).text)));
  EXPECT_FALSE(tables->scan(by(Scan::By::owner, sample_contract(1).buyer.text)));
  EXPECT_TRUE(tables->scan(by(Scan::By::owner, sample_contract(4).buyer.text)));
}

TEST_F(TablesTest, AnotherRowsTextIsNotBelieved) {
  put(sample_contract(1));
  put(sample_contract(2));
  ASSERT_TRUE(connection->execute(
      "UPDATE contract SET body = (SELECT body FROM contract ORDER BY id DESC LIMIT 1)"));
  const auto row = tables->read(market::key_of(sample_contract_id(1)), {});
  ASSERT_FALSE(row);
  EXPECT_NE(row.error().message().find("its text is that of contract"), std::string::npos);
}

TEST_F(TablesTest, AProvidersPoolsAndOffersAreFoundByItsName) {
  for (int n = 1; n <= 2; ++n) {
    ASSERT_TRUE(tables->put(market::key_of(sample_pool_id(n)), false, 1, shared(sample_pool(n))));
    ASSERT_TRUE(tables->put(market::key_of(sample_offer_id(n)), false, 1, shared(sample_offer(n))));
  }
  Scan scan = by(Scan::By::owner, sample_cluster(2).text);
  scan.kind = market::Kind::pool;
  EXPECT_EQ(ids(scan), std::vector<std::string>{sample_pool_id(2).text});
  scan.kind = market::Kind::offer;
  EXPECT_EQ(ids(scan), std::vector<std::string>{sample_offer_id(2).text});
}

TEST_F(TablesTest, OldEventsAreForgottenFromTheBeginning) {
  Meta meta = *tables->meta();
  for (int n = 1; n <= 6; ++n) {
    market::Event event = sample_event(n);
    event.sequence = meta.last_event = n;
    event.at = k_sample_time + seconds(n);
    ASSERT_TRUE(tables->append(event));
  }
  ASSERT_TRUE(tables->set_meta(meta));
  // Two at most, though four are old enough; then what is left of them.
  ASSERT_TRUE(tables->forget_events(k_sample_time + seconds(5), 2, meta));
  EXPECT_EQ(meta.first_event, 3);
  ASSERT_TRUE(tables->forget_events(k_sample_time + seconds(5), 100, meta));
  EXPECT_EQ(meta.first_event, 5);
  ASSERT_TRUE(tables->forget_events(k_sample_time + seconds(5), 100, meta));
  EXPECT_EQ(meta.first_event, 5);
  ASSERT_TRUE(tables->set_meta(meta));
  EXPECT_EQ(tables->meta()->first_event, 5);

  EXPECT_EQ(tables->events_after(4, 10)->size(), 2u);
  const auto gone = tables->events_after(3, 10);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::gone);
  EXPECT_NE(gone.error().reason.find("begins at 5"), std::string::npos) << gone.error().reason;

  ASSERT_TRUE(tables->forget_events(k_sample_time + hours(1), 100, meta));
  EXPECT_EQ(meta.first_event, 7);  // none is left
}

}  // namespace
}  // namespace spillway::store
