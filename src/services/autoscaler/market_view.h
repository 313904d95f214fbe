// MarketView: what is on sale to this buyer, as the broker last told it, asked for every few
// seconds. When it cannot be asked, the last answer stays.
//
// A query tells ids, rates and what is free, best first; the offer itself is asked for once, and
// again when its rate or its carbon has changed, and every few minutes for all else: what nodes are
// made of never changes under its id.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/lifeline.h"
#include "model/offer.h"
#include "services/agent/context.h"

namespace spillway::autoscaler {

// An offer as the market shows it.
struct Seen {
  model::Offer offer;
  int32_t free_units = 0;
  std::optional<Instant> heard;  // the provider's last sign of life
};

struct MarketOptions {
  Currency currency;
  Duration look_every = seconds(5);
};

class MarketView {
 public:
  static constexpr size_t k_most_offers = 5000;
  static constexpr Duration k_pause = seconds(1);  // between two looks, whoever asks
  static constexpr Duration k_offer_is_fresh = minutes(10);

  // `changed` is called after every answer.
  MarketView(agent::Context& context, MarketOptions options, std::function<void()> changed);

  void look_soon();
  Instant step();
  bool is_known() const { return is_known_; }
  const std::vector<Seen>& seen() const { return seen_; }
  std::optional<Instant> heard_of(const OfferId& offer) const;  // of its provider
  void set_currency(const Currency& currency);

 private:
  struct Known {
    model::Offer offer;
    int64_t rate = 0;  // that it was asked for at
    std::optional<int32_t> carbon;
    Instant asked;
  };

  void ask_page(const std::string& cursor);
  void on_page(const Result<wire::QueryAnswer>& answer);
  void ask_offers();
  void on_offer(const wire::Candidate& wanted, const Result<wire::OfferRow>& answer);
  bool is_known(const wire::Candidate& candidate) const;
  void finish();
  void fail(const Error& error);
  template <class F>
  auto heard(F then);

  agent::Context& context_;
  MarketOptions options_;
  std::function<void()> changed_;
  std::vector<Seen> seen_;
  std::unordered_map<OfferId, size_t> places_;  // in these
  bool is_known_ = false;
  std::map<OfferId, Known> known_;
  agent::Attempt attempt_;  // one look, all its questions
  Instant looked_;
  uint64_t turn_ = 0;  // answers to an earlier look are not heard
  std::vector<wire::Candidate> candidates_;
  std::vector<wire::Candidate> wanted_;  // still to be asked for
  int asking_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
