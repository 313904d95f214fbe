// CloudProvider: the 15 calls of externalgrpc, for Cluster Autoscalers of either generation of its
// wire (up to 1.34, from 1.35 on): both sets of fields are written, either is read.
//
// Reads are answered from memory, at once. What changes something goes to a Provider and is
// answered when that is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "demand/ledger.h"
#include "net/grpc.h"

namespace spillway::cluster_autoscaler {

inline constexpr std::string_view k_cloud_provider_service =
    "/clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider/";

struct Window {
  Instant from;
  Instant to;
};

// What the calls are about.
class Provider {
 public:
  using Then = std::function<void(Status)>;

  virtual ~Provider() = default;
  virtual const demand::Ledger& ledger() const = 0;
  // The market's last word becomes what is shown. Never fails: one bad provider is no reason.
  virtual void refresh() = 0;
  virtual void increase(const OfferId& group, int32_t delta, Then then) = 0;
  virtual void remove(const OfferId& group, std::vector<demand::NodeRef> nodes, Then then) = 0;
  virtual void cancel(const OfferId& group, int32_t delta, Then then) = 0;
  // In micro-units of the policy's currency.
  virtual Result<int64_t> node_price(const model::Labels& labels, const std::string& provider_id,
                                     const Window& window) const = 0;
  virtual int64_t pod_price(const model::Resources& requests, const Window& window) const = 0;
  virtual std::vector<std::string> gpu_models() const = 0;
};

class GroupMessages;

class CloudProvider final : public net::GrpcHandler {
 public:
  explicit CloudProvider(Provider& provider);
  ~CloudProvider() override;

  void handle(net::GrpcCall call, Reply reply) override;

 private:
  Provider& provider_;
  std::unique_ptr<GroupMessages> groups_;
};

}  // namespace spillway::cluster_autoscaler
