#include <gtest/gtest.h>

#include "net/client.h"
#include "support/test_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

using test::TestClient;
using test::TestServer;

class ClientStream : public testing::Test {
 protected:
  ClientStream() {
    server.answer = [this](const Request& request, const Peer&,
                           const std::shared_ptr<Exchange>& exchange) {
      if (request.target == "/gone") return exchange->respond({410, {}, "too old"});
      stream = exchange->stream({200, {}, ""});
      stream->send("hello ");
    };
  }
  ~ClientStream() override {
    server.on_loop([this] {
      stream.reset();
      return 0;
    });
  }

  ClientOptions options() {
    ClientOptions made;
    made.host = "127.0.0.1";
    made.port = server.port();
    made.authorities_pem = server.authority.pem();
    return made;
  }
  StreamCalls calls() {
    return {[this](const Response& head) { heads.push_back(head); },
            [this](std::string_view bytes) { text += bytes; },
            [this](const Error& why) { ends.push_back(why); }};
  }

  TestServer server;
  std::shared_ptr<Stream> stream;
  std::vector<Response> heads;
  std::string text;
  std::vector<Error> ends;
};

TEST_F(ClientStream, IsReadAsItComes) {
  TestClient client(options());
  const auto reading = client.client->open({"GET", "/events", {}, ""}, calls());
  client.run_until([&] { return text == "hello "; });
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(heads[0].status, 200);
  server.on_loop([&] { return stream->send("world"); });
  client.run_until([&] { return text == "hello world"; });
  server.on_loop([&] {
    stream->close();
    return 0;
  });
  client.run_until([&] { return !ends.empty(); });
  EXPECT_EQ(ends[0].code, Code::gone);
  EXPECT_EQ(ends.size(), 1U);
}

TEST_F(ClientStream, GetsTheWholeBodyOfARefusal) {
  TestClient client(options());
  const auto reading = client.client->open({"GET", "/gone", {}, ""}, calls());
  client.run_until([&] { return !ends.empty(); });
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(heads[0].status, 410);
  EXPECT_EQ(heads[0].body, "too old");
  EXPECT_EQ(text, "");
}

TEST_F(ClientStream, EndsWhenTheServerCutsIt) {
  TestClient client(options());
  const auto reading = client.client->open({"GET", "/events", {}, ""}, calls());
  client.run_until([&] { return text == "hello "; });
  server.on_loop([&] { return server.server().cut([](const Peer&) { return true; }); });
  client.run_until([&] { return !ends.empty(); });
  EXPECT_EQ(ends[0].code, Code::unavailable);
}

TEST_F(ClientStream, EndsWhenNothingComesForTooLong) {
  ClientOptions impatient = options();
  impatient.silence = milliseconds(100);
  TestClient client(impatient);
  const auto reading = client.client->open({"GET", "/events", {}, ""}, calls());
  client.run_until([&] { return !ends.empty(); });
  EXPECT_EQ(ends[0].code, Code::unavailable);
  EXPECT_NE(ends[0].reason.find("nothing came"), std::string::npos);
}

TEST_F(ClientStream, TellsWhenItNeverOpened) {
  ClientOptions wrong = options();
  wrong.server_name = "other.example";
  TestClient client(wrong);
  const auto reading = client.client->open({"GET", "/events", {}, ""}, calls());
  EXPECT_TRUE(ends.empty());
  client.run_until([&] { return !ends.empty(); });
  EXPECT_EQ(ends[0].code, Code::denied);
  EXPECT_TRUE(heads.empty());
}

TEST_F(ClientStream, IsNotAskedForWithWhatWouldBeAnotherRequest) {
  TestClient client(options());
  const auto reading = client.client->open({"GET", "/a HTTP/1.1\r\n\r\n", {}, ""}, calls());
  EXPECT_TRUE(ends.empty());
  client.run_until([&] { return !ends.empty(); });
  EXPECT_EQ(ends[0].code, Code::invalid);
  EXPECT_EQ(server.counts().accepted, 0U);
}

TEST_F(ClientStream, IsClosedByDroppingItAndThenSilent) {
  TestClient client(options());
  auto reading = client.client->open({"GET", "/events", {}, ""}, calls());
  client.run_until([&] { return text == "hello "; });
  reading.reset();
  server.wait_until([](const ServerCounts& counts) { return counts.streams == 0; });
  client.run_until([&] { return client.client->counts().connections == 0; });
  EXPECT_TRUE(ends.empty());
  // Before it is open, too.
  reading = client.client->open({"GET", "/events", {}, ""}, calls());
  reading.reset();
  client.run_until([&] { return client.client->counts().connections == 0; });
  EXPECT_TRUE(ends.empty());
}

TEST_F(ClientStream, MayBeDroppedFromWithinItsCalls) {
  TestClient client(options());
  std::unique_ptr<Reading> reading;
  bool dropped = false;
  reading = client.client->open({"GET", "/events", {}, ""}, {nullptr,
                                                             [&](std::string_view) {
                                                               reading.reset();
                                                               dropped = true;
                                                             },
                                                             [](const Error&) { FAIL(); }});
  client.run_until([&] { return dropped; });
  EXPECT_EQ(client.client->counts().connections, 0U);
}

}  // namespace
}  // namespace spillway::net
