// A back end alone, against an embedded cluster over TLS: what NodeMaker promises.
#include "services/autoscaler/played_nodes.h"

#include <gtest/gtest.h>

#include "live/live_cluster.h"
#include "support/comes_true.h"
#include "support/nouns.h"

namespace spillway::autoscaler {
namespace {

using test::comes_true;

class PlayedNodesTest : public ::testing::Test {
 protected:
  ~PlayedNodesTest() override { stop(); }

  void open(std::string_view player = "embedded", const std::string& owner = "lab/home") {
    stop();
    home_.thread().run([&] {
      session_ = home_.open(home_.admin());
      nodes_ =
          std::make_unique<PlayedNodes>(session_->api(), log_, find_player(player).value(), owner);
      return true;
    });
  }
  void start() {
    home_.thread().run([this] {
      nodes_->start([this] { ++changes_; });
      return true;
    });
    ASSERT_TRUE(comes_true([this] { return look("none") == NodeSight::absent; }));
  }
  void stop() {
    home_.thread().run([this] {
      nodes_.reset();
      session_.reset();
      return true;
    });
  }

  static demand::NodeImage image(const std::string& name) {
    return demand::node_image(test::plain_offer(), name, "spillway://c/" + name);
  }
  Status make(const std::string& name) { return make(image(name)); }
  Status make(const demand::NodeImage& wanted) {
    return home_.thread().ask<Status>([&](auto then) { nodes_->make(wanted, then); });
  }
  Status remove(const std::string& name) {
    return home_.thread().ask<Status>([&](auto then) { nodes_->remove(name, then); });
  }
  NodeSight look(const std::string& name) {
    return home_.thread().run([&] { return nodes_->look(name); });
  }
  std::vector<std::string> names() {
    return home_.thread().run([this] { return nodes_->names(); });
  }
  int changes() {
    return home_.thread().run([this] { return changes_; });
  }
  void put_foreign(const std::string& name) {
    kube::Object node = node_document(image(name), {});
    model::put(model::ensure(node, {"spec"}), "providerID", model::text_node("other://1"));
    const auto made = home_.thread().ask<Result<kube::Object>>(
        [&](auto then) { home_.api().create(kube::k_nodes, node, then); });
    ASSERT_TRUE(made) << made.error().message();
  }
  test::LiveCluster home_;
  services::NoLog log_;
  std::unique_ptr<kube::Session> session_;
  std::unique_ptr<PlayedNodes> nodes_;
  int changes_ = 0;
};

TEST_F(PlayedNodesTest, LeavesNodesOfAnotherFederationAlone) {
  open();
  start();
  ASSERT_TRUE(make("sw-1"));
  ASSERT_TRUE(comes_true([this] { return names().size() == 1; }));
  open("embedded", "market/home");
  start();
  EXPECT_TRUE(names().empty());
  ASSERT_TRUE(make("sw-2"));
  ASSERT_TRUE(comes_true([this] { return names() == std::vector<std::string>{"sw-2"}; }));
}

TEST_F(PlayedNodesTest, KnowsNothingBeforeItHasLooked) {
  open();
  EXPECT_EQ(look("sw-1"), NodeSight::unknown);
  start();
  EXPECT_EQ(look("sw-1"), NodeSight::absent);
  EXPECT_TRUE(names().empty());
  EXPECT_GT(changes(), 0);
}

TEST_F(PlayedNodesTest, MakesANodeThatBecomesReadyAndRemovesIt) {
  open();
  start();
  const int before = changes();
  ASSERT_TRUE(make("sw-1"));
  EXPECT_TRUE(comes_true([this] { return look("sw-1") == NodeSight::ready; }));
  EXPECT_GT(changes(), before);
  EXPECT_EQ(names(), std::vector<std::string>{"sw-1"});
  ASSERT_TRUE(remove("sw-1"));
  EXPECT_TRUE(comes_true([this] { return look("sw-1") == NodeSight::absent; }));
  EXPECT_TRUE(names().empty());
}

TEST_F(PlayedNodesTest, DoesTwiceWhatItDoesOnce) {
  open();
  start();
  ASSERT_TRUE(make("sw-1"));
  EXPECT_TRUE(make("sw-1"));
  ASSERT_TRUE(remove("sw-1"));
  EXPECT_TRUE(remove("sw-1"));
  EXPECT_TRUE(remove("never-there"));
}

TEST_F(PlayedNodesTest, TakesNoOtherNodeOfTheSameNameForItsOwn) {
  open();
  start();
  put_foreign("sw-1");
  const Status made = make("sw-1");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::conflict);
  EXPECT_FALSE(describe(made.error().code).not_now);  // the unit fails: waiting is vain
  EXPECT_EQ(look("sw-1"), NodeSight::absent);
  EXPECT_TRUE(names().empty());  // so nobody collects it
}

TEST_F(PlayedNodesTest, SeesAfterARestartWhatItHasMadeAndNoOthers) {
  open();
  start();
  put_foreign("theirs");
  ASSERT_TRUE(make("sw-1"));
  ASSERT_TRUE(make("sw-2"));
  open();
  EXPECT_TRUE(names().empty());
  start();
  EXPECT_EQ(names(), (std::vector<std::string>{"sw-1", "sw-2"}));
  EXPECT_TRUE(comes_true([this] { return look("sw-2") == NodeSight::ready; }));
  open("kwok");  // another back end in the same cluster
  start();
  EXPECT_TRUE(names().empty());
}

TEST_F(PlayedNodesTest, CallsANodeComingForAsLongAsNobodyPlaysIt) {
  open("kwok");  // there is no kwok in an embedded cluster
  start();
  ASSERT_TRUE(make("sw-1"));
  EXPECT_TRUE(comes_true([this] { return look("sw-1") == NodeSight::coming; }));
  EXPECT_EQ(names(), std::vector<std::string>{"sw-1"});
}

TEST(FindPlayer, NamesWhatThereIs) {
  EXPECT_TRUE(find_player("kwok"));
  const auto none = find_player("qemu");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("qemu"), std::string::npos);
}

}  // namespace
}  // namespace spillway::autoscaler
