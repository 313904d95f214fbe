// spillway autoscaler as a process of its own, between a broker and an embedded cluster, and a gRPC
// client before it.
#pragma once

#include "cluster_autoscaler/cloud_provider.h"
#include "cluster_autoscaler/protobuf.h"
#include "integration/cli/program.h"
#include "live/live_cluster.h"
#include "live/shop.h"
#include "net/grpc_client.h"

namespace spillway::cli {

using cluster_autoscaler::ProtoField;
using cluster_autoscaler::ProtoReader;
using cluster_autoscaler::ProtoWriter;
using net::GrpcAnswer;
using net::GrpcCode;

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
    std::vector<std::string> all = {
        "autoscaler", "--dir",    identity_,     "--kubeconfig", folder_ / "kubeconfig",
        "--backend",  "embedded", "--plaintext", "--listen",     "127.0.0.1:0"};
    all.insert(all.end(), more_words_.begin(), more_words_.end());
    return all;
  }
  // A port of that name, from what it said when it started.
  uint16_t port_in_log(const std::string& name) const {
    const std::string text = text_of(folder_ / "log");
    const std::string mark = fmt::format("\"{}\":\"", name);
    return static_cast<uint16_t>(std::stoi(text.substr(text.find(mark) + mark.size())));
  }
  void start() {
    const std::string log = folder_ / "log";
    std::filesystem::remove(log);
    process_ = std::make_unique<Running>(words(), folder_ / "out", log);
    ASSERT_TRUE(process_->says("autoscaler started", log)) << text_of(log);
    net::GrpcClientOptions options;
    options.port = port_ = port_in_log("port");
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
  std::vector<std::string> more_words_;
  uint16_t port_ = 0;
  std::unique_ptr<Running> process_;
  std::unique_ptr<net::GrpcClient> grpc_;
};

}  // namespace spillway::cli
