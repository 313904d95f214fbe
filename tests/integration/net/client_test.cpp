#include "net/client.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/test_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

using test::identity_of;
using test::TestAuthority;
using test::TestClient;
using test::TestServer;

ClientOptions options_for(TestServer& server) {
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.authorities_pem = server.authority.pem();
  return options;
}

Request get(std::string target) { return {"GET", std::move(target), {}, ""}; }

std::string reason_of(const Result<Response>& answer) {
  return answer ? "answered " + std::to_string(answer->status) : answer.error().message();
}

TEST(Client, GetsAnAnswer) {
  TestServer server;
  TestClient client(options_for(server));
  const auto answer = client.ask({"POST", "/v1/x", {}, "hello"});
  ASSERT_TRUE(answer.has_value()) << reason_of(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST /v1/x hello");
}

TEST(Client, UsesItsConnectionsAgainAndNoMoreThanItMay) {
  TestServer server;
  ClientOptions options = options_for(server);
  options.connections = 3;
  TestClient client(options);
  int answered = 0;
  for (int i = 0; i < 50; ++i) {
    client.client->send(get("/" + std::to_string(i)), [&, i](Result<Response> answer) {
      ASSERT_TRUE(answer.has_value()) << reason_of(answer);
      EXPECT_EQ(answer->body, "GET /" + std::to_string(i) + " ");
      ++answered;
    });
  }
  EXPECT_EQ(answered, 0);
  client.run_until([&] { return answered == 50; });
  EXPECT_EQ(client.client->counts().opened, 3U);
  EXPECT_EQ(server.counts().accepted, 3U);
}

TEST(Client, SendsAndTakesLargeBodies) {
  ServerLimits limits;
  limits.stranger_body_bytes = limits.body_bytes;
  TestServer server(limits);
  TestClient client(options_for(server));
  const std::string body(1 << 20, 'b');
  const auto answer = client.ask({"PUT", "/", {}, body});
  ASSERT_TRUE(answer.has_value()) << reason_of(answer);
  EXPECT_EQ(answer->body.size(), body.size() + 6);
}

TEST(Client, RefusesAnswersThatAreTooLarge) {
  TestServer server;
  server.answer = [](const Request&, const Peer&, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond({200, {}, std::string(2000, 'x')});
  };
  ClientOptions options = options_for(server);
  options.max_body = 1000;
  TestClient client(options);
  EXPECT_EQ(client.ask(get("/")).error().code, Code::unavailable);
}

TEST(Client, ReadsTheRefusalOfABodyThatIsTooLarge) {
  TestServer server;
  TestClient client(options_for(server));
  const auto answer = client.ask({"PUT", "/", {}, std::string(4 << 20, 'x')});
  ASSERT_TRUE(answer.has_value()) << reason_of(answer);
  EXPECT_EQ(answer->status, 413);
}

TEST(Client, ShowsItsCertificateAndTheNextOneOnceItHasOne) {
  TestServer server;
  server.answer = [](const Request&, const Peer& peer, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond({200, {}, peer.certificate ? peer.certificate->uri : "nobody"});
  };
  ClientOptions options = options_for(server);
  options.identity = identity_of(server.authority.issue({.name = "a", .uri = "spillway://f/a"}));
  TestClient client(options);
  EXPECT_EQ(client.ask(get("/"))->body, "spillway://f/a");
  const auto next = server.authority.issue({.name = "b", .uri = "spillway://f/b"});
  EXPECT_FALSE(client.client->set_identity({"nonsense", "nonsense"}).has_value());
  EXPECT_EQ(client.ask(get("/"))->body, "spillway://f/a");
  ASSERT_TRUE(client.client->set_identity(identity_of(next)).has_value());
  EXPECT_EQ(client.ask(get("/"))->body, "spillway://f/b");
  EXPECT_EQ(client.client->counts().resumed, 0U);
}

TEST(Client, ResumesItsSessions) {
  TestServer server;
  server.answer = [](const Request&, const Peer& peer, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond({200, {}, peer.certificate ? peer.certificate->uri : "nobody"});
  };
  ClientOptions options = options_for(server);
  options.identity = identity_of(server.authority.issue({.name = "a", .uri = "spillway://f/a"}));
  TestClient client(options);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.ask(get("/"))->body, "spillway://f/a");
    server.on_loop([&] { return server.server().cut([](const Peer&) { return true; }); });
    client.run_until([&] { return client.client->counts().connections == 0; });
  }
  EXPECT_EQ(client.client->counts().opened, 5U);
  EXPECT_EQ(client.client->counts().resumed, 4U);
}

TEST(Client, IsDeniedByAServerThatDoesNotKnowItsAuthority) {
  TestServer server;
  TestAuthority foreign;
  ClientOptions options = options_for(server);
  options.identity = identity_of(foreign.issue({.name = "a", .uri = "spillway://f/a"}));
  TestClient client(options);
  const auto answer = client.ask(get("/"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::denied) << reason_of(answer);
}

struct Untrusted {
  std::string what;
  test::CertificateWish wish;
  std::string says;
};

TEST(Client, DoesNotSpeakToServersThatAreNotWhoTheyShouldBe) {
  const std::vector<Untrusted> all = {
      {"expired",
       {.name = "s",
        .ip = "127.0.0.1",
        .is_server = true,
        .from_seconds = -900,
        .to_seconds = -600},
       "expired"},
      {"another name", {.name = "s", .dns = "other.example", .is_server = true}, "mismatch"},
      {"not a server", {.name = "s", .ip = "127.0.0.1"}, "purpose"},
  };
  for (const Untrusted& each : all) {
    TestServer server;
    server.on_loop([&] {
      return server.server()
          .set_tls(server.identity(each.wish), server.authority.pem())
          .has_value();
    });
    TestClient client(options_for(server));
    const auto answer = client.ask(get("/"));
    ASSERT_FALSE(answer.has_value()) << each.what;
    EXPECT_EQ(answer.error().code, Code::denied) << each.what;
    EXPECT_NE(reason_of(answer).find(each.says), std::string::npos) << reason_of(answer);
    EXPECT_NE(reason_of(answer).find("127.0.0.1:"), std::string::npos);
  }
}

TEST(Client, DoesNotSpeakToServersOfAnotherAuthority) {
  TestServer server;
  TestAuthority other;
  ClientOptions options = options_for(server);
  options.authorities_pem = other.pem();
  TestClient client(options);
  EXPECT_EQ(client.ask(get("/")).error().code, Code::denied);
  ASSERT_TRUE(client.client->set_authorities(server.authority.pem()).has_value());
  EXPECT_TRUE(client.ask(get("/")).has_value());
}

TEST(Client, CanKnowTheAuthorityByItsFingerprintOnly) {
  TestServer server;
  ClientOptions options = options_for(server);
  options.authorities_pem = "";
  options.pinned_authority = server.authority.fingerprint();
  TestClient client(options);
  EXPECT_TRUE(client.ask(get("/")).has_value());

  options.pinned_authority = TestAuthority().fingerprint();
  TestClient deceived(options);
  EXPECT_EQ(deceived.ask(get("/")).error().code, Code::denied);

  // The name is checked all the same.
  options.pinned_authority = server.authority.fingerprint();
  options.server_name = "other.example";
  TestClient elsewhere(options);
  EXPECT_EQ(elsewhere.ask(get("/")).error().code, Code::denied);
}

TEST(Client, FindsServersByName) {
  TestServer server;
  ClientOptions options = options_for(server);
  options.host = "localhost";
  TestClient client(options);
  EXPECT_TRUE(client.ask(get("/")).has_value());
  options.host = "no-such-host.invalid";
  TestClient lost(options);
  EXPECT_EQ(lost.ask(get("/")).error().code, Code::unavailable);
}

// A port on which somebody listened a moment ago.
ClientOptions to_nobody() {
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = TestServer({}, true).port();
  options.is_plain = true;
  return options;
}

TEST(Client, SaysThatNobodyIsThere) {
  TestClient client(to_nobody());
  const auto answer = client.ask(get("/"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::unavailable);
  EXPECT_NE(reason_of(answer).find("refused"), std::string::npos) << reason_of(answer);
}

TEST(Client, SaysSoToAllWhoWaitAndDoesNotTryOverAndOver) {
  TestClient client(to_nobody());
  constexpr size_t k_requests = 10;
  std::vector<Error> told;
  for (size_t i = 0; i < k_requests; ++i) {
    client.client->send(get("/"), [&](const Result<Response>& answer) {
      ASSERT_FALSE(answer.has_value());
      told.push_back(answer.error());
    });
  }
  client.run_until([&] { return told.size() == k_requests; });
  for (const Error& each : told) {
    EXPECT_NE(each.reason.find("refused"), std::string::npos) << each.message();
  }
  EXPECT_LE(client.client->counts().opened, k_requests);
}

TEST(Client, AsksAgainWhenAKeptConnectionWasClosedButOnlyWhatIsIdempotent) {
  TestServer server;
  int cuts = 0;
  server.answer = [&](const Request& request, const Peer&, std::shared_ptr<Exchange> exchange) {
    // Every second request of a connection finds it closed.
    if (request.target == "/cut" && cuts++ == 0) {
      server.server().cut([](const Peer&) { return true; });
      return;
    }
    exchange->respond({200, {}, request.target});
  };
  TestClient client(options_for(server));
  ASSERT_TRUE(client.ask(get("/warm")).has_value());
  EXPECT_TRUE(client.ask(get("/cut")).has_value());
  EXPECT_EQ(client.client->counts().retried, 1U);
  cuts = 0;
  const auto unknown = client.ask({"POST", "/cut", {}, ""});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, Code::unavailable);
  cuts = 0;
  ASSERT_TRUE(client.ask(get("/warm")).has_value());
  EXPECT_TRUE(client.ask({"POST", "/cut", {{"Idempotency-Key", "k"}}, ""}).has_value());
  // A connection that was new tells nothing about kept ones: no second try.
  cuts = 0;
  server.on_loop([&] { return server.server().cut([](const Peer&) { return true; }); });
  client.run_until([&] { return client.client->counts().connections == 0; });
  EXPECT_FALSE(client.ask(get("/cut")).has_value());
}

TEST(Client, GivesUpOnAnAnswerThatDoesNotCome) {
  TestServer server;
  std::vector<std::shared_ptr<Exchange>> held;
  server.answer = [&](const Request&, const Peer&, std::shared_ptr<Exchange> exchange) {
    held.push_back(std::move(exchange));
  };
  ClientOptions options = options_for(server);
  options.answer = milliseconds(100);
  TestClient client(options);
  const auto answer = client.ask(get("/"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::unavailable);
  EXPECT_NE(reason_of(answer).find("100ms"), std::string::npos) << reason_of(answer);
  server.on_loop([&] {
    held.clear();
    return 0;
  });
}

TEST(Client, GivesUpOnAServerThatIsSilent) {
  // Listens, and never says a word.
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(fd, 8), 0);
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = ntohs(address.sin_port);
  options.authorities_pem = TestAuthority().pem();
  options.connect = milliseconds(100);
  TestClient client(options);
  EXPECT_EQ(client.ask(get("/")).error().code, Code::unavailable);
  ::close(fd);
}

TEST(Client, DoesNotSendWhatWouldBeAnotherRequest) {
  TestServer server;
  TestClient client(options_for(server));
  EXPECT_EQ(client.ask(get("/a b")).error().code, Code::invalid);
  EXPECT_EQ(client.ask({"GET\r\n", "/", {}, ""}).error().code, Code::invalid);
}

TEST(Client, MayBeDroppedWhileItWaitsAndByItsOwnAnswer) {
  TestServer server;
  {
    TestClient client(options_for(server));
    client.client->send(get("/"), [](const Result<Response>&) { FAIL(); });
  }
  TestClient client(options_for(server));
  bool answered = false;
  client.client->send(get("/"), [&](const Result<Response>&) {
    client.client.reset();
    answered = true;
  });
  client.run_until([&] { return answered; });
}

TEST(Client, RefusesTrustThatIsNone) {
  Poll poll;
  ClientOptions options;
  options.host = "127.0.0.1";
  EXPECT_FALSE(Client::create(poll, options).has_value());
}

}  // namespace
}  // namespace spillway::net
