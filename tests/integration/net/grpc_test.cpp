#include <atomic>

#include <gtest/gtest.h>

#include "live/federation.h"
#include "net/grpc_client.h"
#include "net/grpc_server.h"
#include "support/raw_client.h"
#include "support/test_certificates.h"

namespace spillway::net {
namespace {

using test::CertificateWish;
using test::RawClient;
using test::TestAuthority;

constexpr CertificateWish server_wish() {
  return {.name = "server", .uri = "", .dns = "localhost", .ip = "127.0.0.1", .is_server = true};
}

// Answers by the method: echoes, refuses, stays silent, or is asked for much.
class Echo final : public GrpcHandler {
 public:
  void handle(GrpcCall call, Reply reply) override {
    last = call;
    if (call.method == "/t.T/Refuse") {
      return reply(to_grpc({Code::taken, "offer x", "nothing is free", "wait"}));
    }
    if (call.method == "/t.T/Silent") return kept.push_back(std::move(reply));
    if (call.method == "/t.T/Much") return reply({GrpcCode::ok, {}, std::string(3 << 20, 'x')});
    if (call.method == "/t.T/Unknown") return reply({GrpcCode::unimplemented, "no such call", {}});
    reply({GrpcCode::ok, {}, "echo " + call.message});
  }
  GrpcCall last;
  std::vector<Reply> kept;
};

class GrpcTest : public testing::Test {
 protected:
  ~GrpcTest() override {
    thread_.run([this] {
      client_.reset();
      other_.reset();
      server_.reset();
      echo_.kept.clear();
      return true;
    });
  }

  void listen(GrpcTrust trust, GrpcServerOptions options = {}) {
    options.trust = trust;
    const auto made = authority_.issue(server_wish());
    thread_.run([&] {
      auto server = GrpcServer::listen(thread_.poll(), options,
                                       {made.certificate_pem + authority_.pem(), made.key_pem},
                                       authority_.pem(), echo_);
      EXPECT_TRUE(server) << (server ? "" : server.error().message());
      server_ = std::move(*server);
      return true;
    });
  }
  std::unique_ptr<GrpcClient> client(const CertificateWish* wish, bool has_tls = true) {
    GrpcClientOptions options;
    options.port = server_->port();
    if (has_tls) {
      ClientTrust trust;
      trust.authorities_pem = authority_.pem();
      TlsIdentity identity;
      if (wish != nullptr) {
        const auto made = authority_.issue(*wish);
        identity = {made.certificate_pem, made.key_pem};
        trust.identity = &identity;
      }
      options.tls = client_context(trust).value();
    }
    return thread_.run([&] { return std::make_unique<GrpcClient>(thread_.poll(), options); });
  }
  void open(GrpcTrust trust, GrpcServerOptions options = {}) {
    listen(trust, std::move(options));
    const CertificateWish wish;
    client_ = client(trust == GrpcTrust::mutual ? &wish : nullptr, trust != GrpcTrust::none);
  }
  GrpcAnswer call(const std::string& method, const std::string& message,
                  Duration within = seconds(20)) {
    return thread_.ask<GrpcAnswer>(
        [&](auto then) { client_->call("/t.T/" + method, message, within, then); });
  }
  GrpcServerCounts counts() {
    return thread_.run([this] { return server_->counts(); });
  }

  TestAuthority authority_;
  test::PollThread thread_;
  Echo echo_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<GrpcClient> client_;
  std::unique_ptr<GrpcClient> other_;
};

TEST_F(GrpcTest, CallsWithMutualTls) {
  open(GrpcTrust::mutual);
  const GrpcAnswer told = call("Echo", "hello", seconds(5));
  EXPECT_EQ(told.code, GrpcCode::ok);
  EXPECT_EQ(told.message, "echo hello");
  EXPECT_EQ(echo_.last.method, "/t.T/Echo");
  EXPECT_EQ(echo_.last.within, seconds(5));
  ASSERT_NE(echo_.last.peer.certificate, nullptr);
  EXPECT_EQ(call("Echo", "").message, "echo ");
  EXPECT_EQ(counts().accepted, 1U);  // one connection for all
}

// What a client says with the end of the handshake is read together with it when the server has
// much to do: so many come at once, and more than once.
TEST_F(GrpcTest, AnswersWhatCameWithTheHandshake) {
  constexpr size_t k_clients = 40;
  constexpr int k_rounds = 10;
  listen(GrpcTrust::mutual);
  test::PollThread far;
  const auto made = authority_.issue({});
  const TlsIdentity identity{made.certificate_pem, made.key_pem};
  GrpcClientOptions options;
  options.port = server_->port();
  for (int round = 0; round < k_rounds; ++round) {
    std::vector<std::unique_ptr<GrpcClient>> clients;
    std::vector<GrpcCode> told;
    far.ask<bool>([&](auto then) {
      for (size_t i = 0; i < k_clients; ++i) {
        ClientTrust trust;
        trust.authorities_pem = authority_.pem();
        trust.identity = &identity;
        options.tls = client_context(trust).value();
        clients.push_back(std::make_unique<GrpcClient>(far.poll(), options));
        clients.back()->call("/t.T/Echo", "x", seconds(5), [&, then](const GrpcAnswer& answer) {
          told.push_back(answer.code);
          if (told.size() == k_clients) then(true);
        });
      }
    });
    far.run([&] { return clients.clear(), true; });
    ASSERT_EQ(told, std::vector(k_clients, GrpcCode::ok)) << "round " << round;
    while (counts().connections > 0) std::this_thread::yield();  // there is room for 64
  }
}

TEST_F(GrpcTest, TellsWhyNot) {
  open(GrpcTrust::none);
  const GrpcAnswer refused = call("Refuse", "x");
  EXPECT_EQ(refused.code, GrpcCode::resource_exhausted);
  EXPECT_NE(refused.reason.find("nothing is free"), std::string::npos);
  EXPECT_EQ(call("Unknown", "x").code, GrpcCode::unimplemented);
  EXPECT_EQ(call("Echo", "y").message, "echo y");
}

TEST_F(GrpcTest, TurnsAwayWhoShowsNoCertificateOrOneOutOfDate) {
  listen(GrpcTrust::mutual);
  client_ = client(nullptr);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::unavailable);
  const CertificateWish old{.from_seconds = -7200, .to_seconds = -3600};
  client_ = client(&old);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::unavailable);
  EXPECT_EQ(counts().turned_away, 2U);
  EXPECT_EQ(counts().calls, 0U);
  const CertificateWish good;
  client_ = client(&good);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
}

TEST_F(GrpcTest, AsksForNoCertificateWhereTheClientHasNone) {
  open(GrpcTrust::server_only);
  EXPECT_EQ(call("Echo", "x").message, "echo x");
  EXPECT_EQ(echo_.last.peer.certificate, nullptr);
}

TEST_F(GrpcTest, CarriesMoreThanAWindowBothWays) {
  open(GrpcTrust::mutual);
  const std::string much(3 << 20, 'm');
  EXPECT_EQ(call("Echo", much).message, "echo " + much);
  EXPECT_EQ(call("Much", "").message.size(), size_t{3} << 20);
}

TEST_F(GrpcTest, RefusesWhatIsTooLargeAndGoesOn) {
  GrpcServerOptions options;
  options.message_bytes = 1000;
  open(GrpcTrust::none, options);
  EXPECT_EQ(call("Echo", std::string(1000, 'm')).code, GrpcCode::ok);
  EXPECT_EQ(call("Echo", std::string(1001, 'm')).code, GrpcCode::resource_exhausted);
  EXPECT_EQ(call("Echo", std::string(2 << 20, 'm')).code, GrpcCode::resource_exhausted);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
  EXPECT_EQ(counts().refused, 2U);
}

TEST_F(GrpcTest, GivesUpWhenNoAnswerComesInTime) {
  open(GrpcTrust::none);
  EXPECT_EQ(call("Silent", "x", milliseconds(50)).code, GrpcCode::deadline_exceeded);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
  // Who answers too late harms nobody.
  thread_.run([this] { return echo_.kept.at(0)({GrpcCode::ok, {}, "late"}), true; });
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
}

TEST_F(GrpcTest, AnswersManyCallsAtOnceInAnyOrder) {
  open(GrpcTrust::mutual);
  std::promise<int> all;
  std::atomic<int> left = 500;
  thread_.poll().post([&] {
    for (int i = 0; i < 500; ++i) {
      client_->call("/t.T/Echo", std::to_string(i), seconds(20), [&, i](const GrpcAnswer& told) {
        EXPECT_EQ(told.message, fmt::format("echo {}", i));
        if (--left == 0) all.set_value(1);
      });
    }
  });
  all.get_future().get();
}

TEST_F(GrpcTest, SaysThatNobodyIsThereAndComesBackWhenSomebodyIs) {
  listen(GrpcTrust::none);
  client_ = client(nullptr, false);
  const uint16_t port = server_->port();
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
  thread_.run([this] { return server_.reset(), true; });
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::unavailable);
  GrpcServerOptions options;
  options.port = port;
  listen(GrpcTrust::none, options);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
}

TEST_F(GrpcTest, TurnsAwayMoreConnectionsThanItTakes) {
  GrpcServerOptions options;
  options.connections = 1;
  open(GrpcTrust::none, options);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
  other_ = client(nullptr, false);
  std::swap(client_, other_);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::unavailable);
  std::swap(client_, other_);
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
}

TEST_F(GrpcTest, IsNotLockedUpByWhoOnlySitsThere) {
  GrpcServerOptions options;
  options.connections = 3;
  open(GrpcTrust::none, options);
  test::RawOptions plain;
  plain.is_tls = false;
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 10; ++i) {
    idle.push_back(std::make_unique<RawClient>(server_->port(), plain));
  }
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
  for (int i = 0; i < 10; ++i) {
    idle.push_back(std::make_unique<RawClient>(server_->port(), plain));
  }
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);  // on the same connection: it has called
}

TEST_F(GrpcTest, SurvivesWhatIsNoHttp2) {
  open(GrpcTrust::none);
  for (const std::string& bytes :
       {std::string(test::k_get), std::string(5000, '\xff'),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + std::string(300, 'z')}) {
    test::RawOptions options;
    options.is_tls = false;
    RawClient raw(server_->port(), options);
    raw.send(bytes);
    raw.read_all();  // until it is closed
  }
  EXPECT_EQ(call("Echo", "x").code, GrpcCode::ok);
}

}  // namespace
}  // namespace spillway::net
