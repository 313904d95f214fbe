// Money through random lives of contracts: prices of every kind, renewals, units released one by
// one, early ends by both sides, lapses, outages, brokers that attend late, and readings that are
// too high, too low or come twice. Whatever happens, nothing is lost or charged twice.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/invoice_sums.h"
#include "support/recount.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::Contract;
using model::ContractState;
using model::EndReason;

// From the whole range, also in the first lives: sizes would leave out half of what can happen.
template <class T>
T any_of(T low, T high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high));
}

model::Offer any_priced_offer() {
  model::Offer offer = minute_offer("any");
  offer.shape.gpus = {{"nvidia-a100", 1}};
  model::Price& price = offer.price;
  price.unit_hour = any_of<int64_t>(0, 2'000'003);
  price.cpu_hour = any_of<int64_t>(0, 500'009);
  price.memory_gib_hour = any_of<int64_t>(0, 70'001);
  price.gpu_hour = {{"nvidia-a100", any_of<int64_t>(1, 3'000'017)}};
  if (any_of(0, 3) > 0) price.basis = model::PriceBasis::pay_per_use;
  price.minimum_term = Duration{any_of<int64_t>(0, 2) * any_of<int64_t>(0, 9'000'001)};
  return offer;
}

class Life {
 public:
  Life() {
    for (const ClusterId& id : {k_seller, k_buyer}) book_.enrol(id);
    model::Pool pool = pool_of(8);
    pool.node.gpus = pool.capacity.gpus = {{"nvidia-a100", 8}};
    book_.run(Beat{}).value();
    book_.publish(pool).value();
    offer_ = any_priced_offer();
    book_.publish(offer_).value();
    begin();
  }

  void step() {
    const Contract before = contract();
    switch (any_of(0, 10)) {
      case 0:
        book_.pass(Duration{any_of<int64_t>(1, 100)});
        break;
      case 1:
      case 2:
        book_.pass(Duration{any_of<int64_t>(1, 3'000'000)});
        break;
      case 3:
        book_.be_away(Duration{any_of<int64_t>(1, 2'000'000)});
        break;
      case 4:
        book_.attend();
        break;
      case 5:
        (void)book_.run(Renew{k_buyer, id_});
        break;
      case 6:
        (void)book_.run(Release{k_buyer, id_, {any_of(0, 3)}});
        break;
      case 7:
        if (any_of(0, 4) == 0) (void)book_.run(GiveNotice{k_seller, id_});
        break;
      case 8:
        cuts_.push_back(book_.now - Duration{any_of<int64_t>(0, 1'000'000)});
        break;
      default:
        meter();
        break;
    }
    check(before);
    if (!contract().is_live()) begin();
  }

  // Whoever is left falls silent.
  void end() {
    for (int i = 0; i < 4; ++i) {
      book_.pass(hours(2));
      book_.attend();
    }
    RC_ASSERT(!contract().is_live());
    check(contract());
    RC_ASSERT(book_.purse().reserved == 0);
  }

  bool met(EventKind kind) const { return book_.count_events(kind) > 0; }
  bool used() const { return used_; }
  bool bound() const { return bound_; }

 private:
  const Contract& contract() const { return book_.contract(id_); }

  void begin() {
    const auto* epoch = book_.get<EpochRecord>(epoch_key());
    const PoolRecord& pool = book_.pool();
    book_
        .run(PublishPool{
            k_seller, pool.pool, pool.sequence, hours(24), {}, epoch->epoch, pool.report + 1})
        .value();
    id_ = book_.active(k_buyer, any_of(1, 4), offer_.id);
  }

  void meter() {
    const Contract& now = contract();
    const Duration ran = book_.now - *now.started;
    std::vector<model::MeteredUse> readings;
    for (const model::Unit& unit : now.units) {
      if (!unit.live) continue;
      model::Use use = unit.metered;
      use.cpu_core_ms += any_of<int64_t>(-1, 3 * ran.ms + 2);
      use.cpu_core_ms = std::max<int64_t>(0, use.cpu_core_ms);
      use.memory_mib_s += any_of<int64_t>(0, ran.ms * 5 + 1);
      use.gpu_ms = {{"nvidia-a100", any_of<int64_t>(1, ran.ms + 3)}};
      readings.push_back({unit.number, use});
    }
    const auto first = book_.run(MeterUsage{k_seller, id_, readings});
    const auto picture = book_.picture();
    const auto again = book_.run(MeterUsage{k_seller, id_, readings});
    RC_ASSERT(first.has_value() == again.has_value());
    RC_ASSERT(book_.picture() == picture);
  }

  void check(const Contract& before) {
    for (const std::string& wrong : recount(book_.rows())) RC_FAIL(wrong);
    for (const std::string& wrong : check_invoices(book_.rows(), cuts_, book_.now)) RC_FAIL(wrong);
    const Contract& after = contract();
    for (size_t i = 0; i < after.units.size(); ++i) check_unit(before, after, i);
  }

  // However late the broker looks, what is over is not paid for any longer.
  Instant paid_until(const Contract& before, const Contract& after) const {
    if (before.state == ContractState::closing) return std::min(book_.now, before.deadline);
    if (after.reason != EndReason::lapsed) return book_.now;
    const Duration lost = book_.get<EpochRecord>(epoch_key())->lost - before.outage_mark;
    const Duration grace = before.terms.grace - before.grace_used;
    return std::min(book_.now, before.deadline + std::min(lost, grace) + before.terms.drain);
  }

  void check_unit(const Contract& before, const Contract& after, size_t i) {
    const model::Unit& unit = after.units[i];
    const Duration ran = paid_until(before, after) - *after.started;
    RC_ASSERT(unit.metered.covers(before.units[i].metered));
    if (unit.live) {
      RC_ASSERT(whole_use(after.shape, ran).covers(unit.metered));
      RC_ASSERT(accrued(after, unit, book_.now).total() <= unit.reserved);
      return;
    }
    if (!before.units[i].live) return;
    RC_ASSERT(unit.charged <= before.units[i].reserved);
    RC_ASSERT(unit.charged_for_use <= unit.charged);
    // The whole shape is the ceiling, and who is told to leave pays for no minimum term.
    const bool told = before.reason == EndReason::noticed;
    const Duration paid = told ? ran : std::max(ran, after.price.minimum_term);
    RC_ASSERT(unit.charged <= model::charge_for(after.rate, paid));
    RC_ASSERT(unit.charged ==
              std::min(unit.charged_for_use + model::charge_for(rate_by_time(after), paid),
                       before.units[i].reserved));
    used_ = used_ || unit.charged_for_use > 0;
    bound_ = bound_ || paid > ran;
  }

  TestBook book_;
  model::Offer offer_;
  ContractId id_;
  std::vector<Instant> cuts_;
  bool used_ = false;
  bool bound_ = false;
};

RC_GTEST_PROP(Money, IsNeitherLostNorChargedTwice, ()) {
  Life life;
  const int steps = any_of(5, 80);
  for (int i = 0; i < steps; ++i) life.step();
  life.end();
  RC_CLASSIFY(life.used(), "use was charged");
  RC_CLASSIFY(life.bound(), "a minimum term was charged");
  RC_CLASSIFY(life.met(EventKind::contract_closing), "something was closing");
  RC_CLASSIFY(life.met(EventKind::contract_moved), "an outage moved a deadline");
}

}  // namespace
}  // namespace spillway::market
