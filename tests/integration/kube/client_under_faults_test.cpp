// The client against an API server that misbehaves: a watch through everything that API servers do.
#include <chrono>
#include <set>

#include "integration/kube/client_fixture.h"
#include "support/comes_true.h"

namespace spillway::kube {
namespace {

using embedded::Fault;
using test::comes_true;
using test::has;

TEST_F(ClientTest, AfterALostAnswerTheNextStepIsOneThatAClusterHas) {
  open(admin_);
  fault({.verb = "create", .loses_answer = true});
  const auto told = thread_.ask<Result<Object>>([this](auto then) {
    session_->api().create(k_config_maps, new_object(k_config_maps, "ConfigMap", {"default", "a"}),
                           then);
  });
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::unavailable);
  EXPECT_TRUE(has(told.error().next, "look whether it was done")) << told.error().message();
  EXPECT_FALSE(has(told.error().next, "key")) << "keys are the broker's";
}

// Everything at once, while objects come and go: in the end the watch knows what is there.
class WatchUnderFaults : public ClientTest {
 protected:
  void start_watch() {
    thread_.run([this] { return watch_.reset(), true; });
    open(admin_);
    thread_.run([this] {
      heard_.clear();
      WatchCalls calls;
      calls.on_put = [this](const Object& object) { heard_.emplace(name_in(object)); };
      calls.on_gone = [this](const Name& name) { heard_.erase(name.name); };
      watch_ = std::make_unique<Watch>(session_->api(), k_config_maps,
                                       Wanted{.space = "default", .labels = "test=yes"},
                                       std::move(calls));
      watch_->start();
      return true;
    });
  }
  // Straight into the cluster: no fault is in the way.
  void put(const std::string& name) {
    Object made = new_object(k_config_maps, "ConfigMap", {"default", name});
    model::put(model::ensure(made, {"metadata", "labels"}), "test", model::text_node("yes"));
    there_.insert(name);
    change([&](embedded::Objects& objects, const embedded::Kind& kind) {
      EXPECT_TRUE(objects.create(kind, std::move(made)));
    });
  }
  void remove(std::string name) {  // not a reference: it may be one to there_
    there_.erase(name);
    change([&](embedded::Objects& objects, const embedded::Kind& kind) {
      EXPECT_TRUE(objects.remove(kind, {"default", name}));
    });
  }
  template <class F>
  void change(F how) {
    thread_.run([&] {
      embedded::Objects& objects = cluster().objects();
      const embedded::Kind* kind = objects.registry.find("", "v1", "configmaps");
      EXPECT_NE(kind, nullptr);
      if (kind != nullptr) how(objects, *kind);
      return true;
    });
  }
  int64_t injected() {
    return thread_.run([this] { return cluster().faults().injected(); });
  }
  bool knows_all() {
    return comes_true([this] { return thread_.run([this] { return heard_ == there_; }); });
  }

  std::set<std::string> heard_;
  std::set<std::string> there_;
};

TEST_F(WatchUnderFaults, KnowsInTheEndWhatIsThere) {
  const std::vector<std::pair<std::string, Fault>> faults = {
      {"500", {.per_mille = 500, .code = 500}},
      {"429", {.per_mille = 500, .code = 429, .retry_after_seconds = 1}},
      {"410", {.verb = "watch", .per_mille = 700, .code = 410}},
      {"504", {.verb = "watch", .per_mille = 500, .code = 504}},
      {"cut", {.per_mille = 500, .cuts = true}},
      {"lost answers", {.per_mille = 500, .loses_answer = true}},
      {"garbled", {.verb = "list", .per_mille = 500, .garbles = true}},
      {"cut after an event", {.verb = "watch", .cut_after_events = 1}},
      {"garbage after an event", {.verb = "watch", .garbage_after_events = 1}},
      {"slow bytes", {.verb = "watch", .drop_bytes = 7, .drop_every = milliseconds(1)}},
      {"short streams", {.verb = "watch", .cut_after = milliseconds(50)}},
  };
  // Rules hold for what is asked for later: so that each comes to its turn, no stream lasts long.
  const Fault k_short{.verb = "watch", .cut_after = milliseconds(30)};
  int number = 0;
  for (const auto& [name, each] : faults) {
    fault(each);
    fault(k_short);
    start_watch();  // another one: waits that grew under the last fault would only make this slow
    const int64_t before = injected();
    for (int i = 0; i < 20; ++i) {
      put(fmt::format("c{}", number++));
      if (i % 3 == 0) remove(*there_.begin());
    }
    EXPECT_TRUE(comes_true([&] { return injected() > before; })) << name << " was never met";
    if (number % 2 == 0) thread_.run([this] { return cluster().forget_history(), true; });
    thread_.run([this] { return cluster().faults().clear(), true; });
    fault(k_short);
    EXPECT_TRUE(knows_all()) << name;
    // Without a storm.
    const WatchCounts counts = thread_.run([this] { return watch_->counts(); });
    EXPECT_LT(counts.lists, 20U) << name;
    EXPECT_LT(counts.streams, 50U) << name;
  }
}

TEST_F(WatchUnderFaults, AServerThatComesBackFromABackupIsListedAgain) {
  start_watch();
  for (int i = 0; i < 10; ++i) put(fmt::format("c{}", i));
  EXPECT_TRUE(knows_all());
  thread_.run([this] { return cluster().restart(milliseconds(300), 1000), true; });
  put("after");
  remove("c3");
  EXPECT_TRUE(knows_all());
}

}  // namespace
}  // namespace spillway::kube
