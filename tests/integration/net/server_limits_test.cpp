// What the server does about those who are too many, too slow, or not there any more.
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/raw_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

using test::k_get;
using test::RawClient;
using test::TestServer;

ServerLimits impatient() {
  ServerLimits limits;
  limits.handshake = limits.head = limits.body = limits.write = milliseconds(200);
  limits.idle = limits.stranger_idle = milliseconds(400);
  return limits;
}

test::CertificateAndKey member_of(TestServer& server) {
  return server.authority.issue({.uri = "spillway://fed/clusters/edge-1"});
}

bool is_empty(const ServerCounts& counts) { return counts.connections == 0; }

TEST(ServerLimits, EndAHandshakeThatNeverComes) {
  TestServer server(impatient());
  RawClient client(server.port(), {.is_tls = false});
  EXPECT_EQ(client.read_all(), "");
  server.wait_until(is_empty);
  EXPECT_EQ(server.counts().timed_out, 1U);
}

TEST(ServerLimits, EndAHeadThatComesTooSlowly) {
  TestServer server(impatient());
  RawClient client(server.port());
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nX-"));
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 408 "));
}

TEST(ServerLimits, CannotBeStretchedByAByteNowAndThen) {
  TestServer server(impatient());
  RawClient client(server.port());
  std::thread slow([&] {
    // As long as the server listens; far more than it should have the patience for.
    for (int i = 0; i < 10'000 && client.send("X: y\r\n"); ++i) {
      server.on_loop([] { return 0; });
      std::this_thread::yield();
    }
  });
  server.wait_until([](const ServerCounts& counts) { return counts.refused == 1; });
  slow.join();
}

TEST(ServerLimits, EndABodyThatComesTooSlowly) {
  TestServer server(impatient());
  RawClient client(server.port());
  ASSERT_TRUE(client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc"));
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 408 "));
}

TEST(ServerLimits, EndIdleConnectionsWithoutAWord) {
  TestServer server(impatient());
  RawClient client(server.port());
  ASSERT_TRUE(client.send(k_get));
  client.read_answer();
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(server.counts().timed_out, 0U);
}

TEST(ServerLimits, EndTheConnectionOfAClientThatDoesNotRead) {
  TestServer server(impatient());
  const std::string large(32 << 20, 'x');
  server.answer = [&](const Request&, const Peer&, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond({200, {}, large});
  };
  RawClient client(server.port(), {.receive_buffer = 4096});
  ASSERT_TRUE(client.send(k_get));
  server.wait_until([](const ServerCounts& counts) { return counts.timed_out == 1; });
  server.wait_until(is_empty);
}

TEST(ServerLimits, DoNotHurryAHandlerThatTakesItsTime) {
  TestServer server(impatient());
  server.answer = [&](const Request&, const Peer&, std::shared_ptr<Exchange> exchange) {
    server.poll.after(milliseconds(900), [exchange] { exchange->respond({200, {}, "at last"}); });
  };
  RawClient client(server.port());
  ASSERT_TRUE(client.send(k_get));
  EXPECT_TRUE(client.read_answer().ends_with("at last"));
}

TEST(ServerLimits, TurnAwayWhoComesWhenItIsFull) {
  ServerLimits limits;
  limits.connections = 3;
  TestServer server(limits);
  const auto edge = member_of(server);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(
        std::make_unique<RawClient>(server.port(), test::RawOptions{.identity = &edge}));
    ASSERT_TRUE(clients.back()->is_connected());
  }
  EXPECT_FALSE(RawClient(server.port()).is_connected());
  EXPECT_EQ(server.counts().turned_away, 1U);
  for (const auto& client : clients) {
    ASSERT_TRUE(client->send(k_get));
    EXPECT_TRUE(client->read_answer().starts_with("HTTP/1.1 200 "));
  }
  clients.pop_back();
  server.wait_until([](const ServerCounts& counts) { return counts.connections == 2; });
  EXPECT_TRUE(RawClient(server.port()).is_connected());
}

TEST(ServerLimits, HoldForEachAddress) {
  ServerLimits limits;
  limits.connections_per_address = 1;
  TestServer server(limits);
  const auto edge = member_of(server);
  RawClient first(server.port(), {.identity = &edge});
  EXPECT_TRUE(first.is_connected());
  EXPECT_FALSE(RawClient(server.port()).is_connected());
}

TEST(ServerLimits, LetStrangersMakeRoom) {
  for (const bool of_address : {false, true}) {
    ServerLimits limits;
    (of_address ? limits.connections_per_address : limits.connections) = 3;
    TestServer server(limits);
    const auto edge = member_of(server);
    RawClient member(server.port(), {.identity = &edge});
    RawClient first(server.port());
    RawClient second(server.port());
    ASSERT_TRUE(second.send(k_get));
    second.read_answer();
    RawClient later(server.port(), {.identity = &edge});
    EXPECT_EQ(first.read_all(), "");  // it has dawdled longer than the second
    for (RawClient* each : {&member, &second, &later}) {
      ASSERT_TRUE(each->send(k_get));
      EXPECT_TRUE(each->read_answer().starts_with("HTTP/1.1 200 "));
    }
    EXPECT_EQ(server.counts().made_room, 1U);
    EXPECT_EQ(server.counts().turned_away, 0U);
  }
}

TEST(ServerLimits, AreNarrowerForStrangers) {
  ServerLimits limits;
  limits.stranger_body_bytes = 1000;
  limits.stranger_idle = milliseconds(200);
  TestServer server(limits);
  const auto edge = member_of(server);
  const std::string put =
      "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x');
  RawClient member(server.port(), {.identity = &edge});
  RawClient stranger(server.port());
  ASSERT_TRUE(stranger.send(put));
  EXPECT_TRUE(stranger.read_all().starts_with("HTTP/1.1 413 "));
  RawClient idle(server.port());
  EXPECT_EQ(idle.read_all(), "");
  ASSERT_TRUE(member.send(put));
  EXPECT_TRUE(member.read_answer().starts_with("HTTP/1.1 200 "));
}

TEST(ServerLimits, HoldForAllBodiesTogether) {
  ServerLimits limits;
  limits.bodies_bytes = 3000;
  TestServer server(limits);
  const std::string head = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n";
  RawClient first(server.port());
  ASSERT_TRUE(first.send(head + std::string(1999, 'x')));
  RawClient second(server.port());
  ASSERT_TRUE(second.send(head + std::string(1999, 'x')));
  EXPECT_TRUE(second.read_all().starts_with("HTTP/1.1 503 "));
  ASSERT_TRUE(first.send("x"));
  EXPECT_TRUE(first.read_answer().starts_with("HTTP/1.1 200 "));
  // What was counted is given back, also by the one that was refused.
  RawClient third(server.port());
  ASSERT_TRUE(third.send(head + std::string(2000, 'x')));
  EXPECT_TRUE(third.read_answer().starts_with("HTTP/1.1 200 "));
}

TEST(ServerLimits, OfTheSystemDoNotHurtThoseWhoAreThere) {
  TestServer server({}, true);
  RawClient there(server.port(), {.is_tls = false});
  ASSERT_TRUE(there.send(k_get));
  there.read_answer();
  // The kernel completes their connections by itself; the server finds no descriptor for them.
  std::vector<std::unique_ptr<RawClient>> others;
  std::vector<int> fillers;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  server.on_loop([&] {
    for (int i = 0; i < 3; ++i) {
      others.push_back(
          std::make_unique<RawClient>(server.port(), test::RawOptions{.is_tls = false}));
    }
    const rlimit few{256, before.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fillers.push_back(fd);
    return 0;
  });
  server.wait_until([](const ServerCounts& counts) { return counts.turned_away == 3; });
  ASSERT_TRUE(there.send(k_get));
  EXPECT_TRUE(there.read_answer().starts_with("HTTP/1.1 200 "));
  for (const int fd : fillers) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  RawClient later(server.port(), {.is_tls = false});
  ASSERT_TRUE(later.send(k_get));
  EXPECT_TRUE(later.read_answer().starts_with("HTTP/1.1 200 "));
}

TEST(ServerDrain, AnswersWhatIsBeingHandledAndEndsTheRest) {
  TestServer server;
  std::shared_ptr<Exchange> held;
  server.answer = [&](const Request& request, const Peer&, std::shared_ptr<Exchange> exchange) {
    if (request.target == "/held") {
      held = std::move(exchange);
    } else {
      exchange->respond({200, {}, ""});
    }
  };
  RawClient idle(server.port());
  ASSERT_TRUE(idle.send(k_get));
  idle.read_answer();
  RawClient busy(server.port());
  ASSERT_TRUE(busy.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n"));
  server.wait_until([](const ServerCounts& counts) { return counts.requests == 2; });
  std::promise<void> drained;
  server.on_loop([&] {
    server.server().drain(minutes(1), [&] { drained.set_value(); });
    return 0;
  });
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_FALSE(RawClient(server.port()).is_connected());
  server.on_loop([&] {
    held->respond({200, {}, "done"});
    return 0;
  });
  const std::string answer = busy.read_answer();
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("done"));
  EXPECT_EQ(busy.read_all(), "");
  drained.get_future().wait();
}

TEST(ServerDrain, CutsWhatTakesTooLong) {
  TestServer server;
  std::shared_ptr<Exchange> held;
  server.answer = [&](const Request&, const Peer&, std::shared_ptr<Exchange> exchange) {
    held = std::move(exchange);
  };
  RawClient busy(server.port());
  ASSERT_TRUE(busy.send(k_get));
  server.wait_until([](const ServerCounts& counts) { return counts.requests == 1; });
  std::promise<void> drained;
  server.on_loop([&] {
    server.server().drain(milliseconds(50), [&] { drained.set_value(); });
    return 0;
  });
  drained.get_future().wait();
  EXPECT_EQ(busy.read_all(), "");
}

}  // namespace
}  // namespace spillway::net
