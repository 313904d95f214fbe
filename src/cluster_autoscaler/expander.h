// Expander: the one call of the Cluster Autoscaler's gRPC expander. It shows every group that could
// take the pending pods, with the pods themselves; what is answered are those that it may choose
// from.
//
// An empty answer is a veto from 1.35 on, and means "all of them" before: no rule may rest on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "cluster_autoscaler/kube_proto.h"
#include "net/grpc.h"

namespace spillway::cluster_autoscaler {

inline constexpr std::string_view k_expander_call = "/grpcplugin.Expander/BestOptions";

struct Option {
  OfferId group;
  int32_t nodes = 0;
  std::vector<PodAsk> pods;
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  // Places in `options`, the best first.
  virtual std::vector<size_t> choose(const std::vector<Option>& options) = 0;
};

// Its client's side: as 1.35 asks, and the groups of the answer.
std::string best_options_message(const std::vector<Option>& options);
Result<std::vector<OfferId>> groups_of_best_options(std::string_view message);

class Expander final : public net::GrpcHandler {
 public:
  explicit Expander(Chooser& chooser) : chooser_(chooser) {}

  void handle(net::GrpcCall call, Reply reply) override;

 private:
  Chooser& chooser_;
};

}  // namespace spillway::cluster_autoscaler
