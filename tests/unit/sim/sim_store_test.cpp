#include "sim/sim_store.h"

#include <gtest/gtest.h>

#include "support/sample_records.h"

namespace spillway::sim {
namespace {

using namespace test;

class Store : public testing::Test {
 protected:
  const market::Key key = market::key_of(sample_pool_id(1));

  host::Commit put(int64_t expected, int64_t sequence) {
    host::Commit commit;
    commit.at = world.now();
    commit.expectations = {{key, expected}};
    commit.puts = {{key, shared(sample_pool(1, sequence))}};
    commit.events = {sample_event(static_cast<int>(sequence))};
    return commit;
  }
  void commit(const host::Commit& what) {
    store.commit(what, [this](const Result<host::Committed>& committed) {
      committed ? ++acknowledged : ++refused;
    });
  }
  void settle() {
    while (world.step()) {
    }
  }
  int64_t version() const {
    const Versioned* at = store.rows().find(key);
    return at == nullptr ? 0 : at->version;
  }

  World world{3};
  SimStore store{world};
  int acknowledged = 0;
  int refused = 0;
};

TEST_F(Store, AcknowledgesAfterTheSync) {
  commit(put(0, 1));
  EXPECT_EQ(acknowledged, 0);
  settle();
  EXPECT_EQ(acknowledged, 1);
}

TEST_F(Store, RefusesWhatExpectsAnotherVersion) {
  commit(put(0, 1));
  commit(put(0, 2));
  settle();
  EXPECT_EQ(acknowledged, 1);
  EXPECT_EQ(refused, 1);
}

TEST_F(Store, ACrashKeepsWhatWasAcknowledgedWhateverBecomesOfTheRest) {
  commit(put(0, 1));
  settle();
  int lost = 0;
  for (int64_t i = 2; i < 200; ++i) {
    const int64_t before = version();
    commit(put(before, i));
    store.crash();
    store.restart();
    settle();
    lost += version() == before ? 1 : 0;
    EXPECT_GE(version(), before);
  }
  EXPECT_EQ(acknowledged, 1);
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 198) << "and now and then it was on the platter after all";
}

TEST_F(Store, TellsNobodyWhatACrashMayTakeBack) {
  commit(put(0, 1));
  int told = 0;
  store.load({{key}, {}}, [&](const Result<host::Snapshot>&) { ++told; });
  store.events_after({0, 10}, [&](const Result<std::vector<market::Event>>&) { ++told; });
  EXPECT_EQ(told, 0);
  store.crash();
  store.restart();
  settle();
  EXPECT_EQ(told, 0);
  commit(put(version(), 2));
  store.load({{key}, {}}, [&](const Result<host::Snapshot>& snapshot) {
    ++told;
    EXPECT_EQ(snapshot->rows[0].version, version());
  });
  settle();
  EXPECT_EQ(told, 1);
}

TEST_F(Store, ItsTimeNeverGoesBack) {
  const Instant before = store.now();
  store.step_clock(seconds(-20));
  EXPECT_EQ(store.now(), before);
  store.step_clock(seconds(30));
  EXPECT_EQ(store.now(), before + seconds(10));
}

TEST_F(Store, ForgetsOnlyWhatIsDurable) {
  host::Commit one = put(0, 1);
  one.events = {market::Event{}};
  commit(one);
  int64_t first = 0;
  const auto forget = [&] {
    store.forget_events(store.now() + hours(1), 10, [&](Result<int64_t> kept) { first = *kept; });
  };
  forget();
  EXPECT_EQ(first, 1);  // a crash may still take it back
  settle();
  forget();
  EXPECT_EQ(first, 2);
  Code code = Code::internal;
  store.events_after({0, 10}, [&](const Result<std::vector<market::Event>>& events) {
    code = events ? Code::internal : events.error().code;
  });
  EXPECT_EQ(code, Code::gone);
  bool told = false;
  store.events_after({1, 10}, [&](const Result<std::vector<market::Event>>& events) {
    told = events && events->empty();
  });
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace spillway::sim
