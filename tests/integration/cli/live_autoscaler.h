// A live `spillway autoscaler` between a real broker and an embedded cluster, and who calls it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster_autoscaler/cloud_provider.h"
#include "integration/cli/program.h"
#include "live/autoscaler_process.h"
#include "live/live_cluster.h"
#include "live/shop.h"

namespace spillway::cli {

using cluster_autoscaler::CloudClient;
using cluster_autoscaler::Told;
using net::GrpcCode;
using test::StraightCalls;

inline constexpr const char* k_small = "seller/small";

template <class T>
GrpcCode code_of(const Told<T>& told) {
  return told ? GrpcCode::ok : told.error().code;
}

class LiveAutoscaler : public testing::Test {
 protected:
  LiveAutoscaler() : home_(folder_ / "kubeconfig") {}

  // So many units are on sale.
  void start(int64_t units, const std::vector<std::string>& more = {"--backend", "embedded"}) {
    test::open_shop(federation_, federation_.join("seller", {model::Role::provider}), units);
    const std::string identity =
        federation_.join_folder("home", {model::Role::consumer}, &home_papers_);
    process_ = std::make_unique<test::AutoscalerProcess>(identity, folder_ / "kubeconfig", more);
    run();
    ASSERT_TRUE(comes([this] { return cloud_.groups().value().size() == 1; }));
  }
  void run() {
    process_->start();
    calls_ = std::make_unique<StraightCalls>(process_->client_options());
  }
  int32_t target() { return cloud_.target(k_small).value_or(-1); }
  // None, too, while the group is not shown: of what was sold out and is given back nobody knows
  // that it is on sale before the market is looked at again.
  std::vector<cluster_autoscaler::InstanceSeen> nodes() {
    return cloud_.nodes(k_small).value_or(std::vector<cluster_autoscaler::InstanceSeen>());
  }
  // Units that the broker has sold and not got back.
  int32_t sold() {
    int32_t units = 0;
    const auto page = test::Members::read<wire::ContractPage>(
        federation_.call(home_papers_, test::Members::get("/v1/contracts?limit=1000")));
    for (const model::Contract& one : page.contracts) {
      if (one.is_live()) units += one.live_units();
    }
    return units;
  }
  bool comes(const std::function<bool()>& is_so) { return test::comes_to(cloud_, is_so); }

  test::TemporaryFolder folder_;
  test::Federation federation_;
  test::LiveCluster home_;
  test::Papers home_papers_;
  std::unique_ptr<test::AutoscalerProcess> process_;
  std::unique_ptr<StraightCalls> calls_;
  CloudClient cloud_{[this](const std::string& method, std::string message) {
    return calls_->call(method, message);
  }};
};

}  // namespace spillway::cli
