#include "host/book_host.h"

#include <gtest/gtest.h>

#include "support/flaky_store.h"
#include "support/manual_loop.h"
#include "support/recount.h"
#include "support/test_book.h"

namespace spillway::host {
namespace {

using namespace test;
using What = Trouble::What;

class Host : public testing::Test {
 protected:
  void SetUp() override { begin(); }

  void begin() {
    host = std::make_unique<BookHost>(loop, store, random, options);
    host->start();
    loop.run();
  }
  // What comes back is kept under its number, in the order in which it comes.
  size_t submit(market::Command command) {
    const size_t number = answers.size();
    answers.emplace_back();
    host->submit(std::move(command), [this, number](Result<market::Answer> answer) {
      answers[number].push_back(std::move(answer));
    });
    return number;
  }
  Result<market::Answer> ask(market::Command command) {
    const size_t number = submit(std::move(command));
    loop.run_for(milliseconds(100));
    return answers[number].at(0);
  }
  void open_market(int64_t units) {
    for (const ClusterId& id : {k_seller, k_buyer, k_rival}) {
      model::Cluster cluster;
      cluster.id = id;
      ask(market::PutCluster{cluster}).value();
    }
    ask(market::PublishPool{k_seller, pool_of(units), 1, hours(1), {}}).value();
    ask(market::PublishOffer{k_seller, minute_offer(), 1}).value();
  }
  market::Hold hold(const ClusterId& buyer, int32_t units) {
    return {buyer,
            "key-" + std::to_string(++keys),
            {{minute_offer().id, units, units}},
            minutes(5),
            {}};
  }
  model::Contract active(int32_t units) {
    const auto held = ask(hold(k_buyer, units)).value();
    return *ask(market::Confirm{k_buyer, held.grants[0].contract}).value().contract;
  }
  int64_t epoch() { return store.rows().get<market::EpochRecord>(market::epoch_key())->epoch; }
  int64_t count_outages() {
    const auto& events = store.rows().events();
    return std::count_if(events.begin(), events.end(), [](const market::Event& event) {
      return event.kind == market::EventKind::outage_recorded;
    });
  }

  ManualLoop loop;
  FlakyStore store{loop};
  SeededRandom random{7};
  BookOptions options;
  std::unique_ptr<BookHost> host;
  std::vector<std::vector<Result<market::Answer>>> answers;
  int keys = 0;
};

TEST_F(Host, BeatsBeforeAnythingElse) {
  ASSERT_EQ(store.written.size(), 1u);
  EXPECT_NE(store.rows().get<market::HeartRecord>(market::heart_key()), nullptr);
  EXPECT_NE(store.rows().get<market::EpochRecord>(market::epoch_key()), nullptr);
}

TEST_F(Host, BeatsFirstAlsoWhenItIsAskedBeforeItStarts) {
  open_market(1);
  ask(hold(k_buyer, 1)).value();
  host = std::make_unique<BookHost>(loop, store, random, options);
  loop.sleep(minutes(1));
  const size_t sold = submit(hold(k_rival, 1));
  loop.run();
  EXPECT_EQ(count_outages(), 1);
  EXPECT_TRUE(is_refused(answers[sold].at(0), Code::taken));
  EXPECT_NE(answers[sold].at(0).error().reason.find("outage"), std::string::npos);
}

TEST_F(Host, GoesOnBeatingSoThatQuietHoursAreNoOutage) {
  for (int i = 0; i < 60; ++i) loop.run_for(minutes(1));
  EXPECT_EQ(count_outages(), 0);
}

TEST_F(Host, PutsWhatArrivesTogetherIntoOneCommit) {
  open_market(5);
  store.written.clear();
  for (int i = 0; i < 5; ++i) submit(hold(k_buyer, 1));
  loop.run();
  EXPECT_EQ(store.written.size(), 1u);
  for (size_t i = answers.size() - 5; i < answers.size(); ++i) EXPECT_TRUE(answers[i].at(0));
}

TEST_F(Host, SplitsWhatIsTooMuchForOneBatch) {
  options.max_batch = 2;
  begin();
  open_market(5);
  store.written.clear();
  for (int i = 0; i < 5; ++i) submit(hold(k_buyer, 1));
  loop.run();
  EXPECT_EQ(store.written.size(), 3u);
  EXPECT_EQ(recount(store.rows()), std::vector<std::string>{});
}

TEST_F(Host, AnswersOnlyAfterTheCommitIsDurable) {
  open_market(1);
  store.trouble_commits({{What::none, seconds(1)}});
  const size_t number = submit(hold(k_buyer, 1));
  loop.run_for(milliseconds(999));
  EXPECT_TRUE(answers[number].empty());
  loop.run_for(milliseconds(1));
  ASSERT_EQ(answers[number].size(), 1u);
  EXPECT_TRUE(answers[number][0]);
}

TEST_F(Host, AnswersRefusalsWithoutACommit) {
  open_market(1);
  store.written.clear();
  EXPECT_TRUE(is_refused(ask(hold(k_buyer, 2)), Code::taken));
  EXPECT_TRUE(store.written.empty());
}

TEST_F(Host, DecidesAgainAfterAConflict) {
  open_market(1);
  store.trouble_commits({{What::conflict, {}}, {What::conflict, {}}, {What::conflict, {}}});
  const auto answer = ask(hold(k_buyer, 1));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->replayed);
  EXPECT_EQ(recount(store.rows()), std::vector<std::string>{});
}

TEST_F(Host, TheFirstConflictCostsNoPause) {
  open_market(1);
  store.trouble_commits({{What::conflict, {}}});
  const size_t number = submit(hold(k_buyer, 1));
  loop.run();
  EXPECT_EQ(answers[number].size(), 1u);
}

TEST_F(Host, SaysContendedWhenItLosesEveryRace) {
  open_market(1);
  store.trouble_commits(std::vector<Trouble>(12, {What::conflict, {}}));
  const size_t number = submit(hold(k_buyer, 1));
  loop.run_for(seconds(30));
  ASSERT_EQ(answers[number].size(), 1u);
  EXPECT_TRUE(is_refused(answers[number][0], Code::contended));
  EXPECT_EQ(recount(store.rows()), std::vector<std::string>{});
  EXPECT_TRUE(ask(hold(k_buyer, 1))) << "and goes on";
}

TEST_F(Host, SaysUnavailableWhenTheStoreIsGone) {
  open_market(1);
  store.trouble_loads(std::vector<Trouble>(90, {What::unavailable, {}}));
  const size_t number = submit(hold(k_buyer, 1));
  loop.run_for(seconds(30));
  ASSERT_EQ(answers[number].size(), 1u);
  EXPECT_TRUE(is_refused(answers[number][0], Code::unavailable));
}

TEST_F(Host, SellsOnceWhenTheAnswerToACommitIsLost) {
  open_market(2);
  store.trouble_commits({{What::lost_answer, {}}});
  const auto answer = ask(hold(k_buyer, 1));
  ASSERT_TRUE(answer);
  EXPECT_EQ(store.rows().get<market::AccountRecord>(market::account_key(k_buyer))->units, 1);
  EXPECT_NE(store.rows().get<model::Contract>(market::key_of(answer->grants[0].contract)), nullptr);
  EXPECT_EQ(recount(store.rows()), std::vector<std::string>{});
}

TEST_F(Host, ReleasesOnceWhenTheAnswerToACommitIsLost) {
  open_market(3);
  const model::Contract contract = active(3);
  store.trouble_commits({{What::lost_answer, {}}});
  ASSERT_TRUE(ask(market::Release{k_buyer, contract.id, {0}}));
  EXPECT_EQ(store.rows().get<market::AccountRecord>(market::account_key(k_buyer))->units, 2);
  EXPECT_EQ(recount(store.rows()), std::vector<std::string>{});
}

TEST_F(Host, NeverAnswersForAStoreThatNeverDoes) {
  open_market(1);
  store.trouble_commits({{What::silence, {}}});
  const size_t number = submit(hold(k_buyer, 1));
  loop.run_for(minutes(5));
  EXPECT_TRUE(answers[number].empty());
}

TEST_F(Host, TurnsAwayWhatIsMoreThanItsQueue) {
  options.max_queue = 3;
  begin();
  open_market(9);
  store.trouble_loads({{What::none, seconds(1)}});
  submit(hold(k_buyer, 1));
  loop.run();  // this one is on its way now
  for (int i = 0; i < 3; ++i) submit(hold(k_buyer, 1));
  const size_t turned_away = submit(hold(k_buyer, 1));
  ASSERT_EQ(answers[turned_away].size(), 1u);
  EXPECT_TRUE(is_refused(answers[turned_away][0], Code::unavailable));
  loop.run_for(seconds(3));
  for (size_t i = turned_away - 4; i < turned_away; ++i) EXPECT_TRUE(answers[i].at(0)) << i;
}

TEST_F(Host, TwoOnOneStoreSellTheLastUnitOnce) {
  open_market(1);
  SeededRandom other_random{8};
  BookHost other(loop, store, other_random, options);
  other.start();
  loop.run();
  std::vector<Result<market::Answer>> got;
  submit(hold(k_buyer, 1));
  other.submit(hold(k_rival, 1), [&](Result<market::Answer> answer) { got.push_back(answer); });
  loop.run_for(seconds(1));
  ASSERT_EQ(got.size(), 1u);
  EXPECT_NE(got[0].has_value(), answers.back().at(0).has_value());
  EXPECT_EQ(recount(store.rows()), std::vector<std::string>{});
}

TEST_F(Host, AttendsToWhatIsDueByTheStoresClock) {
  open_market(1);
  store.ahead = minutes(30);  // a jump of the store's clock is an outage for those who beat by it
  loop.run_for(seconds(2));
  ASSERT_TRUE(ask(market::PublishPool{k_seller, pool_of(1), 2, hours(1), {}, epoch(), 1}));
  const auto held = ask(hold(k_buyer, 1)).value();
  EXPECT_EQ(held.grants[0].hold_until, loop.now() + minutes(35) - milliseconds(100));
  loop.run_for(minutes(5) + seconds(2));
  const auto* contract = store.rows().get<model::Contract>(market::key_of(held.grants[0].contract));
  EXPECT_EQ(contract->reason, model::EndReason::expired);
}

TEST_F(Host, AttendsToWhatBelongsToABrokerThatIsGone) {
  open_market(1);
  const auto held = ask(hold(k_buyer, 1)).value();
  host.reset();
  begin();
  loop.run_for(minutes(6));
  EXPECT_FALSE(
      store.rows().get<model::Contract>(market::key_of(held.grants[0].contract))->is_live());
}

TEST_F(Host, WhatIsDueNeverCrowdsOutTheClients) {
  options.max_queue = 50;
  begin();
  open_market(20);
  for (int i = 0; i < 20; ++i) ask(hold(k_buyer, 1)).value();
  // Commits hang while 20 holds are overdue; each round of attending finds them again.
  loop.run_for(minutes(4) + seconds(50));
  store.trouble_commits(std::vector<Trouble>(3, {What::unavailable, seconds(9)}));
  for (int i = 0; i < 25; ++i) {
    loop.run_for(seconds(1));
    EXPECT_LE(host->queued(), 20u);
  }
}

// The lease would end while the store is away, and the buyer's renewal waits for it in a batch that
// began before.
TEST_F(Host, ABatchThatWaitedThroughAnOutageKnowsOfIt) {
  open_market(1);
  options.max_tries = 100;
  begin();
  const model::Contract contract = active(1);
  while (loop.now() < contract.deadline - seconds(5)) loop.run_for(seconds(1));
  store.trouble_loads(std::vector<Trouble>(20, {What::unavailable, seconds(2)}));
  const size_t number = submit(market::Renew{k_buyer, contract.id});
  loop.run_for(seconds(80));
  ASSERT_EQ(answers[number].size(), 1u);
  EXPECT_EQ(count_outages(), 1);
  EXPECT_TRUE(answers[number][0]) << answers[number][0].error().message();
}

// A machine that was asleep wakes to a message before its timers.
TEST_F(Host, WhatArrivesRightAfterAPauseKnowsOfTheOutage) {
  open_market(1);
  const model::Contract contract = active(1);
  while (loop.now() < contract.deadline - seconds(5)) loop.run_for(seconds(1));
  loop.sleep(minutes(5));
  const size_t number = submit(market::Renew{k_buyer, contract.id});
  loop.run();
  ASSERT_EQ(answers[number].size(), 1u);
  EXPECT_TRUE(answers[number][0]);
  EXPECT_EQ(count_outages(), 1);
}

TEST_F(Host, TellsItsListenerWhatWasCommitted) {
  int64_t heard = 0;
  host->listen([&](const Commit& commit, const Committed& committed) {
    heard = committed.last_event;
    EXPECT_EQ(static_cast<int64_t>(commit.events.size()),
              committed.last_event - committed.first_event + 1);
  });
  open_market(1);
  EXPECT_EQ(heard, static_cast<int64_t>(store.rows().events().size()));
}

TEST_F(Host, TellsAllItsListeners) {
  int first = 0;
  int second = 0;
  host->listen([&](const Commit&, const Committed&) { ++first; });
  host->listen([&](const Commit&, const Committed&) { second = ++first; });
  open_market(1);
  EXPECT_GT(first, 0);
  EXPECT_EQ(second, first);
}

TEST_F(Host, PutsOnRecordWhoCausedWhat) {
  open_market(5);
  const size_t before = store.rows().events().size();
  // In one batch, one of them refused: each event is its own asker's.
  host->submit(hold(k_buyer, 1), [](const Result<market::Answer>&) {}, {"edge-2", "r-1"});
  host->submit(hold(k_rival, 9), [](const Result<market::Answer>&) {}, {"edge-3", "r-2"});
  host->submit(hold(k_rival, 2), [](const Result<market::Answer>&) {}, {"edge-3", "r-3"});
  submit(hold(k_rival, 1));  // by the broker itself
  loop.run();
  const auto& events = store.rows().events();
  ASSERT_EQ(events.size(), before + 3);
  EXPECT_EQ(events[before].by, "edge-2");
  EXPECT_EQ(events[before].request, "r-1");
  EXPECT_EQ(events[before + 1].by, "edge-3");
  EXPECT_EQ(events[before + 1].request, "r-3");
  EXPECT_EQ(events[before + 2].by, "");
  EXPECT_EQ(events[before + 2].request, "");
}

TEST_F(Host, ForgetsOldEventsInSmallSteps) {
  options.keep_events = hours(1);
  options.forget_at_once = 2;
  begin();
  open_market(1);
  const int64_t last = store.rows().last_event();
  ASSERT_GT(last, 4);
  loop.run_for(minutes(40));
  EXPECT_EQ(store.rows().first_event(), 1);
  loop.run_for(minutes(31));
  EXPECT_GT(store.rows().first_event(), last);
}

TEST_F(Host, ForgetsTokensWhenTheirTimeHasCome) {
  ask(market::MakeToken{"t-1", "edge-9", {model::Role::consumer}, {}, hours(1)}).value();
  loop.run_for(hours(25) - seconds(10));
  EXPECT_TRUE(ask(market::FindToken{"t-1"}));
  loop.run_for(seconds(20));
  EXPECT_FALSE(ask(market::FindToken{"t-1"}));
}

TEST_F(Host, IsSilentOnceItIsGone) {
  open_market(1);
  store.trouble_commits({{What::none, seconds(1)}});
  const size_t number = submit(hold(k_buyer, 1));
  loop.run();
  host.reset();
  loop.run_for(minutes(1));
  EXPECT_TRUE(answers[number].empty());
}

TEST_F(Host, GivesEveryHoldItsOwnIdWhateverTheClientSaid) {
  open_market(2);
  market::Hold one = hold(k_buyer, 1);
  one.fresh = {ContractId("chosen-by-an-outsider")};
  const auto first = ask(one).value();
  const auto second = ask(hold(k_buyer, 1)).value();
  EXPECT_TRUE(check_contract_id(first.grants[0].contract.text));
  EXPECT_NE(first.grants[0].contract, second.grants[0].contract);
}

}  // namespace
}  // namespace spillway::host
