#include "host/catalogue_feed.h"

#include <gtest/gtest.h>

#include "host/book_host.h"
#include "support/flaky_store.h"
#include "support/manual_loop.h"
#include "support/test_book.h"

namespace spillway::host {
namespace {

using namespace test;
using What = Trouble::What;

class Feed : public testing::Test {
 protected:
  void SetUp() override {
    broker.start();
    loop.run();
  }

  void ask(market::Command command) {
    bool done = false;
    broker.submit(std::move(command), [&](const Result<market::Answer>& answer) {
      ASSERT_TRUE(answer) << answer.error().message();
      done = true;
    });
    loop.run();
    ASSERT_TRUE(done);
  }
  void enrol(const ClusterId& id, model::Labels labels = {}) {
    model::Cluster cluster;
    cluster.id = id;
    cluster.labels = std::move(labels);
    ask(market::PutCluster{cluster});
  }
  void publish(int64_t units, int64_t sequence = 1, Duration lease = hours(1)) {
    const auto* epoch = store.rows().get<market::EpochRecord>(market::epoch_key());
    ask(market::PublishPool{
        k_seller, pool_of(units), sequence, lease, {}, epoch->epoch, ++reports});
  }
  void open_market(int64_t units) {
    for (const ClusterId& id : {k_seller, k_buyer, k_rival}) enrol(id);
    publish(units);
    ask(market::PublishOffer{k_seller, minute_offer(), 1});
  }
  market::Hold hold(int32_t units) {
    return {k_buyer,
            "key-" + std::to_string(++keys),
            {{minute_offer().id, units, units}},
            minutes(5),
            {}};
  }

  std::vector<std::string> seen_by(const ClusterId& buyer) {
    const auto ranking = feed.query(buyer, test::plain_intent(), {.size = 100, .cursor = {}});
    std::vector<std::string> ids;
    if (!ranking) return {ranking.error().reason};
    for (const rank::Candidate& candidate : ranking->candidates)
      ids.push_back(candidate.offer.text);
    return ids;
  }
  int32_t free_units() {
    const auto ranking = feed.query(k_buyer, test::plain_intent(), {.size = 1, .cursor = {}});
    return ranking && !ranking->candidates.empty() ? ranking->candidates[0].free_units : 0;
  }

  ManualLoop loop;
  FlakyStore store{loop};
  SeededRandom random{7};
  BookHost broker{loop, store, random, BookOptions{}};  // another one: the feed is not told
  CatalogueFeed feed{loop, store, seconds(1)};
  int keys = 0;
  int64_t reports = 0;
};

const std::vector<std::string> k_nothing;
const std::vector<std::string> k_small{"edge-1/small"};

TEST_F(Feed, IsUnavailableUntilAllIsLoaded) {
  open_market(1);
  EXPECT_TRUE(is_refused(feed.query(k_buyer, test::plain_intent(), {}), Code::unavailable));
  feed.start();
  loop.run();
  EXPECT_TRUE(feed.is_ready());
  EXPECT_EQ(seen_by(k_buyer), k_small);
}

TEST_F(Feed, DeniesWhoIsNotEnrolled) {
  open_market(1);
  feed.start();
  loop.run();
  EXPECT_TRUE(
      is_refused(feed.query(ClusterId("stranger"), test::plain_intent(), {}), Code::denied));
}

TEST_F(Feed, LoadsMoreThanOnePage) {
  open_market(1);
  MemoryRows::Puts puts;
  for (int i = 0; i < 1234; ++i) {
    market::OfferRecord record;
    record.offer = minute_offer("more-" + std::to_string(i));
    record.provider = k_seller;
    record.sequence = 1;
    puts.emplace_back(market::key_of(record.offer.id),
                      std::make_shared<const market::OfferRecord>(record));
  }
  store.rows().commit(puts, {});
  feed.start();
  loop.run();
  EXPECT_TRUE(feed.is_ready());
  EXPECT_EQ(feed.catalogue().size(), 1235u);
}

TEST_F(Feed, BeginsAgainWhenAPageFails) {
  open_market(1);
  store.trouble_loads({{}, {}, {What::unavailable, {}}});
  feed.start();
  loop.run();
  EXPECT_FALSE(feed.is_ready());
  loop.run_for(seconds(1));
  EXPECT_TRUE(feed.is_ready());
  EXPECT_EQ(seen_by(k_buyer), k_small);
}

TEST_F(Feed, FollowsTheOtherBrokersEvents) {
  feed.start();
  loop.run();
  open_market(3);
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_small);
  EXPECT_EQ(free_units(), 3);
  ask(hold(2));
  loop.run_for(seconds(1));
  EXPECT_EQ(free_units(), 1);
  ask(hold(1));
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_nothing);
  loop.run_for(minutes(6));  // the holds expire
  EXPECT_EQ(free_units(), 3);
  ask(market::WithdrawOffer{k_seller, minute_offer().id, 2});
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_nothing);
  ask(market::PublishOffer{k_seller, minute_offer(), 3});
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_small);
}

TEST_F(Feed, FollowsMoreEventsThanOnePage) {
  open_market(3);
  feed.start();
  loop.run();
  for (int i = 0; i < 1100; ++i) publish(i % 2 == 0 ? 5 : 2, i + 2);
  loop.run_for(seconds(1));
  EXPECT_EQ(free_units(), 2);
}

// While the pages of an empty market are loaded, somebody opens it.
TEST_F(Feed, MissesNothingThatHappensBetweenItsPages) {
  for (const int pages : {1, 2, 3}) {
    ManualLoop a_loop;
    FlakyStore a_store(a_loop);
    BookHost host(a_loop, a_store, random, BookOptions{});
    host.start();
    a_loop.run();
    CatalogueFeed a_feed(a_loop, a_store, seconds(1));
    std::vector<Trouble> script(static_cast<size_t>(pages));
    script.push_back({What::none, milliseconds(500)});
    a_store.trouble_loads(script);
    a_feed.start();
    a_loop.run();
    model::Cluster cluster;
    for (const ClusterId& id : {k_seller, k_buyer}) {
      cluster.id = id;
      host.submit(market::PutCluster{cluster}, nullptr);
    }
    host.submit(market::PublishPool{k_seller, pool_of(1), 1, hours(1), {}}, nullptr);
    host.submit(market::PublishOffer{k_seller, minute_offer(), 1}, nullptr);
    a_loop.run_for(seconds(3));
    const auto ranking = a_feed.query(k_buyer, test::plain_intent(), {});
    ASSERT_TRUE(ranking) << "after page " << pages << ": " << ranking.error().message();
    EXPECT_EQ(ranking->candidates.size(), 1u) << "after page " << pages;
  }
}

TEST_F(Feed, ASilentProvidersOffersAreNotOnSale) {
  open_market(1);
  publish(1, 2, minutes(1));
  feed.start();
  loop.run_for(seconds(59));
  EXPECT_EQ(seen_by(k_buyer), k_small);
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_nothing);
  publish(1, 2, minutes(1));
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_small);
}

TEST_F(Feed, AfterAnOutageNothingIsOnSaleUntilConfirmed) {
  open_market(1);
  feed.start();
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_small);
  loop.sleep(minutes(1));
  loop.run_for(seconds(3));
  EXPECT_EQ(seen_by(k_buyer), k_nothing);
  publish(1);
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_small);
}

TEST_F(Feed, AnOversoldPoolIsNotOnSale) {
  open_market(3);
  ask(hold(2));
  feed.start();
  loop.run_for(seconds(1));
  EXPECT_EQ(free_units(), 1);
  publish(1, 2);
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_nothing);
}

TEST_F(Feed, HiddenOffersAreInvisible) {
  open_market(3);
  model::Offer hidden = minute_offer("hidden");
  hidden.visibility = {.everyone = false, .clusters = {}, .selector = {{"tier", "gold"}}};
  ask(market::PublishOffer{k_seller, hidden, 1});
  feed.start();
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), k_small);
  enrol(k_buyer, {{"tier", "gold"}});
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), (std::vector<std::string>{"edge-1/hidden", "edge-1/small"}));
  EXPECT_EQ(seen_by(k_rival), k_small);
}

TEST_F(Feed, LearnsOfItsOwnProcessCommitsAtOnce) {
  open_market(3);
  feed.start();
  loop.run();
  broker.listen([this](const Commit& c, const Committed& d) { feed.learn(c, d); });
  ask(hold(2));
  EXPECT_EQ(free_units(), 1);
  loop.run_for(seconds(5));
  EXPECT_EQ(free_units(), 1);
}

TEST_F(Feed, ReadsNothingAgainThatItsOwnProcessCommitted) {
  open_market(3);
  feed.start();
  loop.run();
  broker.listen([this](const Commit& c, const Committed& d) { feed.learn(c, d); });
  ask(hold(1));
  ask(hold(1));
  loop.run_for(seconds(3));
  EXPECT_EQ(store.events_read, 0U);
  EXPECT_EQ(free_units(), 1);
}

TEST_F(Feed, ReadsWhatOthersHaveCommittedBetweenItsOwn) {
  open_market(3);
  feed.start();
  loop.run();
  BookHost own{loop, store, random, BookOptions{}};
  own.start();
  loop.run();
  own.listen([this](const Commit& c, const Committed& d) { feed.learn(c, d); });
  ask(market::PublishOffer{k_seller, minute_offer("second"), 1});  // by the other one
  own.submit(hold(1), nullptr);
  loop.run();
  EXPECT_EQ(seen_by(k_buyer), k_small);
  EXPECT_EQ(free_units(), 2);
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), (std::vector<std::string>{"edge-1/second", "edge-1/small"}));
}

// An answer that was on its way for long tells of a state before our own commit.
TEST_F(Feed, TakesNoOldRowForANewOne) {
  open_market(3);
  loop.run_for(milliseconds(300));  // beside the book's own turns
  feed.start();
  loop.run();
  enrol(k_buyer, {{"tier", "gold"}});
  publish(4, 2);
  loop.run_for(milliseconds(990));
  store.trouble_loads({{What::none, milliseconds(500)}});
  const int loads = store.loads_seen;
  loop.run_for(milliseconds(10));
  ASSERT_EQ(store.loads_seen, loads + 1);  // it has asked for what these have changed, and waits
  broker.listen([this](const Commit& c, const Committed& d) { feed.learn(c, d); });
  ask(hold(2));
  EXPECT_EQ(free_units(), 2);
  loop.run_for(milliseconds(700));
  EXPECT_EQ(free_units(), 2);
  loop.run_for(seconds(5));
  EXPECT_EQ(free_units(), 2);
}

TEST_F(Feed, LoadsEverythingAgainWhenItHasMissedForgottenEvents) {
  open_market(3);
  ask(market::PublishOffer{k_seller, minute_offer("second"), 1});
  feed.start();
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(k_buyer), (std::vector<std::string>{"edge-1/second", "edge-1/small"}));
  // Nobody will ever tell it of this one: scans find only what is on sale.
  ask(market::WithdrawOffer{k_seller, minute_offer("second").id, 2});
  ask(hold(2));
  store.rows().forget_events(store.rows().last_event() + 1);
  loop.run_for(seconds(2));
  EXPECT_EQ(seen_by(k_buyer), k_small);
  EXPECT_EQ(free_units(), 1);
}

TEST_F(Feed, WhoJoinsWithATokenMayQuery) {
  open_market(3);
  feed.start();
  loop.run_for(seconds(1));
  ask(market::MakeToken{"t-1", "edge-9", {model::Role::consumer}, {}, hours(1)});
  ask(market::Join{"t-1", std::string(64, 'a'), "certificate", loop.now() + hours(24)});
  loop.run_for(seconds(1));
  EXPECT_EQ(seen_by(ClusterId("edge-9")), k_small);
}

}  // namespace
}  // namespace spillway::host
