#include "services/operations_port.h"

#include <gtest/gtest.h>

#include "support/memory_exchange.h"

namespace spillway::services {
namespace {

class OperationsPortTest : public ::testing::Test {
 protected:
  net::Response ask(std::string method, std::string target) {
    const auto exchange = std::make_shared<test::MemoryExchange>();
    port.handle({std::move(method), std::move(target), {}, {}}, {"test:1", nullptr}, exchange);
    return exchange->response.value_or(net::Response{});
  }

  Status ready;
  OperationsPort port{{[this] { return ready; }, [] { return std::string("spillway_x 1\n"); }}};
};

TEST_F(OperationsPortTest, IsAliveAlsoWhenItIsNotReady) {
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("GET", "/readyz").status, 200);
  ready = fail(Code::unavailable, "agent", "it is starting", "wait");
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  const net::Response answer = ask("GET", "/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("it is starting"), std::string::npos);
}

TEST_F(OperationsPortTest, HasMetricsAndNothingElse) {
  EXPECT_EQ(ask("GET", "/metrics").body, "spillway_x 1\n");
  for (const char* target : {"/", "/v1/offers", "/metrics/x", "//healthz", "/healthz%2f"}) {
    EXPECT_EQ(ask("GET", target).status, 404) << target;
  }
  EXPECT_EQ(ask("POST", "/healthz").status, 404);
}

}  // namespace
}  // namespace spillway::services
