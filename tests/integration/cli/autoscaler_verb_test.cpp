// spillway autoscaler as a process of its own, between a broker and an embedded cluster.
#include <gmock/gmock.h>

#include "integration/cli/live_autoscaler.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;

using AutoscalerVerb = LiveAutoscaler;

TEST_F(AutoscalerVerb, HoldsWhatItHeldAfterKillNine) {
  start(4);
  ASSERT_EQ(code_of(cloud_.increase(k_small, 2)), GrpcCode::ok);
  process_->kill();
  run();
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(process_->end(), 0);
}

TEST_F(AutoscalerVerb, KeepsTheRulesThatTheClusterAutoscalerActsOn) {
  start(4);
  const Ended told = run_spillway("conformance externalgrpc " + process_->client_flags());
  EXPECT_EQ(told.code, 0) << told.out << told.err;
  EXPECT_TRUE(comes([this] { return target() == 0; }));
}

TEST_F(AutoscalerVerb, WillNotShareItsState) {
  start(4);
  const Ended second = run_spillway(process_->flags());
  EXPECT_NE(second.code, 0);
  EXPECT_THAT(second.err, HasSubstr("is an autoscaler with the same state"));
  // Nor its identity: with another state it would take the other's nodes for strays.
  const Ended third = run_spillway(process_->flags() + " --state " + (folder_ / "other"));
  EXPECT_NE(third.code, 0);
  EXPECT_THAT(third.err, HasSubstr("would remove each other's nodes"));
}

TEST(AutoscalerVerbUsage, AsksForTlsOrForPlaintextByName) {
  const Ended ended = run_spillway("autoscaler --dir /nonexistent");
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("--plaintext"));
  EXPECT_THAT(run_spillway("autoscaler --dir /nonexistent --plaintext --tls-key k").err,
              HasSubstr("there is no TLS with it"));
  EXPECT_THAT(run_spillway("autoscaler --dir /nonexistent --plaintext --currency euros").err,
              HasSubstr("euros"));
  EXPECT_THAT(
      run_spillway("autoscaler --dir /nonexistent --plaintext --expander-listen 127.0.0.1:0").err,
      HasSubstr("--expander-cert"));
  EXPECT_THAT(run_spillway("autoscaler --help").out, HasSubstr("grpc_timeout"));
}

}  // namespace
}  // namespace spillway::cli
