#include "cluster_autoscaler/expander.h"

#include <gtest/gtest.h>

#include "cluster_autoscaler/protobuf.h"

namespace spillway::cluster_autoscaler {
namespace {

// Takes those with an even number of nodes, the last first.
class EvenChooser final : public Chooser {
 public:
  std::vector<size_t> choose(const std::vector<Option>& options) override {
    seen = options;
    std::vector<size_t> chosen;
    for (size_t i = options.size(); i > 0; --i) {
      if (options[i - 1].nodes % 2 == 0) chosen.push_back(i - 1);
    }
    return chosen;
  }
  std::vector<Option> seen;
};

ProtoWriter pod(const char* name) {
  const ProtoWriter metadata = std::move(ProtoWriter().text(1, name).text(3, "shop"));
  return std::move(ProtoWriter().message(1, metadata));
}

ProtoWriter option(const char* group, int32_t nodes) {
  return std::move(ProtoWriter().text(1, group).integer(2, nodes).text(3, "why"));
}

class ExpanderTest : public testing::Test {
 protected:
  net::GrpcAnswer call(std::string message, std::string method = std::string(k_expander_call)) {
    net::GrpcAnswer told;
    net::GrpcCall asked;
    asked.method = std::move(method);
    asked.message = std::move(message);
    expander_.handle(std::move(asked), [&told](net::GrpcAnswer one) { told = std::move(one); });
    return told;
  }
  EvenChooser chooser_;
  Expander expander_{chooser_};
};

TEST_F(ExpanderTest, AnswersWhatWasChosenInItsOrder) {
  ProtoWriter request;
  request.message(1, option("edge/a", 2))
      .message(1, option("edge/b", 3))
      .message(1, option("c/d", 4));
  request.entry(3, "edge/a", "a node");
  const net::GrpcAnswer told = call(request.take());
  EXPECT_EQ(told.code, net::GrpcCode::ok);
  EXPECT_EQ(told.message,
            ProtoWriter().message(1, option("c/d", 4)).message(1, option("edge/a", 2)).str());
}

TEST_F(ExpanderTest, SeesThePodsOfEitherGeneration) {
  ProtoWriter old_one = option("edge/a", 1);
  old_one.message(4, pod("p1")).message(4, pod("p2"));
  ProtoWriter both = option("edge/b", 1);
  both.message(4, pod("p1")).message(5, pod("p1"));
  call(ProtoWriter().message(1, old_one).message(1, both).take());
  ASSERT_EQ(chooser_.seen.size(), 2U);
  EXPECT_EQ(chooser_.seen[0].pods.size(), 2U);
  ASSERT_EQ(chooser_.seen[1].pods.size(), 1U);
  EXPECT_EQ(chooser_.seen[1].pods[0].name, "p1");
}

TEST_F(ExpanderTest, AnswersItsOwnClient) {
  Option one{OfferId("edge/a"), 2, {{"shop", "p1", {}, {}, {}}}};
  one.pods[0].requests.cpu_millis = 900;
  const std::vector<Option> asked{one, {OfferId("edge/b"), 3, {}}};
  const net::GrpcAnswer told = call(best_options_message(asked));
  ASSERT_EQ(chooser_.seen.size(), 2U);
  ASSERT_EQ(chooser_.seen[0].pods.size(), 1U);
  EXPECT_EQ(chooser_.seen[0].pods[0].name, "p1");
  EXPECT_EQ(chooser_.seen[0].pods[0].requests.cpu_millis, 900);
  const auto groups = groups_of_best_options(told.message);
  ASSERT_TRUE(groups);
  EXPECT_EQ(*groups, std::vector{OfferId("edge/a")});
  EXPECT_FALSE(groups_of_best_options("\x0a\x7f"));
}

// Anybody who reaches the port may ask: what is remembered and told of a question is bounded.
TEST_F(ExpanderTest, RefusesWhatNoClusterAutoscalerWouldSend) {
  ProtoWriter crowd = option("edge/a", 2);
  for (int i = 0; i < 200'001; ++i) crowd.message(5, ProtoWriter());
  EXPECT_EQ(call(ProtoWriter().message(1, crowd).take()).code, net::GrpcCode::invalid_argument);
  ProtoWriter named = option("edge/a", 2);
  named.message(5, pod(std::string(254, 'x').c_str()));
  EXPECT_EQ(call(ProtoWriter().message(1, named).take()).code, net::GrpcCode::invalid_argument);
  EXPECT_TRUE(chooser_.seen.empty());
}

TEST_F(ExpanderTest, RefusesWhatIsNoRequest) {
  EXPECT_EQ(call("\x0a\x7f").code, net::GrpcCode::invalid_argument);
  EXPECT_EQ(
      call(ProtoWriter().message(1, std::move(ProtoWriter().bytes(5, "\x0a\x7f"))).take()).code,
      net::GrpcCode::invalid_argument);
  EXPECT_EQ(call("", "/grpcplugin.Expander/Other").code, net::GrpcCode::unimplemented);
  EXPECT_EQ(call("").code, net::GrpcCode::ok);
}

}  // namespace
}  // namespace spillway::cluster_autoscaler
