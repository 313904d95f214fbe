// Publisher: the seller's side of an agent, pools and offers together.
#pragma once

#include <functional>
#include <vector>

#include "services/agent/offer_publisher.h"
#include "services/agent/pool_publisher.h"

namespace spillway::agent {

class Publisher {
 public:
  Publisher(Context& context, std::function<std::vector<market::Carried>(const PoolId&)> carries,
            std::function<void()> wants_snapshot)
      : offers_(context, {[this](const PoolId& pool) { return pools_.is_settled(pool); },
                          [&context] { context.wake_by(context.now()); }}),
        pools_(context,
               {std::move(carries), [this](const PoolId& pool) { return offers_.has_offers(pool); },
                [this](const PoolId& pool) { offers_.pool_settled(pool); },
                std::move(wants_snapshot)}) {}

  void want(const Supply& supply) {
    pools_.want(supply.pools);
    offers_.want(supply.offers);
  }
  void carries_changed(const PoolId& pool) { pools_.carries_changed(pool); }
  void confirm_all() { pools_.confirm_all(); }
  void hurry() {
    pools_.hurry();
    offers_.hurry();
  }
  // Numbers and contents as the broker has them; want() again afterwards.
  void take_over(const wire::SnapshotAnswer& snapshot) {
    pools_.take_over(snapshot);
    offers_.take_over(snapshot);
  }
  int64_t pools_published() const { return pools_.published(); }
  int64_t offers_published() const { return offers_.published(); }
  Instant step() {
    const Instant offers = offers_.step();
    return std::min(offers, pools_.step());
  }

 private:
  OfferPublisher offers_;
  PoolPublisher pools_;
};

}  // namespace spillway::agent
