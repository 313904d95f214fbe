// OfferPublisher: the offers on sale, as PoolPublisher does the pools. An offer follows its pool:
// it is sent once the broker has said what it thinks of the pool.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "host/lifeline.h"
#include "services/agent/context.h"

namespace spillway::agent {

class OfferPublisher {
 public:
  struct Calls {
    std::function<bool(const PoolId&)> is_settled;
    std::function<void()> withdrawn;  // one of them: its pool may follow
  };
  OfferPublisher(Context& context, Calls calls) : context_(context), calls_(std::move(calls)) {}

  void want(const std::vector<model::Offer>& offers);
  void hurry();
  void pool_settled(const PoolId& pool);  // its offers may be taken now
  void take_over(const wire::SnapshotAnswer& snapshot);
  bool has_offers(const PoolId& pool) const;  // that the broker may still sell
  int64_t published() const;
  Instant step();

 private:
  struct Sale {
    Attempt attempt;
    bool wanted = false;
    bool again = false;
    bool lacks_pool = false;  // it was refused for that
    bool behind = false;      // our number is: ask for the broker's first
    Instant sent;             // may be heard for k_under_way from then on
    host::Backoff catching_up;
  };

  void change(const OfferId& id, const model::Offer* wanted);
  void adopt(const wire::OfferRow& row);
  void send(const OfferId& id, Sale& sale);
  void catch_up(const OfferId& id, Sale& sale);
  void on_row(const OfferId& id, const Result<wire::OfferRow>& row);
  void on_sent(const OfferId& id, int64_t sequence, bool withdrawal, const Status& status);
  bool has_work(const Sale& sale, const OfferMemory& memory) const;
  void finish(Sale& sale);
  void soon(Sale& sale);

  Context& context_;
  Calls calls_;
  std::map<OfferId, Sale> sales_;
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
