// A Provider without a market, for tests of the door.
#pragma once

#include <string>
#include <vector>

#include "cluster_autoscaler/cloud_provider.h"
#include "demand/node_image.h"
#include "support/nouns.h"

namespace spillway::cluster_autoscaler {

inline constexpr Instant k_noon{1'800'000'000'000};

// Grants what is asked for, at once.
class GenerousProvider : public Provider {
 public:
  GenerousProvider() {
    offer = test::plain_offer();
    offer.shape.gpus = {{"nvidia-a100", 2}};
    offer.labels = {{"kubernetes.io/arch", "arm64"}, {"zone", "a"}};
    book.show(std::vector<demand::Ledger::OnSale>{{offer, 9}});
  }
  const demand::Ledger& ledger() const override { return book; }
  void refresh() override { refreshes += 1; }
  void increase(const OfferId& group, int32_t delta, Then then) override {
    const auto asks = book.increase(group, delta, k_noon);
    if (!asks) return then(tl::unexpected(asks.error()));
    const int64_t generation = asks->front().generation;
    last = make_contract_id(k_noon, 0, static_cast<uint64_t>(generation));
    book.granted(group, generation, test::contract_of_units(last, delta), k_noon);
    then({});
  }
  void remove(const OfferId& group, std::vector<demand::NodeRef> nodes, Then then) override {
    then(book.remove(group, nodes, k_noon));
  }
  void cancel(const OfferId& group, int32_t delta, Then then) override {
    then(book.cancel(group, delta, k_noon));
  }
  Result<int64_t> node_price(const model::Labels& labels, const std::string&,
                             const Window& window) const override {
    if (demand::offer_of(labels) != offer.id) {
      return fail(Code::not_found, "node", "it is no node of an offer", "ask for those");
    }
    return model::charge_for(3'000'000, window.to - window.from);
  }
  int64_t pod_price(const model::Resources& requests, const Window&) const override {
    return requests.cpu_millis;
  }
  std::vector<std::string> gpu_models() const override { return {"nvidia-a100"}; }

  model::Offer offer;
  demand::Ledger book{{ClusterId("home"), 0, {}}};
  ContractId last;
  int refreshes = 0;
};

}  // namespace spillway::cluster_autoscaler
