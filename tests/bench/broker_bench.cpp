// The broker as a process of its own, asked over mutual TLS. CPU time is the broker's alone; wall
// time where the disk is in it. The clients share the machine's cores with it.
#include <atomic>
#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/bench.h"
#include "live/broker_process.h"
#include "live/federation.h"
#include "live/shop.h"
#include "pki/private_file.h"
#include "services/agent/supply_file.h"
#include "support/nouns.h"

namespace spillway::bench {
namespace {

using model::Role;
using test::Members;
using test::Papers;

class Market {
 public:
  Market()
      : process_(members_.data(), {"member_rate=0", "stranger_rate=0", "streams=4000",
                                   "offers=100000", "log=error"}) {
    process_.start();
    members_.set_port(process_.port());
    seller_ = members_.join("seller", {Role::provider});
    check(members_.call(seller_, test::put_pool(test::tiny_shape(), k_units)));
    publish_offer("small");
  }

  Members& members() { return members_; }
  test::BrokerProcess& process() { return process_; }

  std::vector<Papers> buyers(int count) {
    std::vector<Papers> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(members_.join(fmt::format("buyer-{}-{}", round_, i), {Role::consumer}));
    }
    ++round_;
    return all;
  }

  void publish_offer(const std::string& name) {
    check(members_.call(seller_, test::put_offer(test::tiny_shape(), name)));
  }
  static void check(const net::Response& response) {
    SPILLWAY_CHECK(response.status < 300, response.body);
  }

  static constexpr int64_t k_units = 10'000'000;

 private:
  Members members_;
  test::BrokerProcess process_;
  Papers seller_;
  int round_ = 0;
};

struct Load {
  double seconds = 0;
  double server_cpu = 0;
  std::vector<double> milliseconds;  // of each answer
};

// Each of `who` asks on a connection of its own, again as soon as it is answered; or, with a rate,
// at its turn whether or not the last one was answered (up to one on its way).
class Crowd {
 public:
  Crowd(Market& market, const std::vector<Papers>& who, std::function<net::Request()> make)
      : market_(market), make_(std::move(make)) {
    for (const Papers& papers : who) {
      auto options = market.members().options(papers);
      options.connections = 1;
      auto client = net::Client::create(thread_.poll(), options);
      SPILLWAY_CHECK(client.has_value(), "no client");
      clients_.push_back(std::move(*client));
    }
  }
  ~Crowd() {
    thread_.run([this] {
      clients_.clear();
      return true;
    });
  }

  Load run(int64_t requests, double rate = 0) {
    left_ = requests;
    open_ = requests;
    milliseconds_.clear();
    milliseconds_.reserve(static_cast<size_t>(requests));
    const double cpu = market_.process().cpu_seconds();
    const double began = wall_seconds();
    thread_.ask<bool>([&](auto done) {
      done_ = [done] { done(true); };
      for (size_t i = 0; i < clients_.size(); ++i) {
        if (rate == 0) {
          next(i);
        } else {
          tick(i, began + static_cast<double>(i) / rate,
               static_cast<double>(clients_.size()) / rate);
        }
      }
    });
    return {wall_seconds() - began, market_.process().cpu_seconds() - cpu, milliseconds_};
  }

 private:
  void next(size_t i) {
    if (left_-- <= 0) return;
    ask(i, wall_seconds(), [this, i] { next(i); });
  }
  void tick(size_t i, double due, double every) {
    const double wait = due - wall_seconds();
    thread_.poll().after(milliseconds(std::max<int64_t>(0, static_cast<int64_t>(wait * 1000))),
                         [this, i, due, every] {
                           if (left_-- <= 0) return;
                           // Late ones are counted from when they should have been sent.
                           ask(i, due, [this, i, due, every] { tick(i, due + every, every); });
                         });
  }
  void ask(size_t i, double since, std::function<void()> then) {
    clients_[i]->send(make_(), [this, since, then](const Result<net::Response>& response) {
      SPILLWAY_CHECK(response && response->status < 300,
                     response ? response->body : response.error().message());
      milliseconds_.push_back((wall_seconds() - since) * 1000);
      then();
      if (--open_ == 0) done_();
    });
  }

  Market& market_;
  std::function<net::Request()> make_;
  test::PollThread thread_;
  std::vector<std::unique_ptr<net::Client>> clients_;
  int64_t left_ = 0;
  int64_t open_ = 0;
  std::vector<double> milliseconds_;
  std::function<void()> done_;
};

net::Request whoami() { return Members::get("/v1/whoami"); }

net::Request next_hold() {
  static std::atomic<int64_t> keys{0};
  return test::hold_one(fmt::format("key-{}", ++keys));
}

SPILLWAY_BENCH(broker, requests) {
  Market market;
  const auto buyers = market.buyers(64);
  Crowd idle(market, buyers, whoami);
  Crowd holding(market, buyers, next_hold);
  idle.run(2'000);
  holding.run(500);
  std::vector<double> noop;
  std::vector<double> hold;
  std::vector<double> ratio;
  std::vector<double> p99;
  for (int i = 0; i < k_repetitions; ++i) {  // they take turns: the ratio is of neighbours
    const Load empty = idle.run(30'000);
    const Load full = holding.run(10'000);
    noop.push_back(30'000 / empty.server_cpu);
    hold.push_back(10'000 / full.server_cpu);
    ratio.push_back(hold.back() / noop.back());
    const double half = 10'000 / full.seconds / 2;
    p99.push_back(percentile(holding.run(static_cast<int64_t>(half * 2), half).milliseconds, 990));
  }
  report.at_least("noop_per_cpu_s", noop, "1/s", 15'000);
  // 0.4 of the 15,000 that a no-op must reach, and of what it does reach.
  report.at_least("hold_per_cpu_s", hold, "1/s", 6'000);
  report.at_least("hold_ratio", ratio, "", 0.4);
  report.at_most("hold_p99_ms", p99, "ms", 15);
}

SPILLWAY_BENCH(broker, race) {
  Market market;
  for (const auto& [name, buyers, requests, goal] :
       {std::tuple{"single_per_s", 1, 1'000, 400}, std::tuple{"race10_per_s", 10, 8'000, 2'500},
        std::tuple{"race64_per_s", 64, 16'000, 4'000}}) {
    Crowd crowd(market, market.buyers(buyers), next_hold);
    crowd.run(buyers * 5);
    std::vector<double> rates;
    for (int i = 0; i < k_repetitions; ++i) {
      rates.push_back(requests / crowd.run(requests).seconds);
    }
    report.at_least(name, rates, "1/s", goal);
  }
}

// `count` event streams of one viewer; each tells when it has heard of an offer.
class Audience {
 public:
  Audience(Market& market, const Papers& who, int count) {
    auto options = market.members().options(who);
    auto client = net::Client::create(thread_.poll(), options);
    SPILLWAY_CHECK(client.has_value(), "no client");
    client_ = std::move(*client);
    wire_ = std::make_unique<wire::BrokerClient>(*client_);
    thread_.ask<bool>([&](auto done) {
      opened_ = [this, count, done] {
        if (++open_ == count) done(true);
      };
      for (int i = 0; i < count; ++i) {
        streams_.push_back(wire_->follow(-1, {[this] { opened_(); },
                                              [this](const wire::EventBody& event) {
                                                if (event.kind == "offer-published" &&
                                                    ++heard_ == wanted_)
                                                  heard_all_();
                                              },
                                              [](const Error& why, const wire::SnapshotAnswer*) {
                                                SPILLWAY_CHECK(false, why.message());
                                              }}));
      }
    });
  }
  ~Audience() {
    thread_.run([this] {
      streams_.clear();
      client_.reset();
      return true;
    });
  }

  // From the moment when `f` is asked for, its way to the disk included, until all have heard.
  template <class F>
  double seconds_to_hear(F f) {
    std::promise<double> end;
    thread_.run([&] {
      heard_ = 0;
      wanted_ = static_cast<int>(streams_.size());
      heard_all_ = [&end] { end.set_value(wall_seconds()); };
      return true;
    });
    const double began = wall_seconds();
    f();
    return end.get_future().get() - began;
  }

 private:
  test::PollThread thread_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<wire::BrokerClient> wire_;
  std::vector<std::unique_ptr<wire::EventStream>> streams_;
  int open_ = 0;
  int heard_ = 0;
  int wanted_ = 0;
  std::function<void()> opened_;
  std::function<void()> heard_all_;
};

SPILLWAY_BENCH(broker, streams) {
  constexpr int k_streams = 1'000;
  std::vector<double> rss;
  std::vector<double> each;
  std::vector<double> fanout;
  for (int i = 0; i < 3; ++i) {
    Market market;
    for (int offer = 0; offer < 10'000; ++offer) market.publish_offer(fmt::format("o-{}", offer));
    const Papers viewer = market.members().join("viewer", {Role::viewer});
    market.members().forget_connections();
    const int64_t before = market.process().rss_kib();
    Audience audience(market, viewer, k_streams);
    const int64_t after = market.process().rss_kib();
    rss.push_back(static_cast<double>(after) / 1024);
    each.push_back(static_cast<double>(after - before) / k_streams);
    for (int event = 0; event < 5; ++event) {
      fanout.push_back(1000 * audience.seconds_to_hear(
                                  [&] { market.publish_offer(fmt::format("n-{}", event)); }));
    }
  }
  report.at_most("rss_mib", rss, "MiB", 70);
  report.at_most("conn_kib", each, "KiB", 25);
  report.at_most("fanout_ms", fanout, "ms", 300);
}

// A provider's agent that has published and follows the events.
SPILLWAY_BENCH(agent, rss) {
  Market market;
  Members& members = market.members();
  Papers papers;
  const std::string folder = members.join_folder("edge-1", {Role::provider}, &papers);
  model::Pool pool = test::plain_pool();
  const auto supply = agent::to_json(agent::Supply{{pool}, {test::plain_offer()}});
  SPILLWAY_CHECK(pki::write_private(folder + "/supply.yaml", supply).has_value(), "no supply");
  std::vector<double> rss;
  for (int i = 0; i < k_repetitions; ++i) {
    const int64_t before =
        Members::read<wire::SnapshotAnswer>(members.call(papers, Members::get("/v1/snapshot")))
            .sequence;
    const test::ChildProcess child(
        {test::spillway_program(), "agent", "--dir", folder, "--supply", folder + "/supply.yaml"});
    const std::string log = fmt::format("/v1/events?after={}", before);
    while (Members::read<wire::EventPage>(members.call(papers, Members::get(log))).events.empty()) {
      std::this_thread::yield();
    }
    rss.push_back(static_cast<double>(test::rss_kib_of(child.pid())) / 1024);
  }
  report.at_most("rss_mib", rss, "MiB", 20);
}

}  // namespace
}  // namespace spillway::bench
