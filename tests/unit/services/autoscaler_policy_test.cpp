#include "autoscaler_fixture.h"

namespace spillway::autoscaler {
namespace {

using cluster_autoscaler::Option;
using cluster_autoscaler::PodAsk;

class Listeners final : public Audience {
 public:
  void tell(const Announcement& announcement) override { heard.push_back(announcement); }
  std::vector<PendingPod> pending() const override { return pods; }

  std::vector<Announcement> heard;
  std::vector<PendingPod> pods;
};

// Offers of two providers at prices of their own; policies as their owner writes them.
class AutoscalerPolicyTest : public AutoscalerTest {
 protected:
  AutoscalerPolicyTest() { broker.offers.clear(); }

  void put_offer(const std::string& id, int64_t unit_hour, int64_t cores = 4) {
    model::Offer offer = test::plain_offer();
    offer.id = OfferId(id);
    offer.price = {};
    offer.price.unit_hour = unit_hour;
    offer.shape.cpu_millis = cores * 1000;
    broker.offers[id] = {offer, 1};
  }
  static rank::Policy policy_of(const std::string& yaml) {
    const auto read =
        rank::policy_from_yaml("noun: recommender-policy\nversion: 1\ncurrency: EUR\n" + yaml);
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    return *read;
  }
  void start_with(const std::string& yaml) {
    service.reset();
    service.emplace(loop, random, broker.channel, store, nodes, log,
                    AutoscalerOptions{ClusterId("home"), policy_of(yaml), 5, &listeners});
    ASSERT_TRUE(service->start());
    loop.run_for(milliseconds(100));
    service->refresh();
  }
  int32_t room(const OfferId& id) const {
    const demand::GroupState* group = service->ledger().find(id);
    return group == nullptr ? -1 : group->most() - group->target();
  }
  Status buy(const OfferId& id, int32_t delta) {
    Outcome outcome = std::make_shared<std::optional<Status>>();
    service->increase(id, delta, [outcome](const Status& status) { *outcome = status; });
    loop.run_for(milliseconds(500));
    EXPECT_TRUE(outcome->has_value()) << "not answered";
    return outcome->value_or(Status());
  }
  static PodAsk pod(const std::string& name, const std::string& space = "default") {
    PodAsk asked;
    asked.space = space;
    asked.name = name;
    asked.requests.cpu_millis = 1000;
    return asked;
  }
  static Option option(const OfferId& group, int32_t count, const std::vector<PodAsk>& pods) {
    return {group, count, pods};
  }

  Listeners listeners;
  const OfferId lyon{"lyon/m"};
  const OfferId bonn{"bonn/m"};
};

TEST_F(AutoscalerPolicyTest, HidesWhatARuleForbidsAndKeepsWhatIsHeldOfItFromGrowing) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  start_with("");
  ASSERT_TRUE(buy(lyon, 1));
  service->set_policy(policy_of("providers: {deny: [lyon]}"));
  service->refresh();
  EXPECT_EQ(room(lyon), 0);
  EXPECT_GT(room(bonn), 0);
  EXPECT_EQ(buy(lyon, 1).error().code, Code::taken);
  EXPECT_EQ(service->ledger().find(lyon)->target(), 1);  // it stays
}

TEST_F(AutoscalerPolicyTest, LetsAGroupGrowAsFarAsACapLeavesRoom) {
  put_offer("lyon/m", 1'000'000);
  start_with("caps: {money: {month: 50}}");
  const int32_t fits = room(lyon);
  EXPECT_EQ(fits, 3);  // fourteen and a half hours of the month are left
  EXPECT_EQ(buy(lyon, fits + 1).error().code, Code::taken);
  EXPECT_EQ(sold(), 0);
  ASSERT_TRUE(buy(lyon, fits));
  service->refresh();
  EXPECT_EQ(room(lyon), 0);
  EXPECT_EQ(sold(), fits);
}

TEST_F(AutoscalerPolicyTest, ChecksCapsAgainInTheCallForOthersHaveBoughtMeanwhile) {
  put_offer("lyon/m", 1'000'000);
  put_offer("bonn/m", 1'000'000);
  start_with("caps: {money: {month: 50}}");
  const int32_t fits = room(lyon);
  ASSERT_TRUE(buy(lyon, fits));  // and no refresh
  const Status status = buy(bonn, 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::over_budget);
  EXPECT_NE(status.error().reason.find("cap of 50 EUR a month"), std::string::npos);
  EXPECT_EQ(sold(), fits);
}

TEST_F(AutoscalerPolicyTest, BuysWhatACapLeavesAndSaysThatItIsFewer) {
  put_offer("lyon/m", 1'000'000);
  put_offer("bonn/m", 1'000'000);
  start_with("caps: {money: {month: 50}}");
  const int32_t fits = room(lyon);
  ASSERT_TRUE(buy(lyon, 1));
  const Status status = buy(bonn, fits);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::taken);
  EXPECT_EQ(service->ledger().find(bonn)->target(), fits - 1);
  EXPECT_EQ(sold(), fits);
}

TEST_F(AutoscalerPolicyTest, DoesNotForgetWhatItSpentWhenItIsKilledOrGivesBack) {
  put_offer("lyon/m", 1'000'000);
  start_with("caps: {money: {hour: 1}}");
  ASSERT_TRUE(buy(lyon, 1));
  loop.run_for(minutes(20));
  Outcome outcome = std::make_shared<std::optional<Status>>();
  std::vector<demand::NodeRef> all;
  for (const auto& one : service->ledger().instances(lyon)) all.push_back({one.provider_id, {}});
  service->remove(lyon, all, [outcome](const Status& status) { *outcome = status; });
  loop.run_for(seconds(20));
  EXPECT_EQ(sold(), 0);
  ASSERT_FALSE(service->ledger().state().past.empty());
  const auto past = service->ledger().state().past;
  start_with("caps: {money: {hour: 1}}");
  EXPECT_EQ(service->ledger().state().past, past);
}

TEST_F(AutoscalerPolicyTest, RemembersWhoseUnitsWereLost) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 101'000);
  start_with("tiers: [{money: 100%, failure: 1}]");
  ASSERT_TRUE(buy(lyon, 1));
  loop.run_for(seconds(1));
  const auto& tried = service->ledger().state().tried;
  ASSERT_TRUE(tried.contains(ClusterId("lyon")));
  EXPECT_EQ(tried.at(ClusterId("lyon")).failures_micros, 0);
  model::Contract lost = contract();
  lost.state = model::ContractState::closing;
  lost.reason = model::EndReason::noticed;
  broker.tell_of(lost, "contract-closing");
  loop.run_for(seconds(1));
  EXPECT_GT(tried.at(ClusterId("lyon")).failures_micros, 900'000);
  start_with("tiers: [{money: 100%, failure: 1}]");
  EXPECT_GT(tried.at(ClusterId("lyon")).failures_micros, 900'000);
}

TEST_F(AutoscalerPolicyTest, ChoosesTheBestByThePolicyAndSaysWhy) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  start_with("profile: cheapest");
  const std::vector<Option> options = {option(bonn, 1, {pod("web-1")}),
                                       option(lyon, 1, {pod("web-1")})};
  EXPECT_EQ(service->choose(options), std::vector<size_t>{1});
  const std::string why = service->explain("default/web-1");
  EXPECT_NE(why.find("1 of lyon/m chosen for 1 pods"), std::string::npos) << why;
  EXPECT_NE(why.find("bonn/m"), std::string::npos) << why;
  EXPECT_EQ(service->explain("default/other"), "");
}

TEST_F(AutoscalerPolicyTest, WeighsThatOneOptionNeedsMoreUnitsForTheSamePods) {
  put_offer("lyon/m", 100'000, 1);
  put_offer("bonn/m", 300'000, 4);
  start_with("profile: cheapest");
  std::vector<PodAsk> pods;
  for (int i = 0; i < 4; ++i) pods.push_back(pod("web-" + std::to_string(i)));
  // Four of lyon are 0.4 an hour; one of bonn is 0.3.
  EXPECT_EQ(service->choose({option(lyon, 4, pods), option(bonn, 1, pods)}),
            std::vector<size_t>{1});
  // One of lyon takes in a quarter of them only.
  EXPECT_EQ(service->choose({option(lyon, 1, {pods[0]}), option(bonn, 1, pods)}),
            std::vector<size_t>{1});
  EXPECT_EQ(service->choose({option(lyon, 2, pods), option(bonn, 1, pods)}),
            std::vector<size_t>{0});
}

TEST_F(AutoscalerPolicyTest, HoldsPodsToTheRulesOfTheirClass) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  start_with(
      "classes:\n  - {name: batch, namespaces: [jobs], providers: {deny: [lyon]}}\n"
      "profile: cheapest\n");
  const auto both = [&](const std::vector<PodAsk>& pods) {
    return service->choose({option(lyon, 1, pods), option(bonn, 1, pods)});
  };
  EXPECT_EQ(both({pod("a", "jobs")}), std::vector<size_t>{1});
  EXPECT_EQ(both({pod("a", "web")}), std::vector<size_t>{0});
  // Most are of no class, but one of them must not go to lyon.
  EXPECT_EQ(both({pod("a", "web"), pod("b", "web"), pod("c", "jobs")}), std::vector<size_t>{1});
}

TEST_F(AutoscalerPolicyTest, CountsAPurchaseForTheClassThatItWasChosenFor) {
  put_offer("lyon/m", 1'000'000);
  start_with("classes:\n  - {name: batch, namespaces: [jobs], caps: {money: {month: 30}}}\n");
  service->choose({option(lyon, 1, {pod("a", "jobs")})});
  ASSERT_TRUE(buy(lyon, 1));
  EXPECT_EQ(service->ledger().find(lyon)->units.at(0).use.workload_class, "batch");
  int32_t bought = 1;
  while (bought < 20) {
    service->choose({option(lyon, 1, {pod("a", "jobs")})});
    if (!buy(lyon, 1)) break;
    bought += 1;
  }
  EXPECT_EQ(bought, 2);  // the class is full; work of no class is not
  loop.run_for(Advisor::k_choice_holds);
  EXPECT_TRUE(buy(lyon, 1));
}

TEST_F(AutoscalerPolicyTest, VetoesWhenNothingMayBeTakenAndHasNoOpinionOfStrangers) {
  put_offer("lyon/m", 100'000);
  start_with("");
  EXPECT_EQ(service->choose({option(OfferId("asg-1"), 1, {pod("a")})}), std::vector<size_t>{0});
  service->set_policy(policy_of("providers: {deny: [lyon]}"));
  EXPECT_EQ(service->choose({option(lyon, 1, {pod("a")})}), std::vector<size_t>());
  EXPECT_NE(service->explain("default/a").find("lyon is denied by the policy"), std::string::npos);
  EXPECT_EQ(service->explain(""), "");
  listeners.heard.clear();
  service->choose({option(OfferId("asg-1"), 1, {}), option(lyon, 1, {pod("a"), pod("b")})});
  EXPECT_EQ(listeners.heard.size(), 2u);
  EXPECT_EQ(service->choose({}), std::vector<size_t>());
}

TEST_F(AutoscalerPolicyTest, PricesNodesAsTheFirstTierWeighsThem) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  broker.offers["bonn/m"].offer.energy = model::Energy{};
  model::Energy& energy = *broker.offers["bonn/m"].offer.energy;
  energy.carbon_now = 100;
  energy.unit_milliwatts = 50'000;
  energy.provenance = {"meter", loop.now(), model::Evidence::claimed};
  const auto price = [&](const OfferId& id) {
    const auto labels = demand::node_image(broker.offers[id.text].offer, "template", {}).labels;
    return service->node_price(labels, {}, {loop.now(), loop.now() + hours(1)}).value_or(-1);
  };
  start_with("profile: cheapest");
  EXPECT_EQ(price(lyon), 100'000);
  EXPECT_EQ(price(bonn), 200'000);
  start_with("profile: greenest");
  EXPECT_EQ(price(bonn), 5'000);  // 5 g, at 1 EUR a kilogram
  EXPECT_GT(price(lyon), price(bonn));
  start_with("tiers: [{money: 50%, carbon_kg: 1}]");
  EXPECT_EQ(price(bonn), 105'000);
  start_with("profile: cheapest\nexpect: {time: 2h, egress: 4Gi}");
  broker.offers["bonn/m"].offer.network.egress_gib_price = 10'000;
  start_with("profile: cheapest\nexpect: {time: 2h, egress: 4Gi}");
  EXPECT_EQ(price(bonn), 220'000);  // two of the four GiB
}

// A caller of 1.30 takes an empty answer for no opinion, and any of the options.
TEST_F(AutoscalerPolicyTest, SellsNothingThatItHasJustVetoedForTheClassOfThePods) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  start_with("classes:\n  - {name: batch, namespaces: [jobs], providers: {deny: [lyon, bonn]}}\n");
  EXPECT_TRUE(service->choose({option(lyon, 1, {pod("a", "jobs")})}).empty());
  const Status refused = buy(lyon, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied);
  EXPECT_EQ(sold(), 0);
  EXPECT_EQ(buy(bonn, 1).error().code, Code::denied);  // nobody has said for which pods
  EXPECT_EQ(service->choose({option(lyon, 1, {pod("a", "web")})}), std::vector<size_t>{0});
  EXPECT_TRUE(buy(lyon, 1));
}

TEST_F(AutoscalerPolicyTest, CountsForTheClassWhateverOptionIsTaken) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  start_with("profile: cheapest\nclasses:\n  - {name: batch, namespaces: [jobs]}\n");
  const std::vector<PodAsk> pods = {pod("a", "jobs")};
  EXPECT_EQ(service->choose({option(lyon, 1, pods), option(bonn, 1, pods)}),
            std::vector<size_t>{0});
  ASSERT_TRUE(buy(bonn, 1));
  EXPECT_EQ(service->ledger().find(bonn)->units.at(0).use.workload_class, "batch");
}

TEST_F(AutoscalerPolicyTest, BuysOfProvidersThatWereHeardOfLately) {
  put_offer("lyon/m", 100'000);
  broker.heard = loop.now();
  start_with("rules: {max_silence: 10m}");
  const Status bought = buy(lyon, 1);
  EXPECT_TRUE(bought) << bought.error().message();
}

TEST_F(AutoscalerPolicyTest, GivesBackWhatHasGrownDearerSinceItWasSeen) {
  put_offer("lyon/m", 1'000'000);
  start_with("caps: {money: {month: 50}}");
  put_offer("lyon/m", 40'000'000);  // and the market is not looked at again before the call
  const Status status = buy(lyon, 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::taken);
  EXPECT_NE(status.error().reason.find("is 40 EUR now"), std::string::npos)
      << status.error().message();
  EXPECT_EQ(sold(), 0);
  EXPECT_EQ(service->ledger().find(lyon)->target(), 0);
}

TEST_F(AutoscalerPolicyTest, ExplainsNodesAndGroups) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  start_with("profile: cheapest\nrules: {max_unit_hour: 0.15}");
  service->choose({option(lyon, 1, {pod("web-1")})});
  ASSERT_TRUE(buy(lyon, 1));
  const std::string node = service->explain(nodes.nodes.begin()->first);
  EXPECT_NE(node.find("group lyon/m"), std::string::npos) << node;
  EXPECT_NE(node.find("0.1 EUR an hour"), std::string::npos) << node;
  EXPECT_NE(node.find("chosen for 1 pods"), std::string::npos) << node;
  const std::string group = service->explain("bonn/m");
  EXPECT_NE(group.find("price"), std::string::npos) << group;
  const std::string held = service->explain("lyon/m");
  EXPECT_NE(held.find("1 held or on their way"), std::string::npos) << held;
  EXPECT_NE(held.find("place 1 of 1"), std::string::npos) << held;
}

TEST_F(AutoscalerPolicyTest, TellsPodsWhatWasChosenForThemAndNodesWhoseTheyAre) {
  put_offer("lyon/m", 100'000);
  put_offer("bonn/m", 200'000);
  start_with("profile: cheapest\nproviders: {deny: [bonn]}");
  PodAsk web = pod("web-1");
  web.uid = "u-1";
  service->choose({option(lyon, 1, {web}), option(bonn, 1, {web})});
  ASSERT_EQ(listeners.heard.size(), 1u);
  const Announcement& chose = listeners.heard[0];
  EXPECT_EQ(chose.kind, Announcement::Kind::pod);
  EXPECT_EQ(chose.uid, "u-1");
  EXPECT_EQ(chose.reason, "SpillwayChose");
  EXPECT_EQ(chose.message.find("lyon/m, 1 unit; 0.1 EUR = money 0.1"), 0u) << chose.message;
  ASSERT_TRUE(buy(lyon, 1));
  ASSERT_EQ(listeners.heard.size(), 2u);
  EXPECT_EQ(listeners.heard[1].kind, Announcement::Kind::node);
  EXPECT_EQ(listeners.heard[1].name, nodes.nodes.begin()->first);
}

TEST_F(AutoscalerPolicyTest, TellsPodsThatWaitOfWhatWasRefusedInsideTheCall) {
  put_offer("lyon/m", 1'000'000);
  put_offer("bonn/m", 1'000'000);
  listeners.pods = {{"default", "web-1", "u-1", {}}};
  start_with("caps: {money: {month: 50}}");
  ASSERT_TRUE(buy(lyon, room(lyon)));
  listeners.heard.clear();
  ASSERT_FALSE(buy(bonn, 1));
  ASSERT_EQ(listeners.heard.size(), 1u);
  EXPECT_EQ(listeners.heard[0].reason, "SpillwayRefused");
  EXPECT_EQ(listeners.heard[0].message.find("not bought: bonn/m: the cluster's cap"), 0u);
}

TEST_F(AutoscalerPolicyTest, TellsPodsForWhichThePolicyLeavesNothing) {
  put_offer("lyon/m", 100'000);
  listeners.pods = {{"default", "web-1", "u-1", {}}, {"jobs", "sum-1", "u-2", {}}};
  start_with(
      "caps: {money: {hour: 0.000001}}\nclasses:\n"
      "  - {name: batch, namespaces: [jobs], providers: {deny: [lyon]}}\n");
  ASSERT_EQ(listeners.heard.size(), 2u);
  EXPECT_TRUE(listeners.heard[0].is_warning);
  EXPECT_EQ(listeners.heard[0].name, "web-1");
  EXPECT_NE(listeners.heard[0].message.find("cap of 0.000001 EUR an hour"), std::string::npos);
  EXPECT_NE(listeners.heard[1].message.find("lyon is denied"), std::string::npos);
  listeners.heard.clear();
  service->set_policy(policy_of(""));
  service->refresh();
  EXPECT_TRUE(listeners.heard.empty());
}

}  // namespace
}  // namespace spillway::autoscaler
