#include "host/batch.h"

#include <gtest/gtest.h>

#include "support/flaky_store.h"
#include "support/manual_loop.h"
#include "support/test_book.h"

namespace spillway::host {
namespace {

using namespace test;
using market::Hold;

// A market with two units on sale, and batches that are decided on it but not committed.
class BatchOf : public testing::Test {
 protected:
  void SetUp() override {
    book.open_market(2);
    for (const auto& [key, stored] : book.rows().all()) {
      store.rows().commit({{key, stored.record}}, {});
    }
  }

  Hold hold(const ClusterId& buyer, int32_t units) {
    return book.hold_of(buyer, {{minute_offer().id, units, units}});
  }
  void add(market::Command command) {
    const size_t at = answers.size();
    answers.emplace_back();
    orders.push_back({std::move(command), [this, at](Result<market::Answer> answer) {
                        answers[at].push_back(std::move(answer));
                      }});
  }
  Batch decided() {
    Batch batch(std::move(orders), book.rules);
    for (rounds = 0;; ++rounds) {
      const Load wants = batch.wants();
      if (wants.keys.empty() && wants.scans.empty()) break;
      batch.take(wants, store.read(wants));
    }
    return batch;
  }
  static const market::Record* put_of(const Commit& commit, const market::Key& key) {
    for (const Put& put : commit.puts) {
      if (put.key == key) return &put.record;
    }
    return nullptr;
  }
  static bool expects(const Commit& commit, const market::Key& key) {
    return std::any_of(commit.expectations.begin(), commit.expectations.end(),
                       [&](const Expectation& one) { return one.key == key; });
  }

  TestBook book;
  ManualLoop loop;
  FlakyStore store{loop};
  std::vector<Order> orders;
  std::vector<std::vector<Result<market::Answer>>> answers;  // to each order, all that came
  int rounds = 0;
};

TEST_F(BatchOf, ManyCommandsIsOneCommitThatWritesEachRowOnce) {
  add(hold(k_buyer, 1));
  add(hold(k_rival, 1));
  Batch batch = decided();
  const Commit commit = batch.commit();
  ASSERT_TRUE(store.write(commit));
  EXPECT_EQ(store.rows().get<market::PoolRecord>(market::key_of(pool_of(1).id))->committed,
            test::plain_shape().times(2));
  EXPECT_EQ(commit.puts.size(), 7u) << "a pool; and a contract, a request, an account of each";
  EXPECT_EQ(commit.events.size(), 2u);
  EXPECT_TRUE(std::is_sorted(commit.puts.begin(), commit.puts.end(),
                             [](const Put& a, const Put& b) { return a.key < b.key; }));
}

TEST_F(BatchOf, CommandsSeeWhatThoseBeforeThemTook) {
  add(hold(k_buyer, 2));
  add(hold(k_rival, 1));
  Batch batch = decided();
  batch.reply_all();
  EXPECT_TRUE(answers[0].at(0));
  EXPECT_TRUE(is_refused(answers[1].at(0), Code::taken));
}

TEST_F(BatchOf, PublicationsGoBeforeHoldsWhateverCameFirst) {
  add(hold(k_buyer, 2));
  add(market::PublishPool{k_seller, pool_of(1), 2, minutes(1), {}});
  Batch batch = decided();
  batch.reply_all();
  EXPECT_TRUE(is_refused(answers[0].at(0), Code::taken));
  EXPECT_TRUE(answers[1].at(0));
}

TEST_F(BatchOf, WhatIsGivenBackIsSoldInTheSameCommit) {
  const ContractId old = book.active(k_buyer, 2);
  for (const auto& [key, stored] : book.rows().all()) {
    store.rows().commit({{key, stored.record}}, {});
  }
  add(hold(k_rival, 2));
  add(market::Release{k_buyer, old, {}});
  Batch batch = decided();
  batch.reply_all();
  EXPECT_TRUE(answers[0].at(0));
  EXPECT_TRUE(answers[1].at(0));
}

TEST_F(BatchOf, OtherCommandsKeepTheirOrder) {
  add(market::PublishPool{k_seller, pool_of(5), 3, minutes(1), {}});
  add(market::PublishPool{k_seller, pool_of(4), 2, minutes(1), {}});
  Batch batch = decided();
  batch.reply_all();
  EXPECT_TRUE(answers[0].at(0));
  EXPECT_TRUE(is_refused(answers[1].at(0), Code::stale));
}

TEST_F(BatchOf, RefusedCommandsLeaveNoTrace) {
  add(hold(k_buyer, 3));
  add(hold(ClusterId("stranger"), 1));
  add(market::Look{k_rival, book.fresh_id()});
  const Batch nothing = decided();
  EXPECT_TRUE(nothing.changes_nothing());

  add(hold(k_rival, 3));
  add(hold(k_buyer, 1));
  const Commit commit = decided().commit();
  EXPECT_EQ(put_of(commit, market::account_key(k_rival)), nullptr);
  EXPECT_NE(put_of(commit, market::account_key(k_buyer)), nullptr);
  EXPECT_TRUE(expects(commit, market::account_key(k_rival))) << "the refusal rests on it";
}

TEST_F(BatchOf, RetriesOfOneHoldSellOnce) {
  Hold one = hold(k_buyer, 1);
  Hold again = one;
  again.fresh = {book.fresh_id()};
  add(one);
  add(again);
  Batch batch = decided();
  EXPECT_EQ(batch.commit().events.size(), 1u);
  batch.reply_all();
  EXPECT_EQ(answers[0].at(0)->grants, answers[1].at(0)->grants);
}

TEST_F(BatchOf, AnythingExpectsEveryRowThatItReadAlsoTheAbsent) {
  const Hold one = hold(k_buyer, 1);
  add(one);
  const Commit commit = decided().commit();
  for (const market::Key& key :
       {market::epoch_key(), market::account_key(k_buyer), market::key_of(pool_of(1).id),
        market::key_of(minute_offer().id), market::key_of(one.fresh[0]),
        market::request_key(k_buyer, one.key)}) {
    EXPECT_TRUE(expects(commit, key)) << to_text(key.kind) << " " << key.id;
  }
}

TEST_F(BatchOf, StaleReadsConflictAtTheCommit) {
  add(hold(k_buyer, 2));
  const Commit first = decided().commit();
  add(hold(k_rival, 2));
  const Commit second = decided().commit();
  ASSERT_TRUE(store.write(first));
  EXPECT_TRUE(is_refused(store.write(second), Code::conflict));
}

TEST_F(BatchOf, OneHoldLoadsTwice) {
  add(hold(k_buyer, 1));
  decided();
  EXPECT_EQ(rounds, 2) << "what it names, then the pool that its offer names";
}

TEST_F(BatchOf, AnythingIsAnsweredOnceHoweverOftenItIsSaid) {
  add(hold(k_buyer, 1));
  Batch batch = decided();
  batch.reply_all();
  batch.reply_all();
  batch.fail_all(Error{Code::unavailable, "store", "gone", "wait"});
  EXPECT_EQ(answers[0].size(), 1u);
}

TEST_F(BatchOf, CommandsRestartedDecidesOnWhatIsThereThen) {
  add(hold(k_buyer, 2));
  Batch batch = decided();
  EXPECT_FALSE(batch.changes_nothing());
  ASSERT_TRUE(book.publish(pool_of(1)));
  for (const auto& [key, stored] : book.rows().all()) {
    store.rows().commit({{key, stored.record}}, {});
  }
  batch.restart();
  while (!batch.wants().keys.empty()) batch.take(batch.wants(), store.read(batch.wants()));
  EXPECT_TRUE(batch.changes_nothing());
  batch.reply_all();
  EXPECT_TRUE(is_refused(answers[0].at(0), Code::taken));
}

TEST_F(BatchOf, AReclaimLoadsAllThatIsOnThePool) {
  const ContractId one = book.active(k_buyer, 1);
  const ContractId two = book.active(k_rival, 1);
  ASSERT_TRUE(book.publish(pool_of(0)));
  for (const auto& [key, stored] : book.rows().all()) {
    store.rows().commit({{key, stored.record}}, {});
  }
  loop.run_for(book.rules.reclaim_after);
  add(market::Attend{market::key_of(pool_of(0).id)});
  const Commit commit = decided().commit();
  EXPECT_NE(put_of(commit, market::key_of(one)), nullptr);
  EXPECT_NE(put_of(commit, market::key_of(two)), nullptr);
}

}  // namespace
}  // namespace spillway::host
