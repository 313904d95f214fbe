// What follows from what is asked of a driver, without any cluster.
#include <gtest/gtest.h>

#include "services/driver/config.h"
#include "services/driver/orders.h"
#include "services/driver/state_size.h"

namespace spillway::driver {
namespace {

constexpr Instant k_now{1'769'851'800'250};

std::string unit(int number, uint64_t contract = 1) {
  return unit_name(make_contract_id(k_now, 7, contract), number);
}

UnitOrder plain() {
  UnitOrder order;
  order.consumer = "rome";
  order.provider = "milan";
  order.resources.cpu_millis = 2000;
  order.resources.memory_bytes = int64_t{4} << 30;
  order.resources.pods = 20;
  return order;
}

// By whoever may see everything.
Result<bool> place(DriverState& state, const std::string& unit, const UnitOrder& order,
                   Instant now) {
  return driver::place(state, unit, order, now, [](const auto&, const auto&) { return true; });
}

void make_gone(DriverState& state, const std::string& name) {
  state.units.at(name).ended = k_now;
  state.units.at(name).steps.push_back({fabric::UnitStep::gone, k_now});
}

TEST(DriverOrders, NamesAreThoseOfUnits) {
  const auto parsed = parse_unit(unit(12));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->number, 12);
  const std::string id = make_contract_id(k_now, 7, 1).text;
  for (const std::string& text :
       {std::string("sw-x-0"), "sw-" + id, "sw-" + id + "-01", "sw-" + id + "--1", id + "-0",
        "sw-" + id + "-10000", std::string()}) {
    EXPECT_FALSE(parse_unit(text)) << text;
  }
}

TEST(DriverOrders, TheSameOrderIsTakenOnce) {
  DriverState state;
  EXPECT_EQ(place(state, unit(0), plain(), k_now), true);
  const DriverState before = state;
  EXPECT_EQ(place(state, unit(0), plain(), k_now + hours(1)), false);
  EXPECT_EQ(state, before);
}

TEST(DriverOrders, EveryOtherFieldIsNamed) {
  DriverState state;
  ASSERT_TRUE(place(state, unit(0), plain(), k_now));
  const DriverState before = state;
  const auto refused_for = [&](void (*change)(UnitOrder&)) {
    UnitOrder other = plain();
    change(other);
    const auto placed = place(state, unit(0), other, k_now);
    return placed ? std::string("nothing") : placed.error().thing;
  };
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.consumer = "oslo"; }), "consumer");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.provider = "oslo"; }), "provider");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.resources.pods = 21; }), "resources");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.labels = {{"a", "b"}}; }), "labels");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.annotations = {{"a", "b"}}; }), "annotations");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.taints = {{"a", "b"}}; }), "taints");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.provider_id = "x://y"; }), "provider_id");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.fence = minutes(1); }), "fence");
  EXPECT_EQ(refused_for([](UnitOrder& o) { o.spare = true; }), "spare");
  EXPECT_EQ(state, before);
}

TEST(DriverOrders, ASpareIsBoughtAndNeverGivenBack) {
  DriverState state;
  UnitOrder spare = plain();
  spare.spare = true;
  ASSERT_TRUE(place(state, unit(0), spare, k_now));
  EXPECT_TRUE(purchases_of(state).begin()->second.empty());
  EXPECT_EQ(place(state, unit(0), plain(), k_now), true);
  EXPECT_EQ(purchases_of(state).begin()->second, std::vector<int32_t>{0});
  EXPECT_FALSE(place(state, unit(0), spare, k_now));
}

TEST(DriverOrders, UnitsOfOneContractAreAlikeAndInOrder) {
  DriverState state;
  ASSERT_TRUE(place(state, unit(10), plain(), k_now));
  ASSERT_TRUE(place(state, unit(2), plain(), k_now));
  UnitOrder other = plain();
  other.resources.cpu_millis = 1;
  const auto unlike = place(state, unit(3), other, k_now);
  ASSERT_FALSE(unlike);
  EXPECT_EQ(unlike.error().thing, "resources");
  EXPECT_TRUE(place(state, unit(0, 2), other, k_now));
  const auto contracts = contracts_of(state);
  ASSERT_EQ(contracts.size(), 2U);
  const model::Contract& first = contracts.begin()->second;
  ASSERT_EQ(first.units.size(), 2U);
  EXPECT_EQ(first.units[0].number, 2);
  EXPECT_EQ(first.units[1].number, 10);
}

TEST(DriverOrders, WhatHasGoneTellsNothingOfTheUnitsThatLive) {
  DriverState state;
  const ContractId contract = parse_unit(unit(0)).value().contract;
  UnitOrder next = plain();
  next.labels = {{"disk", "hdd"}};
  next.resources.cpu_millis = 1000;
  next.fence = minutes(1);
  ASSERT_TRUE(place(state, unit(0), plain(), k_now));
  make_gone(state, unit(0));
  EXPECT_EQ(order_of(state, contract), nullptr);
  ASSERT_TRUE(place(state, unit(1), next, k_now));
  ASSERT_NE(order_of(state, contract), nullptr);
  EXPECT_EQ(*order_of(state, contract), next);
  const model::Contract made = contracts_of(state).at(contract);
  EXPECT_EQ(made.shape, next.resources);
  EXPECT_EQ(made.terms.fence, next.fence);
  EXPECT_EQ(place(state, unit(2), plain(), k_now).error().code, Code::conflict);
  EXPECT_TRUE(place(state, unit(2), next, k_now));
}

// Its provider may have some of it still, and grants both by one contract.
TEST(DriverOrders, AUnitIsLikeOneThatHasEndedAndIsNotGone) {
  DriverState state;
  ASSERT_TRUE(place(state, unit(0), plain(), k_now));
  ASSERT_TRUE(end(state, unit(0), k_now));
  state.units.at(unit(0)).ended = k_now;
  UnitOrder other = plain();
  other.resources.cpu_millis = 1;
  const auto unlike = place(state, unit(1), other, k_now);
  ASSERT_FALSE(unlike);
  EXPECT_EQ(unlike.error().thing, "resources");
  EXPECT_TRUE(place(state, unit(1), plain(), k_now));
}

TEST(DriverOrders, AContractBeginsAnewOnlyWhenItsFabricsHaveForgottenIt) {
  DriverState state;
  const ContractId contract = parse_unit(unit(0)).value().contract;
  ASSERT_TRUE(place(state, unit(0), plain(), k_now));
  make_gone(state, unit(0));
  state.fabrics["milan"].contracts[contract];
  const auto early = place(state, unit(1), plain(), k_now);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Code::unavailable);
  EXPECT_FALSE(early.error().next.empty());
  state.fabrics["milan"].contracts.clear();
  state.fabrics["oslo"].contracts[contract];
  EXPECT_TRUE(place(state, unit(1), plain(), k_now));
}

TEST(DriverOrders, AnEndCannotBeTakenBackAndANameIsNeverUsedAgain) {
  DriverState state;
  ASSERT_TRUE(place(state, unit(0), plain(), k_now));
  EXPECT_EQ(end(state, unit(0), k_now), true);
  EXPECT_EQ(end(state, unit(0), k_now), false);
  EXPECT_EQ(place(state, unit(0), plain(), k_now).error().code, Code::conflict);
  EXPECT_EQ(contracts_of(state).size(), 1U);  // until nothing runs there any more
  make_gone(state, unit(0));
  EXPECT_TRUE(contracts_of(state).empty());
  EXPECT_EQ(place(state, unit(0), plain(), k_now).error().code, Code::conflict);
  state.units.clear();
  state.over.emplace(unit(0), k_now);
  EXPECT_EQ(place(state, unit(0), plain(), k_now).error().code, Code::conflict);
  EXPECT_EQ(end(state, unit(0), k_now), false);
  EXPECT_EQ(end(state, unit(1), k_now).error().code, Code::not_found);
}

TEST(DriverOrders, AnnotationsOfAnOrderAreBoundedInSum) {
  DriverState state;
  UnitOrder order = plain();
  for (const char* key : {"a", "b", "c", "d"}) order.annotations[key] = std::string(4095, 'x');
  ASSERT_TRUE(place(state, unit(0), order, k_now));
  order.annotations["e"] = "";
  const auto refused = place(state, unit(0, 2), order, k_now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().thing, "annotations");
  EXPECT_NE(refused.error().next.find("16384"), std::string::npos);
  // One that was taken before there was such a bound is read again, and stays as it was ordered.
  state.units.at(unit(0)).order = order;
  auto back = driver_state_from_json(to_json(state));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(place(*back, unit(0), order, k_now), false);
}

TEST(DriverOrders, OrdersAreRefusedBeforeTheirStateIsTooLargeToBeReadAgain) {
  DriverState state;
  UnitOrder order = plain();  // the longest in JSON: every byte takes six
  for (const char* key : {"a", "b", "c", "d"}) order.annotations[key] = std::string(4095, '\1');
  uint64_t placed = 0;
  while (placed < 10'000 && place(state, unit(0, placed), order, k_now)) ++placed;
  const auto refused = place(state, unit(0, placed), order, k_now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::over_quota);
  EXPECT_NE(refused.error().reason.find("MiB"), std::string::npos) << refused.error().reason;
  EXPECT_NE(refused.error().next.find("annotations"), std::string::npos);
  EXPECT_FALSE(place(state, unit(0, placed), order, k_now));
  EXPECT_EQ(place(state, unit(0, 0), order, k_now), false) << "the same order again";
  const std::string text = to_json(state);
  EXPECT_LT(text.size(), k_most_state_bytes / 2);
  auto back = driver_state_from_json(text);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, state);
  EXPECT_EQ(place(*back, unit(0, placed), order, k_now).error().code, Code::over_quota);
  state.units.erase(unit(0, 0));
  EXPECT_TRUE(place(state, unit(0, placed), order, k_now));
}

// As an autoscaler orders them.
TEST(DriverOrders, AsManyOrdinaryUnitsHaveRoomAsThereMayBe) {
  DriverState state;
  UnitOrder order = plain();
  for (int i = 0; i < 16; ++i) {
    order.labels.push_back(
        {fmt::format("topology.example.com/label-{:02}", i), "some-value-of-it"});
  }
  order.annotations = {{"spillway.dev/back-end", "driver"}, {"spillway.dev/owner", "lab/rome"}};
  order.taints = {{"example.com/spot", "yes", model::TaintEffect::no_schedule}};
  EXPECT_LT(bytes_of(order) * 10'000, size_t{96} << 20);
}

TEST(DriverOrders, NamesThatAreKeptForEverCountToo) {
  DriverState state;
  const size_t before = to_json(state).size();
  state.over.emplace(unit(9999), k_last_instant);
  EXPECT_LE(to_json(state).size() - before, size_t{66} + std::string(R"("over":{},)").size());
  for (int i = 1; i < 2'000'000; ++i) {
    state.over.emplace_hint(state.over.end(), fmt::format("z{:07}", i), k_now);
  }
  const auto refused = place(state, unit(0), plain(), k_now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::over_quota);
  EXPECT_EQ(refused.error().thing, "names of units");
  EXPECT_FALSE(refused.error().next.empty());
  state.over.erase(state.over.begin());
  EXPECT_TRUE(place(state, unit(0), plain(), k_now));
}

TEST(DriverOrders, APeeringIsAContractOfNoUnitsAndClosesWithoutUnits) {
  DriverState state;
  const ContractId id = make_contract_id(k_now, 1, 1);
  EXPECT_EQ(keep(state, "rome/milan", {}, id, k_now), true);
  EXPECT_EQ(keep(state, "rome/milan", {}, make_contract_id(k_now, 1, 2), k_now), false);
  ASSERT_EQ(contracts_of(state).count(id), 1U);
  EXPECT_TRUE(contracts_of(state).at(id).units.empty());
  ASSERT_TRUE(place(state, unit(0), plain(), k_now));
  const auto refused = close(state, "rome/milan", k_now);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().reason.find(unit(0)), std::string::npos);
  make_gone(state, unit(0));
  EXPECT_EQ(close(state, "rome/milan", k_now), true);
  EXPECT_EQ(close(state, "rome/milan", k_now), false);
  EXPECT_TRUE(contracts_of(state).empty());
}

TEST(DriverOrders, APeeringIsNotKeptUntilATimeThatIsOver) {
  DriverState state;
  const ContractId id = make_contract_id(k_now, 1, 1);
  state.closing.emplace("rome/milan", k_now);
  const DriverState before = state;
  const auto refused = keep(state, "rome/milan", {k_now}, id, k_now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().thing, "until");
  EXPECT_FALSE(refused.error().next.empty());
  EXPECT_EQ(state, before);
  EXPECT_EQ(keep(state, "rome/milan", {k_now + milliseconds(1)}, id, k_now), true);
}

TEST(DriverOrders, TheStateIsReadAsItWasWritten) {
  DriverState state;
  UnitOrder order = plain();
  order.labels = {{"disk", "ssd"}};
  order.annotations = {{"team", "a"}};
  ASSERT_TRUE(place(state, unit(0), order, k_now));
  ASSERT_TRUE(end(state, unit(0), k_now));
  ASSERT_TRUE(keep(state, "rome/milan", {k_now + hours(1)}, make_contract_id(k_now, 1, 1), k_now));
  state.units.at(unit(0)).steps = {{fabric::UnitStep::asked, k_now}};
  state.liqo_ids["rome"] = "rome-1";
  state.over[unit(9)] = k_now;
  state.fabrics["rome"].bought_from["milan-1"].idle_since = k_now;
  const auto back = driver_state_from_json(to_json(state));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, state);
}

TEST(DriverConfig, SaysWhoMayWhat) {
  const auto config = driver_config_from_yaml(R"(
noun: driver
version: 1
clusters:
  - {name: rome, kubeconfig: rome.kubeconfig, offload: {namespaces: [batch]}}
  - {name: milan, kubeconfig: milan.kubeconfig}
callers:
  - {certificate: operator, consumers: ["*"], providers: ["*"]}
  - {certificate: "spillway://lab/rome", consumers: [rome], providers: [milan]}
  - {certificate: board, viewer: true}
)",
                                              "driver.yaml");
  ASSERT_TRUE(config) << config.error().message();
  const Callers callers = callers_of(*config, {"own"});
  net::PeerCertificate certificate;
  certificate.authority = "own";
  EXPECT_EQ(callers.find(certificate), nullptr);
  certificate.uri = "spillway://lab/rome";
  ASSERT_NE(callers.find(certificate), nullptr);
  EXPECT_TRUE(callers.find(certificate)->may_order("rome", "milan"));
  EXPECT_FALSE(callers.find(certificate)->may_see("milan", "rome"));
  certificate.uri = "spillway://driver/board";
  EXPECT_TRUE(callers.find(certificate)->may_see("rome", "milan"));
  EXPECT_FALSE(callers.find(certificate)->may_order("rome", "milan"));
  certificate.uri = "spillway://driver/rome";
  EXPECT_EQ(callers.find(certificate), nullptr);
}

// Any authority can write any name: the driver's own callers are those that its own has signed.
TEST(DriverConfig, NoOtherAuthorityMakesTheDriversOwnCallers) {
  const auto config = driver_config_from_yaml(
      "noun: driver\nversion: 1\ncallers:\n"
      "  - {certificate: operator, viewer: true}\n"
      "  - {certificate: \"spillway://lab/rome\", viewer: true}\n",
      "driver.yaml");
  ASSERT_TRUE(config) << config.error().message();
  const Callers callers = callers_of(*config, {"own"});
  net::PeerCertificate certificate;
  certificate.uri = "spillway://driver/operator";
  for (const char* other : {"", "others"}) {
    certificate.authority = other;
    EXPECT_EQ(callers.find(certificate), nullptr);
  }
  certificate.authority = "own";
  EXPECT_NE(callers.find(certificate), nullptr);
  certificate.uri = "spillway://lab/rome";
  certificate.authority = "others";
  EXPECT_NE(callers.find(certificate), nullptr);
}

TEST(DriverConfig, WithoutAnAuthorityOfItsOwnADriverHasNoCallersOfItsOwn) {
  const auto config = driver_config_from_yaml(
      "noun: driver\nversion: 1\ncertificate: a.pem\nkey: a.key\nauthorities: lab.pem\n"
      "callers:\n"
      "  - {certificate: \"spillway://lab/rome\", viewer: true}\n"
      "  - {certificate: operator, viewer: true}\n",
      "driver.yaml");
  ASSERT_TRUE(config) << config.error().message();
  net::PeerCertificate certificate;
  certificate.uri = "spillway://driver/operator";
  certificate.authority = "lab";
  EXPECT_EQ(callers_of(*config, {}).find(certificate), nullptr);
  EXPECT_TRUE(check_vouched(*config, {"own"}, "/x/authority"));
  const Status refused = check_vouched(*config, {}, "/x/authority");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().thing, "caller operator");
  EXPECT_NE(refused.error().reason.find("/x/authority"), std::string::npos);
  EXPECT_NE(refused.error().next.find("driver init"), std::string::npos);
  DriverConfig members = *config;
  members.callers.pop_back();
  EXPECT_TRUE(check_vouched(members, {}, "/x/authority"));
  members.authorities.clear();
  EXPECT_FALSE(check_vouched(members, {}, "/x/authority"));
}

TEST(DriverOrders, TwoNodesOfAClusterHaveNotOneProviderId) {
  DriverState state;
  UnitOrder order = plain();
  order.provider_id = "aws:///x/i-1";
  ASSERT_TRUE(place(state, unit(0), order, k_now));
  const auto again = place(state, unit(1), order, k_now);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::conflict);
  order.provider_id = provider_id_of(unit(2), plain());
  ASSERT_TRUE(place(state, unit(2), plain(), k_now));
  EXPECT_FALSE(place(state, unit(1), order, k_now));
  ASSERT_TRUE(place(state, unit(0), state.units.at(unit(0)).order, k_now));
}

TEST(DriverOrders, WhatMayNotBeSeenIsNotNamed) {
  DriverState state;
  UnitOrder known = plain();
  known.provider_id = "aws:///x/i-1";
  const ContractId peering = make_contract_id(k_now, 7, 3);
  ASSERT_TRUE(place(state, unit(0), known, k_now));
  ASSERT_TRUE(keep(state, "rome/milan", {}, peering, k_now));
  UnitOrder other = known;
  other.provider = "oslo";
  const auto asked = [&](const std::string& name, const std::string& sees) {
    const auto may_see = [&](const std::string&, const std::string& to) { return to == sees; };
    const Error error = driver::place(state, name, other, k_now, may_see).error();
    EXPECT_EQ(error.code, Code::conflict);
    EXPECT_FALSE(error.next.empty());
    return error.message();
  };
  for (const std::string& name : {unit(1), unit(1, 2), unit_name(peering, 0)}) {
    const std::string shown = asked(name, "milan");
    EXPECT_TRUE(shown.find(unit(0)) != std::string::npos ||
                shown.find("rome/milan") != std::string::npos)
        << shown;
    const std::string hidden = asked(name, "oslo");
    EXPECT_EQ(hidden.find(unit(0)), std::string::npos) << hidden;
    EXPECT_EQ(hidden.find("milan"), std::string::npos) << hidden;
    EXPECT_NE(hidden.find("in use"), std::string::npos) << hidden;
  }
}

TEST(DriverOrders, TaintsThatOthersActOnAreRefused) {
  UnitOrder order = plain();
  order.taints = {{"spillway.dev/provider-dead", "", model::TaintEffect::no_execute}};
  EXPECT_FALSE(validate(order));
  order.taints = {{"example.com/team", "a", model::TaintEffect::no_schedule}};
  EXPECT_TRUE(validate(order));
  order.annotations = {{"bad key !!", "a"}};
  EXPECT_FALSE(validate(order));
}

TEST(DriverConfig, WhatMeansNothingIsNamed) {
  const auto why = [](const std::string& more) {
    const auto config = driver_config_from_yaml("noun: driver\nversion: 1\n" + more, "driver.yaml");
    return config ? std::string() : config.error().message();
  };
  EXPECT_NE(why("clusters: [{name: rome}]").find("kubeconfig"), std::string::npos);
  EXPECT_NE(why("clusters: [{name: a, kubeconfig: x}, {name: a, kubeconfig: y}]").find("name"),
            std::string::npos);
  EXPECT_NE(why("callers: [{certificate: a, consumers: [oslo], providers: [oslo]}]").find("oslo"),
            std::string::npos);
  EXPECT_NE(why("callers: [{certificate: a, consumers: [\"*\"]}]").find("consumers"),
            std::string::npos);
  EXPECT_NE(why("certificate: a.pem").find("key"), std::string::npos);
}

}  // namespace
}  // namespace spillway::driver
