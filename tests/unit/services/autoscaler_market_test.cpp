#include "autoscaler_fixture.h"

namespace spillway::autoscaler {
namespace {

class AutoscalerMarketTest : public AutoscalerTest {
 protected:
  void put_offer(const std::string& name, int64_t unit_hour = 50'000) {
    model::Offer offer = test::plain_offer();
    offer.id = OfferId("edge-1/" + name);
    offer.price.unit_hour = unit_hour;
    broker.offers[offer.id.text] = {offer, 1};
  }
  void look() {
    service->refresh();
    loop.run_for(seconds(10));
    service->refresh();
  }
  std::vector<std::string> groups() const {
    std::vector<std::string> names;
    for (const auto& [id, group] : service->ledger().state().groups) names.push_back(id.text);
    return names;
  }
  cluster_autoscaler::Window an_hour() { return {loop.now(), loop.now() + hours(1)}; }
};

using Names = std::vector<std::string>;

TEST_F(AutoscalerMarketTest, ShowsTheBestFiveOfAClassAndWhatIsInUse) {
  start();
  ASSERT_TRUE(increase(1));
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) put_offer(name);
  look();
  EXPECT_EQ(groups(),
            (Names{"edge-1/a", "edge-1/b", "edge-1/c", "edge-1/d", "edge-1/e", small.text}));
  EXPECT_FALSE(service->ledger().find(small)->is_on_sale);
}

TEST_F(AutoscalerMarketTest, AsksForAnOfferOnceAndAgainWhenItsRateHasChanged) {
  start();
  loop.run_for(minutes(1));
  EXPECT_GT(broker.channel.count("POST /v1/query"), 10);
  EXPECT_EQ(broker.channel.count("GET /v1/offers"), 1);
  put_offer("small", 90'000);
  look();
  EXPECT_EQ(broker.channel.count("GET /v1/offers"), 2);
  EXPECT_EQ(service->ledger().find(small)->offer.price.unit_hour, 90'000);
}

TEST_F(AutoscalerMarketTest, KeepsItsLastViewWhenTheMarketCannotBeAsked) {
  start();
  broker.first = [](const net::Request&) { return test::lost(); };
  loop.run_for(minutes(10));
  look();
  EXPECT_EQ(groups(), Names{small.text});
  EXPECT_TRUE(service->ledger().find(small)->is_on_sale);
}

TEST_F(AutoscalerMarketTest, LeavesOutAnOfferThatCannotBeReadAndNothingElse) {
  put_offer("bad");
  broker.first = agent::saying("GET /v1/offers/edge-1/bad", [] {
    return net::Response{200, {{"Content-Type", "application/json"}}, "{}"};
  });
  start();
  EXPECT_EQ(groups(), Names{small.text});
}

TEST_F(AutoscalerMarketTest, DoesNotAskForWhatItSellsItself) {
  start();
  for (const auto& asked : broker.channel.asked) {
    if (asked.request.target != "/v1/query") continue;
    const auto query = model::read_json<wire::QueryRequest>(asked.request.body, "query");
    EXPECT_EQ(query->intent.constraints.excluded_providers, std::vector{ClusterId("home")});
    EXPECT_TRUE(query->intent.constraints.tolerate_all_taints);
  }
}

TEST_F(AutoscalerMarketTest, PricesByLabelAndCallsWhatIsHeldNearlyFree) {
  broker.offers[small.text].offer.price.minimum_term = hours(2);
  start();
  ASSERT_TRUE(increase(1));
  const std::string id = refs().at(0).provider_id;
  const auto held = nodes.nodes.begin()->second.labels;
  auto as_template = demand::node_image(test::plain_offer(), "template-for-it", {}).labels;
  EXPECT_EQ(service->node_price(as_template, {}, an_hour()), 140'000);
  EXPECT_EQ(service->node_price(held, id, an_hour()), 1);
  // Made of a node that was seen: it would be bought all the same.
  EXPECT_EQ(service->node_price(as_template, id, an_hour()), 140'000);
  EXPECT_EQ(service->node_price({}, "aws:///i-1", an_hour()).error().code, Code::not_found);
  EXPECT_GT(service->pod_price({}, an_hour()), 0);
}

TEST_F(AutoscalerMarketTest, NamesTheModelsOfGpus) {
  broker.offers[small.text].offer.shape.gpus = {{"nvidia-a100", 1}};
  start();
  EXPECT_EQ(service->gpu_models(), Names{"nvidia-a100"});
}

}  // namespace
}  // namespace spillway::autoscaler
