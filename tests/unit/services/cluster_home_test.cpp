#include "cluster_home_fixture.h"

namespace spillway::agent {
namespace {

TEST_F(ClusterHomeTest, OneIsInAndTheOtherGoesOnWithItsStateWhenItIsGone) {
  put_identity();
  auto a = std::make_unique<Tenant>(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  ASSERT_TRUE(a->is_home());
  EXPECT_EQ(a->home.state().load(), "");
  Tenant b(loop, log, shelf, "b");
  a->save(state_text(1000));
  loop.run_for(minutes(1));
  ASSERT_TRUE(a->saved && *a->saved);
  EXPECT_FALSE(b.is_home());
  EXPECT_EQ(b.home.holder(), "a");
  a->is_cut = true;  // and dies
  a.reset();
  loop.run_for(seconds(30));
  ASSERT_TRUE(b.is_home());
  EXPECT_EQ(b.credentials.at(0).name, "edge-1");
  EXPECT_EQ(b.home.state().load(), state_text(1000));
}

TEST_F(ClusterHomeTest, KeepsTheStateOfAnotherServiceUnderItsOwnName) {
  put_identity();
  StateKind ledger{"ledger",
                   [](const std::string& text, const std::string& source) -> Status {
                     if (text == "whole") return {};
                     return fail(Code::invalid, source, "it is not whole", "mend it");
                   },
                   "move it away", "units are lost"};
  Tenant a(loop, log, shelf, "a", {}, ledger);
  loop.run_for(seconds(1));
  ASSERT_TRUE(a.is_home());
  a.save("whole");
  loop.run_for(seconds(1));
  EXPECT_EQ(shelf.text_of(k_state, "ledger.json"), "whole");
  EXPECT_EQ(a.home.state().load(), "whole");
  a.save("half");
  loop.run_for(seconds(1));
  const auto refused = a.home.state().load();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().next, "remove ledger.json from it: units are lost");
}

TEST_F(ClusterHomeTest, WhoLeavesIsFollowedAtOnce) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  Tenant b(loop, log, shelf, "b");
  loop.run_for(seconds(5));
  bool is_done = false;
  a.home.leave([&] { is_done = true; });
  loop.run_for(seconds(4));
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(a.lost.empty());
  EXPECT_TRUE(b.is_home());
}

TEST_F(ClusterHomeTest, AHolderThatCannotRenewIsOutBeforeAnotherIsInAndWritesNothingMore) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  Tenant b(loop, log, shelf, "b");
  loop.run_for(seconds(5));
  a.is_cut = true;
  for (int i = 0; i < 300; ++i) {
    loop.run_for(milliseconds(100));
    ASSERT_FALSE(a.is_home() && b.is_home());
  }
  EXPECT_EQ(a.lost.size(), 1U);
  ASSERT_TRUE(b.is_home());
  b.save(state_text(2000));
  loop.run_for(seconds(1));
  a.is_cut = false;
  a.save(state_text(1000));  // as if it did not know
  loop.run_for(seconds(1));
  ASSERT_TRUE(a.saved);
  EXPECT_FALSE(*a.saved);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), state_text(2000));
  EXPECT_TRUE(b.is_home());
}

}  // namespace
}  // namespace spillway::agent
