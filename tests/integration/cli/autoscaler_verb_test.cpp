// spillway autoscaler as a process of its own, between a broker and an embedded cluster.
#include <gmock/gmock.h>

#include "cluster_autoscaler/cloud_provider.h"
#include "cluster_autoscaler/protobuf.h"
#include "integration/cli/program.h"
#include "live/live_cluster.h"
#include "live/shop.h"
#include "net/grpc_client.h"

namespace spillway::cli {
namespace {

using cluster_autoscaler::ProtoField;
using cluster_autoscaler::ProtoReader;
using cluster_autoscaler::ProtoWriter;
using net::GrpcAnswer;
using net::GrpcCode;
using testing::HasSubstr;

class AutoscalerVerb : public testing::Test {
 protected:
  AutoscalerVerb() : home_(folder_ / "kubeconfig") {
    test::open_shop(federation_, federation_.join("seller", {model::Role::provider}), 4);
    identity_ = federation_.join_folder("home", {model::Role::consumer});
  }
  ~AutoscalerVerb() override {
    federation_.client().run([this] { return grpc_.reset(), true; });
  }

  std::vector<std::string> words() const {
    return {"autoscaler", "--dir",    identity_,     "--kubeconfig", folder_ / "kubeconfig",
            "--backend",  "embedded", "--plaintext", "--listen",     "127.0.0.1:0"};
  }
  void start() {
    const std::string log = folder_ / "log";
    std::filesystem::remove(log);
    process_ = std::make_unique<Running>(words(), folder_ / "out", log);
    ASSERT_TRUE(process_->says("autoscaler started", log)) << text_of(log);
    const std::string text = text_of(log);
    const size_t at = text.find("\"port\":\"") + 8;
    net::GrpcClientOptions options;
    options.port = port_ = static_cast<uint16_t>(std::stoi(text.substr(at)));
    federation_.client().run([&] {
      grpc_ = std::make_unique<net::GrpcClient>(federation_.client().poll(), options);
      return true;
    });
  }
  GrpcAnswer call(const std::string& name, ProtoWriter message = {}) {
    return federation_.client().ask<GrpcAnswer>([&](auto answer) {
      grpc_->call(std::string(cluster_autoscaler::k_cloud_provider_service) + name, message.take(),
                  seconds(5), answer);
    });
  }
  int64_t target() {
    const auto told = call("NodeGroupTargetSize", std::move(ProtoWriter().text(1, "seller/small")));
    ProtoReader reader(told.message);
    ProtoField field;
    return reader.next(field) ? field.integer() : 0;
  }
  bool shows_a_group() {
    for (int i = 0; i < 10'000; ++i) {
      if (!call("NodeGroups").message.empty()) return true;
      call("Refresh");
    }
    return false;
  }

  test::Federation federation_;
  test::TemporaryFolder folder_;
  test::LiveCluster home_;
  std::string identity_;
  uint16_t port_ = 0;
  std::unique_ptr<Running> process_;
  std::unique_ptr<net::GrpcClient> grpc_;
};

TEST_F(AutoscalerVerb, HoldsWhatItHeldAfterKillNine) {
  start();
  ASSERT_TRUE(shows_a_group());
  const auto increased =
      call("NodeGroupIncreaseSize", std::move(ProtoWriter().integer(1, 2).text(2, "seller/small")));
  ASSERT_EQ(increased.code, GrpcCode::ok) << increased.reason;
  process_->stop(SIGKILL);
  start();
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(process_->stop(SIGTERM), 0);
}

TEST_F(AutoscalerVerb, KeepsTheRulesThatTheClusterAutoscalerActsOn) {
  start();
  ASSERT_TRUE(shows_a_group());
  const Ended told = run_spillway(
      fmt::format("conformance externalgrpc --target 127.0.0.1:{} --plaintext", port_));
  EXPECT_EQ(told.code, 0) << told.out << told.err;
  for (int i = 0; target() != 0 && i < 10'000; ++i) call("Refresh");
  EXPECT_EQ(target(), 0);
}

TEST_F(AutoscalerVerb, WillNotShareItsState) {
  start();
  std::string line;
  for (const std::string& word : words()) line += word + " ";
  const Ended second = run_spillway(line);
  EXPECT_NE(second.code, 0);
  EXPECT_THAT(second.err, HasSubstr("is an autoscaler with the same state"));
}

TEST(AutoscalerVerbUsage, AsksForTlsOrForPlaintextByName) {
  const Ended ended = run_spillway("autoscaler --dir /nonexistent");
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("--plaintext"));
  EXPECT_THAT(run_spillway("autoscaler --dir /nonexistent --plaintext --tls-key k").err,
              HasSubstr("there is no TLS with it"));
  EXPECT_THAT(run_spillway("autoscaler --dir /nonexistent --plaintext --currency euros").err,
              HasSubstr("euros"));
  EXPECT_THAT(run_spillway("autoscaler --help").out, HasSubstr("grpc_timeout"));
}

}  // namespace
}  // namespace spillway::cli
