#include "services/agent/offer_publisher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "services/agent/wanted.h"

namespace spillway::agent {

void OfferPublisher::soon(Sale& sale) {
  sale.again = sale.attempt.in_flight;
  sale.attempt.due = context_.now() + k_coalesce;
  context_.wake_by(sale.attempt.due);
}

void OfferPublisher::change(const OfferId& id, const model::Offer* wanted) {
  OfferMemory& memory = context_.state().offers[id];
  Sale& sale = sales_[id];
  sale.wanted = wanted != nullptr;
  if (!note_wanted(memory, wanted)) return;
  sale.behind = false;
  sale.attempt.succeed();
  soon(sale);
  context_.keeper.touch();
}

void OfferPublisher::want(const std::vector<model::Offer>& offers) {
  for_each_wanted(offers, context_.state().offers,
                  [this](const OfferId& id, const model::Offer* wanted) { change(id, wanted); });
  context_.wake_by(context_.now() + k_coalesce);
}

void OfferPublisher::hurry() {
  for (auto& [id, sale] : sales_) {
    if (sale.attempt.backoff.failures() == 0 || !sale.attempt.told.empty()) continue;
    const Instant soonest = context_.now() + host::between(context_.random, {}, seconds(1));
    sale.attempt.due = std::min(sale.attempt.due, soonest);
    context_.wake_by(sale.attempt.due);
  }
}

void OfferPublisher::pool_settled(const PoolId& pool) {
  for (const auto& [id, memory] : context_.state().offers) {
    if (memory.acknowledged || !memory.published || memory.published->pool != pool) continue;
    Sale& sale = sales_[id];
    if (std::exchange(sale.lacks_pool, false)) sale.attempt.due = context_.now();
    context_.wake_by(context_.now());
  }
}

// What the broker has counts, if it has a later message than we remember.
void OfferPublisher::adopt(const wire::OfferRow& row) {
  OfferMemory& memory = context_.state().offers[row.offer.id];
  const int64_t sequence = row.sequence.value_or(0);
  const bool same = row.withdrawn == memory.withdrawn &&
                    (row.withdrawn || (memory.published && *memory.published == row.offer));
  if (sequence > memory.sequence || (sequence == memory.sequence && !same)) {
    memory = {sequence, row.offer, row.withdrawn, true};
  } else {
    memory.acknowledged = sequence == memory.sequence;
  }
  context_.keeper.touch();
}

void OfferPublisher::take_over(const wire::SnapshotAnswer& snapshot) {
  std::set<OfferId> told;
  for (const wire::OfferRow& row : snapshot.offers) {
    if (row.provider != context_.options.cluster) continue;
    told.insert(row.offer.id);
    adopt(row);
  }
  for (auto& [id, memory] : context_.state().offers) {
    // One that we published may still be on its way: that it is withdrawn only an answer tells.
    if (!told.contains(id) && !memory.withdrawn) memory.acknowledged = false;
  }
}

bool OfferPublisher::has_offers(const PoolId& pool) const {
  const auto& offers = context_.keeper.state().offers;
  return std::any_of(offers.begin(), offers.end(), [&](const auto& entry) {
    const OfferMemory& memory = entry.second;
    return memory.published && memory.published->pool == pool &&
           !(memory.withdrawn && memory.acknowledged);
  });
}

int64_t OfferPublisher::published() const {
  const auto& offers = context_.keeper.state().offers;
  return std::count_if(offers.begin(), offers.end(), [](const auto& entry) {
    return entry.second.acknowledged && !entry.second.withdrawn;
  });
}

bool OfferPublisher::has_work(const Sale& sale, const OfferMemory& memory) const {
  if (memory.acknowledged) return false;
  return !sale.wanted || calls_.is_settled(memory.published->pool);
}

Instant OfferPublisher::step() {
  const Instant now = context_.now();
  Instant next = k_never;
  for (auto& [id, sale] : sales_) {
    if (sale.attempt.in_flight || !has_work(sale, context_.state().offers.at(id))) continue;
    if (!sale.attempt.is_due(now, host::k_refused_wait)) {
      next = std::min(next, sale.attempt.due);
    } else if (in_flight_ < k_most_in_flight) {
      sale.again = false;
      sale.attempt.in_flight = true;
      in_flight_ += 1;
      if (sale.behind) {
        catch_up(id, sale);
      } else {
        send(id, sale);
      }
    }
  }
  return next;
}

void OfferPublisher::send(const OfferId& id, Sale& sale) {
  const OfferMemory& memory = context_.state().offers.at(id);
  auto then = life_.guard([this, id, sequence = memory.sequence, withdrawal = !sale.wanted](
                              const Status& status) { on_sent(id, sequence, withdrawal, status); });
  if (sale.wanted) {
    sale.sent = context_.now();
    context_.client.put_offer({*memory.published, memory.sequence}, then);
  } else {
    if (sale.sent == Instant{}) sale.sent = context_.now();  // by the process before, perhaps
    context_.client.withdraw_offer(id, memory.sequence, then);
  }
}

void OfferPublisher::finish(Sale& sale) {
  sale.attempt.in_flight = false;
  in_flight_ -= 1;
  context_.wake_by(context_.now());
}

void OfferPublisher::on_sent(const OfferId& id, int64_t sequence, bool withdrawal,
                             const Status& status) {
  Sale& sale = sales_[id];
  OfferMemory& memory = context_.state().offers[id];
  finish(sale);
  const bool done = status || (withdrawal && status.error().code == Code::not_found);
  if (done) {
    sale.attempt.succeed();
    const Instant heard_by = sale.sent + host::k_under_way;
    const bool is_current = !sale.wanted && memory.sequence == sequence;
    if (!status && is_current && heard_by > context_.now()) {
      sale.attempt.due = heard_by;
      return context_.wake_by(heard_by);
    }
    sale.catching_up.reset();
    if (memory.sequence == sequence) {
      memory.acknowledged = true;
      context_.keeper.touch();
      if (withdrawal) calls_.withdrawn();
    }
    return;
  }
  if (sale.again) return soon(sale);  // what was refused is no longer what is wanted
  if (status.error().code == Code::stale) {
    sale.behind = true;
    sale.attempt.due = context_.now() + sale.catching_up.next(context_.random);
    return context_.wake_by(sale.attempt.due);
  }
  sale.lacks_pool = status.error().code == Code::not_found;
  sale.attempt.fail(context_, withdrawal ? "offer not withdrawn" : "offer not published",
                    status.error());
  context_.wake_by(sale.attempt.due);
}

// A withdrawn offer still has its number and its shape, but is in no snapshot: ask for it alone.
void OfferPublisher::catch_up(const OfferId& id, Sale&) {
  context_.client.get_offer(
      id, life_.guard([this, id](const Result<wire::OfferRow>& row) { on_row(id, row); }));
}

void OfferPublisher::on_row(const OfferId& id, const Result<wire::OfferRow>& row) {
  Sale& sale = sales_[id];
  finish(sale);
  if (!row) {
    sale.attempt.fail(context_, "offer not published", row.error());
    return context_.wake_by(sale.attempt.due);
  }
  sale.behind = false;
  OfferMemory& memory = context_.state().offers[id];
  const bool withdrawal = memory.withdrawn;
  const std::optional<model::Offer> wanted = memory.published;
  const auto fixed = withdrawal ? std::string_view() : immutable_difference(row->offer, *wanted);
  if (!fixed.empty()) {
    sale.attempt.fail(context_, "offer not published",
                      {Code::stale, "offer " + id.text,
                       fmt::format("its {} cannot change under the same id", fixed),
                       "publish the new one under another id, and withdraw this one"});
    return context_.wake_by(sale.attempt.due);
  }
  adopt(*row);
  if (withdrawal) {
    change(id, nullptr);
  } else {
    change(id, &*wanted);
  }
  soon(sale);
}

}  // namespace spillway::agent
