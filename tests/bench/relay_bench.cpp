// Messages between the parties of contracts through a broker process, over mutual TLS: what they
// cost the broker when they are sealed already, and how fast they come when members sign, seal,
// open and verify them. The members share the machine's cores with the broker.
#include <algorithm>
#include <charconv>
#include <future>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/bench.h"
#include "live/broker_process.h"
#include "live/live_mailbox.h"
#include "live/shop.h"

namespace spillway::bench {
namespace {

using model::Role;
using test::Members;
using test::Signer;

constexpr int k_pairs = 32;
constexpr size_t k_body_bytes = 1000;  // about a certificate request

// One seller, many buyers, a signed contract with each.
class RelayMarket {
 public:
  RelayMarket() : process_(members_.data(), {"member_rate=0", "stranger_rate=0", "log=error"}) {
    process_.start();
    members_.set_port(process_.port());
    seller_ = join_signer(members_, "seller", {Role::provider});
    const net::Response pool =
        members_.call(seller_->papers, test::put_pool(test::tiny_shape(), 1'000));
    SPILLWAY_CHECK(pool.status < 300, pool.body);
    const net::Response offer = members_.call(seller_->papers, test::put_offer(test::tiny_shape()));
    SPILLWAY_CHECK(offer.status < 300, offer.body);
    for (int i = 0; i < k_pairs; ++i) {
      const std::string name = fmt::format("buyer-{}", i);
      buyers_.push_back(join_signer(members_, name, {Role::consumer}));
      agreements_.push_back(agree_over_the_wire(members_, *buyers_.back(), *seller_, name));
    }
    members_.forget_connections();
  }

  Members& members() { return members_; }
  test::BrokerProcess& process() { return process_; }
  const Signer& seller() const { return *seller_; }
  const Signer& buyer(size_t i) const { return *buyers_[i]; }
  const model::Agreement& agreement(size_t i) const { return agreements_[i]; }

 private:
  Members members_;
  test::BrokerProcess process_;
  std::unique_ptr<Signer> seller_;
  std::vector<std::unique_ptr<Signer>> buyers_;
  std::vector<model::Agreement> agreements_;
};

// Posts what was sealed before, each buyer one after the other, while the seller fetches and
// acknowledges without opening anything.
class SealedTraffic {
 public:
  explicit SealedTraffic(RelayMarket& market) : market_(market) {
    for (size_t i = 0; i < k_pairs; ++i) {
      senders_.push_back(std::make_unique<Sender>());
      senders_[i]->client = client_of(market.buyer(i));
      senders_[i]->wire = std::make_unique<wire::BrokerClient>(*senders_[i]->client);
      by_contract_[market.agreement(i).hold] = i;
    }
    receiver_ = client_of(market.seller());
    at_seller_ = std::make_unique<wire::BrokerClient>(*receiver_);
    thread_.ask<bool>([&](auto opened) {
      stream_ = at_seller_->follow(-1, {[opened] { opened(true); },
                                        [this](const wire::EventBody& event) {
                                          if (event.kind == "message-sent") {
                                            fetch(ContractId(event.subject));
                                          }
                                        },
                                        [](const Error& why, const wire::SnapshotAnswer*) {
                                          SPILLWAY_CHECK(false, why.message());
                                        }});
    });
  }
  ~SealedTraffic() {
    thread_.run([this] {
      stream_.reset();
      senders_.clear();
      at_seller_.reset();
      receiver_.reset();
      return true;
    });
  }

  // Messages per second of the broker's CPU time.
  double run(int64_t for_each) {
    seal(for_each);
    to_post_ = for_each * k_pairs;
    to_come_ = to_post_;
    const double cpu = market_.process().cpu_seconds();
    thread_.ask<bool>([&](auto done) {
      done_ = [done] { done(true); };
      for (size_t i = 0; i < k_pairs; ++i) post(i);
    });
    return static_cast<double>(for_each * k_pairs) / (market_.process().cpu_seconds() - cpu);
  }

 private:
  struct Sender {
    std::unique_ptr<net::Client> client;
    std::unique_ptr<wire::BrokerClient> wire;
    std::vector<wire::MessageRequest> sealed;  // the next one last
    int64_t numbers = 0;
    bool fetching = false;
    int64_t taken = 0;
  };

  std::unique_ptr<net::Client> client_of(const Signer& who) {
    auto options = market_.members().options(who.papers);
    options.connections = test::k_mailbox_connections;
    auto client = net::Client::create(thread_.poll(), options);
    SPILLWAY_CHECK(client.has_value(), "no client");
    return std::move(*client);
  }

  void seal(int64_t for_each) {
    for (size_t i = 0; i < k_pairs; ++i) {
      const Signer& buyer = market_.buyer(i);
      const agent::LetterKeys keys{buyer.key, buyer.sealing};
      const auto peer = agent::peer_of(market_.agreement(i), buyer.cluster(), keys);
      SPILLWAY_CHECK(peer.has_value(), "no peer");
      Sender& sender = *senders_[i];
      for (int64_t n = 0; n < for_each; ++n) {
        const int64_t sequence = ++sender.numbers;
        sender.sealed.push_back(
            {sequence, "step",
             *agent::write_letter(*peer, keys, "step", sequence, std::string(k_body_bytes, 'x')),
             minutes(10)});
      }
      std::reverse(sender.sealed.begin(), sender.sealed.end());
    }
  }

  void post(size_t i) {
    Sender& sender = *senders_[i];
    if (sender.sealed.empty()) return;
    const wire::MessageRequest message = std::move(sender.sealed.back());
    sender.sealed.pop_back();
    sender.wire->send_message(market_.agreement(i).hold, message,
                              [this, i](const Result<void>& answer) {
                                SPILLWAY_CHECK(answer, answer ? "" : answer.error().message());
                                to_post_ -= 1;
                                post(i);
                                end_if_quiet();
                              });
  }

  void fetch(const ContractId& id) {
    Sender& sender = *senders_[by_contract_.at(id)];
    if (std::exchange(sender.fetching, true)) return;
    at_seller_->get_messages(id, sender.taken,
                             [this, id](const Result<wire::MessagePage>& page) { take(id, page); });
  }

  // As a mailbox does (services/agent/mailbox.cpp).
  void take(const ContractId& id, const Result<wire::MessagePage>& page) {
    SPILLWAY_CHECK(page, page ? "" : page.error().message());
    Sender& sender = *senders_[by_contract_.at(id)];
    if (page->messages.empty()) {
      sender.fetching = false;
      return end_if_quiet();
    }
    to_come_ -= static_cast<int64_t>(page->messages.size());
    sender.taken = page->messages.back().sequence;
    thread_.poll().after(agent::k_gather_acknowledgements, [this, id, through = sender.taken] {
      at_seller_->take_messages(
          id, {through}, [this, id](const Result<wire::MessagePage>& next) { take(id, next); });
    });
  }

  // When all is posted, fetched and acknowledged.
  void end_if_quiet() {
    const bool quiet = to_post_ == 0 && to_come_ == 0 &&
                       std::none_of(senders_.begin(), senders_.end(),
                                    [](const auto& sender) { return sender->fetching; });
    if (quiet && done_) std::exchange(done_, nullptr)();
  }

  RelayMarket& market_;
  test::PollThread thread_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::map<ContractId, size_t> by_contract_;
  std::unique_ptr<net::Client> receiver_;
  std::unique_ptr<wire::BrokerClient> at_seller_;
  std::unique_ptr<wire::EventStream> stream_;
  int64_t to_post_ = 0;
  int64_t to_come_ = 0;
  std::function<void()> done_;
};

// Members that sign, seal, open and verify: each buyer sends to the seller.
class OpenTraffic {
 public:
  explicit OpenTraffic(RelayMarket& market)
      : market_(market),
        seller_(receiving_, market.members(), market.seller(),
                [this](const agent::Received& message) { on_message(message.body); }) {
    for (size_t i = 0; i < k_pairs; ++i) {
      buyers_.push_back(std::make_unique<test::LiveMailbox>(
          sending_, market.members(), market.buyer(i), [](const agent::Received&) {}));
      buyers_[i]->know(market.agreement(i));
      seller_.know(market.agreement(i));
    }
  }

  struct Outcome {
    double per_second = 0;
    std::vector<double> milliseconds;
  };

  // `rate` 0: as fast as the mailboxes take them.
  Outcome run(int64_t messages, double rate) {
    left_to_come_ = messages;
    milliseconds_.clear();
    std::promise<double> end;
    receiving_.run([&] {
      done_ = [&end] { end.set_value(wall_seconds()); };
      return true;
    });
    const double began = wall_seconds();
    sending_.run([&] {
      left_to_send_ = messages;
      send_more(began, rate, messages);
      return true;
    });
    const double seconds = end.get_future().get() - began;
    return {static_cast<double>(messages) / seconds, milliseconds_};
  }

 private:
  // Up to what is due by now; of what finds no room the time is counted all the same.
  void send_more(double began, double rate, int64_t messages) {
    const double due = rate == 0 ? static_cast<double>(messages) : (wall_seconds() - began) * rate;
    size_t full = 0;
    while (left_to_send_ > 0 && full < k_pairs &&
           static_cast<double>(messages - left_to_send_) < due) {
      const size_t i = next_++ % k_pairs;
      const double since =
          rate == 0 ? wall_seconds() : began + static_cast<double>(messages - left_to_send_) / rate;
      std::string body = fmt::format("{:.6f} ", since);
      body.resize(k_body_bytes, 'x');
      if (in_hand(i) < k_in_hand &&
          buyers_[i]->mailbox().send(market_.agreement(i).hold, "step", std::move(body))) {
        left_to_send_ -= 1;
        handed_in_[i] += 1;
        full = 0;
      } else {
        full += 1;
      }
    }
    if (left_to_send_ == 0) return;
    sending_.poll().after(milliseconds(1),
                          [this, began, rate, messages] { send_more(began, rate, messages); });
  }
  int64_t in_hand(size_t i) { return handed_in_[i] - buyers_[i]->mailbox().counts().sent; }

  void on_message(const std::string& body) {
    double since = 0;
    std::from_chars(body.data(), body.data() + body.size(), since);
    milliseconds_.push_back((wall_seconds() - since) * 1000);
    if (--left_to_come_ == 0) done_();
  }

  static constexpr int64_t k_in_hand = 8;  // not yet at the broker, of one buyer

  RelayMarket& market_;
  test::PollThread sending_;
  test::PollThread receiving_;
  test::LiveMailbox seller_;
  std::vector<std::unique_ptr<test::LiveMailbox>> buyers_;
  std::array<int64_t, k_pairs> handed_in_{};
  size_t next_ = 0;
  int64_t left_to_send_ = 0;
  int64_t left_to_come_ = 0;
  std::vector<double> milliseconds_;
  std::function<void()> done_;
};

SPILLWAY_BENCH(agreements, relay) {
  RelayMarket market;
  std::vector<double> sealed;
  {
    SealedTraffic traffic(market);
    traffic.run(20);
    for (int i = 0; i < k_repetitions; ++i) sealed.push_back(traffic.run(250));
  }
  report.at_least("relay.messages_per_cpu_s", sealed, "1/s", 4'000);
}

SPILLWAY_BENCH(agreements, mailboxes) {
  RelayMarket market;
  OpenTraffic traffic(market);
  traffic.run(500, 0);
  std::vector<double> rates;
  std::vector<double> p99;
  for (int i = 0; i < k_repetitions; ++i) {
    rates.push_back(traffic.run(5'000, 0).per_second);
    const double half = rates.back() / 2;
    p99.push_back(percentile(traffic.run(static_cast<int64_t>(half * 2), half).milliseconds, 990));
  }
  report.at_least("relay.messages_per_s", rates, "1/s", 1'500);
  report.at_most("relay.p99_ms", p99, "ms", 20);
}

}  // namespace
}  // namespace spillway::bench
