// Those who mean no good, or know no better: what they send is refused with a reason, changes
// nothing, and costs nobody else anything. What the server refuses by itself is tested in net too;
// here it is the broker as it is shipped, with its own limits.
#include <chrono>
#include <filesystem>
#include <latch>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "host/book_host.h"
#include "live/broker_process.h"
#include "live/federation.h"
#include "live/shop.h"
#include "services/service_loop.h"
#include "store/sqlite_store.h"
#include "support/raw_client.h"
#include "support/text.h"

namespace spillway {
namespace {

using model::Role;
using test::Federation;
using test::has;
using test::Members;
using test::Papers;
using test::RawClient;
using test::wall_clock;

constexpr size_t k_crowd = k_is_sanitized ? 1'000 : 10'000;
constexpr int64_t k_kib_each = k_is_sanitized ? 512 : 48;

test::CertificateAndKey raw(const Papers& who) {
  return {who.tls->certificate_chain_pem, who.tls->key_pem};
}

std::string request_text(const std::string& method, const std::string& target,
                         const std::string& body = {}, const std::string& more = {}) {
  return fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n{}", method,
                     target, body.size(), more, body);
}

std::vector<wire::EventBody> audit_after(Members& members, int64_t sequence) {
  std::vector<wire::EventBody> events;
  for (bool more = true; more;) {
    auto page = Members::read<wire::EventPage>(
        members.call(members.boss(), Members::get(fmt::format("/v1/audit?after={}", sequence))));
    events.insert(events.end(), page.events.begin(), page.events.end());
    sequence = page.next;
    more = page.more;
  }
  return events;
}

int64_t last_event(Members& members) { return audit_after(members, 0).back().sequence; }

std::string hold_text(const std::string& key) {
  const net::Request hold = test::hold_one(key);
  const net::Header& header = hold.headers.front();
  return request_text(hold.method, hold.target, hold.body,
                      fmt::format("{}: {}\r\n", header.name, header.value));
}

TEST(Hostile, AnOlderTlsOrACertificateOfOnesOwnMakingGetsNoAnswer) {
  Federation federation;
  EXPECT_FALSE(RawClient(federation.port(), {.max_tls_version = TLS1_2_VERSION}).is_connected());
  test::TestAuthority self("testers");
  const auto forged = self.issue({.name = "operator", .uri = "spillway://testers/operator"});
  RawClient client(federation.port(), {.identity = &forged});
  // With TLS 1.3 a client has finished before the server has judged it.
  client.send(request_text("GET", "/v1/whoami"));
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(federation.call(federation.boss(), Members::get("/v1/whoami")).status, 200);
}

// The handshakes and heads of these end after 10 s; until then others must not notice them.
TEST(Hostile, ClientsThatNeverFinishAreCutAndOthersAreServedMeanwhile) {
  Federation federation;
  const auto boss = raw(federation.boss());
  std::vector<std::unique_ptr<RawClient>> silent;
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(
        std::make_unique<RawClient>(federation.port(), test::RawOptions{.is_tls = false}));
    slow.push_back(
        std::make_unique<RawClient>(federation.port(), test::RawOptions{.identity = &boss}));
    ASSERT_TRUE(slow.back()->send("GET /v1/whoami HTTP/1.1\r\nHost: loc"));
  }
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    federation.forget_connections();
    EXPECT_EQ(federation.call(federation.boss(), Members::get("/v1/whoami")).status, 200);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(8));
  for (auto& client : silent) EXPECT_EQ(client->read_all(), "");  // the end, not 20 s of silence
  for (auto& client : slow) EXPECT_TRUE(client->read_all().starts_with("HTTP/1.1 408 "));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(18));
}

TEST(Hostile, AskingForWhatIsNotThereCountsAndDoesNotMakeTheBrokerLookDead) {
  Federation federation([](services::BrokerConfig& config) { config.stranger_rate = 10; });
  RawClient stranger(federation.port());
  const auto ask = [&](const std::string& path) {
    EXPECT_TRUE(stranger.send(request_text("GET", path)));
    return stranger.read_answer().substr(0, 12);
  };
  int limited = 0;
  for (int i = 0; i < 100; ++i) limited += ask("/nothing") == "HTTP/1.1 429" ? 1 : 0;
  EXPECT_GT(limited, 30);
  EXPECT_EQ(ask("/healthz"), "HTTP/1.1 200");
  EXPECT_EQ(ask("/readyz"), "HTTP/1.1 200");
  // Members from the same address go on.
  EXPECT_EQ(federation.call(federation.boss(), Members::get("/v1/whoami")).status, 200);
}

// Connections whose handshake is done and that say nothing; only the socket is kept on our side.
class Crowd {
 public:
  Crowd(uint16_t port, const test::CertificateAndKey& identity)
      : port_(port), context_(SSL_CTX_new(TLS_client_method())) {
    test::use(context_, identity);
  }
  ~Crowd() {
    leave();
    SSL_CTX_free(context_);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  bool add() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    sockets_.push_back(fd);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
    SSL* tls = SSL_new(context_);
    SSL_set_fd(tls, fd);
    const bool connected = SSL_connect(tls) == 1;
    SSL_set_quiet_shutdown(tls, 1);
    SSL_free(tls);
    return connected;
  }
  void leave() {
    for (const int fd : sockets_) ::close(fd);
    sockets_.clear();
  }
  size_t size() const { return sockets_.size(); }

 private:
  uint16_t port_;
  SSL_CTX* context_;
  std::vector<int> sockets_;
};

size_t descriptors_of(pid_t pid) {
  const std::filesystem::directory_iterator all(fmt::format("/proc/{}/fd", pid));
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// As many as the system lets one process have, up to ten thousand.
size_t crowd_allowed() {
  rlimit limit{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  constexpr size_t k_own = 512;
  return std::min<size_t>(k_crowd, limit.rlim_max - k_own);
}

TEST(Hostile, TenThousandWhoSayNothingCostLittleAndLeaveNothingBehind) {
  // The broker inherits the usual first limit, and has to raise it for itself.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit usual{std::min<rlim_t>(1024, before.rlim_max), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  Members members;
  test::BrokerProcess broker(members.data(), {"log=error", "member_rate=0", "stranger_rate=0"});
  broker.start();
  members.set_port(broker.port());
  const size_t allowed = crowd_allowed();
  if (allowed < k_crowd) GTEST_LOG_(INFO) << "the system allows only " << allowed;
  ASSERT_EQ(members.call(members.boss(), Members::get("/v1/whoami")).status, 200);
  const size_t descriptors = descriptors_of(broker.pid());
  const int64_t rss = broker.rss_kib();

  Crowd crowd(broker.port(), raw(members.boss()));
  while (crowd.size() < allowed) ASSERT_TRUE(crowd.add()) << crowd.size();
  EXPECT_GE(descriptors_of(broker.pid()), allowed);
  members.forget_connections();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(members.call(members.boss(), Members::get("/v1/whoami")).status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
  const int64_t grown = broker.rss_kib() - rss;
  EXPECT_LT(grown, static_cast<int64_t>(allowed) * k_kib_each) << "KiB, for " << allowed;

  crowd.leave();
  // Every answer is later than the one before, until the broker has seen them all go.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (descriptors_of(broker.pid()) > descriptors &&
         std::chrono::steady_clock::now() < patience) {
    ASSERT_EQ(members.call(members.boss(), Members::get("/healthz")).status, 200);
  }
  EXPECT_EQ(descriptors_of(broker.pid()), descriptors);
  EXPECT_EQ(broker.terminate(), 0);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

// The store's time never goes back: once a commit came at a later time, it is later for all.
void pass_time(const std::string& file, Duration ahead) {
  services::LoneLoop loop;
  store::SqliteOptions options;
  options.clock = [ahead] { return wall_clock() + ahead; };
  auto store = store::SqliteStore::open(file, options, loop);
  ASSERT_TRUE(store) << store.error().message();
  host::SystemRandom random;
  host::BookHost book(loop, **store, random, {});
  book.listen([&](const host::Commit&, const host::Committed&) { loop.stop(); });
  book.start();
  loop.run();
}

TEST(Hostile, UsedAndExpiredTokensAreRefusedWithAReason) {
  Federation federation;
  const std::string used = federation.make_token("edge-1", {Role::provider});
  const std::string unused = federation.make_token("edge-2", {Role::provider});
  ASSERT_TRUE(federation.join_with(used, pki::Key::generate_member()));
  const auto replayed = federation.ask_to_join(used, pki::Key::generate_member());
  EXPECT_EQ(replayed.status, 403);
  EXPECT_TRUE(has(replayed.body, "it was used already, with another key")) << replayed.body;

  federation.stop();
  pass_time(federation.data() + "/market.db", hours(1) + minutes(1));
  federation.start();
  const auto late = federation.ask_to_join(unused, pki::Key::generate_member());
  EXPECT_EQ(late.status, 410);
  EXPECT_TRUE(has(late.body, "it expired at")) << late.body;
  EXPECT_EQ(federation.call(federation.boss(), Members::get("/v1/identities?after=edge-1"))
                .body.find("edge-2"),
            std::string::npos);
}

// What a client whose clock is off by `off` makes of the broker's certificate.
long verdict_with_clock(const Federation& federation, Duration off) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  BIO* bio = BIO_new_mem_buf(federation.authorities().data(),
                             static_cast<int>(federation.authorities().size()));
  while (X509* authority = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
    X509_free(authority);
  }
  BIO_free(bio);
  X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(context), (wall_clock() + off).ms / 1000);
  SSL* tls = SSL_new(context);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(federation.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  SSL_set_fd(tls, fd);
  EXPECT_EQ(SSL_connect(tls), 1);
  const long verdict = SSL_get_verify_result(tls);
  SSL_free(tls);
  SSL_CTX_free(context);
  ::close(fd);
  return verdict;
}

TEST(Hostile, AClockThatIsMinutesOffIsNoTrouble) {
  Federation federation;
  for (const Duration off : {minutes(-4), minutes(4)}) {
    EXPECT_EQ(verdict_with_clock(federation, off), X509_V_OK) << off.ms;
  }
  EXPECT_EQ(verdict_with_clock(federation, hours(-1)), X509_V_ERR_CERT_NOT_YET_VALID);
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Hostile, WhatIsTooLargeOrTooDeepIsRefusedAndChangesNothing) {
  Federation federation;
  const auto boss = raw(federation.boss());
  const int64_t before = last_event(federation);
  const auto answer = [&](const std::string& bytes) {
    RawClient client(federation.port(), {.identity = &boss});
    client.send(bytes);
    return client.read_answer();
  };
  const auto expect = [&](const std::string& bytes, const std::string& status) {
    const std::string said = answer(bytes);
    EXPECT_TRUE(said.starts_with("HTTP/1.1 " + status)) << said;
    EXPECT_TRUE(has(said, "application/problem+json") && has(said, "\"next\":")) << said;
  };
  const std::string token = R"({"name":"x","roles":["viewer"],"ttl":"1h")";
  expect(request_text("POST", "/v1/tokens", token + "}",
                      "X-Long: " + std::string(17 << 10, 'a') + "\r\n"),
         "431");
  std::string many;
  for (int i = 0; i < 200; ++i) many += fmt::format("X-{}: 1\r\n", i);
  expect(request_text("POST", "/v1/tokens", token + "}", many), "431");
  expect(request_text("POST", "/v1/tokens", token + "}" + std::string(5 << 20, ' ')), "413");
  expect(request_text("GET", "/v1/" + std::string(17 << 10, 'a')), "4");
  for (const size_t depth : {33U, 1'000U, 500'000U}) {
    expect(request_text("POST", "/v1/tokens", token + ",\"labels\":" + nested(depth) + "}"), "400");
    expect(request_text("POST", "/v1/tokens", std::string(depth, '[')), "400");
  }
  EXPECT_EQ(last_event(federation), before);
  EXPECT_EQ(federation.call(federation.boss(), Members::get("/readyz")).status, 200);
}

// Whoever was told that a member is revoked may count on it: of what that member had asked for and
// was not yet decided, nothing is carried out.
TEST(Hostile, NothingIsBoughtByWhoWasRevokedMeanwhile) {
  Federation federation;
  const Papers seller = federation.join("seller", {Role::provider});
  test::open_shop(federation, seller, 10'000);
  constexpr size_t k_connections = 16;
  constexpr int k_holds = 20;
  for (int round = 0; round < 5; ++round) {
    const std::string name = fmt::format("buyer-{}", round);
    const auto buyer = raw(federation.join(name, {Role::consumer}));
    const int64_t before = last_event(federation);
    std::latch all_have_bought(k_connections);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < k_connections; ++i) {
      threads.emplace_back([&, i] {
        RawClient client(federation.port(), {.identity = &buyer});
        for (int n = 0; n < k_holds; ++n) {
          const bool sent = client.send(hold_text(fmt::format("{}-{}", i, n)));
          const bool bought = sent && client.read_answer().starts_with("HTTP/1.1 201 ");
          if (n == 0) all_have_bought.count_down();
          if (!bought) return;
        }
      });
    }
    all_have_bought.wait();
    const auto revoked =
        federation.call(federation.boss(), Members::post("/v1/identities/" + name + "/revoke"));
    EXPECT_EQ(revoked.status, 200) << revoked.body;
    for (std::thread& thread : threads) thread.join();
    int bought = 0;
    bool over = false;
    for (const wire::EventBody& event : audit_after(federation, before)) {
      if (event.kind == "identity-revoked" && event.subject == name) over = true;
      if (event.by != name) continue;
      ++bought;
      EXPECT_FALSE(over) << event.kind << " " << event.subject;
    }
    EXPECT_TRUE(over);
    EXPECT_GE(bought, static_cast<int>(k_connections));
  }
}

}  // namespace
}  // namespace spillway
