// An agent that sells what is free in its live cluster: the cluster, the broker and the agent are
// processes of their own, as they are for their users.
#include "integration/cli/federation.h"
#include "kube/session.h"
#include "live/federation.h"
#include "model/json.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string k_policy =
    "noun: policy\n"
    "version: 1\n"
    "ladder:\n"
    "  - {name: small, shape: {cpu: 1, memory: 1Gi, pods: 5}}\n"
    "price: {currency: EUR, cpu_hour: 0.02}\n"
    "place: {latitude: 45.07, longitude: 7.69, country: IT}\n"
    "visibility: everyone\n";

// Whoever owns the cluster, with kubectl in mind.
class Owner {
 public:
  explicit Owner(const std::string& kubeconfig) {
    const Status opened = thread_.run([&]() -> Status {
      const auto access = kube::read_own_kubeconfig(kubeconfig);
      if (!access) return tl::unexpected(access.error());
      auto session = kube::Session::open(thread_.poll(), loop_, random_, *access);
      if (!session) return tl::unexpected(session.error());
      session_ = std::move(*session);
      return {};
    });
    EXPECT_TRUE(opened) << opened.error().message();
  }
  ~Owner() {
    thread_.run([this] {
      session_.reset();
      return true;
    });
  }

  void run_pod(const std::string& name, const std::string& cpu) {
    kube::Object pod = kube::new_object(kube::k_pods, "Pod", {"default", name});
    model::put(pod, "spec",
               *model::parse_json(fmt::format(
                   R"({{"terminationGracePeriodSeconds":0,"containers":[{{"name":"main",
                       "image":"none","resources":{{"requests":{{"cpu":"{}"}}}}}}]}})",
                   cpu)));
    const auto made = thread_.ask<Result<kube::Object>>(
        [&](auto then) { session_->api().create(kube::k_pods, pod, then); });
    EXPECT_TRUE(made) << made.error().message();
  }
  void delete_pod(const std::string& name) {
    EXPECT_TRUE(thread_.ask<Status>([&](auto then) {
      session_->api().remove(kube::k_pods, {"default", name}, {}, then);
    }));
  }
  void cordon(const std::string& node, bool is_cordoned) {
    const auto patch = model::parse_json(
        fmt::format(R"({{"spec":{{"unschedulable":{}}}}})", is_cordoned ? "true" : "null"));
    EXPECT_TRUE(thread_.ask<Result<kube::Object>>([&](auto then) {
      session_->api().patch(kube::k_nodes, {"", node}, kube::PatchKind::merge, *patch, then);
    }));
  }

 private:
  test::PollThread thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<kube::Session> session_;
};

class LiveAgent : public Federation {
 protected:
  void SetUp() override {
    Federation::SetUp();
    join("turin", "provider");
    join("lyon", "consumer");
    start_cluster();
    write_policy(k_policy);
    agent = std::make_unique<Running>(
        std::vector<std::string>{"agent", "--dir", folder / "turin", "--policy", policy(),
                                 "--kubeconfig", kubeconfig()},
        folder / "agent.out", folder / "agent.err");
    owner = std::make_unique<Owner>(kubeconfig());
    EXPECT_TRUE(has_capacity("8 cpu")) << text_of(folder / "agent.err");
  }
  void start_cluster() {
    cluster = std::make_unique<Running>(
        std::vector<std::string>{"cluster", "run", "turin", "--nodes", "2", "--cpu", "4",
                                 "--kubeconfig", kubeconfig(), "--port",
                                 std::to_string(cluster_port)},
        folder / "cluster.out", folder / "cluster.err");
    ASSERT_TRUE(cluster->says("listens on")) << text_of(folder / "cluster.err");
  }

  std::string kubeconfig() const { return folder / "kubeconfig"; }
  std::string policy() const { return folder / "policy.yaml"; }
  void write_policy(const std::string& text) const { std::ofstream(policy()) << text; }
  // Of the pool, at the broker: soon.
  bool has_capacity(const std::string& text) {
    const auto is_so = [&](const Ended& seen) {
      return seen.out.find("\t" + text + ",") != std::string::npos ||
             seen.out.find("\t" + text + "\t") != std::string::npos;
    };
    const Ended seen = run_until("pools -o plain" + ada(), is_so);
    last = seen.out;
    return is_so(seen);
  }

  uint16_t cluster_port = free_port();
  std::unique_ptr<Running> cluster;
  std::unique_ptr<Running> agent;
  std::unique_ptr<Owner> owner;
  std::string last;
};

TEST_F(LiveAgent, OffersFollowWhatIsFree) {
  owner->run_pod("own", "3");
  EXPECT_TRUE(has_capacity("5 cpu")) << last;
  owner->cordon("node-1", true);
  owner->cordon("node-2", true);
  EXPECT_TRUE(has_capacity("nothing")) << last;
  owner->cordon("node-1", false);
  owner->cordon("node-2", false);
  owner->delete_pod("own");
  EXPECT_TRUE(has_capacity("8 cpu")) << last;
}

TEST_F(LiveAgent, APolicyIsTakenWhenItChangesAndABadOneIsNot) {
  write_policy(k_policy + "headroom: {cpu: 1}\n");
  EXPECT_TRUE(has_capacity("6 cpu")) << last;
  write_policy(k_policy + "headrom: {cpu: 2}\n");
  EXPECT_TRUE(agent->says("policy.yaml line 8", folder / "agent.err"));
  EXPECT_THAT(text_of(folder / "agent.err"), HasSubstr("did you mean headroom"));
  EXPECT_TRUE(has_capacity("6 cpu")) << last;
}

TEST_F(LiveAgent, ItsOwnersWorkComesFirstByNotice) {
  const Ended offers = run_until("offers -o plain" + dir("lyon"), [](const Ended& seen) {
    return seen.out.find("turin/") != std::string::npos;
  });
  const size_t begins = offers.out.find("turin/");
  ASSERT_NE(begins, std::string::npos) << offers.out << offers.err;
  const std::string offer = offers.out.substr(begins, offers.out.find('\t', begins) - begins);
  const Ended held = run_spillway("hold " + offer + " --units 8 --confirm -o plain" + dir("lyon"));
  ASSERT_EQ(held.code, 0) << held.err;
  owner->run_pod("own", "2");
  const Ended noticed = run_until("contracts -o plain" + dir("lyon"), [](const Ended& seen) {
    return seen.out.find("closing") != std::string::npos;
  });
  EXPECT_THAT(noticed.out, HasSubstr("closing"));
}

TEST_F(LiveAgent, AClusterThatIsGoneForAMomentChangesNothing) {
  cluster->stop(SIGKILL);
  EXPECT_TRUE(agent->says("the cluster cannot be seen", folder / "agent.err"));
  EXPECT_TRUE(has_capacity("8 cpu"));
  EXPECT_THAT(run_spillway("offers" + dir("lyon")).out, HasSubstr("turin/"));
}

}  // namespace
}  // namespace spillway::cli
