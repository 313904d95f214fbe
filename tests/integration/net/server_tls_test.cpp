// Who may speak to the server, and what the handler learns of them.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "support/raw_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

using test::k_get;
using test::RawClient;
using test::TestAuthority;
using test::TestServer;

// Answers with what the peer's certificate says.
void tell_certificate(TestServer& server) {
  server.answer = [](const Request&, const Peer& peer, const std::shared_ptr<Exchange>& exchange) {
    const auto& shown = peer.certificate;
    exchange->respond({200, {}, shown ? shown->uri + " " + shown->serial : "nobody"});
  };
}

std::string ask(RawClient& client) {
  client.send(k_get);
  const std::string answer = client.read_answer();
  const size_t at = answer.find("\r\n\r\n");
  return at == std::string::npos ? "no answer" : answer.substr(at + 4);
}

TEST(ServerTls, KnowsClientsByTheirCertificates) {
  TestServer server;
  tell_certificate(server);
  const auto edge = server.authority.issue({.name = "edge", .uri = "spillway://f/edge-1"});
  RawClient client(server.port(), {.identity = &edge});
  ASSERT_TRUE(client.is_connected());
  EXPECT_EQ(ask(client), "spillway://f/edge-1 1001");
  RawClient stranger(server.port());
  EXPECT_EQ(ask(stranger), "nobody");
}

TEST(ServerTls, LetsTheHandlerJudgeDates) {
  TestServer server;
  std::shared_ptr<const PeerCertificate> shown;
  server.answer = [&](const Request&, const Peer& peer, const std::shared_ptr<Exchange>& exchange) {
    shown = peer.certificate;
    exchange->respond({200, {}, "ok"});
  };
  const auto old = server.authority.issue({.name = "old",
                                           .uri = "spillway://f/old",
                                           .from_seconds = -48 * 3600,
                                           .to_seconds = -24 * 3600});
  RawClient client(server.port(), {.identity = &old});
  EXPECT_EQ(ask(client), "ok");
  ASSERT_NE(shown, nullptr);
  const Instant now = server.poll.now();
  EXPECT_LT(shown->not_after, now - hours(23));
  EXPECT_GT(shown->not_after, now - hours(25));
  EXPECT_LT(shown->not_before, now - hours(47));
  EXPECT_EQ(shown->key.size(), 64U);
}

TEST(ServerTls, RefusesCertificatesOfOthers) {
  TestServer server;
  TestAuthority foreign("foreign authority");
  const auto stranger = foreign.issue({.name = "edge", .uri = "spillway://f/edge-1"});
  RawClient client(server.port(), {.identity = &stranger});
  client.send(k_get);
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(server.counts().requests, 0U);
  server.wait_until([](const ServerCounts& counts) { return counts.handshakes_failed == 1; });
}

TEST(ServerTls, RefusesCertificatesThatAreNotForClients) {
  TestServer server;
  const auto wrong =
      server.authority.issue({.name = "s", .uri = "spillway://f/s", .is_server = true});
  RawClient client(server.port(), {.identity = &wrong});
  client.send(k_get);
  EXPECT_EQ(client.read_all(), "");
}

TEST(ServerTls, RefusesOlderVersions) {
  TestServer server;
  EXPECT_FALSE(RawClient(server.port(), {.max_tls_version = TLS1_2_VERSION}).is_connected());
}

TEST(ServerTls, ResumesSessionsAndStillKnowsTheCertificate) {
  TestServer server;
  tell_certificate(server);
  const auto edge = server.authority.issue({.name = "edge", .uri = "spillway://f/edge-1"});
  RawClient first(server.port(), {.identity = &edge});
  const std::string said = ask(first);
  SSL_SESSION* session = first.session();
  // The certificate is not shown again: the ticket has it.
  RawClient second(server.port(), {.session = session});
  ASSERT_TRUE(second.is_connected());
  EXPECT_TRUE(second.is_resumed());
  EXPECT_EQ(ask(second), said);
  EXPECT_EQ(server.counts().handshakes_resumed, 1U);
  SSL_SESSION_free(session);
}

TEST(ServerTls, CanChangeItsCertificateAndAuthoritiesWithoutDroppingAnybody) {
  TestServer server;
  tell_certificate(server);
  const auto edge = server.authority.issue({.name = "edge", .uri = "spillway://f/edge-1"});
  RawClient before(server.port(), {.identity = &edge});
  const std::string said = ask(before);
  SSL_SESSION* session = before.session();
  TestAuthority next("next authority");
  server.on_loop([&] {
    EXPECT_FALSE(server.server().set_tls({"nonsense", "nonsense"}, next.pem()).has_value());
    return server.server().set_tls(server.identity(), next.pem()).has_value();
  });
  EXPECT_EQ(ask(before), said);
  // Old sessions do not bring old authorities back.
  RawClient resumed(server.port(), {.session = session});
  EXPECT_FALSE(resumed.is_resumed());
  RawClient refused(server.port(), {.identity = &edge});
  refused.send(k_get);
  EXPECT_EQ(refused.read_all(), "");
  const auto fresh = next.issue({.name = "new", .uri = "spillway://f/new"});
  RawClient after(server.port(), {.identity = &fresh});
  EXPECT_TRUE(ask(after).starts_with("spillway://f/new"));
  SSL_SESSION_free(session);
}

TEST(ServerTls, CutsThePeersItIsTold) {
  TestServer server;
  tell_certificate(server);
  const auto bad = server.authority.issue({.name = "bad", .uri = "spillway://f/bad"});
  const auto good = server.authority.issue({.name = "good", .uri = "spillway://f/good"});
  RawClient one(server.port(), {.identity = &bad});
  RawClient two(server.port(), {.identity = &good});
  ask(one);
  ask(two);
  const size_t count = server.on_loop([&] {
    return server.server().cut([](const Peer& peer) {
      return peer.certificate != nullptr && peer.certificate->uri == "spillway://f/bad";
    });
  });
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(one.read_all(), "");
  EXPECT_TRUE(ask(two).starts_with("spillway://f/good"));
}

}  // namespace
}  // namespace spillway::net
