#include "sim/rows.h"

#include <gtest/gtest.h>

#include "market/record_codec.h"
#include "support/sample_records.h"

namespace spillway::sim {
namespace {

using namespace test;
using host::Scan;
using market::Kind;

// Rows and every index, as text.
std::string picture(const Rows& rows) {
  std::map<market::Key, std::string> sorted;
  for (const auto& [key, row] : rows.all()) {
    sorted[key] = fmt::format("{} {}", row.version, market::encode(row.record));
  }
  std::string text;
  for (const auto& [key, row] : sorted) text += key.id + " " + row + "\n";
  for (int kind = 0; kind < market::k_kinds; ++kind) {
    for (const auto by : {Scan::By::all, Scan::By::due, Scan::By::group, Scan::By::owner,
                          Scan::By::provider, Scan::By::bought, Scan::By::sold}) {
      for (const std::string& name :
           {sample_pool_id(1).text, sample_pool_id(2).text, sample_cluster(1001).text,
            sample_cluster(1002).text, sample_cluster(1).text, sample_cluster(2).text}) {
        Scan scan;
        scan.kind = static_cast<Kind>(kind);
        scan.by = by;
        scan.name = name;
        scan.due_until = k_sample_time + hours(48);
        for (const host::Row& row : rows.scan(scan)) text += " " + row.key.id;
        text += ";";
      }
    }
  }
  return text + fmt::format("\n{} events", rows.events().size());
}

host::Commit commit_of(std::vector<host::Put> puts, int events = 1) {
  host::Commit commit;
  commit.puts = std::move(puts);
  for (int i = 0; i < events; ++i) commit.events.push_back(sample_event(i));
  return commit;
}

host::Put contract(int n, int pool, bool live = true) {
  model::Contract contract = sample_contract(n, pool);
  if (!live) {
    contract.state = model::ContractState::closed;
    contract.reason = model::EndReason::released;
    contract.started = k_sample_time;
  }
  return {market::key_of(contract.id), shared(contract)};
}

TEST(Rows, TakingBackRestoresEverything) {
  Rows rows;
  rows.apply(
      commit_of({{market::key_of(sample_pool_id(1)), shared(sample_pool(1))},
                 contract(1, 1),
                 {market::request_key(sample_cluster(1001), "k"), shared(sample_request(1))}}));
  const std::string before = picture(rows);
  const Undo first =
      rows.apply(commit_of({contract(1, 1, false),
                            contract(2, 2),
                            {market::request_key(sample_cluster(1001), "k"), {}},
                            {market::key_of(sample_pool_id(1)), shared(sample_pool(1, 2))}},
                           3));
  const std::string between = picture(rows);
  const Undo second = rows.apply(
      commit_of({contract(2, 2, false),
                 contract(3, 1),
                 {market::request_key(sample_cluster(1001), "k"), shared(sample_request(2))}},
                2));
  EXPECT_NE(picture(rows), between);
  rows.take_back(second);
  EXPECT_EQ(picture(rows), between);
  rows.take_back(first);
  EXPECT_EQ(picture(rows), before);
}

TEST(Rows, NoVersionIsUsedTwiceAlsoAfterTakingBack) {
  Rows rows;
  const market::Key key = market::key_of(sample_pool_id(1));
  const Undo undo = rows.apply(commit_of({{key, shared(sample_pool(1))}}));
  const int64_t lost = rows.find(key)->version;
  rows.take_back(undo);
  EXPECT_TRUE(rows.holds({{key, 0}}));
  rows.apply(commit_of({{key, shared(sample_pool(1))}}));
  EXPECT_GT(rows.find(key)->version, lost);
  EXPECT_FALSE(rows.holds({{key, lost}}));
}

TEST(Rows, ScansFindTheLiveAndTheDueInOrder) {
  Rows rows;
  rows.apply(commit_of({contract(3, 1), contract(1, 1), contract(2, 2), contract(4, 1, false)}));
  const auto ids = [&](const Scan& scan) {
    std::vector<std::string> found;
    for (const host::Row& row : rows.scan(scan)) found.push_back(row.key.id);
    return found;
  };
  Scan scan;
  scan.kind = Kind::contract;
  scan.by = Scan::By::group;
  scan.name = sample_pool_id(1).text;
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(1).text, sample_contract_id(3).text}));
  scan.by = Scan::By::provider;
  scan.name = sample_cluster(1).text;
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(1).text, sample_contract_id(3).text}));
  scan.by = Scan::By::due;
  scan.due_until = k_sample_time + seconds(62);
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(1).text, sample_contract_id(2).text}));
  scan.limit = 1;
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(1).text}));
  scan.by = Scan::By::all;
  scan.after = sample_contract_id(1).text;
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(2).text}));
}

TEST(Rows, WhatHasEndedIsFoundByItsPartiesInOrderOfItsEnd) {
  Rows rows;
  rows.apply(commit_of(
      {contract(8, 1, false), contract(1, 1, false), contract(2, 1), contract(3, 2, false)}));
  const auto ids = [&](const Scan& scan) {
    std::vector<std::string> found;
    for (const host::Row& row : rows.scan(scan)) found.push_back(row.key.id);
    return found;
  };
  Scan scan;
  scan.by = Scan::By::bought;
  scan.name = sample_cluster(1001).text;  // the buyer of 1 and 8
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(1).text, sample_contract_id(8).text}));
  scan.ended_from = sample_contract(1).deadline;
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(1).text, sample_contract_id(8).text}));
  scan.after = sample_contract_id(1).text;
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(8).text}));
  scan = {};
  scan.by = Scan::By::sold;
  scan.name = sample_cluster(2).text;
  EXPECT_EQ(ids(scan), (std::vector{sample_contract_id(3).text}));
}

}  // namespace
}  // namespace spillway::sim
