// Laws 1 and 2 under any interleaving: several brokers load, decide and commit batches on one
// store, step by step in an order that RapidCheck chooses. Commits conflict, acknowledgements get
// lost and are asked for again, time passes, pools shrink, and after every commit all laws are
// checked.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "host/batch.h"
#include "sim/laws.h"
#include "sim/rows.h"
#include "support/test_book.h"

namespace spillway::sim {
namespace {

using namespace test;
using host::Batch;
using host::Order;
using market::Command;

constexpr size_t k_brokers = 3;
const std::vector<ClusterId> k_buyers{k_buyer, k_rival, ClusterId("edge-4")};

market::Rules patient_rules() {
  market::Rules rules;
  rules.outage_after = minutes(3);
  return rules;
}

// The store and what everybody shares.
struct Common {
  Rows rows;
  market::Rules rules = patient_rules();
  Laws laws{rows, rules};
  Instant now = test::k_some_day;
  uint64_t ids = 0;

  host::Snapshot read(const host::Load& load) const {
    host::Snapshot snapshot;
    snapshot.now = now;
    for (const market::Key& key : load.keys) snapshot.rows.push_back(rows.row(key));
    for (const host::Scan& scan : load.scans) snapshot.found.push_back(rows.scan(scan));
    return snapshot;
  }
  bool write(const host::Commit& commit) {
    if (!rows.holds(commit.expectations)) return false;
    const Undo undo = rows.apply(commit);
    laws.on_commit(commit, undo);
    return true;
  }
  void check() const {
    if (laws.broken()) RC_FAIL(*laws.broken());
  }
};

// Who sends such a command.
std::string asker_of(const Command& command) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (requires { one.buyer; }) {
          return one.buyer.text;
        } else if constexpr (requires { one.provider; }) {
          return one.provider.text;
        } else if constexpr (requires { one.certificate; }) {
          return k_seller.text;  // nobody else joins
        } else {
          return "operator";
        }
      },
      command);
}

// A broker as an optimistic loader: one batch at a time, one round of loading at a time.
class Broker {
 public:
  explicit Broker(Common& common) : common_(common) {}

  bool is_idle() const { return !batch_; }
  void begin(std::vector<Command> commands) {
    std::vector<Order> orders;
    for (Command& command : commands) {
      if (auto* hold = std::get_if<market::Hold>(&command)) give_ids(*hold);
      orders.push_back({command,
                        [this, command](const Result<market::Answer>& answer) {
                          common_.laws.on_answer(command, answer);
                          answers.push_back(answer);
                        },
                        {asker_of(command), "some request"}});
    }
    batch_ = std::make_unique<Batch>(std::move(orders), common_.rules);
  }

  // One step: load what is wanted, or commit what is decided. With `ack_lost` the commit is made,
  // but the broker cannot know and decides all of it again.
  void step(bool ack_lost) {
    if (!batch_) return;
    const host::Load wants = batch_->wants();
    if (!wants.keys.empty() || !wants.scans.empty()) {
      batch_->take(wants, common_.read(wants));
      return;
    }
    if (!batch_->changes_nothing() && (!common_.write(batch_->commit()) || ack_lost)) {
      batch_->restart();
      return;
    }
    batch_->reply_all();
    batch_.reset();
  }
  void finish() {
    while (batch_) step(false);
  }

  std::vector<Result<market::Answer>> answers;

 private:
  void give_ids(market::Hold& hold) {
    hold.fresh.clear();
    for (size_t i = 0; i < hold.lines.size(); ++i) {
      hold.fresh.push_back(make_contract_id(common_.now, ++common_.ids, 0));
    }
  }

  Common& common_;
  std::unique_ptr<Batch> batch_;
};

void open_market(Common& common, int64_t units) {
  Broker operator_of_it(common);
  std::vector<Command> commands{market::Beat{}};
  model::Cluster cluster;
  for (const ClusterId& id : {k_seller, k_buyers[0], k_buyers[1], k_buyers[2]}) {
    cluster.id = id;
    cluster.quota.units = id == k_rival ? std::optional<int64_t>(3) : std::nullopt;
    if (id == k_buyers[2]) cluster.budget = model::Budget{{3 * k_set_aside, {}}, common.now};
    commands.emplace_back(market::PutCluster{cluster});
  }
  commands.emplace_back(market::PublishPool{k_seller, pool_of(units), 1, hours(1), {}});
  commands.emplace_back(market::PublishOffer{k_seller, minute_offer(), 1});
  model::Offer large = minute_offer("large");
  large.shape = test::plain_shape().times(2);
  commands.emplace_back(market::PublishOffer{k_seller, large, 1});
  operator_of_it.begin(std::move(commands));
  operator_of_it.finish();
  for (const auto& answer : operator_of_it.answers) RC_ASSERT(answer.has_value());
}

// Whoever is up again first beats, as BookHost does: batches that are under way meet the outage.
void pass(Common& common, Duration time) {
  common.now = common.now + time;
  Broker first(common);
  first.begin({market::Beat{}});
  first.finish();
}

// Numbers from which a turn makes what happens.
struct Turn {
  size_t broker = 0;
  int deed = 0;
  int which = 0;
  int amount = 0;
};

std::ostream& operator<<(std::ostream& out, const Turn& turn) {
  return out << fmt::format("{{{}, {}, {}, {}}}", turn.broker, turn.deed, turn.which, turn.amount);
}

rc::Gen<std::vector<Turn>> any_schedule() {
  return rc::gen::scale(8.0,
                        rc::gen::container<std::vector<Turn>>(rc::gen::build<Turn>(
                            rc::gen::set(&Turn::broker, rc::gen::inRange<size_t>(0, k_brokers)),
                            rc::gen::set(&Turn::deed, rc::gen::inRange(0, 20)),
                            rc::gen::set(&Turn::which, rc::gen::inRange(0, 1000)),
                            rc::gen::set(&Turn::amount, rc::gen::inRange(0, 100)))));
}

// What clients know and may ask for, whichever broker they talk to.
class Clients {
 public:
  explicit Clients(Common& common) : common_(common) {}

  Command invent(int which, int amount) {
    const ClusterId& buyer = k_buyers[static_cast<size_t>(which) % k_buyers.size()];
    switch (amount % 12) {
      case 0:
        return publish(1 + which % 6);
      case 1:
        return market::Beat{};
      case 2:
        return attend(which);
      case 3:
        return holds_.empty() ? hold(buyer, which) : Command(holds_[index(which, holds_)]);
      case 4:
      case 5:
        return on_contract(which, amount);
      case 6:
        return confirm(which);
      case 7:
        return release(which, amount);
      case 8:
        return publish_another(which);
      case 9:
        return about_the_seller(which);
      default:
        return hold(buyer, which);
    }
  }

 private:
  template <class T>
  static size_t index(int which, const std::vector<T>& list) {
    return static_cast<size_t>(which) % list.size();
  }

  Command hold(const ClusterId& buyer, int which) {
    market::Hold hold{buyer, fmt::format("key-{}", holds_.size()), {}, minutes(1), {}};
    const int32_t units = 1 + which % 3;
    hold.lines.push_back({minute_offer().id, units, which % 2 == 0 ? 1 : units});
    if (which % 5 == 0) hold.lines.push_back({OfferId("edge-1/large"), 1, 1});
    holds_.push_back(hold);
    return hold;
  }
  Command publish(int units) {
    const auto* pool = common_.rows.get<market::PoolRecord>(market::key_of(pool_of(1).id));
    return market::PublishPool{k_seller, pool_of(units), pool->sequence + 1, hours(1), {}};
  }
  // Perhaps for the first time: who revokes at the same moment must not miss it.
  Command publish_another(int which) {
    const model::Pool pool = pool_of(2, fmt::format("pool-{}", which % 20));
    const auto* present = common_.rows.get<market::PoolRecord>(market::key_of(pool.id));
    const int64_t sequence = present == nullptr ? 1 : present->sequence + 1;
    return market::PublishPool{k_seller, pool, sequence, hours(1), {}};
  }
  Command about_the_seller(int which) {
    const std::string token = fmt::format("token-{}", which % 7);
    switch (which % 3) {
      case 0:
        return market::MakeToken{token, k_seller.text, {model::Role::provider}, {}, hours(1)};
      case 1:
        return market::Join{token, std::string(64, static_cast<char>('a' + which % 5)),
                            "certificate", common_.now + hours(24)};
      default:
        return market::Revoke{k_seller.text};
    }
  }
  // Rather a live one; else any that ever was.
  std::optional<ContractId> pick(int which) const {
    const auto& live = common_.rows.contracts_in(pool_of(1).id.text);
    if (!live.empty()) {
      return ContractId(*std::next(live.begin(), which % static_cast<int>(live.size())));
    }
    return std::nullopt;
  }
  const model::Contract* contract(const ContractId& id) const {
    return common_.rows.get<model::Contract>(market::key_of(id));
  }
  Command confirm(int which) {
    const auto id = pick(which);
    if (!id) return market::Beat{};
    return market::Confirm{contract(*id)->buyer, *id};
  }
  Command release(int which, int amount) {
    const auto id = pick(which);
    if (!id) return market::Beat{};
    market::Release release{contract(*id)->buyer, *id, {}};
    if (amount % 2 == 0) release.units = {0};
    return release;
  }
  Command on_contract(int which, int amount) {
    const auto id = pick(which);
    if (!id) return market::Beat{};
    const ClusterId& buyer = contract(*id)->buyer;
    if (amount % 4 == 0) return market::GiveNotice{k_seller, *id};
    if (amount % 4 == 1) return market::Extend{buyer, *id, minutes(2)};
    return market::Renew{buyer, *id};
  }
  Command attend(int which) {
    if (which % 2 == 0) return market::Attend{market::key_of(pool_of(1).id)};
    const auto id = pick(which);
    return id ? Command(market::Attend{market::key_of(*id)}) : Command(market::Beat{});
  }

  Common& common_;
  std::vector<market::Hold> holds_;
};

RC_GTEST_PROP(Interleavings, KeepTheLaws, ()) {
  Common common;
  open_market(common, 4);
  std::vector<std::unique_ptr<Broker>> brokers;
  for (size_t i = 0; i < k_brokers; ++i) brokers.push_back(std::make_unique<Broker>(common));
  Clients clients(common);
  int conflicts_possible = 0;
  for (const Turn& turn : *any_schedule()) {
    Broker& broker = *brokers[turn.broker];
    if (turn.deed == 0) pass(common, seconds(turn.amount));
    if (turn.deed == 1) pass(common, minutes(turn.amount % 8));
    if (broker.is_idle()) {
      std::vector<Command> commands;
      for (int i = 0; i <= turn.deed % 4; ++i) {
        commands.push_back(clients.invent(turn.which + i * 7, turn.amount + i * 5));
      }
      broker.begin(std::move(commands));
    } else {
      broker.step(turn.deed >= 18);
    }
    common.check();
    conflicts_possible += std::count_if(brokers.begin(), brokers.end(),
                                        [](const auto& one) { return !one->is_idle(); }) > 1;
  }
  for (auto& broker : brokers) broker->finish();
  common.check();
  common.laws.on_store_crash();  // all that was acknowledged is there
  common.check();
  RC_CLASSIFY(conflicts_possible > 10, "brokers met");
}

// Many buyers, one free unit, any schedule: one of them gets it, and everybody knows.
RC_GTEST_PROP(Interleavings, SellTheLastUnitExactlyOnce, ()) {
  constexpr size_t k_rivals = 6;
  Common common;
  open_market(common, 1);
  std::vector<std::unique_ptr<Broker>> brokers;
  for (size_t i = 0; i < k_rivals; ++i) {
    brokers.push_back(std::make_unique<Broker>(common));
    market::Hold hold{k_buyers[i % k_buyers.size()],
                      fmt::format("key-{}", i),
                      {{minute_offer().id, 1, 1}},
                      minutes(1),
                      {}};
    // Half of them ask twice, as clients do that heard nothing.
    brokers.back()->begin(i % 2 == 0 ? std::vector<Command>{hold}
                                     : std::vector<Command>{hold, hold});
  }
  const auto schedule = *rc::gen::container<std::vector<std::pair<size_t, bool>>>(
      rc::gen::pair(rc::gen::inRange<size_t>(0, k_rivals), rc::gen::arbitrary<bool>()));
  for (const auto& [who, ack_lost] : schedule) {
    brokers[who]->step(ack_lost);
    common.check();
  }
  for (auto& broker : brokers) broker->finish();
  common.check();
  std::set<std::string> winners;
  for (size_t i = 0; i < k_rivals; ++i) {
    for (const auto& answer : brokers[i]->answers) {
      if (answer) {
        winners.insert(answer->grants.at(0).contract.text);
      } else {
        RC_ASSERT(answer.error().code == Code::taken);
      }
    }
  }
  RC_ASSERT(winners.size() == 1u);
  RC_ASSERT(common.rows.contracts_in(pool_of(1).id.text) == winners);
}

}  // namespace
}  // namespace spillway::sim
