// HTTP as the server speaks it, byte by byte from outside.
#include <deque>

#include <gtest/gtest.h>

#include "net/client.h"
#include "support/raw_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

using test::RawClient;
using test::RawOptions;
using test::TestServer;

std::string body_of(const std::string& answer) {
  const size_t at = answer.find("\r\n\r\n");
  return at == std::string::npos ? "" : answer.substr(at + 4);
}

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

class ServerHttp : public testing::TestWithParam<bool> {
 protected:
  bool is_tls() const { return GetParam(); }
  RawOptions options() const { return {.is_tls = is_tls()}; }
};
INSTANTIATE_TEST_SUITE_P(Of, ServerHttp, testing::Bool(),
                         [](const auto& which) { return which.param ? "Tls" : "Plain"; });

TEST_P(ServerHttp, AnswersManyRequestsOnOneConnection) {
  TestServer server({}, !is_tls());
  RawClient client(server.port(), options());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.send(get("/" + std::to_string(i))));
    const std::string answer = client.read_answer();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << answer;
    EXPECT_EQ(body_of(answer), "GET /" + std::to_string(i) + " ");
  }
  EXPECT_EQ(server.counts().requests, 5U);
  EXPECT_EQ(server.counts().accepted, 1U);
}

TEST_P(ServerHttp, AnswersPipelinedRequestsInOrder) {
  TestServer server({}, !is_tls());
  RawClient client(server.port(), options());
  std::string all;
  for (int i = 0; i < 100; ++i) all += get("/" + std::to_string(i));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(body_of(client.read_answer()), "GET /" + std::to_string(i) + " ");
  }
}

TEST_P(ServerHttp, AnswersPipelinedRequestsInOrderWhenTheHandlerTakesItsTime) {
  TestServer server({}, !is_tls());
  int under_way = 0;
  bool overlapped = false;
  server.answer = [&](Request request, const Peer&, std::shared_ptr<Exchange> exchange) {
    overlapped = overlapped || ++under_way > 1;
    server.poll.after(milliseconds(1), [&under_way, target = request.target, exchange] {
      --under_way;
      exchange->respond({200, {}, target});
    });
  };
  RawClient client(server.port(), options());
  std::string all;
  for (int i = 0; i < 20; ++i) all += get("/" + std::to_string(i));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 20; ++i) ASSERT_EQ(body_of(client.read_answer()), "/" + std::to_string(i));
  EXPECT_FALSE(overlapped);
}

TEST_P(ServerHttp, SurvivesAFloodOfPipelinedRequestsForLargeAnswers) {
  TestServer server({}, !is_tls());
  const std::string large(300'000, 'x');
  server.answer = [&](Request, const Peer&, std::shared_ptr<Exchange> exchange) {
    exchange->respond({200, {}, large});
  };
  RawClient client(server.port(), options());
  std::string all;
  for (int i = 0; i < 40; ++i) all += get("/");
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 40; ++i) ASSERT_EQ(body_of(client.read_answer()).size(), large.size());
}

TEST_P(ServerHttp, ReadsRequestsThatComeByteByByte) {
  TestServer server({}, !is_tls());
  RawClient client(server.port(), options());
  for (const char c :
       std::string("\r\nPUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")) {
    ASSERT_TRUE(client.send({&c, 1}));
  }
  EXPECT_EQ(body_of(client.read_answer()), "PUT /x abc");
}

TEST_P(ServerHttp, TakesAndGivesLargeBodies) {
  ServerLimits limits;
  limits.stranger_body_bytes = limits.body_bytes;
  TestServer server(limits, !is_tls());
  RawClient client(server.port(), options());
  const std::string body(1 << 20, 'b');
  ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n" + body));
  EXPECT_EQ(body_of(client.read_answer()), "POST / " + body);
  std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 16; ++i) chunked += "10000\r\n" + body.substr(0, 65536) + "\r\n";
  ASSERT_TRUE(client.send(chunked + "0\r\n\r\n"));
  EXPECT_EQ(body_of(client.read_answer()).size(), body.size() + 7);
}

TEST_P(ServerHttp, AnswersExpectContinue) {
  TestServer server({}, !is_tls());
  RawClient client(server.port(), options());
  ASSERT_TRUE(client.send(
      "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("hi"));
  EXPECT_EQ(body_of(client.read_answer()), "PUT / hi");
}

TEST_P(ServerHttp, LeavesTheBodyOutOfTheAnswerToAHead) {
  TestServer server({}, !is_tls());
  RawClient client(server.port(), options());
  ASSERT_TRUE(client.send("HEAD /abc HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_NE(client.read_until("\r\n\r\n").find("Content-Length: 10\r\n"), std::string::npos);
  ASSERT_TRUE(client.send(get("/d")));
  EXPECT_EQ(body_of(client.read_answer()), "GET /d ");
}

TEST_P(ServerHttp, ClosesWhenAskedTo) {
  TestServer server({}, !is_tls());
  for (const std::string_view request :
       {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawClient client(server.port(), options());
    ASSERT_TRUE(client.send(request));
    const std::string all = client.read_all();
    EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos);
    EXPECT_EQ(body_of(all), "GET / ");
  }
  server.wait_until([](const ServerCounts& counts) { return counts.connections == 0; });
}

TEST_P(ServerHttp, RefusesWhatIsTooLargeAndTheClientCanReadWhy) {
  TestServer server({}, !is_tls());
  {
    RawClient client(server.port(), options());
    // The client goes on sending although it was refused.
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n" +
                std::string(2'000'000, 'x'));
    EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 413 "));
  }
  {
    RawClient client(server.port(), options());
    client.send("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
    EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 431 "));
  }
  EXPECT_EQ(server.counts().refused, 2U);
  EXPECT_EQ(server.counts().requests, 0U);
}

TEST_P(ServerHttp, RefusesNonsense) {
  TestServer server({}, !is_tls());
  RawClient client(server.port(), options());
  ASSERT_TRUE(client.send("EHLO there\r\n\r\n"));
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 400 "));
}

TEST_P(ServerHttp, AnswersA500ForWhatTheHandlerDrops) {
  TestServer server({}, !is_tls());
  server.answer = [](Request, const Peer&, const std::shared_ptr<Exchange>&) {};
  RawClient client(server.port(), options());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.send(get("/")));
    EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 500 "));
  }
}

TEST_P(ServerHttp, IgnoresASecondAnswerAndOneForNobody) {
  TestServer server({}, !is_tls());
  std::deque<std::shared_ptr<Exchange>> held;
  server.answer = [&](const Request& request, const Peer&, std::shared_ptr<Exchange> exchange) {
    if (request.target == "/twice") {
      exchange->respond({200, {}, "one"});
      exchange->respond({200, {}, "two"});
      EXPECT_EQ(exchange->stream({}), nullptr);
      return;
    }
    held.push_back(std::move(exchange));
  };
  {
    RawClient client(server.port(), options());
    ASSERT_TRUE(client.send(get("/twice")));
    EXPECT_EQ(body_of(client.read_answer()), "one");
    ASSERT_TRUE(client.send(get("/held")));
    server.wait_until([](const ServerCounts& counts) { return counts.requests == 2; });
    client.reset();
  }
  server.wait_until([](const ServerCounts& counts) { return counts.connections == 0; });
  server.on_loop([&] {
    held.front()->respond({200, {}, "too late"});
    held.clear();
    return 0;
  });
}

TEST_P(ServerHttp, ToleratesResetsAtAnyMoment) {
  TestServer server({}, !is_tls());
  const std::string request = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t cut = 0; cut <= request.size(); cut += 5) {
    RawClient client(server.port(), options());
    client.send(request.substr(0, cut));
    client.reset();
  }
  server.wait_until([](const ServerCounts& counts) { return counts.connections == 0; });
}

TEST(Server, SaysThatItSpeaksHttps) {
  TestServer server;
  RawClient client(server.port(), {.is_tls = false});
  ASSERT_TRUE(client.send(get("/")));
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_NE(answer.find("HTTPS"), std::string::npos);
}

TEST(Server, SpeaksIPv6AndTellsTheAddressSo) {
  Poll poll;
  struct : Handler {
    void handle(Request, const Peer& peer, std::shared_ptr<Exchange> exchange) override {
      exchange->respond({200, {}, peer.address});
    }
    Response refuse(int status, std::string_view) override { return {status, {}, ""}; }
  } handler;
  const auto server = Server::listen_plain(poll, {.address = "::"}, handler);
  if (!server) GTEST_SKIP() << "this machine has no IPv6: " << server.error().message();
  for (const auto& [host, begins] :
       {std::pair("::1", "[::1]:"), std::pair("127.0.0.1", "127.0.0.1:")}) {
    const auto client =
        Client::create(poll, {.host = host, .port = (*server)->port(), .is_plain = true});
    std::string said;
    (*client)->send({"GET", "/", {}, ""}, [&](Result<Response> answer) {
      said = answer ? answer->body : answer.error().message();
      poll.stop();
    });
    poll.run();
    EXPECT_TRUE(said.starts_with(begins)) << said;
  }
}

TEST(Server, NeedsAnAddressOfItsOwn) {
  TestServer server;
  Poll poll;
  const auto second = Server::listen_plain(poll, {.port = server.port()}, server);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::unavailable);
  EXPECT_FALSE(Server::listen_plain(poll, {.address = "nowhere"}, server).has_value());
}

}  // namespace
}  // namespace spillway::net
