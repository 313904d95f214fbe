#include "services/autoscaler/market_view.h"

#include <algorithm>
#include <utility>

namespace spillway::autoscaler {
namespace {

constexpr int32_t k_query_page = 1000;

// Whatever there is, but our own: a cluster does not buy from itself.
model::Intent anything(const ClusterId& buyer, const Currency& currency) {
  model::Intent intent;
  intent.shape.cpu_millis = 1;
  intent.currency = currency;
  intent.constraints.tolerate_all_taints = true;
  intent.constraints.excluded_providers = {buyer};
  return intent;
}

}  // namespace

MarketView::MarketView(agent::Context& context, MarketOptions options,
                       std::function<void()> changed)
    : context_(context), options_(options), changed_(std::move(changed)) {}

void MarketView::set_currency(const Currency& currency) {
  if (options_.currency == currency) return;
  options_.currency = currency;
  turn_ += 1;  // what is being told is of the other one
  attempt_ = {};
  context_.wake_by(context_.now());
}

std::optional<Instant> MarketView::heard_of(const OfferId& offer) const {
  const auto at = places_.find(offer);
  return at == places_.end() ? std::nullopt : seen_[at->second].heard;
}

void MarketView::look_soon() {
  const Instant soon = std::max(context_.now(), looked_ + k_pause);
  if (attempt_.in_flight || attempt_.backoff.failures() > 0 || attempt_.due <= soon) return;
  attempt_.due = soon;
  context_.wake_by(soon);
}

Instant MarketView::step() {
  if (attempt_.in_flight) return agent::k_never;
  if (!attempt_.is_due(context_.now(), host::k_refused_wait)) return attempt_.due;
  attempt_.in_flight = true;
  turn_ += 1;
  asking_ = 0;
  looked_ = context_.now();
  candidates_.clear();
  wanted_.clear();
  ask_page({});
  return agent::k_never;
}

template <class F>
auto MarketView::heard(F then) {
  return life_.guard([this, turn = turn_, then = std::move(then)](const auto& what) {
    if (turn == turn_) then(what);
  });
}

void MarketView::ask_page(const std::string& cursor) {
  const wire::QueryRequest query{anything(context_.options.cluster, options_.currency),
                                 k_query_page, cursor, false};
  context_.client.query(
      query, heard([this](const Result<wire::QueryAnswer>& answer) { on_page(answer); }));
}

void MarketView::on_page(const Result<wire::QueryAnswer>& answer) {
  if (!answer) return fail(answer.error());
  for (const wire::Candidate& one : answer->candidates) {
    if (candidates_.size() < k_most_offers) candidates_.push_back(one);
  }
  const bool is_last = answer->next.empty() || answer->candidates.empty();
  if (!is_last && candidates_.size() < k_most_offers) return ask_page(answer->next);
  for (const wire::Candidate& one : candidates_) {
    if (!is_known(one)) wanted_.push_back(one);
  }
  std::reverse(wanted_.begin(), wanted_.end());  // taken from the end
  ask_offers();
}

bool MarketView::is_known(const wire::Candidate& candidate) const {
  const auto at = known_.find(candidate.offer);
  return at != known_.end() && at->second.rate == candidate.rate &&
         at->second.carbon == candidate.carbon &&
         context_.now() < at->second.asked + k_offer_is_fresh;
}

void MarketView::ask_offers() {
  while (asking_ < agent::k_most_in_flight && !wanted_.empty()) {
    const wire::Candidate one = wanted_.back();
    wanted_.pop_back();
    asking_ += 1;
    context_.client.get_offer(one.offer, heard([this, one](const Result<wire::OfferRow>& answer) {
                                asking_ -= 1;
                                on_offer(one, answer);
                              }));
  }
  if (asking_ == 0 && wanted_.empty()) finish();
}

void MarketView::on_offer(const wire::Candidate& wanted, const Result<wire::OfferRow>& answer) {
  const OfferId& id = wanted.offer;
  if (answer && answer->offer.id == id) {
    known_[id] = {answer->offer, wanted.rate, wanted.carbon, context_.now()};
  } else if (!answer && describe(answer.error().code).not_now) {
    return fail(answer.error());
  } else {
    known_.erase(id);  // withdrawn meanwhile, or nothing that can be read: one bad provider
  }
  ask_offers();
}

void MarketView::finish() {
  std::vector<Seen> offers;
  std::map<OfferId, Known> still;
  for (const wire::Candidate& one : candidates_) {
    auto at = known_.extract(one.offer);
    if (at.empty()) continue;
    offers.push_back({at.mapped().offer, one.free_units, one.heard});
    still.insert(std::move(at));
  }
  known_ = std::move(still);
  seen_ = std::move(offers);
  places_.clear();
  for (size_t i = 0; i < seen_.size(); ++i) places_[seen_[i].offer.id] = i;
  is_known_ = true;
  attempt_.in_flight = false;
  attempt_.succeed();
  attempt_.due =
      context_.now() +
      host::between(context_.random, Duration{options_.look_every.ms / 2}, options_.look_every);
  context_.wake_by(attempt_.due);
  changed_();
}

void MarketView::fail(const Error& error) {
  turn_ += 1;
  attempt_.in_flight = false;
  attempt_.fail(context_, "the market cannot be asked", error);
  context_.wake_by(attempt_.due);
}

}  // namespace spillway::autoscaler
