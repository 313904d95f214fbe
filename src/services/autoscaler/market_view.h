// MarketView: what is on sale to this buyer, as the broker last told it, asked for every few
// seconds. When it cannot be asked, the last answer stays.
//
// A query tells ids, rates and what is free, best first; the offer itself is asked for once, and
// again when its rate has changed: all else that nodes are made of never does under its id.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "demand/ledger.h"
#include "host/lifeline.h"
#include "services/agent/context.h"

namespace spillway::autoscaler {

struct MarketOptions {
  Currency currency;
  int32_t best_of_class = 5;
  Duration look_every = seconds(5);
};

class MarketView {
 public:
  static constexpr size_t k_most_offers = 5000;
  static constexpr Duration k_pause = seconds(1);  // between two looks, whoever asks

  // `changed` is called after every answer.
  MarketView(agent::Context& context, MarketOptions options, std::function<void()> changed);

  void look_soon();
  Instant step();
  bool is_known() const { return is_known_; }
  const std::vector<demand::Ledger::OnSale>& on_sale() const { return on_sale_; }

 private:
  struct Known {
    model::Offer offer;
    int64_t rate = 0;  // that it was asked for at
  };

  void ask_page(const std::string& cursor);
  void on_page(const Result<wire::QueryAnswer>& answer);
  void ask_offers();
  void on_offer(const OfferId& id, int64_t rate, const Result<wire::OfferRow>& answer);
  void finish();
  void fail(const Error& error);
  template <class F>
  auto heard(F then);

  agent::Context& context_;
  MarketOptions options_;
  std::function<void()> changed_;
  std::vector<demand::Ledger::OnSale> on_sale_;
  bool is_known_ = false;
  std::map<OfferId, Known> known_;
  agent::Attempt attempt_;  // one look, all its questions
  Instant looked_;
  uint64_t turn_ = 0;  // answers to an earlier look are not heard
  std::vector<wire::Candidate> candidates_;
  std::vector<std::pair<OfferId, int64_t>> wanted_;  // still to be asked for, with their rates
  int asking_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
