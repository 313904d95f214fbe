// One fabric at a time in a cluster: whoever is first, whoever is cut off, whoever comes back.
#include "services/fabric/holder.h"

#include <gtest/gtest.h>

#include "integration/fabric/played_liqo.h"
#include "support/cluster_channel.h"
#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

struct Candidate {
  Candidate(test::ManualLoop& loop, test::Place& place, const std::string& name,
            const std::string& party = {})
      : channel(loop, place.cluster),
        api(loop, random, channel, kube::ApiOptions{.patience = seconds(2)}),
        holder(api, log, name, party,
               {[this] { doing = "working"; }, [this] { doing = "paused"; },
                [this] { doing = "stopped"; }}) {
    holder.start();
  }
  host::SeededRandom random{3};
  test::ClusterChannel channel;
  kube::Api api;
  MemoryLog log;
  std::string doing = "nothing";
  FabricHolder holder;
};

class FabricHolding : public ::testing::Test {
 protected:
  FabricHolding() : liqo(loop) {}
  test::ManualLoop loop;
  test::PlayedLiqo liqo;
};

TEST_F(FabricHolding, TheFirstWorksTheSecondWaitsUntilItLetsGo) {
  Candidate first(loop, liqo.rome, "agent rome");
  loop.run_for(seconds(1));
  Candidate second(loop, liqo.rome, "driver");
  loop.run_for(minutes(2));
  EXPECT_EQ(first.doing, "working");
  EXPECT_EQ(second.doing, "stopped");
  EXPECT_TRUE(second.log.count("holder=agent rome") == 1) << "it must say whose it is";
  first.holder.release(true, [] {});
  loop.run_for(seconds(5));
  EXPECT_EQ(second.doing, "working");
}

TEST_F(FabricHolding, WhoIsCutOffPausesAndIsOutOnceAnotherHasIt) {
  Candidate first(loop, liqo.rome, "agent rome");
  loop.run_for(seconds(1));
  first.channel.is_cut = true;
  loop.run_for(seconds(14));
  EXPECT_EQ(first.doing, "paused");
  first.channel.is_cut = false;  // nobody was there meanwhile
  loop.run_for(seconds(5));
  EXPECT_EQ(first.doing, "working");

  Candidate second(loop, liqo.rome, "driver");
  first.channel.is_cut = true;
  while (second.doing != "working") {
    loop.run_for(milliseconds(100));
    ASSERT_FALSE(first.doing == "working" && second.doing == "working");
  }
  first.channel.is_cut = false;
  loop.run_for(seconds(5));
  EXPECT_EQ(first.doing, "stopped");
}

TEST_F(FabricHolding, WhoWasKilledGoesOnAtOnceUnderItsName) {
  {
    Candidate killed(loop, liqo.rome, "agent rome");
    loop.run_for(seconds(1));
  }
  Candidate again(loop, liqo.rome, "agent rome");
  loop.run_for(milliseconds(500));
  EXPECT_EQ(again.doing, "working");
}

// It would take down everything that the first has contracts for.
TEST_F(FabricHolding, NobodyFollowsAnotherPartyThatHasLeftUnits) {
  std::optional<Candidate> first;
  first.emplace(loop, liqo.rome, "agent rome here", "agent rome");
  loop.run_for(seconds(1));
  Candidate second(loop, liqo.rome, "driver", "driver");
  first.reset();  // killed
  loop.run_for(minutes(5));
  EXPECT_EQ(second.doing, "stopped");
  EXPECT_EQ(second.holder.why_not(), "agent rome has left units here, and is gone");
  EXPECT_EQ(second.log.count("delete the Lease"), 1);
  // The same party goes on, wherever it is started.
  first.emplace(loop, liqo.rome, "agent rome there", "agent rome");
  loop.run_for(minutes(1));
  EXPECT_EQ(first->doing, "working");
  first->holder.release(false, [] {});
  loop.run_for(minutes(1));
  EXPECT_EQ(second.doing, "stopped");
  liqo.rome.remove("/apis/coordination.k8s.io/v1/namespaces/liqo/leases/spillway-fabric");
  loop.run_for(minutes(1));
  EXPECT_EQ(second.doing, "working");
}

// Two hosts and folders of one name, as of two StatefulSets.
TEST_F(FabricHolding, ANamesakeOfAnotherPartyWaits) {
  Candidate first(loop, liqo.rome, "driver on spillway-0", "driver 1");
  loop.run_for(seconds(1));
  Candidate second(loop, liqo.rome, "driver on spillway-0", "driver 2");
  loop.run_for(minutes(1));
  EXPECT_EQ(first.doing, "working");
  EXPECT_EQ(second.doing, "stopped");
}

TEST_F(FabricHolding, WhoLeavesNothingIsFollowedByAnybody) {
  Candidate first(loop, liqo.rome, "agent rome here", "agent rome");
  loop.run_for(seconds(1));
  Candidate second(loop, liqo.rome, "driver", "driver");
  first.holder.release(true, [] {});
  loop.run_for(seconds(5));
  EXPECT_EQ(second.doing, "working");
}

TEST_F(FabricHolding, TheNameTellsMembersAndFoldersApartAndOutlivesAProcess) {
  EXPECT_EQ(folder_holder("agent rome", "/a/state"), folder_holder("agent rome", "/a/./state"));
  EXPECT_NE(folder_holder("agent rome", "/a/state"), folder_holder("agent rome", "/b/state"));
  EXPECT_NE(folder_holder("agent rome", "/a/state"), folder_holder("agent milan", "/a/state"));
}

}  // namespace
}  // namespace spillway::agent
