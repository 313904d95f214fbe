// spillway autoscaler as a process of its own, between a broker and an embedded cluster.
#include <gmock/gmock.h>

#include "integration/cli/autoscaler_process.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;

TEST_F(AutoscalerVerb, HoldsWhatItHeldAfterKillNine) {
  start();
  ASSERT_TRUE(shows_a_group());
  const auto increased =
      call("NodeGroupIncreaseSize", std::move(ProtoWriter().integer(1, 2).text(2, "seller/small")));
  ASSERT_EQ(increased.code, GrpcCode::ok) << increased.reason;
  process_->stop(SIGKILL);
  start();
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(process_->stop(SIGTERM), 0);
}

TEST_F(AutoscalerVerb, KeepsTheRulesThatTheClusterAutoscalerActsOn) {
  start();
  ASSERT_TRUE(shows_a_group());
  const Ended told = run_spillway(
      fmt::format("conformance externalgrpc --target 127.0.0.1:{} --plaintext", port_));
  EXPECT_EQ(told.code, 0) << told.out << told.err;
  for (int i = 0; target() != 0 && i < 10'000; ++i) call("Refresh");
  EXPECT_EQ(target(), 0);
}

TEST_F(AutoscalerVerb, WillNotShareItsState) {
  start();
  std::string line;
  for (const std::string& word : words()) line += word + " ";
  const Ended second = run_spillway(line);
  EXPECT_NE(second.code, 0);
  EXPECT_THAT(second.err, HasSubstr("is an autoscaler with the same state"));
}

TEST(AutoscalerVerbUsage, AsksForTlsOrForPlaintextByName) {
  const Ended ended = run_spillway("autoscaler --dir /nonexistent");
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("--plaintext"));
  EXPECT_THAT(run_spillway("autoscaler --dir /nonexistent --plaintext --tls-key k").err,
              HasSubstr("there is no TLS with it"));
  EXPECT_THAT(run_spillway("autoscaler --dir /nonexistent --plaintext --currency euros").err,
              HasSubstr("euros"));
  EXPECT_THAT(run_spillway("autoscaler --help").out, HasSubstr("grpc_timeout"));
}

}  // namespace
}  // namespace spillway::cli
