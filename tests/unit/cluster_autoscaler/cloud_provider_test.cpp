#include "cluster_autoscaler/cloud_provider.h"

#include <gmock/gmock.h>

#include "cluster_autoscaler/kube_proto.h"
#include "cluster_autoscaler/protobuf.h"
#include "support/nouns.h"
#include "unit/cluster_autoscaler/generous_provider.h"

namespace spillway::cluster_autoscaler {
namespace {

using net::GrpcAnswer;
using net::GrpcCode;
using ::testing::HasSubstr;

class CloudProviderTest : public testing::Test {
 protected:
  GrpcAnswer call(const std::string& name, ProtoWriter message = {}) {
    return call_bytes(name, message.take());
  }
  GrpcAnswer call_bytes(const std::string& name, std::string message) {
    GrpcAnswer told{GrpcCode::internal, "nobody answered", {}};
    net::GrpcCall asked;
    asked.method = std::string(k_cloud_provider_service) + name;
    asked.message = std::move(message);
    handler_.handle(std::move(asked), [&told](GrpcAnswer answer) { told = std::move(answer); });
    return told;
  }
  GrpcAnswer increase(int32_t delta) {
    return call("NodeGroupIncreaseSize",
                std::move(ProtoWriter().integer(1, delta).text(2, provider_.offer.id.text)));
  }
  ProtoWriter of_group() { return std::move(ProtoWriter().text(1, provider_.offer.id.text)); }
  ProtoWriter node(int32_t unit) {
    return std::move(ProtoWriter().text(1, unit_provider_id(provider_.last, unit)));
  }
  int64_t target() {
    const GrpcAnswer told = call("NodeGroupTargetSize", of_group());
    ProtoReader reader(told.message);
    ProtoField field;
    return reader.next(field) ? field.integer() : 0;
  }
  // The bytes of every field of this number.
  static std::vector<std::string> all_of(std::string_view message, uint32_t number) {
    std::vector<std::string> all;
    ProtoReader reader(message);
    for (ProtoField field; reader.next(field);) {
      if (field.number == number) all.emplace_back(field.bytes);
    }
    EXPECT_FALSE(reader.is_broken());
    return all;
  }
  // A line for each group that is listed.
  std::string groups_now() {
    std::string lines;
    for (const auto& group : all_of(call("NodeGroups").message, 1)) {
      int64_t most = 0;
      ProtoReader reader(group);
      for (ProtoField field; reader.next(field);) {
        if (field.number == 3) most = field.integer();
      }
      lines +=
          fmt::format("{} up to {}: {}\n", all_of(group, 1).at(0), most, all_of(group, 4).at(0));
    }
    return lines;
  }
  static double price_in(const GrpcAnswer& told) {
    ProtoReader reader(told.message);
    ProtoField field;
    return reader.next(field) ? std::bit_cast<double>(field.value) : 0;
  }

  GenerousProvider provider_;
  CloudProvider handler_{provider_};
};

TEST_F(CloudProviderTest, ListsGroupsWithoutAMinimum) {
  const GrpcAnswer told = call("NodeGroups");
  const auto groups = all_of(told.message, 1);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(all_of(groups[0], 1).at(0), provider_.offer.id.text);
  EXPECT_TRUE(all_of(groups[0], 2).empty());
  EXPECT_EQ(groups_now(), "edge-1/small up to 9: 2 cpu, 4Gi memory, 20 pods, 2 × nvidia-a100\n");
}

// What was written once is written anew when anything in it has changed.
TEST_F(CloudProviderTest, ListsGroupsAsTheyAreNow) {
  const std::string before = groups_now();
  EXPECT_EQ(groups_now(), before);
  increase(2);
  EXPECT_THAT(groups_now(), HasSubstr("edge-1/small up to 9: 2 cpu"));
  model::Offer first = provider_.offer;
  first.id = OfferId("edge-0/first");
  first.shape.cpu_millis = 7000;
  provider_.book.show(std::vector<demand::Ledger::OnSale>{{first, 1}});
  EXPECT_THAT(groups_now(), HasSubstr("edge-0/first up to 1: 7 cpu"));
  EXPECT_THAT(groups_now(), HasSubstr("edge-1/small up to 2: 2 cpu"));
  EXPECT_THAT(groups_now(), HasSubstr(", no longer on sale"));
  first.shape.cpu_millis = 8000;
  provider_.book.show(std::vector<demand::Ledger::OnSale>{{first, 1}});
  EXPECT_THAT(groups_now(), HasSubstr("edge-0/first up to 1: 8 cpu"));
  provider_.book.show({});
  EXPECT_THAT(groups_now(), ::testing::Not(HasSubstr("edge-0")));
  EXPECT_THAT(groups_now(), HasSubstr("edge-1/small up to 2: 2 cpu"));
}

TEST_F(CloudProviderTest, RaisesTheTargetBeforeItAnswersAndListsWhatComes) {
  EXPECT_EQ(increase(2).code, GrpcCode::ok);
  EXPECT_EQ(target(), 2);
  const GrpcAnswer told = call("NodeGroupNodes", of_group());
  const auto instances = all_of(told.message, 1);
  ASSERT_EQ(instances.size(), 2U);
  EXPECT_EQ(all_of(instances[0], 1).at(0), unit_provider_id(provider_.last, 0));
  EXPECT_EQ(all_of(instances[0], 2).at(0), ProtoWriter().integer(1, 2).str());  // creating
}

TEST_F(CloudProviderTest, TellsAFailureAsCreatingWithItsClass) {
  increase(1);
  provider_.book.failed(provider_.last, 0, {"provider-gone", "no word from edge-1", true}, k_noon);
  const auto instance = all_of(call("NodeGroupNodes", of_group()).message, 1).at(0);
  const ProtoWriter error = std::move(
      ProtoWriter().text(1, "provider-gone").text(2, "no word from edge-1").integer(3, 1));
  EXPECT_EQ(all_of(instance, 2).at(0), ProtoWriter().integer(1, 2).message(2, error).str());
}

TEST_F(CloudProviderTest, KnowsItsNodesByProviderIdAndByName) {
  increase(1);
  const auto group = [this](ProtoWriter node) {
    const auto told = call("NodeGroupForNode", std::move(ProtoWriter().message(1, node)));
    EXPECT_EQ(told.code, GrpcCode::ok);
    const auto ids = all_of(all_of(told.message, 1).at(0), 1);
    return ids.empty() ? std::string() : ids[0];
  };
  EXPECT_EQ(group(node(0)), provider_.offer.id.text);
  EXPECT_EQ(group(std::move(ProtoWriter().text(2, unit_name(provider_.last, 0)))),
            provider_.offer.id.text);
  EXPECT_EQ(group(std::move(ProtoWriter().text(1, "aws:///i-1").text(2, "worker-1"))), "");
}

TEST_F(CloudProviderTest, DeletesItsNodesAndRefusesOthers) {
  increase(2);
  const auto remove = [this](ProtoWriter node) {
    return call("NodeGroupDeleteNodes",
                std::move(ProtoWriter().message(1, node).text(2, provider_.offer.id.text)))
        .code;
  };
  EXPECT_EQ(remove(node(0)), GrpcCode::ok);
  EXPECT_EQ(remove(node(0)), GrpcCode::ok);
  EXPECT_EQ(target(), 1);
  EXPECT_EQ(remove(std::move(ProtoWriter().text(1, "aws:///i-1"))), GrpcCode::invalid_argument);
  EXPECT_EQ(target(), 1);
}

TEST_F(CloudProviderTest, CancelsForReal) {
  increase(3);
  const auto decrease = [this](int32_t delta) {
    return call("NodeGroupDecreaseTargetSize",
                std::move(ProtoWriter().integer(1, delta).text(2, provider_.offer.id.text)))
        .code;
  };
  EXPECT_EQ(decrease(-2), GrpcCode::ok);
  EXPECT_EQ(target(), 1);
  EXPECT_NE(decrease(-2), GrpcCode::ok);
  EXPECT_EQ(target(), 1);
}

// Either generation of clients finds the same node where it looks for it.
TEST_F(CloudProviderTest, WritesTheTemplateForBothGenerations) {
  const GrpcAnswer told = call("NodeGroupTemplateNodeInfo", of_group());
  const std::string node = all_of(told.message, 1).at(0);
  EXPECT_EQ(all_of(told.message, 2).at(0), node);
  const std::string metadata = all_of(node, 1).at(0);
  const std::string spec = all_of(node, 2).at(0);
  const std::string status = all_of(node, 3).at(0);
  EXPECT_THAT(metadata, HasSubstr("spillway.dev/gpu-model"));
  EXPECT_THAT(metadata, HasSubstr("liqo.io/type"));
  EXPECT_THAT(spec, HasSubstr("virtual-node.liqo.io/not-allowed"));
  EXPECT_THAT(spec, HasSubstr("NoExecute"));
  EXPECT_EQ(all_of(status, 1), all_of(status, 2));
  EXPECT_THAT(status, HasSubstr("nvidia.com/gpu"));
  EXPECT_THAT(status, HasSubstr("arm64"));
}

TEST_F(CloudProviderTest, PricesNodesByLabelInEitherEncoding) {
  const demand::NodeImage image = demand::node_image(provider_.offer, "template-node-for-x", {});
  ProtoWriter node;
  for (const model::Label& label : image.labels) node.entry(3, label.key, label.value);
  const ProtoWriter from = std::move(ProtoWriter().integer(1, 1'800'000'000));
  const ProtoWriter to = std::move(ProtoWriter().integer(1, 1'800'003'600));
  const GrpcAnswer now =
      call("PricingNodePrice",
           std::move(ProtoWriter().message(1, node).message(4, from).message(5, to)));
  EXPECT_DOUBLE_EQ(price_in(now), 3.0);
  const GrpcAnswer before =
      call("PricingNodePrice",
           std::move(ProtoWriter().message(1, node).message(2, from).message(3, to)));
  EXPECT_DOUBLE_EQ(price_in(before), 3.0);
  const GrpcAnswer backwards =
      call("PricingNodePrice",
           std::move(ProtoWriter().message(1, node).message(4, to).message(5, from)));
  EXPECT_EQ(backwards.code, GrpcCode::invalid_argument);
}

TEST_F(CloudProviderTest, PricesPodsAboveNothing) {
  const auto quantity = [](const char* text) { return std::move(ProtoWriter().text(1, text)); };
  ProtoWriter requests;
  requests.entry(2, "cpu", quantity("1500m")).entry(2, "memory", quantity("2Gi"));
  const ProtoWriter container = std::move(ProtoWriter().message(8, requests));
  const std::string pod = ProtoWriter().message(2, ProtoWriter().message(2, container)).take();
  EXPECT_DOUBLE_EQ(price_in(call("PricingPodPrice", std::move(ProtoWriter().bytes(4, pod)))),
                   0.0015);
  EXPECT_DOUBLE_EQ(price_in(call("PricingPodPrice", std::move(ProtoWriter().bytes(1, pod)))),
                   0.0015);
  EXPECT_GT(price_in(call("PricingPodPrice")), 0.0);
}

TEST_F(CloudProviderTest, AnswersNonsenseWithTheRightCode) {
  EXPECT_EQ(call("NodeGroupTargetSize", std::move(ProtoWriter().text(1, "no/such"))).code,
            GrpcCode::not_found);
  EXPECT_EQ(increase(0).code, GrpcCode::invalid_argument);
  EXPECT_EQ(increase(-1).code, GrpcCode::invalid_argument);
  EXPECT_EQ(increase(INT32_MAX).code, GrpcCode::resource_exhausted);
  EXPECT_EQ(call("NodeGroupGetOptions", of_group()).code, GrpcCode::unimplemented);
  EXPECT_EQ(call("NoSuchCall").code, GrpcCode::unimplemented);
  EXPECT_EQ(call_bytes("NodeGroupTargetSize", "\x0a\x7f").code, GrpcCode::invalid_argument);
  EXPECT_EQ(call_bytes("PricingPodPrice", ProtoWriter().bytes(4, "\x12\x7f").take()).code,
            GrpcCode::invalid_argument);
  EXPECT_EQ(target(), 0);
}

TEST_F(CloudProviderTest, AnswersTheRest) {
  EXPECT_EQ(call("Refresh").code, GrpcCode::ok);
  EXPECT_EQ(provider_.refreshes, 1);
  EXPECT_EQ(call("Cleanup").code, GrpcCode::ok);
  EXPECT_EQ(all_of(call("GPULabel").message, 1).at(0), "spillway.dev/gpu-model");
  EXPECT_EQ(all_of(all_of(call("GetAvailableGPUTypes").message, 1).at(0), 1).at(0), "nvidia-a100");
}

// Two init containers in turn, of which the first is a sidecar and stays; and the overhead.
TEST(KubeProto, CountsAPodAsTheSchedulerDoes) {
  const auto container = [](const char* cpu, const char* policy) {
    ProtoWriter requests;
    requests.entry(2, "cpu", std::move(ProtoWriter().text(1, cpu)));
    return std::move(ProtoWriter().message(8, requests).text(24, policy));
  };
  ProtoWriter spec;
  spec.message(2, container("1", "")).message(2, container("500m", ""));
  spec.message(20, container("200m", "Always")).message(20, container("3", ""));
  spec.entry(32, "cpu", std::move(ProtoWriter().text(1, "100m")));
  ProtoWriter metadata;
  metadata.text(1, "web-1").text(3, "shop").entry(11, "app", "web");
  const auto pod = unmarshal_pod(ProtoWriter().message(1, metadata).message(2, spec).str());
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->name, "web-1");
  EXPECT_EQ(pod->space, "shop");
  EXPECT_EQ(pod->labels, (model::Labels{{"app", "web"}}));
  EXPECT_EQ(pod->requests.cpu_millis, 3300);
  EXPECT_EQ(pod->requests.pods, 1);
}

}  // namespace
}  // namespace spillway::cluster_autoscaler
