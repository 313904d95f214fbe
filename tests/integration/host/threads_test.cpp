// Laws 1 and 2 under real threads: one SQLite file, two brokers with a connection, a loop and a
// thread each, and eight clients that hold, confirm, renew and give back on small pools, asking
// again and asking both brokers at once. Then everything is counted from the file.
#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "host/book_host.h"
#include "services/service_loop.h"
#include "store/sqlite_store.h"
#include "support/recount.h"
#include "support/temporary_folder.h"
#include "support/test_book.h"
#include "support/waiting_loop.h"

namespace spillway::host {
namespace {

using namespace test;

constexpr int k_clients = 8;
constexpr int k_rounds = 150;
constexpr int k_pools = 3;
constexpr int64_t k_units = 3;  // of each pool: contended all the time

PoolId pool_id(int number) { return PoolId(fmt::format("edge-1/pool-{}", number)); }
OfferId offer_id(int number) { return OfferId(fmt::format("edge-1/offer-{}", number)); }
ClusterId client_id(int number) { return ClusterId(fmt::format("client-{}", number)); }

class Broker {
 public:
  Broker(const std::string& file, uint64_t seed, std::atomic<int>& over_capacity) : random_(seed) {
    store_ = store::SqliteStore::open(file, {}, loop_).value();
    BookOptions options;
    options.rules.outage_after = hours(1);  // a slow machine is no outage
    host_ = std::make_unique<BookHost>(loop_, *store_, random_, options);
    host_->listen([&over_capacity](const Commit& commit, const Committed&) {
      for (const Put& put : commit.puts) {
        const auto* pool = std::get_if<market::Shared<market::PoolRecord>>(&put.record);
        if (pool == nullptr) continue;
        if (!(*pool)->pool.capacity.covers((*pool)->committed)) ++over_capacity;
      }
    });
    loop_.post([this] { host_->start(); });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Broker() {
    loop_.stop();
    thread_.join();
  }

  std::future<Result<market::Answer>> ask(market::Command command) {
    auto promise = std::make_shared<std::promise<Result<market::Answer>>>();
    auto future = promise->get_future();
    loop_.post([this, promise, command = std::move(command)] {
      host_->submit(command, [promise](Result<market::Answer> answer) {
        promise->set_value(std::move(answer));
      });
    });
    return future;
  }

 private:
  services::LoneLoop loop_;  // outlives the store, which posts to it
  SeededRandom random_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<BookHost> host_;
  std::thread thread_;
};

// What a client was told.
struct Told {
  std::map<ContractId, int32_t> granted;
  std::map<ContractId, std::set<int32_t>> released;
  std::set<ContractId> confirmed;
  int refused = 0;
};

class Client {
 public:
  Client(int number, std::array<std::unique_ptr<Broker>, 2>& brokers)
      : id_(client_id(number)), brokers_(brokers), random_(static_cast<uint64_t>(number) + 100) {}

  void run() {
    for (int round = 0; round < k_rounds; ++round) {
      hold(round);
      if (mine_.empty()) continue;
      const ContractId id = mine_[below(random_, mine_.size())];
      switch (below(random_, 4)) {
        case 0:
          confirm(id);
          break;
        case 1:
          release(id, {});
          break;
        case 2:
          release(id, {0});
          break;
        default:
          ask(market::Renew{id_, id});
          break;
      }
    }
    // Most of it goes back; the rest is there to be counted.
    while (mine_.size() > 1) release(mine_.back(), {});
  }

  Told told;

 private:
  // As clients must: whoever has no answer asks again, another broker if need be.
  Result<market::Answer> ask(const market::Command& command) {
    while (true) {
      auto answer = brokers_[below(random_, 2)]->ask(command).get();
      const bool unknown = !answer && (answer.error().code == Code::unavailable ||
                                       answer.error().code == Code::contended);
      if (!unknown) return answer;
    }
  }

  void hold(int round) {
    const int pool = static_cast<int>(below(random_, k_pools));
    const auto units = static_cast<int32_t>(1 + below(random_, 2));
    const market::Hold hold{
        id_, fmt::format("key-{}", round), {{offer_id(pool), units, 1}}, minutes(10), {}};
    // Both brokers at once: one of the two sells, or none, and both say the same.
    if (below(random_, 3) == 0) {
      auto one = brokers_[0]->ask(hold);
      auto other = brokers_[1]->ask(hold);
      one.get();
      other.get();
    }
    const auto answer = ask(hold);
    if (!answer) {
      EXPECT_TRUE(is_refused(answer, Code::taken));
      ++told.refused;
      return;
    }
    const market::Grant& grant = answer->grants.at(0);
    told.granted[grant.contract] = grant.units;
    mine_.push_back(grant.contract);
    const auto again = ask(hold);
    EXPECT_TRUE(again && again->grants == answer->grants);
  }

  void confirm(const ContractId& id) {
    const auto answer = ask(market::Confirm{id_, id});
    ASSERT_TRUE(answer) << answer.error().message();
    told.confirmed.insert(id);
  }

  void release(const ContractId& id, std::vector<int32_t> units) {
    const auto answer = ask(market::Release{id_, id, std::move(units)});
    ASSERT_TRUE(answer) << answer.error().message();
    for (const model::Unit& unit : answer->contract->units) {
      if (!unit.live) told.released[id].insert(unit.number);
    }
    if (!answer->contract->is_live()) std::erase(mine_, id);
  }

  ClusterId id_;
  std::array<std::unique_ptr<Broker>, 2>& brokers_;
  SeededRandom random_;
  std::vector<ContractId> mine_;
};

void open_market(Broker& broker) {
  model::Cluster cluster;
  cluster.id = k_seller;
  broker.ask(market::PutCluster{cluster}).get().value();
  for (int i = 0; i < k_clients; ++i) {
    cluster.id = client_id(i);
    broker.ask(market::PutCluster{cluster}).get().value();
  }
  for (int i = 0; i < k_pools; ++i) {
    model::Pool pool = pool_of(k_units);
    pool.id = pool_id(i);
    broker.ask(market::PublishPool{k_seller, pool, 1, hours(1), {}}).get().value();
    model::Offer offer = minute_offer();
    offer.id = offer_id(i);
    offer.pool = pool.id;
    broker.ask(market::PublishOffer{k_seller, offer, 1}).get().value();
  }
}

// The whole file, by a connection of its own.
MemoryRows read_file(const std::string& file, const std::vector<Told>& told) {
  WaitingLoop loop;
  const auto opened = store::SqliteStore::open(file, {}, loop).value();
  Load load;
  for (const Told& one : told) {
    for (const auto& [id, units] : one.granted) load.keys.push_back(market::key_of(id));
  }
  for (const auto kind : {market::Kind::pool, market::Kind::account, market::Kind::contract}) {
    Scan scan;
    scan.kind = kind;
    scan.by = Scan::By::all;
    load.scans.push_back(scan);
  }
  const auto snapshot =
      loop.wait_for<Snapshot>([&](auto then) { opened->load(load, then); }).value();
  const auto events = loop.wait_for<std::vector<market::Event>>([&](auto then) {
                            opened->events_after({0, 1'000'000}, then);
                          })
                          .value();
  MemoryRows rows;
  for (const Row& row : snapshot.rows) rows.commit({{row.key, row.record}}, {});
  for (const auto& found : snapshot.found) {
    for (const Row& row : found) rows.commit({{row.key, row.record}}, {});
  }
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].sequence, static_cast<int64_t>(i) + 1) << "the log has a gap";
  }
  rows.commit({}, events);
  return rows;
}

void expect_told_is_there(const MemoryRows& rows, const Told& told) {
  for (const auto& [id, units] : told.granted) {
    const auto* contract = rows.get<model::Contract>(market::key_of(id));
    ASSERT_NE(contract, nullptr) << id.text << " was granted and is not there";
    EXPECT_EQ(static_cast<int32_t>(contract->units.size()), units);
  }
  for (const ContractId& id : told.confirmed) {
    EXPECT_TRUE(rows.get<model::Contract>(market::key_of(id))->started) << id.text;
  }
  for (const auto& [id, numbers] : told.released) {
    for (const int32_t number : numbers) {
      EXPECT_FALSE(
          rows.get<model::Contract>(market::key_of(id))->units[static_cast<size_t>(number)].live);
    }
  }
}

TEST(Threads, TwoBrokersAndEightClientsSellNothingTwiceAndLoseNothing) {
  const TemporaryFolder folder;
  const std::string file = folder / "market.db";
  std::atomic<int> over_capacity = 0;
  std::vector<Told> told(k_clients);
  {
    std::array<std::unique_ptr<Broker>, 2> brokers;
    for (size_t i = 0; i < 2; ++i)
      brokers[i] = std::make_unique<Broker>(file, i + 1, over_capacity);
    open_market(*brokers[0]);
    std::vector<std::thread> threads;
    for (int i = 0; i < k_clients; ++i) {
      threads.emplace_back([&, i] {
        Client client(i, brokers);
        client.run();
        told[static_cast<size_t>(i)] = std::move(client.told);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(over_capacity, 0);

  const MemoryRows rows = read_file(file, told);
  size_t granted = 0;
  int refused = 0;
  for (const Told& one : told) {
    expect_told_is_there(rows, one);
    granted += one.granted.size();
    refused += one.refused;
  }
  EXPECT_EQ(recount(rows), std::vector<std::string>{});
  const auto held = std::count_if(
      rows.events().begin(), rows.events().end(),
      [](const market::Event& event) { return event.kind == market::EventKind::contract_held; });
  EXPECT_EQ(static_cast<size_t>(held), granted) << "something was sold that nobody was told of";
  EXPECT_GT(granted, 30u);
  EXPECT_GT(refused, 0) << "the pools were never short: this tests nothing";
}

}  // namespace
}  // namespace spillway::host
