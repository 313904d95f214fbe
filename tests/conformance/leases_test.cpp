// One active holder, by a Lease of the cluster.
#include "conformance/contest.h"

namespace spillway::conformance {
namespace {

using std::chrono::milliseconds;

class Leases : public ConformanceTest {
 protected:
  // Long: a lease that passes on much sooner was given up, not waited for.
  kube::LeaseOptions patient() const {
    return {.name = named("one"), .holder = {}, .lasts = seconds(15), .renew = Duration{100}};
  }
  kube::LeaseOptions hasty() const {
    return {.name = named("one"),
            .holder = {},
            .lasts = seconds(3),
            .margin = seconds(1),
            .renew = Duration{300}};
  }
  static auto gap(const Holding& before, const Holding& after) {
    return std::chrono::duration_cast<milliseconds>(after.from - *before.until);
  }
};

// A fifth of what it lasts; a look, a write and the machine's other work have room in it.
constexpr milliseconds k_at_once{3000};

TEST_F(Leases, AreNeverHeldByTwoAndAreTakenAtOnceWhenTheyAreGivenUp) {
  constexpr int k_turns = 2;
  const std::vector<std::string> all = {"a", "b", "c", "d", "e"};
  Contest contest(cluster_, patient());
  contest.take_turns(Duration{150}, k_turns);
  for (const std::string& who : all) contest.enter(who);
  const size_t wanted = all.size() * k_turns;
  const auto holdings = contest.holdings(wanted, std::chrono::seconds(30));
  ASSERT_EQ(holdings.size(), wanted);
  std::map<std::string, int> turns;
  for (const Holding& one : holdings) ++turns[one.who];
  for (const std::string& who : all) EXPECT_EQ(turns[who], k_turns) << who;
  for (size_t i = 1; i < holdings.size(); ++i) {
    const Holding& before = holdings[i - 1];
    ASSERT_TRUE(before.until) << before.who << " still holds it when " << holdings[i].who
                              << " does";
    EXPECT_GE(gap(before, holdings[i]).count(), 0);
    EXPECT_LT(gap(before, holdings[i]), k_at_once) << before.who << " to " << holdings[i].who;
  }
}

TEST_F(Leases, AreLostByWhoIsCutOffBeforeAnotherTakesThem) {
  Contest contest(cluster_, hasty());
  contest.enter("first");
  ASSERT_EQ(contest.holdings(1).size(), 1U);
  contest.enter("second");
  contest.cut("first");
  auto holdings = contest.holdings(2);
  ASSERT_EQ(holdings.size(), 2U);
  EXPECT_EQ(holdings[1].who, "second");
  ASSERT_TRUE(holdings[0].until) << "the first believes that it still holds it";
  EXPECT_GE(gap(holdings[0], holdings[1]).count(), 0);
  // It comes back, and has it again only when the second gives it up.
  contest.cut("first", false);
  contest.release("second");
  holdings = contest.holdings(3);
  ASSERT_EQ(holdings.size(), 3U);
  EXPECT_EQ(holdings[2].who, "first");
  ASSERT_TRUE(holdings[1].until);
  EXPECT_GE(gap(holdings[1], holdings[2]).count(), 0);
}

TEST_F(Leases, PassToTheNextWhenTheirHolderIsSilentForAsLongAsTheyLast) {
  Contest contest(cluster_, hasty());
  contest.enter("first");
  ASSERT_EQ(contest.holdings(1).size(), 1U);
  contest.enter("second");
  const auto died = Holding::Clock::now();
  contest.die("first");
  const auto holdings = contest.holdings(2);
  ASSERT_EQ(holdings.size(), 2U);
  const auto waited = std::chrono::duration_cast<milliseconds>(holdings[1].from - died);
  EXPECT_GE(waited, milliseconds(2400));  // the last renewal may have been a while before
  EXPECT_LE(waited, milliseconds(6000));
}

}  // namespace
}  // namespace spillway::conformance
