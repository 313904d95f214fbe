// A provider that does not answer any more, and comes back: what becomes of work on its nodes, on
// both sides, with the agents' own probes and states.
#include "fabric/death.h"

#include "fabric/fence.h"
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

// To the provider, as long as it answers.
class Gate final : public net::Channel {
 public:
  Gate(std::unique_ptr<net::Channel> way, const bool& is_open, int& asked)
      : way_(std::move(way)), is_open_(is_open), asked_(asked) {}
  void send(net::Request request, net::OnResponse then) override {
    asked_ += 1;
    if (is_open_) way_->send(std::move(request), std::move(then));
  }
  std::unique_ptr<net::Reading> open(net::Request, net::StreamCalls) override { return nullptr; }

 private:
  std::unique_ptr<net::Channel> way_;
  const bool& is_open_;
  int& asked_;
};

class FabricDeath : public FabricTest {
 protected:
  FabricDeath() {
    seller.start();
    buyer.start(options());
    live(4);
    contract = trade_units(1);
    EXPECT_TRUE(comes([&] { return all_ready(contract); }));
    unit = unit_names(contract)[0];
    make_way();
    say_of_milan("Established");
    add_work("web", "");
    add_work("db-0", R"("statefulset.kubernetes.io/pod-name":"db-0")");
  }

  FabricOptions options() {
    FabricOptions made;
    made.api_servers = allowed;
    made.pulse.dial = [this](const kube::Access& access) -> Result<std::unique_ptr<net::Channel>> {
      dialled.push_back(access.server.host);
      return std::make_unique<Gate>(
          std::make_unique<test::ClusterChannel>(loop, liqo.milan.cluster), is_milan_there, asked);
    };
    return made;
  }
  void make_way(const std::string& server = "https://milan:6443") {
    const std::string kubeconfig = fmt::format(
        "{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: "
        "{{cluster: k, user: u}}}}], users: [{{name: u, user: {{token: t}}}}], clusters: [{{name: "
        "k, cluster: {{server: '{}', certificate-authority-data: {}}}}}]}}",
        server, to_base64(authority.certificate_pem()));
    const std::string name = "kubeconfig-controlplane-milan";
    liqo.rome.remove(test::Place::path(liqo::k_secrets, "liqo-tenant-milan", name));
    const test::Told made = liqo.rome.create(
        test::Place::path(liqo::k_secrets, "liqo-tenant-milan"),
        fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"kubeconfig":"{}"}}}})", name,
                    to_base64(kubeconfig)));
    EXPECT_EQ(made.status, 201);
  }
  void say_of_milan(const std::string& status) {
    const std::string all = test::Place::path(liqo::k_foreign_clusters);
    liqo.rome.create(
        all,
        R"({"apiVersion":"core.liqo.io/v1beta1","kind":"ForeignCluster","metadata":{"name":"milan"},"spec":{"clusterID":"milan"}})");
    liqo.rome.merge(
        all + "/milan/status",
        fmt::format(
            R"({{"status":{{"role":"Provider","conditions":[{{"type":"APIServerStatus","status":"{}"}}]}}}})",
            status));
  }
  // A pod here and its guest there.
  void add_work(const std::string& name, const std::string& label) {
    liqo.rome.create(
        "/api/v1/namespaces/default/pods",
        fmt::format(
            R"({{"metadata":{{"name":"{}","labels":{{{}}}}},"spec":{{"nodeName":"{}",)"
            R"("tolerations":[{{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists"}}],)"
            R"("containers":[{{"name":"main","image":"none"}}]}}}})",
            name, label, unit));
    liqo.add_guest(fabric::liqo::unit_user(unit, pki::sha256_hex("rome")), name);
    if (label.empty()) return;
    liqo.milan.merge(guest(name), fmt::format(R"({{"metadata":{{"labels":{{{}}}}}}})", label));
  }
  static std::string pod(const std::string& name) {
    return "/api/v1/namespaces/default/pods/" + name;
  }
  static std::string guest(const std::string& name) {
    return test::Place::path(liqo::k_shadow_pods, "work-rome", name);
  }
  std::string lease() {
    return test::Place::path(liqo::k_leases, "liqo-tenant-rome", fabric::k_fence_name);
  }
  bool is_tainted(std::string_view key) {
    const auto node = liqo.rome.ask("GET", "/api/v1/nodes/" + unit);
    for (const model::Node& one : model::items_at(node.body, {"spec", "taints"})) {
      if (model::text_at(one, {"key"}) == key) return true;
    }
    return false;
  }
  bool is_leaving(const std::string& name) {
    return !liqo.rome.ask("GET", pod(name)).text({"metadata", "deletionTimestamp"}).empty();
  }
  void kill_milan() {
    is_milan_there = false;
    liqo.is_replicating = false;
    say_of_milan("Error");
  }
  void revive_milan() {
    is_milan_there = true;
    liqo.is_replicating = true;
    say_of_milan("Established");
  }
  bool is_renewed() { return !liqo.milan.ask("GET", lease()).text({"spec", "renewTime"}).empty(); }

  AllowedServers allowed;
  bool is_milan_there = true;
  int asked = 0;
  std::vector<std::string> dialled;
  pki::Authority authority = *pki::Authority::create("test", Instant{1'769'000'000'000});
  model::Contract contract;
  std::string unit;
};

TEST_F(FabricDeath, WorkWithoutIdentityGoesAndTheRestWaitsForItsProvider) {
  ASSERT_TRUE(comes([&] { return is_renewed(); }));
  const Instant killed = loop.now();
  kill_milan();
  ASSERT_TRUE(comes([&] { return is_leaving("web"); }, 1200));
  EXPECT_LE((loop.now() - killed).ms, seconds(20).ms);
  EXPECT_TRUE(is_tainted(fabric::k_dead_taint));
  EXPECT_TRUE(is_tainted(fabric::k_deleted_taint));
  EXPECT_EQ(buyer.agent->fabric()->status().providers.at(fabric::Life::dead), 1);
  // Somebody takes the Cluster Autoscaler's taint away, as itself does at its start.
  liqo.rome.merge("/api/v1/nodes/" + unit,
                  R"({"spec":{"taints":[{"key":"spillway.dev/provider-dead","value":"true",)"
                  R"("effect":"NoSchedule"},{"key":"spillway.dev/provider-dead","value":"true",)"
                  R"("effect":"NoExecute"}]}})");
  ASSERT_TRUE(comes([&] { return is_tainted(fabric::k_deleted_taint); }));
  live(400);
  EXPECT_FALSE(is_leaving("db-0"));
  revive_milan();
  ASSERT_TRUE(comes([&] { return !is_tainted(fabric::k_dead_taint); }));
  EXPECT_FALSE(is_tainted(fabric::k_deleted_taint));
  live(40);
  EXPECT_FALSE(is_leaving("db-0"));
  EXPECT_TRUE(liqo.milan.has(guest("db-0")));
  EXPECT_TRUE(buyer.agent->fabric()->status().troubles.empty());
}

TEST_F(FabricDeath, OneSignAloneKillsNobody) {
  ASSERT_TRUE(comes([&] { return is_renewed(); }));
  is_milan_there = false;
  live(1600);
  EXPECT_FALSE(is_tainted(fabric::k_dead_taint));
  EXPECT_EQ(buyer.agent->fabric()->status().providers.at(fabric::Life::doubted), 1);
  live(2400);  // a minute, after which its owner is told
  ASSERT_EQ(buyer.agent->fabric()->status().troubles.size(), 1U);
  EXPECT_NE(buyer.agent->fabric()->status().troubles[0].find("does not answer our probe"),
            std::string::npos);
  is_milan_there = true;
  say_of_milan("Error");
  live(1600);
  EXPECT_FALSE(is_tainted(fabric::k_dead_taint));
}

TEST_F(FabricDeath, AfterTheFenceTimeBothSidesLetGoAndAReturnMakesAllAnew) {
  ASSERT_TRUE(comes([&] { return is_renewed(); }));
  kill_milan();
  ASSERT_TRUE(comes([&] { return is_tainted(fabric::k_deleted_taint); }, 1200));
  loop.run_for(minutes(4));
  live(8);
  EXPECT_TRUE(liqo.milan.has(guest("db-0")));
  buyer.start(options());  // it forgets nothing that matters
  loop.run_for(seconds(70));
  live(8);
  // The provider has stopped it, and nothing else; here it waits for what clocks may differ.
  EXPECT_FALSE(liqo.milan.has(guest("db-0")));
  EXPECT_TRUE(liqo.milan.has(guest("web")));
  EXPECT_TRUE(liqo.rome.has(pod("db-0")));
  loop.run_for(minutes(2));
  ASSERT_TRUE(comes([&] { return left_of(unit).size() <= 3; }));  // those of milan
  EXPECT_FALSE(liqo.rome.has(pod("db-0")));
  EXPECT_FALSE(liqo.rome.has("/api/v1/nodes/" + unit));
  EXPECT_FALSE(liqo.rome.has(slice_path(liqo.rome, unit)));

  revive_milan();
  ASSERT_TRUE(comes([&] { return is_ready(unit); }, 1200));
  EXPECT_FALSE(is_tainted(fabric::k_dead_taint));
  ASSERT_TRUE(comes([&] {
    return liqo.milan.ask("GET", lease())
               .text({"metadata", "annotations", "spillway.dev/settled"}) == "1";
  }));
  ASSERT_TRUE(comes([&] {
    return liqo.milan.ask("GET", slice_path(liqo.milan, unit))
        .text({"metadata", "annotations", "liqo.io/cordon"})
        .empty();
  }));
}

TEST_F(FabricDeath, ADeadProviderKeepsNobodyFromReleasing) {
  ASSERT_TRUE(comes([&] { return is_renewed(); }));
  liqo.rome.remove(pod("db-0") + "?gracePeriodSeconds=0");
  kill_milan();
  ASSERT_TRUE(comes([&] { return is_tainted(fabric::k_deleted_taint); }, 1200));
  const Instant released = loop.now();
  tell_both(closed(contract), "contract-closed");
  ASSERT_TRUE(comes([&] {
    return !liqo.rome.has(slice_path(liqo.rome, unit)) && !liqo.rome.has("/api/v1/nodes/" + unit) &&
           liqo.rome.all(liqo::k_identities).empty();
  }));
  EXPECT_LE((loop.now() - released).ms, seconds(5).ms);
  ASSERT_TRUE(comes([&] { return buyer.agent->state().fabric.bought_from.empty(); }));
  EXPECT_TRUE(liqo.rome.all(liqo::k_foreign_clusters).empty());
  // What comes back sells again, at once.
  revive_milan();
  const model::Contract next = trade_units(1);
  EXPECT_TRUE(comes([&] { return all_ready(next); }));
}

TEST_F(FabricDeath, AServerThatIsNotAllowedIsNeverDialled) {
  ASSERT_TRUE(comes([&] { return is_renewed(); }));
  allowed = {"https://milan:6443"};
  make_way("https://oslo:6443");
  dialled.clear();
  buyer.start(options());
  live(800);
  EXPECT_TRUE(dialled.empty()) << dialled.front();
}

}  // namespace
}  // namespace spillway::agent
