#include "host/event_log.h"

#include <gtest/gtest.h>

#include "host/book_host.h"
#include "support/flaky_store.h"
#include "support/manual_loop.h"
#include "support/test_book.h"

namespace spillway::host {
namespace {

using namespace test;
using What = Trouble::What;

class Log : public testing::Test {
 protected:
  void SetUp() override {
    other.start();
    loop.run();
    enrol(other);
    listen(log);
  }

  void listen(EventLog& to) {
    to.listen([this](const market::Event& event) { heard.push_back(event); });
    to.on_jump([this](int64_t last) { jumps.push_back(last); });
  }
  void enrol(BookHost& broker) {
    model::Cluster cluster;
    cluster.id = ClusterId("edge-" + std::to_string(++clusters));
    broker.submit(market::PutCluster{cluster}, [](const Result<market::Answer>&) {});
    loop.run();
  }
  // Each event after the first jump, once and in order.
  void expect_all_heard() {
    const auto& events = store.rows().events();
    ASSERT_FALSE(jumps.empty());
    int64_t expected = jumps.back();
    for (const market::Event& event : heard) {
      if (event.sequence <= jumps.back()) continue;
      EXPECT_EQ(event.sequence, ++expected);
      EXPECT_EQ(event, events[static_cast<size_t>(event.sequence - store.rows().first_event())]);
    }
    EXPECT_EQ(expected, store.rows().last_event());
  }

  ManualLoop loop;
  FlakyStore store{loop};
  SeededRandom random{7};
  BookHost own{loop, store, random, BookOptions{}};
  BookHost other{loop, store, random, BookOptions{}};
  EventLog log{loop, store};
  std::vector<market::Event> heard;
  std::vector<int64_t> jumps;
  int clusters = 0;
};

TEST_F(Log, BeginsAfterTheNewestEvent) {
  EXPECT_FALSE(log.is_ready());
  EXPECT_FALSE(log.for_each_after(0, [](const market::Event&) {}));
  log.start();
  loop.run();
  EXPECT_TRUE(log.is_ready());
  EXPECT_EQ(log.last(), store.rows().last_event());
  EXPECT_EQ(jumps, std::vector<int64_t>{store.rows().last_event()});
  EXPECT_EQ(log.first_kept(), log.last() + 1);
  EXPECT_TRUE(heard.empty());
}

TEST_F(Log, HearsOfOtherBrokersWithinASecond) {
  log.start();
  loop.run();
  enrol(other);
  enrol(other);
  EXPECT_TRUE(heard.empty());
  loop.run_for(seconds(1));
  EXPECT_EQ(heard.size(), 2u);
  expect_all_heard();
}

TEST_F(Log, HearsOfItsOwnProcessAtOnceWithoutReading) {
  log.start();
  loop.run();
  own.listen([this](const Commit& c, const Committed& d) { log.learn(c, d); });
  const int loads = store.loads_seen;
  enrol(own);
  EXPECT_EQ(heard.size(), 1u);
  EXPECT_LE(store.loads_seen, loads + 2);  // the book's own
  loop.run_for(seconds(3));
  EXPECT_EQ(heard.size(), 1u);  // not once more from the store
  expect_all_heard();
}

TEST_F(Log, AnOwnCommitAfterOthersFetchesWhatLiesBetween) {
  log.start();
  loop.run();
  own.listen([this](const Commit& c, const Committed& d) { log.learn(c, d); });
  enrol(other);
  enrol(own);  // not next in line: what lies between is fetched first, and soon
  EXPECT_EQ(heard.size(), 2u);
  expect_all_heard();
}

TEST_F(Log, KeepsTheNewestInMemory) {
  EventLog small(loop, store, {.refresh_every = seconds(1), .keep = 3, .page = 2});
  listen(small);
  small.start();
  loop.run();
  const int64_t begin = small.last();
  for (int i = 0; i < 5; ++i) enrol(other);
  loop.run_for(seconds(1));
  EXPECT_EQ(heard.size(), 5u);  // page after page
  EXPECT_EQ(small.first_kept(), begin + 3);
  std::vector<int64_t> seen;
  const auto note = [&](const market::Event& event) { seen.push_back(event.sequence); };
  EXPECT_FALSE(small.for_each_after(begin + 1, note));
  EXPECT_TRUE(seen.empty());
  EXPECT_TRUE(small.for_each_after(begin + 3, note));
  EXPECT_EQ(seen, (std::vector<int64_t>{begin + 4, begin + 5}));
  EXPECT_TRUE(small.for_each_after(begin + 5, note));
  EXPECT_TRUE(small.for_each_after(begin + 99, note));
  seen.clear();
  EXPECT_TRUE(small.for_each_after(begin + 2, [&](const market::Event& event) {
    note(event);
    return false;  // enough
  }));
  EXPECT_EQ(seen.size(), 1u);
}

TEST_F(Log, JumpsOverWhatIsForgotten) {
  log.start();
  loop.run();
  for (int i = 0; i < 4; ++i) enrol(other);
  const int64_t kept = store.rows().last_event() - 1;
  store.rows().forget_events(kept);
  loop.run_for(seconds(1));
  EXPECT_EQ(jumps.size(), 2u);
  EXPECT_EQ(jumps.back(), kept - 1);
  EXPECT_EQ(heard.size(), 2u);
  EXPECT_EQ(log.first_kept(), kept);
  expect_all_heard();
}

TEST_F(Log, AStoreThatFailsDelaysNothingForEver) {
  store.trouble_loads({{What::unavailable, {}}, {What::unavailable, seconds(1)}});
  log.start();
  loop.run_for(milliseconds(10));
  EXPECT_FALSE(log.is_ready());
  loop.run_for(seconds(5));
  EXPECT_TRUE(log.is_ready());
  enrol(other);
  loop.run_for(seconds(1));
  expect_all_heard();
}

}  // namespace
}  // namespace spillway::host
