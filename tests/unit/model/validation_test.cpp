// What validate() refuses in each noun, and by which path.
#include <functional>

#include <gtest/gtest.h>

#include "model/limits.h"
#include "support/nouns.h"

namespace spillway::model {
namespace {

using test::k_some_day;

template <class Noun>
std::string refused_path(Noun noun, const std::function<void(Noun&)>& bend) {
  bend(noun);
  const Status status = validate(noun);
  return status ? "accepted" : status.error().thing;
}

std::string bent(const std::function<void(Offer&)>& bend) {
  return refused_path<Offer>(test::plain_offer(), bend);
}
std::string bent(const std::function<void(Contract&)>& bend) {
  return refused_path<Contract>(test::plain_contract(), bend);
}
std::string bent(const std::function<void(Intent&)>& bend) {
  return refused_path<Intent>(test::plain_intent(), bend);
}
std::string bent(const std::function<void(Cluster&)>& bend) {
  return refused_path<Cluster>(test::plain_cluster(), bend);
}

TEST(Validation, TakesThePlainNouns) {
  EXPECT_TRUE(validate(test::plain_pool()));
  EXPECT_TRUE(validate(test::plain_offer()));
  EXPECT_TRUE(validate(test::plain_cluster()));
  EXPECT_TRUE(validate(test::plain_contract()));
  EXPECT_TRUE(validate(test::plain_intent()));
}

TEST(Pool, RefusesABadIdAndAnEmptyNode) {
  Pool pool = test::plain_pool();
  pool.node = {};
  EXPECT_EQ(validate(pool).error().thing, "node");
  pool = test::plain_pool();
  pool.capacity.pods = -1;
  EXPECT_EQ(validate(pool).error().thing, "capacity.pods");
  pool.id = PoolId("standard");
  EXPECT_EQ(validate(pool).error().thing, "id");
}

TEST(Offer, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(bent([](Offer& o) { o.id = OfferId("Edge/small"); }), "id");
  EXPECT_EQ(bent([](Offer& o) { o.pool = PoolId("edge-2/standard"); }), "pool");
  EXPECT_EQ(bent([](Offer& o) { o.shape = {}; }), "shape");
  EXPECT_EQ(bent([](Offer& o) { o.shape.pods = -3; }), "shape.pods");
  EXPECT_EQ(bent([](Offer& o) { o.price.unit_hour = -1; }), "price.unit_hour");
  EXPECT_EQ(bent([](Offer& o) { o.labels = {{"zone", "a b"}}; }), "labels.zone");
  EXPECT_EQ(bent([](Offer& o) { o.labels = {{"b", ""}, {"a", ""}}; }), "labels");
  EXPECT_EQ(bent([](Offer& o) {
              o.taints = {{"", "", TaintEffect::no_execute}};
            }),
            "taints[0].key");
  EXPECT_EQ(bent([](Offer& o) { o.taints = {{"a", "1", {}}, {"a", "2", {}}}; }), "taints[1]");
  EXPECT_EQ(bent([](Offer& o) { o.place.country = "Italy"; }), "place.country");
  EXPECT_EQ(bent([](Offer& o) { o.network.bandwidth_mbit = -1; }), "network.bandwidth_mbit");
  EXPECT_EQ(bent([](Offer& o) { o.visibility.clusters = {ClusterId("a")}; }), "visibility");
  EXPECT_EQ(bent([](Offer& o) {
              o.visibility = {false, {ClusterId("b"), ClusterId("a")}, {}};
            }),
            "visibility.clusters[1]");
  EXPECT_EQ(bent([](Offer& o) { o.terms.lease = seconds(9); }), "terms.lease");
  EXPECT_EQ(bent([](Offer& o) { o.terms.lease = hours(365 * 24 + 1); }), "terms.lease");
  EXPECT_EQ(bent([](Offer& o) { o.terms.notice = Duration{-1}; }), "terms.notice");
  EXPECT_EQ(bent([](Offer& o) { o.terms.grace = hours(30 * 24 + 1); }), "terms.grace");
  EXPECT_EQ(bent([](Offer& o) { o.until = Instant{-1}; }), "until");
}

TEST(Offer, RefusesARateThatNobodyCouldCompute) {
  EXPECT_EQ(bent([](Offer& o) {
              o.price.cpu_hour = k_max_price;
              o.shape.cpu_millis = k_max_amount;
            }),
            "price");
}

TEST(Offer, TellsWhatMayNotChangeUnderItsId) {
  const Offer offer = test::plain_offer();
  Offer next = offer;
  next.price.unit_hour += 1;
  next.until = k_some_day;
  EXPECT_EQ(immutable_difference(offer, next), "");
  next.labels = {};
  EXPECT_EQ(immutable_difference(offer, next), "labels");
  next.shape.pods += 1;
  EXPECT_EQ(immutable_difference(offer, next), "shape");
}

TEST(Energy, NamesTheFieldThatIsWrong) {
  const auto bend = [](const std::function<void(Energy&)>& change) {
    return bent([&change](Offer& o) {
      o.energy = test::plain_energy();
      change(*o.energy);
    });
  };
  EXPECT_EQ(bend([](Energy&) {}), "accepted");
  EXPECT_EQ(bend([](Energy& e) { e.carbon_now = -1; }), "energy.carbon_now");
  EXPECT_EQ(bend([](Energy& e) { e.carbon_forecast = {1, 2}; }), "energy.carbon_forecast");
  EXPECT_EQ(bend([](Energy& e) {
              e.carbon_forecast.assign(24, 1);
              e.carbon_forecast[7] = 10'001;
            }),
            "energy.carbon_forecast[7]");
  EXPECT_EQ(bend([](Energy& e) { e.mix = {{"solar", 999}}; }), "energy.mix");
  EXPECT_EQ(bend([](Energy& e) { e.mix = {{"solar", 500}, {"solar", 500}}; }), "energy.mix");
  EXPECT_EQ(bend([](Energy& e) { e.mix = {{"solar", -1}, {"grid", 1001}}; }), "energy.mix.solar");
  EXPECT_EQ(bend([](Energy& e) { e.unit_milliwatts = -1; }), "energy.unit_milliwatts");
  EXPECT_EQ(bend([](Energy& e) { e.provenance.source = ""; }), "energy.provenance.source");
}

TEST(Energy, ForecastIsReadByTheHour) {
  Energy energy = test::plain_energy();
  EXPECT_EQ(carbon_at(energy, k_some_day + hours(2)), 230);
  energy.carbon_forecast.assign(24, 0);
  energy.carbon_forecast[2] = 99;
  EXPECT_EQ(carbon_at(energy, k_some_day + hours(2)), 99);
  EXPECT_EQ(carbon_at(energy, k_some_day + hours(3) - milliseconds(1)), 99);
  EXPECT_EQ(carbon_at(energy, k_some_day + hours(24)), 230);
  EXPECT_EQ(carbon_at(energy, k_some_day - milliseconds(1)), 230);
}

TEST(Visibility, NothingListedIsNobody) {
  const ClusterId buyer("edge-2");
  const Labels labels{{"team", "blue"}, {"tier", "1"}};
  EXPECT_FALSE(may_see({}, buyer, labels));
  EXPECT_TRUE(may_see({true, {}, {}}, buyer, {}));
  EXPECT_TRUE(may_see({false, {ClusterId("edge-1"), buyer}, {}}, buyer, {}));
  EXPECT_FALSE(may_see({false, {ClusterId("edge-1")}, {}}, buyer, labels));
  EXPECT_TRUE(may_see({false, {}, {{"team", "blue"}}}, buyer, labels));
  EXPECT_FALSE(may_see({false, {}, {{"team", "blue"}, {"tier", "2"}}}, buyer, labels));
}

TEST(Labels, AreFoundByKey) {
  const Labels labels{{"a", "1"}, {"c", "3"}};
  EXPECT_EQ(*find_label(labels, "c"), "3");
  EXPECT_EQ(find_label(labels, "b"), nullptr);
  EXPECT_EQ(find_label({}, "b"), nullptr);
}

TEST(Cluster, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(bent([](Cluster& c) { c.id = ClusterId("a/b"); }), "id");
  EXPECT_EQ(bent([](Cluster& c) { c.quota.units = -1; }), "quota.units");
  EXPECT_EQ(bent([](Cluster& c) { c.quota.gpus = {{"a100", -1}}; }), "quota.gpus.a100");
  EXPECT_EQ(bent([](Cluster& c) { c.quota.gpus = {{"a100", 0}}; }), "accepted");
  EXPECT_EQ(bent([](Cluster& c) { c.budget = Budget{{-1, {}}, k_some_day}; }), "budget.limit");
  EXPECT_EQ(bent([](Cluster& c) { c.budget = Budget{{1, {}}, Instant{-1}}; }), "budget.from");
}

TEST(Contract, NamesTheInvariantThatIsBroken) {
  EXPECT_EQ(bent([](Contract& c) { c.id = ContractId("x"); }), "id");
  EXPECT_EQ(bent([](Contract& c) { c.buyer = ClusterId(""); }), "buyer");
  EXPECT_EQ(bent([](Contract& c) { c.provider = ClusterId("edge-3"); }), "pool");
  EXPECT_EQ(bent([](Contract& c) { c.offer = OfferId("edge-3/small"); }), "offer");
  EXPECT_EQ(bent([](Contract& c) { c.rate += 1; }), "rate");
  EXPECT_EQ(bent([](Contract& c) { c.terms.lease = Duration{0}; }), "terms.lease");
  EXPECT_EQ(bent([](Contract& c) { c.units.clear(); }), "units");
  EXPECT_EQ(bent([](Contract& c) { c.units[1].number = 2; }), "units[1].number");
  EXPECT_EQ(bent([](Contract& c) { c.units[0].ended = k_some_day; }), "units[0].ended");
  EXPECT_EQ(bent([](Contract& c) { c.units[1].ended.reset(); }), "units[1].ended");
  EXPECT_EQ(bent([](Contract& c) { c.units[0].reserved = -1; }), "units[0].reserved");
  EXPECT_EQ(bent([](Contract& c) { c.units[1].charged = -1; }), "units[1].charged");
  EXPECT_EQ(bent([](Contract& c) { c.units[0].charged = 1; }), "units[0].charged");
  EXPECT_EQ(bent([](Contract& c) { c.units[0] = {0, false, k_some_day, 0, 0}; }), "state");
  EXPECT_EQ(bent([](Contract& c) { c.state = ContractState::closed; }), "state");
  EXPECT_EQ(bent([](Contract& c) { c.state = ContractState::hold; }), "started");
  EXPECT_EQ(bent([](Contract& c) { c.started.reset(); }), "started");
  EXPECT_EQ(bent([](Contract& c) { c.reason = EndReason::noticed; }), "reason");
  EXPECT_EQ(bent([](Contract& c) { c.deadline = Instant{INT64_MAX}; }), "deadline");
  EXPECT_EQ(bent([](Contract& c) { c.outage_mark = Duration{-1}; }), "outage_mark");
}

TEST(Contract, ClosedNeedsAReasonThatCanBe) {
  const auto closed = [](EndReason reason, bool started) {
    return bent([reason, started](Contract& c) {
      c.state = ContractState::closed;
      c.units[0] = {0, false, k_some_day, 0, 0};
      c.reason = reason;
      if (!started) c.started.reset();
    });
  };
  EXPECT_EQ(closed(EndReason::none, true), "reason");
  EXPECT_EQ(closed(EndReason::expired, true), "reason");
  EXPECT_EQ(closed(EndReason::lapsed, false), "reason");
  EXPECT_EQ(closed(EndReason::expired, false), "accepted");
  EXPECT_EQ(closed(EndReason::released, false), "accepted");
  EXPECT_EQ(closed(EndReason::lapsed, true), "accepted");
}

TEST(Intent, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(bent([](Intent& i) { i.shape = {}; }), "shape");
  EXPECT_EQ(bent([](Intent& i) { i.units = 0; }), "units");
  EXPECT_EQ(bent([](Intent& i) { i.units = 10'001; }), "units");
  EXPECT_EQ(bent([](Intent& i) {
              i.constraints.labels = {{"a", Operator::in, {}}};
            }),
            "constraints.labels[0].values");
  EXPECT_EQ(bent([](Intent& i) {
              i.constraints.labels = {{"a", Operator::exists, {"x"}}};
            }),
            "constraints.labels[0].values");
  EXPECT_EQ(bent([](Intent& i) {
              i.constraints.countries = {"IT", "it"};
            }),
            "constraints.countries[1]");
  EXPECT_EQ(bent([](Intent& i) { i.constraints.providers = {ClusterId("A")}; }),
            "constraints.providers[0]");
  EXPECT_EQ(bent([](Intent& i) { i.constraints.max_distance_metres = 5; }),
            "constraints.max_distance_metres");
  EXPECT_EQ(bent([](Intent& i) { i.constraints.max_unit_hour = -5; }), "constraints.max_unit_hour");
  EXPECT_EQ(bent([](Intent& i) { i.worth.money_permille = -5; }), "worth.money");
  EXPECT_EQ(bent([](Intent& i) { i.near = Place{91'000'000, 0, "", "", ""}; }), "near.latitude");
}

}  // namespace
}  // namespace spillway::model
