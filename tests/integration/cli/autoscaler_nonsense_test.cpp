// A live autoscaler that is asked nonsense, and asked by many at once, over real connections: the
// right code each time, and what is held at the broker is what it says.
#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>

#include "integration/cli/live_autoscaler.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;

constexpr int64_t k_creating = 2;

// Every question that makes no sense here, and what is to be answered.
std::map<std::string, std::pair<GrpcCode, GrpcCode>> ask_nonsense(StraightCalls& calls) {
  CloudClient cloud = calls.cloud();
  const std::string service(cluster_autoscaler::k_cloud_provider_service);
  const demand::NodeRef foreign{"aws:///eu-south-1b/i-0a1b2c", "ip-10-0-1-2"};
  const auto raw = [&](const std::string& method, const std::string& bytes) {
    return calls.call(method, bytes).code;
  };
  return {
      {"target of no group", {code_of(cloud.target("no/such")), GrpcCode::not_found}},
      {"nodes of no group", {code_of(cloud.nodes("no/such")), GrpcCode::not_found}},
      {"template of no group", {code_of(cloud.template_node("")), GrpcCode::not_found}},
      {"increase of no group", {code_of(cloud.increase("no/such", 1)), GrpcCode::not_found}},
      {"decrease of no group", {code_of(cloud.decrease("no/such", -1)), GrpcCode::not_found}},
      {"delete in no group", {code_of(cloud.remove("no/such", foreign)), GrpcCode::not_found}},
      {"increase by 0", {code_of(cloud.increase(k_small, 0)), GrpcCode::invalid_argument}},
      {"increase by -1", {code_of(cloud.increase(k_small, -1)), GrpcCode::invalid_argument}},
      {"increase by the least",
       {code_of(cloud.increase(k_small, INT32_MIN)), GrpcCode::invalid_argument}},
      {"increase by the most",
       {code_of(cloud.increase(k_small, INT32_MAX)), GrpcCode::resource_exhausted}},
      {"decrease by +1", {code_of(cloud.decrease(k_small, 1)), GrpcCode::invalid_argument}},
      {"decrease by 0", {code_of(cloud.decrease(k_small, 0)), GrpcCode::invalid_argument}},
      {"decrease by the least",
       {code_of(cloud.decrease(k_small, INT32_MIN)), GrpcCode::failed_precondition}},
      {"delete a foreign node",
       {code_of(cloud.remove(k_small, foreign)), GrpcCode::invalid_argument}},
      {"delete a node without a name",
       {code_of(cloud.remove(k_small, demand::NodeRef())), GrpcCode::invalid_argument}},
      {"group of a foreign node", {code_of(cloud.group_of(foreign)), GrpcCode::ok}},
      {"price of a foreign node",
       {code_of(cloud.node_price({{"a", "b"}}, test::wall_clock(), 60)), GrpcCode::not_found}},
      {"price of a window that ends before it begins",
       {code_of(cloud.pod_price({}, test::wall_clock(), -60)), GrpcCode::invalid_argument}},
      {"price of no pod",
       {code_of(cloud.pod_price("\xff\xff", test::wall_clock(), 60)), GrpcCode::invalid_argument}},
      {"options", {code_of(cloud.options(k_small)), GrpcCode::unimplemented}},
      {"bytes that are no message",
       {raw(service + "NodeGroupIncreaseSize", "\xff"), GrpcCode::invalid_argument}},
      {"no such call", {raw(service + "BuyEverything", ""), GrpcCode::unimplemented}},
      {"no such service", {raw("/grpc.health.v1.Health/Check", ""), GrpcCode::unimplemented}},
      {"no path", {raw("/", ""), GrpcCode::unimplemented}},
  };
}

TEST_F(LiveAutoscaler, AnswersNonsenseWithTheRightCodeAndLosesNothing) {
  start(4);
  ASSERT_EQ(code_of(cloud_.increase(k_small, 2)), GrpcCode::ok);
  for (int turn = 0; turn < 2; ++turn) {  // what is coming, and what is there
    for (const auto& [what, codes] : ask_nonsense(*calls_)) {
      EXPECT_EQ(codes.first, codes.second) << what;
    }
    EXPECT_EQ(target(), 2);
    EXPECT_EQ(sold(), 2);
    EXPECT_TRUE(comes([this] {
      const auto seen = nodes();
      return std::all_of(seen.begin(), seen.end(), [](const auto& one) { return one.state == 1; });
    }));
  }
  EXPECT_EQ(nodes().size(), 2U);
}

// Who asks on a connection of its own, until it is told to stop.
class Rivals {
 public:
  explicit Rivals(const test::AutoscalerProcess& process) : process_(process) {}

  // `ask(calls, rival)` on each of so many connections at once.
  template <class F>
  void run(int count, F ask) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this, i, ask] {
        StraightCalls calls(process_.client_options());
        ask(calls, i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  void note(GrpcCode code) {
    const std::lock_guard lock(mutex_);
    ++codes[code];
  }
  std::map<GrpcCode, int> codes;

 private:
  const test::AutoscalerProcess& process_;
  std::mutex mutex_;
};

TEST_F(LiveAutoscaler, SellsEachUnitOnceToADozenConnections) {
  constexpr int k_units = 20;
  constexpr int k_rivals = 12;
  start(k_units);
  ASSERT_TRUE(comes([this] { return cloud_.groups().value()[0].max == k_units; }));
  Rivals rivals(*process_);
  rivals.run(k_rivals, [&](StraightCalls& calls, int) {
    CloudClient cloud = calls.cloud();
    for (int i = 0; i < 4; ++i) {  // 48 are wanted
      rivals.note(code_of(cloud.increase(k_small, 1)));
      for (const auto& [what, codes] : ask_nonsense(calls)) {
        // While others buy, something may be on its way that could be cancelled, but never so much.
        EXPECT_EQ(codes.first, codes.second) << what;
      }
    }
  });
  EXPECT_EQ(rivals.codes[GrpcCode::ok], k_units);
  EXPECT_EQ(rivals.codes[GrpcCode::resource_exhausted], k_rivals * 4 - k_units);
  EXPECT_EQ(target(), k_units);
  EXPECT_EQ(sold(), k_units);
  EXPECT_EQ(nodes().size(), static_cast<size_t>(k_units));
}

TEST_F(LiveAutoscaler, KeepsCountWhileADozenBuyCancelAndDelete) {
  constexpr int k_rivals = 12;
  start(30);
  ASSERT_TRUE(comes([this] { return cloud_.groups().value()[0].max == 30; }));
  Rivals rivals(*process_);
  rivals.run(k_rivals, [&](StraightCalls& calls, int rival) {
    CloudClient cloud = calls.cloud();
    for (int i = 0; i < 6; ++i) {
      rivals.note(code_of(cloud.increase(k_small, 1 + (rival + i) % 3)));
      if (rival % 3 == 0) rivals.note(code_of(cloud.decrease(k_small, -1)));
      if (rival % 3 == 1) {
        const auto seen = cloud.nodes(k_small).value();
        if (seen.empty()) continue;
        const std::string& id = seen[static_cast<size_t>(i * 7 + rival) % seen.size()].id;
        // Another may have been faster: that is no error.
        EXPECT_EQ(code_of(cloud.remove(k_small, {id, id})), GrpcCode::ok);
      }
    }
  });
  for (const auto& [code, count] : rivals.codes) {
    EXPECT_TRUE(code == GrpcCode::ok || code == GrpcCode::resource_exhausted ||
                code == GrpcCode::failed_precondition)
        << static_cast<int>(code) << ": " << count;
  }
  // What is to be deleted goes; what is left is what is held.
  ASSERT_TRUE(comes([this] { return sold() == target(); })) << sold() << " and " << target();
  for (const auto& one : nodes()) {
    EXPECT_EQ(code_of(cloud_.remove(k_small, {one.id, one.id})), GrpcCode::ok);
  }
  EXPECT_TRUE(comes([this] { return sold() == 0 && nodes().empty() && target() == 0; }));
}

// Nobody plays kwok's nodes in an embedded cluster: units stay creating, so that all rules can be
// tried, also those about what is on its way.
TEST_F(LiveAutoscaler, KeepsTheRulesAboutUnitsThatDoNotCome) {
  start(4, {"--backend", "kwok"});
  const Ended told = run_spillway("conformance externalgrpc " + process_->client_flags());
  EXPECT_EQ(told.code, 0) << told.out << told.err;
  EXPECT_THAT(told.out, HasSubstr("✓ decrease-cancels\n"));
  EXPECT_THAT(told.out, HasSubstr("0 broken, 0 not tried"));
  EXPECT_TRUE(comes([this] { return sold() == 0; }));  // it has given back what it took
  EXPECT_EQ(target(), 0);
}

TEST_F(LiveAutoscaler, GivesBackWhatIsCancelledWhileItIsCreating) {
  start(4, {"--backend", "kwok"});
  ASSERT_EQ(code_of(cloud_.increase(k_small, 3)), GrpcCode::ok);
  for (const auto& one : nodes()) EXPECT_EQ(one.state, k_creating);
  ASSERT_EQ(code_of(cloud_.decrease(k_small, -2)), GrpcCode::ok);
  EXPECT_EQ(target(), 1);
  EXPECT_TRUE(comes([this] { return sold() == 1; }));
  EXPECT_EQ(code_of(cloud_.decrease(k_small, -2)), GrpcCode::failed_precondition);
  EXPECT_EQ(target(), 1);
  EXPECT_EQ(sold(), 1);
}

}  // namespace
}  // namespace spillway::cli
