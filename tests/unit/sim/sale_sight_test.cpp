#include "sim/sale_sight.h"

#include <gtest/gtest.h>

namespace spillway::sim {
namespace {

using market::EventKind;
using market::PoolRecord;

// A pool that had one pod to sell before the commit, and has two after it.
class SaleSightTest : public testing::Test {
 protected:
  const PoolId pool_{"p/pool"};
  const market::Key key_ = market::key_of(pool_);
  Rows rows_;
  host::Commit commit_;
  Undo undo_;

  market::Record with_pods(int64_t pods) const {
    PoolRecord record;
    record.pool.id = pool_;
    record.pool.capacity.pods = pods;
    return std::make_shared<const PoolRecord>(record);
  }
  void SetUp() override {
    host::Commit first;
    first.puts.push_back({key_, with_pods(1)});
    rows_.apply(first);
    commit_.puts.push_back({key_, with_pods(2)});
    undo_ = rows_.apply(commit_);
  }
  void tell(EventKind kind, const std::string& subject) {
    market::Event event;
    event.kind = kind;
    event.subject = subject;
    event.pool = pool_;
    commit_.events.push_back(event);
  }
  int64_t met(const std::string& contract = {}) const {
    const auto* pool = SaleSight(rows_, commit_, undo_).met<PoolRecord>(key_, pool_, contract);
    return pool == nullptr ? 0 : pool->pool.capacity.pods;
  }
};

TEST_F(SaleSightTest, ASaleGoesByWhatWasPublishedBeforeIt) {
  tell(EventKind::pool_published, pool_.text);
  tell(EventKind::contract_held, "a");
  EXPECT_EQ(met(), 2);
}

TEST_F(SaleSightTest, WhatIsPublishedAfterASaleDoesNotCountForIt) {
  tell(EventKind::contract_held, "a");
  tell(EventKind::pool_published, pool_.text);
  EXPECT_EQ(met(), 1);
  tell(EventKind::units_bought, "b");
  EXPECT_EQ(met(), 2) << "the last sale";
  EXPECT_EQ(met("a"), 1);
}

TEST_F(SaleSightTest, OfWhatWasBetweenTwoPublicationsNobodyKnows) {
  tell(EventKind::pool_published, pool_.text);
  tell(EventKind::contract_held, "a");
  tell(EventKind::pool_published, pool_.text);
  EXPECT_EQ(met(), 0);
}

}  // namespace
}  // namespace spillway::sim
