// Bodies that come about over time.
#include <vector>

#include <gtest/gtest.h>

#include "support/raw_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

using test::k_get;
using test::RawClient;
using test::TestServer;

class ServerStream : public testing::Test {
 protected:
  explicit ServerStream(ServerLimits limits = {}) : server(limits) {
    server.answer = [this](const Request&, const Peer&, const std::shared_ptr<Exchange>& exchange) {
      auto stream = exchange->stream({200, {{"Content-Type", "text/event-stream"}}, ""});
      ASSERT_NE(stream, nullptr);
      stream->on_gone([this] { ++gone; });
      streams.push_back(std::move(stream));
    };
  }
  ~ServerStream() override {
    server.on_loop([this] {
      streams.clear();
      return 0;
    });
  }
  void wait_for_streams(size_t count) {
    server.wait_until([count](const ServerCounts& counts) { return counts.streams == count; });
  }
  bool send(size_t index, const std::string& bytes) {
    return server.on_loop([&] { return streams.at(index)->send(bytes); });
  }

  TestServer server;
  std::vector<std::shared_ptr<Stream>> streams;  // on the loop only
  int gone = 0;
};

class ImpatientServerStream : public ServerStream {
 protected:
  static ServerLimits limits() {
    ServerLimits limits;
    limits.write = milliseconds(300);
    limits.idle = milliseconds(200);
    return limits;
  }
  ImpatientServerStream() : ServerStream(limits()) {}
};

TEST_F(ServerStream, ArrivesInChunksAsItIsSent) {
  RawClient client(server.port());
  ASSERT_TRUE(client.send(k_get));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(send(0, "hello"));
  EXPECT_EQ(client.read_until("hello\r\n"), "5\r\nhello\r\n");
  server.on_loop([&] {
    streams[0]->send("one");
    streams[0]->send("");
    streams[0]->send("two");
    streams[0]->close();
    EXPECT_FALSE(streams[0]->send("three"));
    return 0;
  });
  EXPECT_EQ(client.read_all(), "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
  wait_for_streams(0);
  EXPECT_EQ(gone, 1);
}

TEST_F(ServerStream, ArrivesAsItIsForHttp10) {
  RawClient client(server.port());
  ASSERT_TRUE(client.send("GET / HTTP/1.0\r\n\r\n"));
  client.read_until("\r\n\r\n");
  server.on_loop([&] {
    streams[0]->send("plain");
    streams[0]->close();
    return 0;
  });
  EXPECT_EQ(client.read_all(), "plain");
}

TEST_F(ServerStream, HearsThatTheClientIsGone) {
  {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(k_get));
    client.read_until("\r\n\r\n");
  }
  wait_for_streams(0);
  EXPECT_FALSE(send(0, "x"));
  EXPECT_EQ(gone, 1);
  const bool told_at_once = server.on_loop([&] {
    bool told = false;
    streams[0]->on_gone([&] { told = true; });
    return told;
  });
  EXPECT_TRUE(told_at_once);
}

TEST_F(ServerStream, IsCutWithItsPeer) {
  RawClient client(server.port());
  ASSERT_TRUE(client.send(k_get));
  client.read_until("\r\n\r\n");
  const size_t count =
      server.on_loop([&] { return server.server().cut([](const Peer&) { return true; }); });
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(gone, 1);
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(ServerStream, EndsWhenTheServerDrains) {
  RawClient client(server.port());
  ASSERT_TRUE(client.send(k_get));
  client.read_until("\r\n\r\n");
  std::promise<void> drained;
  server.on_loop([&] {
    server.server().drain(minutes(1), [&] { drained.set_value(); });
    return 0;
  });
  EXPECT_EQ(client.read_all(), "0\r\n\r\n");
  drained.get_future().wait();
}

TEST_F(ServerStream, TellsHowMuchASlowReaderHasNotTaken) {
  RawClient client(server.port(), {.receive_buffer = 4096});
  ASSERT_TRUE(client.send(k_get));
  client.read_until("\r\n\r\n");
  const std::string piece(64 * 1024, 'x');
  size_t sent = 0;
  for (size_t unsent = 0; unsent < 512 * 1024; sent += piece.size()) {
    ASSERT_LT(sent, 64U << 20);
    ASSERT_TRUE(send(0, piece));
    unsent = server.on_loop([&] { return streams[0]->unsent(); });
  }
  // What the kernel holds is bounded, so that unsent() tells the truth.
  EXPECT_LT(sent, 8U << 20);
  server.on_loop([&] {
    streams[0]->close();
    return 0;
  });
  EXPECT_GT(client.read_all().size(), sent);
}

TEST_F(ImpatientServerStream, IsCutWhenItsReaderTakesNothing) {
  RawClient client(server.port(), {.receive_buffer = 4096});
  ASSERT_TRUE(client.send(k_get));
  client.read_until("\r\n\r\n");
  server.on_loop([&] { return streams[0]->send(std::string(32 << 20, 'x')); });
  wait_for_streams(0);
  EXPECT_EQ(server.counts().timed_out, 1U);
  EXPECT_EQ(gone, 1);
}

TEST_F(ImpatientServerStream, StaysOpenWhenThereIsNothingToSay) {
  RawClient client(server.port());
  ASSERT_TRUE(client.send(k_get));
  client.read_until("\r\n\r\n");
  std::promise<void> later;
  server.poll.after(milliseconds(900), [&] { later.set_value(); });
  later.get_future().wait();
  EXPECT_TRUE(send(0, "still here"));
  EXPECT_NE(client.read_until("still here"), "");
}

TEST_F(ServerStream, ReachesAThousandReaders) {
  constexpr size_t k_readers = 1000;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (size_t i = 0; i < k_readers; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    ASSERT_TRUE(clients.back()->send(k_get));
  }
  wait_for_streams(k_readers);
  server.on_loop([&] {
    for (int event = 0; event < 5; ++event) {
      for (const auto& stream : streams)
        EXPECT_TRUE(stream->send("event " + std::to_string(event)));
    }
    return 0;
  });
  for (const auto& client : clients) {
    EXPECT_NE(client->read_until("event 4\r\n").find("event 0"), std::string::npos);
  }
  clients.clear();
  wait_for_streams(0);
  EXPECT_EQ(gone, static_cast<int>(k_readers));
}

}  // namespace
}  // namespace spillway::net
