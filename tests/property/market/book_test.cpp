// The book under random commands: whatever is asked, in whatever order, however often.
//
// After every step all sums are counted anew from the contracts, every grant is covered by its
// pool, contracts only climb up their ladder, no unit is charged more than was set aside for it,
// and invoices over any windows sum to what was charged.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/market/book_invariants.h"
#include "support/invoice_sums.h"
#include "support/recount.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::Contract;
using model::ContractState;
using test::plain_shape;

// Numbers from which a step makes its command; what they mean depends on the state it meets.
struct Step {
  int deed = 0;
  int who = 0;
  int which = 0;
  int amount = 0;
  bool twice = false;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << fmt::format("{{{}, {}, {}, {}, {}}}", step.deed, step.who, step.which, step.amount,
                            step.twice);
}

constexpr int k_deeds = 28;

rc::Gen<std::vector<Step>> any_steps() {
  return rc::gen::container<std::vector<Step>>(
      rc::gen::build<Step>(rc::gen::set(&Step::deed, rc::gen::inRange(0, k_deeds)),
                           rc::gen::set(&Step::who, rc::gen::inRange(0, 3)),
                           rc::gen::set(&Step::which, rc::gen::inRange(0, 100)),
                           rc::gen::set(&Step::amount, rc::gen::inRange(0, 100)),
                           rc::gen::set(&Step::twice, rc::gen::arbitrary<bool>())));
}

const std::vector<ClusterId> k_buyers{k_buyer, k_rival, ClusterId("edge-4")};
const std::vector<std::string> k_offers{"small", "large", "gpu", "dollars"};

// Two pools: three offers draw on the first, one on the second.
class Market {
 public:
  Market() {
    book_.rules.key_retention = hours(2);
    book_.run(Beat{}).value();
    book_.enrol(k_seller);
    enrol(0, 0);
    enrol(1, 1);
    enrol(2, 2);
    publish_pool(0, 6);
    publish_pool(1, 4);
    for (size_t i = 0; i < k_offers.size(); ++i) book_.publish(offer(i)).value();
    previous_ = book_.rows();
  }

  void act(const Step& step) {
    if (step.which % 9 == 0) cut_here();
    if (const auto command = command_of(step)) {
      run(*command, step.twice);
      said_.push_back(*command);
    }
    check();
  }

  // Everyone gives back, or falls silent and loses what it had: in the end nothing is held.
  void end(bool by_release) {
    for (const ContractId& id : contracts()) {
      if (by_release) run(Release{book_.contract(id).buyer, id, {}}, true);
    }
    for (int i = 0; i < 4; ++i) {
      book_.pass(hours(3));
      book_.attend();
      check();
    }
    check_past();
    for (const auto& [key, stored] : book_.rows().all()) {
      RC_ASSERT(key.kind != Kind::request);
      if (const auto* contract = book_.get<Contract>(key)) RC_ASSERT(!contract->is_live());
      if (const auto* pool = book_.get<PoolRecord>(key)) RC_ASSERT(pool->committed.is_zero());
      if (const auto* account = book_.get<AccountRecord>(key)) {
        RC_ASSERT((account->units == 0 && account->spares == 0 && account->open_holds == 0 &&
                   account->used.is_zero()));
        for (const Purse& purse : account->purses) RC_ASSERT(purse.reserved == 0);
      }
    }
  }

  int64_t grants() const { return book_.count_events(EventKind::contract_held); }
  bool met(EventKind kind) const { return book_.count_events(kind) > 0; }

 private:
  static model::Offer offer(size_t number) {
    model::Offer offer = minute_offer(k_offers[number]);
    if (number == 1) {
      offer.shape = plain_shape().times(3);
      offer.price.minimum_term = hours(3);
    }
    if (number == 2) {
      offer.shape.gpus = {{"nvidia-a100", 1}};
      offer.price.basis = model::PriceBasis::pay_per_use;
      offer.price.gpu_hour = {{"nvidia-a100", 77'777}};
      offer.price.minimum_term = minutes(7);
      offer.terms.grace = {};
    }
    if (number == 3) {
      offer.pool = pool_of(1, "other").id;
      offer.price.currency = Currency{{'U', 'S', 'D'}};
      offer.terms.notice = {};
      offer.terms.drain = seconds(1);  // with none, a lease would lapse and close in two attends
      offer.terms.lease = minutes(10);
    }
    return offer;
  }

  static model::Pool pool(size_t number, int64_t units) {
    model::Pool pool = pool_of(units, number == 0 ? "standard" : "other");
    pool.node.gpus = {{"nvidia-a100", 4}};
    if (number == 0 && units > 1) pool.capacity.gpus = {{"nvidia-a100", units / 2}};
    return pool;
  }

  void publish_pool(size_t number, int64_t units) { book_.publish(pool(number, units)).value(); }

  void enrol(size_t number, int generosity) {
    model::Cluster cluster;
    cluster.id = k_buyers[number];
    if (generosity == 1) {
      cluster.quota.units = 4;
      cluster.quota.open_holds = 2;
      cluster.quota.gpus = {{"nvidia-a100", 1}};
    }
    // Always from the same day: spending is counted through the whole of a test.
    if (generosity == 2) cluster.budget = model::Budget{{400'000, {}}, test::k_some_day};
    book_.enrol(cluster);
  }

  std::vector<ContractId> contracts() const {
    std::vector<ContractId> ids;
    for (const auto& [key, stored] : book_.rows().all()) {
      if (key.kind == Kind::contract) ids.emplace_back(key.id);
    }
    return ids;
  }
  // Rather a young one than an old: those are alive.
  std::optional<ContractId> pick(int which) const {
    const auto ids = contracts();
    if (ids.empty()) return std::nullopt;
    const auto back = static_cast<size_t>(which) % std::min<size_t>(ids.size(), 6);
    return ids[ids.size() - 1 - back];
  }

  std::optional<Command> command_of(const Step& step) {
    const ClusterId& buyer = k_buyers[static_cast<size_t>(step.who)];
    const auto number = static_cast<size_t>(step.which) % 2;
    const PoolId pool_id = pool(number, 1).id;
    const int64_t sequence = book_.pool(pool_id).sequence;
    if (step.deed < 6) return hold(buyer, step);
    const bool seldom = step.amount % 8 == 0;
    if (step.deed == 6) {
      return Command(PublishPool{k_seller, pool(number, step.amount % 9), sequence + 1,
                                 seldom ? minutes(1) : hours(9), carries(pool_id, step)});
    }
    if (step.deed == 7) {
      return Command(PublishPool{k_seller, book_.pool(pool_id).pool, sequence, hours(9),
                                 carries(pool_id, step)});
    }
    if (step.deed == 8 && seldom) return Command(WithdrawPool{k_seller, pool_id, sequence + 1});
    if (step.deed == 9) {
      return Command(PublishOffer{k_seller, dearer(step), offer_sequence(step) + 1});
    }
    if (step.deed == 10 && seldom) {
      return Command(WithdrawOffer{k_seller, offer_of(step).id, offer_sequence(step) + 1});
    }
    if (step.deed == 11) return Command(PutCluster{other_cluster(step)});
    if (step.deed == 12) return pass(step);
    if (step.deed == 13) return be_away(step);
    if (step.deed == 14) return attend_all();
    if (step.deed == 15) return Command(Beat{});
    if (step.deed == 16) return say_again(step);
    const auto picked = pick(step.which);
    if (!picked) return std::nullopt;
    const Contract& contract = book_.contract(*picked);
    // Mostly its own buyer, now and then somebody else.
    const ClusterId who = step.amount % 10 == 0 ? buyer : contract.buyer;
    switch (step.deed) {
      case 17:
        return Command(Confirm{who, *picked});
      case 18:
        return Command(Confirm{contract.buyer, *picked});
      case 19:
        return Command(Extend{who, *picked, minutes(1 + step.amount % 12)});
      case 20:
        return Command(Renew{who, *picked});
      case 21:
        return Command(Release{who, *picked, {}});
      case 22:
        return Command(Release{who, *picked, {step.amount % 3}});
      case 26:
        return Command(Buy{who, *picked, {step.amount % 3}});
      case 27:
        return Command(Buy{contract.buyer, *picked, {0, 1}});
      case 23:
      case 24:
        return Command(MeterUsage{k_seller, *picked, readings(contract, step)});
      default:
        break;
    }
    return step.amount % 3 == 0 ? Command(Attend{key_of(*picked)})
                                : Command(GiveNotice{k_seller, *picked});
  }

  // Of the live units: some more than before, or more than can be, or less.
  static std::vector<model::MeteredUse> readings(const Contract& contract, const Step& step) {
    std::vector<model::MeteredUse> used;
    for (const model::Unit& unit : contract.units) {
      if (!unit.live && step.amount % 7 != 0) continue;
      model::Use use = unit.metered;
      use.cpu_core_ms = std::max<int64_t>(0, use.cpu_core_ms + (step.amount - 5) * 17'001);
      if (!contract.shape.gpus.empty()) use.gpu_ms = {{"nvidia-a100", 1 + use.cpu_core_ms / 3}};
      used.push_back({unit.number, use});
    }
    return used;
  }

  Command hold(const ClusterId& buyer, const Step& step) {
    const auto units = 1 + step.amount % 3;
    const bool spare = step.which % 3 == 0;
    std::vector<HoldLine> lines{
        {offer_of(step).id, units, step.amount % 2 == 0 ? 1 : units, spare}};
    if (step.amount % 5 == 0) {
      const OfferId other = offer(static_cast<size_t>(step.which + 1) % k_offers.size()).id;
      lines.push_back({other, 1, 1, !spare && step.who == 0});
    }
    return book_.hold_of(buyer, std::move(lines));
  }

  static model::Offer offer_of(const Step& step) {
    return offer(static_cast<size_t>(step.which) % k_offers.size());
  }
  int64_t offer_sequence(const Step& step) const {
    return book_.get<OfferRecord>(key_of(offer_of(step).id))->sequence;
  }
  static model::Offer dearer(const Step& step) {
    model::Offer offer = offer_of(step);
    offer.price.unit_hour += step.amount * 1000;
    return offer;
  }
  static model::Cluster other_cluster(const Step& step) {
    model::Cluster cluster;
    cluster.id = k_buyers[static_cast<size_t>(step.who)];
    if (step.amount % 3 == 1) cluster.quota.units = step.amount % 7;
    return cluster;
  }

  // What the provider says it has in place: some contracts, some units more or fewer than sold.
  std::vector<Carried> carries(const PoolId& pool, const Step& step) {
    std::vector<Carried> carried;
    for (const ContractId& id : contracts()) {
      const Contract& contract = book_.contract(id);
      if (contract.pool != pool || !contract.started) continue;
      const int32_t more = step.amount % 7 == 0 ? 1 : 0;
      if (contract.bought_units() + more > 0) {
        carried.push_back({id, contract.bought_units() + more, contract.shape});
      }
    }
    return carried;
  }

  std::optional<Command> pass(const Step& step) {
    constexpr std::array k_times{milliseconds(1), seconds(1),  seconds(30), minutes(2),
                                 minutes(5),      minutes(15), hours(1),    hours(3)};
    book_.pass(k_times[static_cast<size_t>(step.amount) % k_times.size()]);
    return std::nullopt;
  }
  std::optional<Command> be_away(const Step& step) {
    book_.be_away(seconds(11) + minutes(step.amount % 20));
    if (step.which % 4 == 0) return std::nullopt;
    for (const size_t number : {0u, 1u}) {
      const PoolRecord& pool = book_.pool(Market::pool(number, 1).id);
      run(PublishPool{k_seller, pool.pool, pool.sequence, hours(9), carries(pool.pool.id, step)},
          false);
    }
    return std::nullopt;
  }
  std::optional<Command> attend_all() {
    book_.attend();
    return std::nullopt;
  }
  // A message that was under way for long, or twice.
  std::optional<Command> say_again(const Step& step) {
    if (said_.empty()) return std::nullopt;
    return said_[static_cast<size_t>(step.which) % said_.size()];
  }

  void run(const Command& command, bool twice) {
    const auto before = book_.picture();
    const auto first = book_.run(command);
    if (!first) {
      RC_ASSERT(book_.picture() == before);
      const Error& error = first.error();
      RC_ASSERT((!error.thing.empty() && !error.reason.empty() && !error.next.empty()));
    }
    if (!twice) return;
    const auto after = book_.picture();
    const auto second = book_.run(command);
    RC_ASSERT(book_.picture() == after);
    RC_ASSERT(first.has_value() == second.has_value());
    if (first) RC_ASSERT((first->grants == second->grants && first->contract == second->contract));
  }

  void check() {
    for (const std::string& wrong : recount(book_.rows())) RC_FAIL(wrong);
    for (const std::string& wrong : check_invoices(book_.rows(), cuts_, book_.now)) RC_FAIL(wrong);
    for (const auto& [key, stored] : book_.rows().all()) {
      const auto* now = book_.get<Contract>(key);
      if (now == nullptr) continue;
      const auto* before = previous_.get<Contract>(key);
      if (before == nullptr) {
        check_grant(book_, *now);
      } else {
        check_life(*before, *now);
        if (has_bought(*before, *now)) check_grant(book_, *now);
      }
    }
    previous_ = book_.rows();
  }

  // What was invoiced of time that has passed stays as it is, whatever comes later.
  void cut_here() {
    const Window past{cuts_.empty() ? test::k_some_day : cuts_.back(), book_.now};
    cuts_.push_back(book_.now);
    for (const ContractId& id : contracts()) {
      for (InvoiceLine& line : lines_of(book_.contract(id), past, book_.now)) {
        if (!line.running && line.why == LineReason::used) past_.emplace_back(past, line);
      }
    }
  }
  void check_past() {
    for (const auto& [window, line] : past_) {
      const auto now = lines_of(book_.contract(line.contract), window, book_.now);
      RC_ASSERT(std::find(now.begin(), now.end(), line) != now.end());
    }
  }

  TestBook book_;
  MemoryRows previous_;
  std::vector<Instant> cuts_;
  std::vector<std::pair<Window, InvoiceLine>> past_;
  std::vector<Command> said_;
};

void play(const std::vector<Step>& steps, bool by_release) {
  Market market;
  for (const Step& step : steps) market.act(step);
  RC_CLASSIFY(market.grants() > 0, "something was sold");
  RC_CLASSIFY(market.grants() > 10, "more than ten holds");
  RC_CLASSIFY(market.met(EventKind::pool_oversold), "a pool was oversold");
  RC_CLASSIFY(market.met(EventKind::contract_moved), "an outage moved a deadline");
  RC_CLASSIFY(market.met(EventKind::contract_closing), "something was closing");
  RC_CLASSIFY(market.met(EventKind::usage_metered), "something was metered");
  market.end(by_release);
}

RC_GTEST_PROP(Book, KeepsItsSumsWhateverIsAsked, ()) {
  play(*rc::gen::scale(6.0, any_steps()), true);
}

RC_GTEST_PROP(Book, GetsEverythingBackFromThoseWhoFallSilent, ()) {
  play(*rc::gen::scale(4.0, any_steps()), false);
}

}  // namespace
}  // namespace spillway::market
