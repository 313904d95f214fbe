#include "kube/watch.h"

#include <set>

#include <gtest/gtest.h>

#include "support/manual_loop.h"
#include "support/scripted_channel.h"

namespace spillway::kube {
namespace {

std::string pod(const std::string& name, int version) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"default","name":"{}","resourceVersion":"{}"}}}})", name,
      version);
}

std::string change(const std::string& type, const std::string& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

// An API server of one resource, as far as a watch can tell.
class WatchTest : public testing::Test {
 protected:
  test::ManualLoop loop_;
  host::SeededRandom random_{7};
  test::ScriptedChannel channel_{loop_};
  Api api_{loop_, random_, channel_, {}};
  std::set<std::string> pods_;   // in the server
  std::set<std::string> heard_;  // what the watch has told of
  int version_ = 10;
  int watch_status_ = 200;
  bool is_reachable_ = true;
  bool is_whole_ = true;  // what it lists
  int troubles_ = 0;
  int syncs_ = 0;
  int opens_ = 0;
  std::unique_ptr<Watch> watch_ = make_watch();

  std::unique_ptr<Watch> make_watch() {
    WatchCalls calls;
    calls.on_put = [this](const Object& object) { heard_.emplace(name_in(object)); };
    calls.on_gone = [this](const Name& name) {
      EXPECT_EQ(heard_.erase(name.name), 1U) << name.name;
    };
    calls.on_synced = [this] { ++syncs_; };
    calls.on_trouble = [this](const Error&) { ++troubles_; };
    calls.on_open = [this] { ++opens_; };
    return std::make_unique<Watch>(api_, k_pods, Wanted{}, std::move(calls));
  }

  void SetUp() override {
    channel_.script = [this](const net::Request& request) -> std::optional<Result<net::Response>> {
      if (!is_reachable_) return test::lost();
      if (request.target.find("watch=true") != std::string::npos) {
        return net::Response{watch_status_, {}, watch_status_ == 200 ? "" : "{}"};
      }
      std::string items;
      for (const std::string& name : pods_) items += (items.empty() ? "" : ",") + pod(name, 1);
      const std::string list =
          fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"items":[{}]}})", version_, items);
      return net::Response{200, {}, is_whole_ ? list : list.substr(0, list.size() / 2)};
    };
  }

  void tell(const std::string& type, const std::string& name) {
    if (type == "DELETED") {
      pods_.erase(name);
    } else {
      pods_.insert(name);
    }
    channel_.stream(change(type, pod(name, ++version_)));
  }
  void cut() { channel_.end({Code::unavailable, "stream", "it ended", ""}); }
  std::string last_target() const { return channel_.asked.back().request.target; }
  void settle() { loop_.run_for(minutes(2)); }
};

TEST_F(WatchTest, TellsWhatIsThereAndWhatChanges) {
  pods_ = {"a", "b"};
  watch_->start();
  loop_.run();
  EXPECT_EQ(heard_, pods_);
  EXPECT_TRUE(watch_->is_synced());
  tell("ADDED", "c");
  tell("DELETED", "a");
  tell("MODIFIED", "b");
  EXPECT_EQ(heard_, pods_);
  EXPECT_EQ(watch_->counts().lists, 1U);
}

TEST_F(WatchTest, TakesUpACutStreamWhereItEnded) {
  watch_->start();
  loop_.run();
  tell("ADDED", "a");
  cut();
  loop_.run_for(seconds(1));
  EXPECT_NE(last_target().find("resourceVersion=11"), std::string::npos) << last_target();
  EXPECT_EQ(watch_->counts().lists, 1U);
  tell("ADDED", "b");
  EXPECT_EQ(heard_, pods_);
}

// As every stream does, all five to ten minutes: a list each time would be for nothing.
TEST_F(WatchTest, TakesUpAStreamThatEndedInGoodOrderWithoutAList) {
  watch_->start();
  loop_.run();
  tell("ADDED", "a");
  for (int i = 0; i < 3; ++i) {
    loop_.run_for(minutes(10));
    channel_.end({Code::gone, "server", "the stream has ended", "open it again"});
  }
  loop_.run_for(seconds(1));
  EXPECT_NE(last_target().find("resourceVersion=11"), std::string::npos) << last_target();
  EXPECT_EQ(watch_->counts().lists, 1U);
  EXPECT_EQ(watch_->counts().streams, 4U);
}

TEST_F(WatchTest, BookmarksMoveThePlace) {
  watch_->start();
  loop_.run();
  version_ = 99;
  channel_.stream(change("BOOKMARK", R"({"metadata":{"resourceVersion":"99"}})"));
  cut();
  loop_.run_for(seconds(1));
  EXPECT_NE(last_target().find("resourceVersion=99"), std::string::npos) << last_target();
  EXPECT_TRUE(heard_.empty());
}

TEST_F(WatchTest, ListsAgainWhenThePlaceIsGoneAndTellsWhatVanished) {
  pods_ = {"a", "b"};
  watch_->start();
  loop_.run();
  pods_ = {"b", "c"};
  channel_.stream(change("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})"));
  settle();
  EXPECT_EQ(heard_, pods_);
  EXPECT_EQ(watch_->counts().lists, 2U);
  EXPECT_EQ(troubles_, 0);
  // The same when the server says so before it streams anything.
  pods_ = {"d"};
  watch_status_ = 410;
  cut();
  loop_.run_for(milliseconds(300));
  watch_status_ = 200;
  settle();
  EXPECT_EQ(heard_, pods_);
  EXPECT_EQ(watch_->counts().lists, 3U);
}

TEST_F(WatchTest, TellsOfAServerThatNeverHasThePlaceAnyMore) {
  for (const bool is_event : {false, true}) {
    troubles_ = 0;
    const int opened_before = opens_;
    watch_status_ = is_event ? 200 : 410;
    watch_ = make_watch();
    watch_->start();
    const Instant begun = loop_.now();
    while (loop_.now() - begun < hours(1)) {
      loop_.run_for(milliseconds(50));
      if (!is_event || !channel_.has_stream()) continue;
      channel_.stream(change("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})"));
    }
    EXPECT_EQ(troubles_, 1) << is_event;
    EXPECT_LE(opens_ - opened_before, 3) << is_event;
    EXPECT_TRUE(watch_->is_in_trouble());
    EXPECT_LT(watch_->counts().lists, 400U) << "a storm";
    watch_status_ = 200;
    loop_.run_for(minutes(2));
    tell("ADDED", "a");
    EXPECT_FALSE(watch_->is_in_trouble());
    EXPECT_GT(opens_, opened_before);
  }
}

TEST_F(WatchTest, PassesOverNamesThatNoServerHas) {
  pods_ = {"a", std::string(Watch::k_longest_name, 'b')};
  const auto before = pods_;
  pods_.insert(std::string(Watch::k_longest_name + 1, 'c'));
  watch_->start();
  loop_.run();
  EXPECT_EQ(heard_, before);
  tell("ADDED", std::string(60'000, 'd'));
  tell("DELETED", std::string(60'000, 'd'));
  EXPECT_EQ(heard_, before);
}

TEST_F(WatchTest, SurvivesHoursWithoutTheServerWithoutAStorm) {
  pods_ = {"a"};
  watch_->start();
  loop_.run();
  is_reachable_ = false;
  cut();
  const size_t before = channel_.asked.size();
  loop_.run_for(hours(3));
  EXPECT_EQ(troubles_, 1);
  const size_t tries = channel_.asked.size() - before;
  EXPECT_GT(tries, 100U);
  EXPECT_LT(tries, 3600U);
  is_reachable_ = true;
  watch_status_ = 410;  // of so long ago nothing is kept
  pods_ = {"b"};
  loop_.run_for(minutes(1));
  EXPECT_EQ(heard_, pods_);
}

TEST_F(WatchTest, GarbageIsLeftAndTheRestIsNotLost) {
  for (const std::string garbage :
       {"nonsense\n", "{\"type\":\"ADDED\"}\n", "{\"type\":\"LATER\",\"object\":{}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n", "[]\n"}) {
    watch_->start();
    loop_.run_for(seconds(1));
    channel_.stream(garbage);
    pods_.insert("p" + std::to_string(pods_.size()));
    settle();
    channel_.stream(garbage);  // again and again: it lists in the end
    settle();
    channel_.stream(garbage);
    settle();
    channel_.stream(garbage);
    settle();
    EXPECT_EQ(heard_, pods_) << garbage;
  }
}

TEST_F(WatchTest, AServerWhoseHistoryIsLostIsListedAgain) {
  watch_->start();
  loop_.run();
  watch_status_ = 504;  // "too large resource version"
  pods_ = {"a"};
  version_ = 2;
  cut();
  settle();
  EXPECT_EQ(heard_, pods_);
  EXPECT_GE(watch_->counts().lists, 2U);
}

TEST_F(WatchTest, AServerThatCameBackFromABackupIsListedAgain) {
  version_ = 1000;
  pods_ = {"a"};
  watch_->start();
  loop_.run();
  version_ = 990;  // it would say nothing before it has passed 1000 again
  pods_ = {"b"};
  cut();
  loop_.run_for(seconds(1));
  EXPECT_EQ(heard_, pods_);
}

TEST_F(WatchTest, FindsOutThatSuchAServerHasPassedItsFormerVersions) {
  pods_ = {"a"};
  watch_->start();
  loop_.run();
  tell("ADDED", "b");
  cut();
  version_ = 40;  // versions were given again: the stream tells nothing of those up to 11
  pods_ = {"a", "c"};
  loop_.run_for(seconds(1));
  EXPECT_NE(last_target().find("resourceVersion=11"), std::string::npos) << last_target();
  loop_.run_for(Watch::k_doubt);
  EXPECT_EQ(heard_, pods_);
  EXPECT_EQ(watch_->counts().lists, 2U);
  EXPECT_EQ(troubles_, 0);
}

// The stream before it had ended on time: nothing but the silence since then tells.
TEST_F(WatchTest, DoubtsAServerThatWasAwayBetweenTwoStreams) {
  pods_ = {"a"};
  watch_->start();
  loop_.run();
  tell("ADDED", "b");
  loop_.run_for(minutes(10));
  is_reachable_ = false;
  channel_.end({Code::gone, "stream", "the server has closed it", ""});
  loop_.run_for(seconds(20));
  is_reachable_ = true;
  version_ = 40;  // versions were given again
  pods_ = {"a", "c"};
  settle();
  EXPECT_EQ(heard_, pods_);
  EXPECT_EQ(watch_->counts().lists, 2U);
}

TEST_F(WatchTest, ListsOnceForManyBrokenStreams) {
  watch_->start();
  loop_.run();
  for (int i = 0; i < 40; ++i) {
    tell("ADDED", "a");
    cut();
    loop_.run_for(seconds(30));
  }
  EXPECT_LE(watch_->counts().lists, 5U);  // in twenty minutes of it
}

TEST_F(WatchTest, LinesMayComeInAnyPieces) {
  watch_->start();
  loop_.run();
  const std::string line = change("ADDED", pod("a", 11)) + "\n" + change("ADDED", pod("b", 12));
  for (const char c : line) channel_.stream(std::string(1, c));
  EXPECT_EQ(heard_, (std::set<std::string>{"a", "b"}));
}

TEST_F(WatchTest, AnEndlessLineIsNotKept) {
  watch_->start();
  loop_.run();
  const std::string piece(size_t{1} << 20, 'x');
  for (int i = 0; i < 9; ++i) channel_.stream(piece);
  loop_.run_for(seconds(1));
  EXPECT_GE(watch_->counts().streams, 2U);
}

// Waits have grown to a minute by then: guests of a dead buyer may run until all is seen again.
TEST_F(WatchTest, GoesOnWhenTheServerHasAnsweredSomebodyElse) {
  watch_->start();
  loop_.run();
  is_reachable_ = false;
  cut();
  loop_.run_for(minutes(20));
  ASSERT_TRUE(watch_->is_in_trouble());
  is_reachable_ = true;
  const size_t asked = channel_.asked.size();
  api_.get(k_pods, {"default", "a"}, [](const Result<Object>&) {});
  loop_.run_for(seconds(1));
  EXPECT_FALSE(watch_->is_in_trouble());
  EXPECT_GE(channel_.asked.size(), asked + 3);  // with its version and a stream
}

// It has refused nothing: whoever waited for it as for a refusal was blind for a minute after.
TEST_F(WatchTest, AnswersThatAreCutAreWaitedForNoLongerThanSilence) {
  is_whole_ = false;
  watch_->start();
  loop_.run_for(minutes(20));
  ASSERT_EQ(syncs_, 0);
  for (size_t i = 1; i < channel_.asked.size(); ++i) {
    EXPECT_LE(channel_.asked[i].at - channel_.asked[i - 1].at, host::k_longest_wait);
  }
}

TEST_F(WatchTest, GoesOnWhenTheServerHasGivenSomebodyElseAWholeAnswer) {
  is_whole_ = false;
  watch_->start();
  loop_.run_for(minutes(20));
  ASSERT_EQ(syncs_, 0);
  is_whole_ = true;
  api_.get(k_pods, {"default", "a"}, [](const Result<Object>&) {});
  loop_.run_for(seconds(1));
  EXPECT_EQ(syncs_, 1);
}

TEST_F(WatchTest, IsNotHurriedByEveryAnswerOfAServerThatFailsHalfOfTheTime) {
  watch_status_ = 500;
  watch_->start();
  loop_.run_for(minutes(20));
  const uint64_t streams = watch_->counts().streams;
  const auto ask = [this](bool is_answered) {
    const auto script = channel_.script;
    if (!is_answered) channel_.script = [](const net::Request&) { return test::lost(); };
    api_.remove(k_pods, {"default", "a"}, {}, [](const Result<void>&) {});
    loop_.run();
    channel_.script = script;
  };
  for (int i = 0; i < 100; ++i) {
    ask(false);
    ask(true);
    loop_.run_for(milliseconds(100));
  }
  EXPECT_LE(watch_->counts().streams, streams + 5);
}

}  // namespace
}  // namespace spillway::kube
