// Two agents of one cluster, as processes, with identity and state in the cluster: one is active,
// and when it is killed the other goes on where it was.
#include <csignal>
#include <future>
#include <iostream>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "embedded/cluster.h"
#include "kube/session.h"
#include "kube/watch.h"
#include "live/broker_process.h"
#include "live/federation.h"
#include "live/live_cluster.h"
#include "services/agent/cluster_state.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::Federation;
using test::Papers;

constexpr const char* k_supply = R"(
noun: supply
version: 1
pools:
  - id: edge-1/standard
    node: {cpu: 8, memory: 32Gi, pods: 110}
    capacity: {cpu: 32, memory: 128Gi, pods: 440}
offers:
  - id: edge-1/small
    pool: edge-1/standard
    shape: {cpu: 2, memory: 4Gi, pods: 20}
    price: {currency: EUR, unit_hour: 0.05}
    place: {latitude: 45.07, longitude: 7.68, country: IT}
    visibility: everyone
)";

class HomeCluster : public test::LiveCluster {
 public:
  using LiveCluster::LiveCluster;

  // The object, as soon as `is_right` says so.
  kube::Object wait(const kube::Resource& resource, const std::string& name,
                    std::function<bool(const kube::Object&)> is_right) {
    auto found = std::make_shared<std::promise<kube::Object>>();
    auto future = found->get_future();
    std::unique_ptr<kube::Watch> watch;
    thread().run([&] {
      kube::WatchCalls calls;
      calls.on_put = [is_right, found, done = false](const kube::Object& object) mutable {
        if (!done && is_right(object)) {
          done = true;
          found->set_value(object);
        }
      };
      calls.on_gone = [](const kube::Name&) {};
      watch = std::make_unique<kube::Watch>(
          api(), resource, kube::Wanted{.space = "default", .fields = "metadata.name=" + name},
          std::move(calls));
      watch->start();
      return true;
    });
    const bool came = future.wait_for(std::chrono::seconds(40)) == std::future_status::ready;
    thread().run([&] {
      watch.reset();
      return true;
    });
    EXPECT_TRUE(came) << name;
    return came ? future.get() : kube::Object{};
  }
};

agent::AgentState state_in(const kube::Object& secret) {
  const auto text = from_base64(model::text_at(secret, {"data", agent::ClusterState::k_file}));
  return agent::state_from_json(text.value_or("")).value_or(agent::AgentState{});
}

class ClusterHome : public testing::Test {
 protected:
  ClusterHome() : buyer(federation.join("edge-2", {Role::consumer})) {
    EXPECT_TRUE(pki::write_private(folder / "supply.yaml", k_supply));
    EXPECT_TRUE(pki::write_private(folder / "token",
                                   federation.make_token("edge-1", {Role::provider}) + "\n"));
  }
  ~ClusterHome() override {
    if (HasFailure()) std::cerr << test::read_text(folder / "log");
  }
  std::unique_ptr<test::ChildProcess> start_agent() {
    return std::make_unique<test::ChildProcess>(std::vector<std::string>{
        "/bin/sh", "-c", "exec \"$@\" 2>>\"$0\"", folder / "log",  //
        test::spillway_program(), "agent", "--in-cluster", "a",    //
        "--kubeconfig", folder / "kubeconfig", "--supply", folder / "supply.yaml", "--join",
        fmt::format("https://127.0.0.1:{}", federation.port()), "--token-file", folder / "token"});
  }
  std::string holder(const std::string& unlike = {}) {
    const auto lease = cluster.wait(kube::k_leases, "a", [&](const kube::Object& object) {
      const auto name = model::text_at(object, {"spec", "holderIdentity"});
      return !name.empty() && name != unlike;
    });
    return std::string(model::text_at(lease, {"spec", "holderIdentity"}));
  }
  agent::AgentState wait_for_state(std::function<bool(const agent::AgentState&)> is_right) {
    return state_in(cluster.wait(
        kube::k_secrets, "a-state",
        [is_right](const kube::Object& secret) { return is_right(state_in(secret)); }));
  }
  ContractId buy(const std::string& key) {
    net::Request request = Federation::post(
        "/v1/holds",
        model::write_json(wire::HoldRequest{{{OfferId("edge-1/small"), 1, 1}}, minutes(10)}));
    request.headers.push_back({"Idempotency-Key", key});
    const auto answer = Federation::read<wire::HoldAnswer>(federation.call(buyer, request));
    return answer.grants.empty() ? ContractId() : answer.grants[0].contract;
  }

  test::TemporaryFolder folder;
  Federation federation;
  Papers buyer;
  HomeCluster cluster{folder / "kubeconfig"};
};

TEST_F(ClusterHome, TheOtherAgentGoesOnWithContractsAndIdentityOfOneThatWasKilled) {
  auto first = start_agent();
  const std::string first_holder = holder();
  auto second = start_agent();
  wait_for_state([](const agent::AgentState& state) {
    const auto offer = state.offers.find(OfferId("edge-1/small"));
    return offer != state.offers.end() && offer->second.acknowledged;
  });
  const ContractId early = buy("early");
  const auto before = wait_for_state(
      [&](const agent::AgentState& state) { return state.contracts.contains(early); });

  first.reset();  // kill -9
  EXPECT_NE(holder(first_holder), first_holder);
  const ContractId late = buy("late");
  const auto after = wait_for_state(
      [&](const agent::AgentState& state) { return state.contracts.contains(late); });
  EXPECT_TRUE(after.contracts.contains(early));
  EXPECT_EQ(after.cluster, ClusterId("edge-1"));
  EXPECT_EQ(after.epoch, before.epoch);
  EXPECT_GE(after.reports, before.reports);
  EXPECT_EQ(after.offers.at(OfferId("edge-1/small")).sequence,
            before.offers.at(OfferId("edge-1/small")).sequence);
}

TEST_F(ClusterHome, OneThatIsAskedToEndMakesRoomAtOnceAndCanComeBack) {
  auto first = start_agent();
  const std::string first_holder = holder();
  wait_for_state([](const agent::AgentState& state) { return state.last_event >= 0; });
  ::kill(first->pid(), SIGTERM);
  cluster.wait(kube::k_leases, "a", [](const kube::Object& lease) {
    return model::text_at(lease, {"spec", "holderIdentity"}).empty();
  });
  first = start_agent();
  EXPECT_NE(holder(), first_holder);
}

}  // namespace
}  // namespace spillway
