// Any bytes as a message of any of externalgrpc's calls: each is answered once, a refusal says why,
// and whatever was asked the ledger stays one that can be read again.
//
// The first byte chooses the call; the rest is the message.
#include "cluster_autoscaler/cloud_provider.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cluster_autoscaler/kube_proto.h"
#include "demand/ledger_codec.h"
#include "support/nouns.h"

namespace spillway::cluster_autoscaler {
namespace {

constexpr Instant k_now{1'800'000'000'000};
constexpr std::array k_calls{"NodeGroups",
                             "NodeGroupForNode",
                             "NodeGroupTargetSize",
                             "NodeGroupIncreaseSize",
                             "NodeGroupDeleteNodes",
                             "NodeGroupDecreaseTargetSize",
                             "NodeGroupNodes",
                             "NodeGroupTemplateNodeInfo",
                             "NodeGroupGetOptions",
                             "PricingNodePrice",
                             "PricingPodPrice",
                             "GPULabel",
                             "GetAvailableGPUTypes",
                             "Refresh",
                             "Cleanup",
                             "NoSuchCall"};

class SmallProvider final : public Provider {
 public:
  SmallProvider() {
    book.show(std::vector<demand::Ledger::OnSale>{{test::plain_offer(), 3}});
    const auto ask = book.increase(test::plain_offer().id, 1, k_now);
    book.granted(test::plain_offer().id, ask->front().generation,
                 test::contract_of_units(make_contract_id(k_now, 0, 1), 1), k_now);
  }
  const demand::Ledger& ledger() const override { return book; }
  void refresh() override {}
  void increase(const OfferId& group, int32_t delta, Then then) override {
    const auto ask = book.increase(group, delta, k_now);
    then(ask ? Status() : tl::unexpected(ask.error()));
  }
  void remove(const OfferId& group, std::vector<demand::NodeRef> nodes, Then then) override {
    then(book.remove(group, nodes, k_now));
  }
  void cancel(const OfferId& group, int32_t delta, Then then) override {
    then(book.cancel(group, delta, k_now));
  }
  Result<int64_t> node_price(const model::Labels& labels, const std::string&,
                             const Window& window) const override {
    if (demand::offer_of(labels).empty()) return fail(Code::not_found, "node", "no offer", "x");
    return model::charge_for(1, window.to - window.from);
  }
  int64_t pod_price(const model::Resources& requests, const Window&) const override {
    return requests.cpu_millis;
  }
  std::vector<std::string> gpu_models() const override { return {}; }

  demand::Ledger book{{ClusterId("home"), 0, {}}};
};

void run(uint8_t which, std::string message) {
  SmallProvider provider;
  CloudProvider handler(provider);
  net::GrpcCall call;
  call.method = std::string(k_cloud_provider_service) + k_calls[which % k_calls.size()];
  call.message = std::move(message);
  int answers = 0;
  handler.handle(std::move(call), [&answers](const net::GrpcAnswer& told) {
    ++answers;
    SPILLWAY_CHECK(told.code == net::GrpcCode::ok || !told.reason.empty(), "it does not say why");
  });
  SPILLWAY_CHECK(answers == 1, "a call is answered once");
  const auto again = demand::ledger_from_json(demand::to_json(provider.book.state()));
  SPILLWAY_CHECK(again && *again == provider.book.state(), "the ledger cannot be read again");
}

}  // namespace
}  // namespace spillway::cluster_autoscaler

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  spillway::cluster_autoscaler::run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
