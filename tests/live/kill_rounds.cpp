#include "live/kill_rounds.h"

#include <atomic>
#include <map>
#include <random>
#include <set>

#include "live/broker_process.h"
#include "live/federation.h"
#include "live/shop.h"
#include "support/text.h"

namespace spillway::test {
namespace {

using model::Role;

constexpr int k_buyers = 8;
constexpr int64_t k_units = 10'000'000;

class Rounds {
 public:
  explicit Rounds(uint64_t seed)
      : random_(seed), broker_(members_.data(), {"member_rate=0", "stranger_rate=0", "log=error"}) {
    broker_.start();
    members_.set_port(broker_.port());
    seller_ = members_.join("seller", {Role::provider});
    for (int i = 0; i < k_buyers; ++i) {
      buyers_.push_back(members_.join(fmt::format("buyer-{}", i), {Role::consumer}));
    }
    publish(1);
    members_.call(seller_, put_offer(tiny_shape()));
  }

  KillReport run(int rounds) {
    for (int round = 0; round < rounds && report_.broken.empty(); ++round) {
      buy_until_killed(round, static_cast<int>(random_() % 150));
      broker_.start();
      members_.forget_connections();
      publish(round + 2);  // the provider confirms, should this be another epoch
      ++report_.rounds;
    }
    if (report_.broken.empty()) check();
    report_.acknowledged = static_cast<int64_t>(acknowledged_.size());
    return report_;
  }

 private:
  void publish(int64_t report) {
    const auto snapshot =
        Members::read<wire::SnapshotAnswer>(members_.call(seller_, Members::get("/v1/snapshot")));
    const auto answer = members_.call(
        seller_, put_pool(tiny_shape(), k_units,
                          {.sequence = 1, .epoch = snapshot.epoch, .report = report}));
    if (answer.status != 200) report_.broken = answer.body;
  }

  // Each buyer asks again as soon as it is answered, until the connection breaks.
  void buy_until_killed(int round, int acks) {
    std::vector<std::unique_ptr<net::Client>> clients;
    for (const Papers& buyer : buyers_) {
      clients.push_back(std::move(*net::Client::create(thread_.poll(), members_.options(buyer))));
    }
    std::atomic<int> acknowledged = 0;
    std::atomic<int> broken = 0;
    std::function<void(size_t, int)> ask = [&](size_t i, int number) {
      const std::string key = fmt::format("{}-{}-{}", round, i, number);
      ++asked_;
      clients[i]->send(hold_one(key), [&, i, number, key](const Result<net::Response>& answer) {
        if (!answer || answer->status >= 500) {
          ++broken;
          return;
        }
        if (answer->status != 201) {
          // On a machine so busy that the broker's heartbeats are late, it records an outage while
          // it runs, and the provider has to confirm: it does, before the next round.
          if (is_unconfirmed(*answer)) {
            ++unconfirmed_;
          } else {
            refused_ = answer->body;
          }
          ++broken;
          return;
        }
        acknowledged_[{i, key}] =
            Members::read<wire::HoldAnswer>(*answer).grants.at(0).contract.text;
        ++acknowledged;
        ask(i, number + 1);
      });
    };
    thread_.run([&] {
      for (size_t i = 0; i < clients.size(); ++i) ask(i, 0);
      return true;
    });
    while (acknowledged < acks && broken < k_buyers) std::this_thread::yield();
    broker_.kill();
    while (broken < k_buyers) std::this_thread::yield();
    thread_.run([&] {
      clients.clear();
      return true;
    });
    if (!refused_.empty()) report_.broken = "refused: " + refused_;
    // Rare: a broker that refuses everyone all the time would lose nothing either.
    if (unconfirmed_ > k_buyers * (2 + round / 20)) report_.broken = "nobody was ever confirmed";
  }

  static bool is_unconfirmed(const net::Response& answer) {
    return answer.status == 409 && has(answer.body, "has not yet confirmed what it carries");
  }

  void check() {
    std::set<std::string> contracts;
    for (const auto& [key, contract] : acknowledged_) {
      contracts.insert(contract);
      const auto again = members_.call(buyers_[key.first], hold_one(key.second));
      if (again.status != 200 ||
          Members::read<wire::HoldAnswer>(again).grants.at(0).contract.text != contract) {
        report_.broken = fmt::format("{} was acknowledged as {} and is now: {}", key.second,
                                     contract, again.body);
        return;
      }
    }
    if (contracts.size() != acknowledged_.size()) report_.broken = "two keys, one contract";
    if (report_.broken.empty()) check_sums();
  }

  // Many rounds take longer than a hold lasts: what has expired is there, and is sold no more. The
  // pool is looked at first: what expires meanwhile makes the sum of the contracts smaller.
  void check_sums() {
    const auto pool =
        Members::read<wire::PoolRow>(members_.call(seller_, Members::get("/v1/pools/seller/pool")));
    const int64_t sold = pool.committed.cpu_millis / tiny_shape().cpu_millis;
    int64_t live = 0;
    for (const auto& [key, contract] : acknowledged_) {
      const auto answer =
          members_.call(buyers_[key.first], Members::get("/v1/contracts/" + contract));
      const auto seen = Members::read<wire::ContractAnswer>(answer).contract;
      if (seen.is_live()) {
        ++live;
      } else if (seen.reason != model::EndReason::expired) {
        report_.broken = fmt::format("{} has ended: {}", contract, answer.body);
        return;
      }
    }
    report_.unanswered_there = sold - live;
    if (sold < live || sold > asked_) {
      report_.broken =
          fmt::format("{} sold, {} acknowledged and live, {} asked for", sold, live, asked_);
    }
  }

  std::mt19937_64 random_;
  Members members_;
  BrokerProcess broker_;
  PollThread thread_;
  Papers seller_;
  std::vector<Papers> buyers_;
  // On the clients' thread while a round runs.
  std::map<std::pair<size_t, std::string>, std::string> acknowledged_;  // buyer, key → contract
  std::string refused_;
  int unconfirmed_ = 0;
  int64_t asked_ = 0;
  KillReport report_;
};

}  // namespace

KillReport kill_brokers(int rounds, uint64_t seed) { return Rounds(seed).run(rounds); }

}  // namespace spillway::test
