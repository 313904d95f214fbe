// What the agent keeps in files: its state, the supply that it watches.
#include <fstream>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/agent/reload.h"
#include "services/agent/state_file.h"
#include "support/temporary_folder.h"
#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

AgentState some_state() {
  AgentState state;
  state.cluster = ClusterId("edge-1");
  state.last_event = 12;
  state.epoch = 3;
  state.reports = 1000;
  state.supply = {{test::plain_pool()}, {test::plain_offer()}};
  state.pools[PoolId("edge-1/standard")] = {
      2, test::plain_pool(), test::plain_shape(), false, true, true};
  state.offers[OfferId("edge-1/small")] = {3, test::plain_offer(), true, false};
  const model::Contract contract = test::plain_contract();
  state.contracts[contract.id] = contract;
  return state;
}

TEST(AgentState, ReadsBackWhatItWrote) {
  const auto back = state_from_json(to_json(some_state()));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, some_state());
}

TEST(AgentState, RefusesWhatIsNotItsOwnWriting) {
  AgentState state = some_state();
  state.contracts.begin()->second.rate += 1;
  EXPECT_FALSE(state_from_json(to_json(state)));
  std::string text = to_json(some_state());
  text.resize(text.size() / 2);
  EXPECT_FALSE(state_from_json(text));
}

TEST(StateFile, KeepsTheLastState) {
  const test::TemporaryFolder folder;
  const auto file = StateFile::open(folder / "state");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ((*file)->load().value(), "");
  bool saved = false;
  (*file)->save(to_json(some_state()), [&](const Status& status) { saved = status.has_value(); });
  EXPECT_TRUE(saved);
  EXPECT_EQ((*file)->load().value(), to_json(some_state()));
  struct stat facts {};
  ASSERT_EQ(::stat((*file)->path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST(StateFile, NamesAFileThatIsSpoilt) {
  const test::TemporaryFolder folder;
  const auto file = StateFile::open(folder / "state");
  ASSERT_TRUE(file);
  for (const std::string& text : {std::string(), std::string("{\"version\":1,\"clu")}) {
    write((*file)->path(), text);
    const auto loaded = (*file)->load();
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().message().find("agent.json"), std::string::npos);
    EXPECT_NE(loaded.error().message().find("--forget-state"), std::string::npos);
  }
  EXPECT_TRUE((*file)->forget());
  EXPECT_EQ((*file)->load().value(), "");
}

TEST(StateFile, IsForOneAgentOnly) {
  const test::TemporaryFolder folder;
  const auto first = StateFile::open(folder / "state");
  ASSERT_TRUE(first);
  const auto second = StateFile::open(folder / "state");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find(fmt::format("process {}", ::getpid())),
            std::string::npos);
}

using AgentState_ = AgentTest;

TEST_F(AgentState_, AnotherClustersStateIsRefused) {
  AgentState other = some_state();
  other.cluster = ClusterId("far");
  store.json = to_json(other);
  agent.emplace(loop, random, broker.channel, store, log, options);
  const Status status = agent->start(Supply{});
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("far"), std::string::npos);
}

class ReloadTest : public ::testing::Test {
 protected:
  ReloadTest()
      : reload(loop, log, "supply", folder / "supply.yaml",
               [this](const std::string& text) -> Status {
                 auto supply = supply_from_yaml(text, ClusterId("edge-1"), "supply.yaml");
                 if (!supply) return tl::unexpected(supply.error());
                 taken.push_back(std::move(*supply));
                 return {};
               }) {}

  static std::string pools(int64_t cores) {
    return fmt::format(
        "version: 1\npools:\n  - id: edge-1/standard\n    node: {{cpu: {0}}}\n"
        "    capacity: {{cpu: {0}}}\n",
        cores);
  }

  test::TemporaryFolder folder;
  test::ManualLoop loop;
  MemoryLog log;
  std::vector<Supply> taken;
  Reload reload;
};

TEST_F(ReloadTest, TakesAnEditAndKeepsTheLastGoodOneThroughABadOne) {
  const std::string path = folder / "supply.yaml";
  write(path, pools(8));
  ASSERT_TRUE(reload.read());
  reload.start();
  loop.run_for(seconds(5));
  EXPECT_TRUE(taken.empty()) << "nothing has changed";
  write(path, pools(16));
  loop.run_for(seconds(2));
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].pools.at(0).node.cpu_millis, 16'000);
  write(path, pools(32) + "  - oops\n");
  loop.run_for(seconds(10));
  EXPECT_EQ(taken.size(), 1U);
  EXPECT_EQ(log.count("supply.yaml line 6"), 1) << "once for each edit";
  ::unlink(path.c_str());
  loop.run_for(seconds(10));
  EXPECT_EQ(log.count("cannot be read"), 1);
  EXPECT_EQ(taken.size(), 1U);
  write(path, pools(64));
  loop.run_for(seconds(2));
  EXPECT_EQ(taken.size(), 2U);
}

TEST_F(ReloadTest, LooksAtOnceWhenItIsTold) {
  write(folder / "supply.yaml", pools(8));
  reload.look_now();
  EXPECT_EQ(taken.size(), 1U);
}

TEST_F(ReloadTest, WaitsForAFileThatIsStillBeingWritten) {
  const std::string path = folder / "supply.yaml";
  write(path, pools(8));
  ASSERT_TRUE(reload.read());
  reload.start();
  loop.run_for(milliseconds(950));
  write(path, "version: 1\n");  // half of it: no pools
  loop.run_for(milliseconds(100));
  write(path, pools(16));
  loop.run_for(seconds(3));
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].pools.size(), 1U);
}

}  // namespace
}  // namespace spillway::agent
