// The autoscaler between a real broker, an embedded cluster and a gRPC client with mutual TLS, as
// the Cluster Autoscaler would use it.
#include "services/autoscaler/autoscaler.h"

#include <algorithm>
#include <future>

#include <gtest/gtest.h>

#include "cluster_autoscaler/protobuf.h"
#include "live/live_cluster.h"
#include "live/shop.h"
#include "net/grpc_client.h"
#include "services/agent/state_file.h"
#include "services/autoscaler/grpc_port.h"
#include "services/autoscaler/played_nodes.h"
#include "support/comes_true.h"
#include "support/nouns.h"
#include "support/test_certificates.h"

namespace spillway {
namespace {

using cluster_autoscaler::ProtoField;
using cluster_autoscaler::ProtoReader;
using cluster_autoscaler::ProtoWriter;
using model::Role;
using net::GrpcAnswer;
using net::GrpcCode;

constexpr const char* k_group = "seller/small";
enum : int64_t { k_running = 1, k_creating = 2 };

// A connection to the broker that hands on everything but, when told to, the answer to a hold.
class LossyBroker final : public net::Channel {
 public:
  explicit LossyBroker(std::unique_ptr<net::Client> client) : client_(std::move(client)) {}

  void send(net::Request request, net::OnResponse then) override {
    if (request.target != "/v1/holds" || on_hold == nullptr) {
      return client_->send(std::move(request), std::move(then));
    }
    client_->send(std::move(request), [this](const Result<net::Response>& answer) {
      EXPECT_TRUE(answer && answer->status < 300);
      if (auto call = std::exchange(on_hold, nullptr)) call();
    });
  }
  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override {
    return client_->open(std::move(request), std::move(calls));
  }

  std::function<void()> on_hold;  // instead of the answer

 private:
  std::unique_ptr<net::Client> client_;
};

// All that the service consists of, on the thread of the cluster.
class Running {
 public:
  Running(test::LiveCluster& home, const net::ClientOptions& broker, const std::string& folder,
          const services::GrpcPortOptions& port)
      : loop_(home.thread().poll()),
        session_(home.open(home.admin())),
        broker_(net::Client::create(home.thread().poll(), broker).value()),
        state_(agent::StateFile::open(folder + "/state", autoscaler::ledger_state()).value()),
        nodes_(session_->api(), log_, autoscaler::find_player("embedded").value(), "testers/home"),
        service_(loop_, random_, broker_, *state_, nodes_, log_,
                 autoscaler::AutoscalerOptions{ClusterId("home")}),
        door_(service_),
        port_(home.thread().poll(), log_, port) {
    const Status started = service_.start();
    EXPECT_TRUE(started) << (started ? "" : started.error().message());
    const Status listening = port_.listen(door_);
    EXPECT_TRUE(listening) << (listening ? "" : listening.error().message());
  }
  uint16_t port() const { return port_.port(); }
  LossyBroker& broker() { return broker_; }

 private:
  services::ServiceLoop loop_;
  host::SystemRandom random_;
  services::NoLog log_;
  std::unique_ptr<kube::Session> session_;
  LossyBroker broker_;
  std::unique_ptr<agent::StateFile> state_;
  autoscaler::PlayedNodes nodes_;
  autoscaler::Autoscaler service_;
  cluster_autoscaler::CloudProvider door_;
  services::GrpcPort port_;
};

std::vector<std::string> fields_of(std::string_view message, uint32_t number) {
  std::vector<std::string> all;
  ProtoReader reader(message);
  ProtoField field;
  while (reader.next(field)) {
    if (field.number == number) all.emplace_back(field.bytes);
  }
  return all;
}

int64_t number_in(std::string_view message, uint32_t number) {
  ProtoReader reader(message);
  ProtoField field;
  while (reader.next(field)) {
    if (field.number == number) return field.integer();
  }
  return 0;
}

class AutoscalerLiveTest : public ::testing::Test {
 protected:
  AutoscalerLiveTest() {
    seller_ = federation_.join("seller", {Role::provider});
    home_papers_ = federation_.join("home", {Role::consumer});
    test::open_shop(federation_, seller_, 4);
    const auto server =
        authority_.issue({.name = "autoscaler", .ip = "127.0.0.1", .is_server = true});
    const auto client = authority_.issue({.name = "cluster-autoscaler"});
    keep("server.pem", server.certificate_pem + authority_.pem());
    keep("server.key", server.key_pem);
    keep("ca.pem", authority_.pem());
    client_papers_ = {client.certificate_pem, client.key_pem};
    start();
  }
  ~AutoscalerLiveTest() override {
    federation_.client().run([this] { return grpc_.reset(), true; });
    kill();
  }

  void keep(const std::string& name, const std::string& text) {
    ASSERT_TRUE(pki::write_private(folder_ / name, text));
  }
  void start() {
    const services::GrpcPortOptions port{"127.0.0.1:0", net::GrpcTrust::mutual,
                                         folder_ / "server.pem", folder_ / "server.key",
                                         folder_ / "ca.pem"};
    const uint16_t at = home_.thread().run([&] {
      running_ =
          std::make_unique<Running>(home_, federation_.options(home_papers_), folder_ / "", port);
      return running_->port();
    });
    federation_.client().run([&] {
      net::GrpcClientOptions options;
      options.port = at;
      net::ClientTrust trust;
      trust.authorities_pem = authority_.pem();
      trust.identity = &client_papers_;
      options.tls = net::client_context(trust).value();
      grpc_ = std::make_unique<net::GrpcClient>(federation_.client().poll(), options);
      return true;
    });
  }
  void kill() {
    home_.thread().run([this] { return running_.reset(), true; });
  }

  GrpcAnswer call(const std::string& name, ProtoWriter message = {}) {
    return federation_.client().ask<GrpcAnswer>([&](auto answer) {
      grpc_->call(std::string(cluster_autoscaler::k_cloud_provider_service) + name, message.take(),
                  seconds(5), answer);
    });
  }
  static ProtoWriter of_group() { return std::move(ProtoWriter().text(1, k_group)); }
  GrpcAnswer increase(int32_t delta) {
    return call("NodeGroupIncreaseSize",
                std::move(ProtoWriter().integer(1, delta).text(2, k_group)));
  }
  int64_t target() { return number_in(call("NodeGroupTargetSize", of_group()).message, 1); }
  std::vector<std::string> instances(int64_t state) {
    std::vector<std::string> ids;
    for (const std::string& one : fields_of(call("NodeGroupNodes", of_group()).message, 1)) {
      const auto status = fields_of(one, 2);
      if (!status.empty() && number_in(status[0], 1) == state) ids.push_back(fields_of(one, 1)[0]);
    }
    return ids;
  }
  // Real work goes on in other threads; each question asks it.
  bool comes(const std::function<bool()>& is_so) {
    return test::comes_true([&] { return is_so() || (call("Refresh"), false); });
  }
  Result<kube::Object> node(const std::string& name) {
    return home_.thread().ask<Result<kube::Object>>([&](auto answer) {
      home_.api().get(kube::k_nodes, {"", name}, answer);
    });
  }
  size_t nodes() {
    auto count = std::make_shared<size_t>(0);
    home_.thread().ask<Result<std::string>>([&](auto answer) {
      home_.api().list(
          kube::k_nodes, {}, [count](const kube::ListPage& page) { *count += page.items.size(); },
          answer);
    });
    return *count;
  }
  int32_t sold() {
    int32_t units = 0;
    const auto page = test::Members::read<wire::ContractPage>(
        federation_.call(home_papers_, test::Members::get("/v1/contracts?limit=100")));
    for (const model::Contract& one : page.contracts) {
      if (one.is_live()) units += one.live_units();
    }
    return units;
  }

  test::Federation federation_;
  test::LiveCluster home_;
  test::TemporaryFolder folder_;
  test::TestAuthority authority_;
  test::Papers seller_;
  test::Papers home_papers_;
  net::TlsIdentity client_papers_;
  std::unique_ptr<Running> running_;
  std::unique_ptr<net::GrpcClient> grpc_;
};

std::string node_name_of(const std::string& provider_id) {
  const std::string rest = provider_id.substr(std::string("spillway://").size());
  const size_t slash = rest.find('/');
  return unit_name(ContractId(rest.substr(0, slash)), std::stoi(rest.substr(slash + 1)));
}

TEST_F(AutoscalerLiveTest, ScalesUpAndDownAgain) {
  ASSERT_TRUE(comes([&] {
    const auto groups = fields_of(call("NodeGroups").message, 1);
    return groups.size() == 1 && fields_of(groups[0], 1)[0] == k_group &&
           number_in(groups[0], 3) == 4;
  }));
  ASSERT_EQ(increase(2).code, GrpcCode::ok);
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(sold(), 2);
  ASSERT_TRUE(comes([&] { return instances(k_running).size() == 2; }));
  const std::string id = instances(k_running).at(0);
  const std::string name = node_name_of(id);
  const auto made = node(name);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(autoscaler::is_ready(*made));
  EXPECT_EQ(model::text_at(*made, {"spec", "providerID"}), id);
  model::Offer offer = test::plain_offer();
  offer.id = OfferId(k_group);
  const auto image = demand::node_image(offer, name, id);
  for (const model::Label& label : image.labels) {
    EXPECT_EQ(kube::label_in(*made, label.key), label.value) << label.key;
  }
  const auto& taints = model::items_at(*made, {"spec", "taints"});
  EXPECT_TRUE(std::any_of(taints.begin(), taints.end(), [](const kube::Object& taint) {
    return model::text_at(taint, {"key"}) == "virtual-node.liqo.io/not-allowed" &&
           model::text_at(taint, {"effect"}) == "NoExecute";
  })) << model::to_json(*made);
  EXPECT_EQ(model::text_at(*made, {"status", "allocatable", "cpu"}), "2");
  EXPECT_EQ(model::text_at(*made, {"status", "allocatable", "memory"}), "4Gi");

  const auto group =
      call("NodeGroupForNode", std::move(ProtoWriter().message(1, ProtoWriter().text(2, name))));
  EXPECT_EQ(fields_of(fields_of(group.message, 1).at(0), 1).at(0), k_group);

  const auto removed =
      call("NodeGroupDeleteNodes",
           std::move(ProtoWriter().message(1, ProtoWriter().text(1, id)).text(2, k_group)));
  ASSERT_EQ(removed.code, GrpcCode::ok) << removed.reason;
  EXPECT_EQ(target(), 1);
  EXPECT_TRUE(comes([&] { return !node(name) && sold() == 1; }));
  EXPECT_EQ(nodes(), 1u);
  EXPECT_EQ(instances(k_running).size(), 1u);
}

TEST_F(AutoscalerLiveTest, KeepsTheGrantedPartOfAShortfall) {
  ASSERT_TRUE(comes([&] { return fields_of(call("NodeGroups").message, 1).size() == 1; }));
  // Somebody else is faster than our view of the market.
  const test::Papers rival = federation_.join("rival", {Role::consumer});
  for (const char* key : {"one", "two"}) {
    ASSERT_LT(federation_.call(rival, test::hold_one(key)).status, 300);
  }
  const GrpcAnswer answer = increase(4);
  EXPECT_EQ(answer.code, GrpcCode::resource_exhausted) << answer.reason;
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(sold(), 2);
  EXPECT_TRUE(comes([&] { return instances(k_running).size() == 2; }));
}

TEST_F(AutoscalerLiveTest, GoesOnAfterItWasKilledBetweenHoldAndAnswer) {
  ASSERT_TRUE(comes([&] { return fields_of(call("NodeGroups").message, 1).size() == 1; }));
  std::promise<void> held;
  home_.thread().run([&] {
    running_->broker().on_hold = [&held] { held.set_value(); };
    return true;
  });
  auto answer = std::async(std::launch::async, [&] { return increase(3); });
  held.get_future().wait();
  kill();
  EXPECT_NE(answer.get().code, GrpcCode::ok);
  EXPECT_EQ(sold(), 3);
  start();
  EXPECT_EQ(target(), 3);
  EXPECT_TRUE(comes([&] { return instances(k_running).size() == 3; }));
  EXPECT_EQ(sold(), 3);
  EXPECT_EQ(nodes(), 3u);
}

TEST_F(AutoscalerLiveTest, TellsOfANoticeAsAFailure) {
  ASSERT_TRUE(comes([&] { return fields_of(call("NodeGroups").message, 1).size() == 1; }));
  ASSERT_EQ(increase(1).code, GrpcCode::ok);
  ASSERT_TRUE(comes([&] { return instances(k_running).size() == 1; }));
  const std::string id = instances(k_running).at(0);
  const std::string contract = id.substr(11, id.find('/', 11) - 11);
  const auto noticed =
      federation_.call(seller_, test::Members::post("/v1/contracts/" + contract + "/notice"));
  ASSERT_LT(noticed.status, 300) << noticed.body;
  EXPECT_TRUE(comes([&] { return instances(k_creating).size() == 1; }));
  const std::string status =
      fields_of(fields_of(call("NodeGroupNodes", of_group()).message, 1).at(0), 2).at(0);
  EXPECT_EQ(fields_of(fields_of(status, 2).at(0), 1).at(0), "notice");
  EXPECT_EQ(number_in(fields_of(status, 2).at(0), 3), 1);  // out of resources
}

}  // namespace
}  // namespace spillway
