// A provider whose API server never comes to the end of an answer: as fast as it is read, or a byte
// now and then. Over real TLS, for what bounds it is the client that asks.
#include <future>
#include <map>
#include <thread>

#include "fabric/account.h"
#include "integration/fabric/fabric_fixture.h"
#include "net/server.h"
#include "services/fabric/dial.h"
#include "services/fabric/pulses.h"
#include "services/fabric/visits.h"
#include "services/service_loop.h"
#include "support/comes_true.h"
#include "support/test_certificates.h"

namespace spillway::agent {
namespace {

class EndlessServer final : public net::Handler {
 public:
  explicit EndlessServer(host::Loop& loop) : loop_(loop) {}

  void handle(net::Request, const net::Peer&, std::shared_ptr<net::Exchange> exchange) override {
    const int number = ++begun;
    auto body = exchange->stream({200, {{"Content-Type", "application/json"}}, {}});
    if (body == nullptr) return;
    body->on_gone([this] { ended += 1; });
    go_on(number, body);
  }
  net::Response refuse(int status, std::string_view) override { return {status, {}, {}}; }

  bool drips = false;
  int begun = 0;
  int ended = 0;
  std::map<int, size_t> told;  // bytes of each answer

 private:
  static constexpr size_t k_chunk = size_t{64} << 10;

  void go_on(int number, const std::shared_ptr<net::Stream>& body) {
    const std::string bytes(drips ? 1 : k_chunk, ' ');  // JSON may begin so
    if (body->unsent() < 4 * k_chunk) {
      if (!body->send(bytes)) return;
      told[number] += bytes.size();
    }
    loop_.after(milliseconds(drips ? 50 : 1), [this, number, body] { go_on(number, body); });
  }
  host::Loop& loop_;
};

// Our own cluster: all that is asked of it is the way to the provider, as Liqo has made it.
class OwnCluster final : public net::Channel {
 public:
  OwnCluster(host::Loop& loop, const std::string& kubeconfig)
      : loop_(loop),
        secret_(fmt::format(R"({{"metadata":{{"name":"way"}},"data":{{"kubeconfig":"{}"}}}})",
                            to_base64(kubeconfig))) {}
  void send(net::Request, net::OnResponse then) override {
    loop_.post([this, then = std::move(then)] { then(net::Response{200, {}, secret_}); });
  }
  std::unique_ptr<net::Reading> open(net::Request, net::StreamCalls) override { return nullptr; }

 private:
  host::Loop& loop_;
  std::string secret_;
};

class EndlessProvider : public ::testing::TestWithParam<bool> {
 protected:
  EndlessProvider() : provider_(loop_) {
    provider_.drips = GetParam();
    const auto made = authority_.issue({.name = "milan", .ip = "127.0.0.1", .is_server = true});
    auto server =
        net::Server::listen_anonymous(poll_, {}, {made.certificate_pem, made.key_pem}, provider_);
    EXPECT_TRUE(server);
    server_ = std::move(*server);
    const std::string url = fmt::format("https://127.0.0.1:{}", server_->port());
    const std::string kubeconfig =
        fabric::write_kubeconfig({url, authority_.pem(), "token", "liqo-tenant-rome"});
    access_ = *kube::read_wire_kubeconfig(kubeconfig);
    own_.emplace(loop_, kubeconfig);
    api_.emplace(loop_, random_, *own_, kube::ApiOptions{});
    allowed_ = {url};
    thread_ = std::thread([this] { poll_.run(); });
  }
  ~EndlessProvider() override {
    poll_.post([this] {
      asking_.reset();
      pulses_.reset();
      visits_.reset();
      server_.reset();
      poll_.stop();
    });
    thread_.join();
  }
  auto dialling() {
    return [this](const kube::Access& to) { return dial_provider(poll_, to); };
  }
  template <class F>
  auto on_loop(F f) {
    std::promise<decltype(f())> promise;
    auto result = promise.get_future();
    poll_.post([&] { promise.set_value(f()); });
    return result.get();
  }
  template <class F>
  bool comes_on_loop(F f) {
    return test::comes_true([&] { return on_loop(f); });
  }
  // What is on its way between the two is the network's; ours is 64 KiB.
  void expect_all_hung_up_on() {
    EXPECT_TRUE(comes_on_loop(
        [this] { return provider_.begun > 0 && provider_.ended == provider_.begun; }));
    on_loop([this] {
      for (const auto& [number, bytes] : provider_.told) EXPECT_LT(bytes, size_t{32} << 20);
      return true;
    });
  }

  net::Poll poll_;
  services::ServiceLoop loop_{poll_};
  host::SystemRandom random_;
  services::NoLog log_;
  test::TestAuthority authority_;
  EndlessServer provider_;
  std::unique_ptr<net::Server> server_;
  kube::Access access_;
  AllowedServers allowed_;
  std::optional<OwnCluster> own_;
  std::optional<kube::Api> api_;
  std::unique_ptr<net::Channel> asking_;
  std::optional<Pulses> pulses_;
  std::optional<Visits> visits_;
  std::thread thread_;
};

TEST_P(EndlessProvider, IsDoubtedByItsPulse) {
  int silences = 0;
  int answers = 0;
  on_loop([&] {
    Pulses::Calls calls{[&](const std::string&, Instant) { ++silences; },
                        [&](const std::string&, int64_t) { ++answers; }};
    // Asked once: what hangs up is not the next question.
    pulses_.emplace(*api_, log_, PulseOptions{.dial = dialling(), .every = hours(1)}, allowed_,
                    std::move(calls));
    pulses_->follow("milan", "rome", "liqo-tenant-rome");
    return true;
  });
  EXPECT_TRUE(comes_on_loop([&] { return silences == 1; }));
  expect_all_hung_up_on();
  EXPECT_TRUE(on_loop([&] { return pulses_->signs("milan").silent.has_value(); }));
  EXPECT_EQ(on_loop([&] { return answers; }), 0);
}

TEST_P(EndlessProvider, EndsAVisit) {
  int failures = 0;
  on_loop([&] {
    visits_.emplace(*api_, dialling(),
                    Visits::Calls{[](const std::string&) { return model::object_node(); },
                                  [](const auto&, const auto&) {},
                                  [&](const auto&, const Error&) { ++failures; }});
    visits_->go({"milan", ContractId("c"), "rome", loop_.now() + seconds(1)}, access_);
    return true;
  });
  EXPECT_TRUE(comes_on_loop([&] { return failures == 1; }));
  expect_all_hung_up_on();
}

// The client alone: by its own bounds, whoever asks.
TEST_P(EndlessProvider, IsReadNoFurtherThanALeaseTakes) {
  std::optional<std::string> why;
  on_loop([&] {
    asking_ = *dial_provider(poll_, access_);
    asking_->send({"GET", "/", {}, {}}, [&](const Result<net::Response>& answer) {
      why = answer ? "it was read to its end" : answer.error().message();
    });
    return true;
  });
  EXPECT_TRUE(comes_on_loop([&] { return why.has_value(); }));
  const std::string told = on_loop([&] { return *why; });
  EXPECT_NE(told.find(GetParam() ? "no answer within 4s" : "too"), std::string::npos) << told;
  expect_all_hung_up_on();
}

INSTANTIATE_TEST_SUITE_P(Answers, EndlessProvider, testing::Bool(),
                         [](const auto& one) { return one.param ? "Drip" : "Flood"; });

}  // namespace
}  // namespace spillway::agent
