#include "net/client.h"

#include <gtest/gtest.h>

#include "support/test_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

using test::TestClient;
using test::TestServer;

ClientOptions options_for(TestServer& server) {
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.authorities_pem = server.authority.pem();
  return options;
}

TEST(Client, GetsAnAnswer) {
  TestServer server;
  TestClient client(options_for(server));
  const auto answer = client.ask({"POST", "/v1/x", {}, "hello"});
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST /v1/x hello");
}

}  // namespace
}  // namespace spillway::net
