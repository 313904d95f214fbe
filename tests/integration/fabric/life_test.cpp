// Contracts become nodes, and end, in two embedded clusters with Liqo's work played.
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

class FabricLife : public FabricTest {
 protected:
  FabricLife() {
    seller.start();
    buyer.start();
    live(4);
  }
};

TEST_F(FabricLife, AContractBecomesReadyNodes) {
  const model::Contract contract = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  live();
  const std::string unit = unit_names(contract)[1];
  const test::Told node = liqo.rome.ask("GET", "/api/v1/nodes/" + unit);
  EXPECT_EQ(node.text({"spec", "providerID"}), unit_provider_id(contract.id, 1));
  const test::Told virtual_node = liqo.rome.ask(
      "GET", test::Place::path(fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit));
  EXPECT_EQ(virtual_node.text({"spec", "labels", "disk"}), "ssd");
  EXPECT_EQ(virtual_node.text({"spec", "labels", "spillway.dev/provider"}), "edge-1");
  // Exactly what was sold.
  const auto granted =
      fabric::liqo::read_slice(liqo.milan.ask("GET", slice_path(liqo.milan, unit)).body);
  ASSERT_TRUE(granted) << granted.error().message();
  EXPECT_EQ(granted->grant.amounts.at("cpu"), contract.shape.cpu_millis);
  EXPECT_EQ(granted->grant.amounts.at("memory"), contract.shape.memory_bytes);
  const FabricStatus status = buyer.agent->fabric()->status();
  EXPECT_TRUE(status.is_seeing);
  EXPECT_EQ(status.bought.at(fabric::UnitStep::ready), 2);
  EXPECT_TRUE(status.troubles.empty()) << status.troubles.front();
}

TEST_F(FabricLife, ASpareIsOneGrantFromReadyOnceItsPurchaseIsHeardOf) {
  const model::Contract contract = trade_units(2, true);
  const auto names = unit_names(contract);
  ASSERT_TRUE(comes([&] { return liqo.rome.has("/api/v1/nodes/" + names[1]); }));
  live(40);
  EXPECT_FALSE(is_ready(names[0]) || is_ready(names[1]));
  const model::Contract bought = buy_spare(contract, 1);
  EXPECT_TRUE(comes([&] { return is_ready(names[1]); }));
  EXPECT_FALSE(is_ready(names[0]));
  EXPECT_EQ(seller.kept(bought.id)->purchased, std::vector<int32_t>{1});
}

TEST_F(FabricLife, APeeringIsMadeOnce) {
  const model::Contract first = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(first); }));
  const model::Contract second = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(second); }));
  EXPECT_EQ(liqo.nonces, 1);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "nonce"), 1);
}

TEST_F(FabricLife, WhatStandsIsLeftAlone) {
  const model::Contract contract = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  live(80);
  const size_t before = steps.size();
  const auto slice = liqo.rome.ask("GET", slice_path(liqo.rome, unit_names(contract)[0]));
  live(800);
  EXPECT_EQ(steps.size(), before);
  EXPECT_TRUE(model::same(
      slice.body, liqo.rome.ask("GET", slice_path(liqo.rome, unit_names(contract)[0])).body));
}

TEST_F(FabricLife, AUnitThatIsToEndIsDrainedFirstAndLeavesNothing) {
  const model::Contract contract = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  const std::string unit = unit_names(contract)[0];
  liqo.rome.create("/api/v1/namespaces/default/pods",
                   test::pod_text("web", fmt::format(R"(,"nodeName":"{}")", unit)));
  liqo.add_guest(fabric::liqo::unit_user(unit, pki::sha256_hex("rome")), "web");
  live(4);
  liqo.rome.merge(slice_path(liqo.rome, unit),
                  R"({"metadata":{"annotations":{"spillway.dev/end":"now"}}})");
  ASSERT_TRUE(comes([&] { return buyer.kept(contract.id)->ending.contains(unit); }));
  // Evicted: it has been told to go, and there is no kubelet to let it go.
  ASSERT_TRUE(comes([&] {
    return !liqo.rome.ask("GET", "/api/v1/namespaces/default/pods/web")
                .text({"metadata", "deletionTimestamp"})
                .empty();
  }));
  live(8);
  EXPECT_TRUE(liqo.rome.has("/api/v1/nodes/" + unit));
  liqo.rome.remove("/api/v1/namespaces/default/pods/web?gracePeriodSeconds=0");
  ASSERT_TRUE(comes([&] { return !liqo.rome.has(slice_path(liqo.rome, unit)); }));
  // The book ends it, too, and then the provider lets it go.
  model::Contract released = contract;
  released.units[0].live = false;
  released.units[0].ended = loop.now();
  tell_both(released, "contract-released");
  EXPECT_TRUE(comes([&] { return left_of(unit).empty(); }))
      << (left_of(unit).empty() ? "" : left_of(unit).front());
  EXPECT_TRUE(comes([&] { return liqo.milan.all(fabric::liqo::k_shadow_pods).empty(); }));
  EXPECT_TRUE(is_ready(unit_names(contract)[1]));
}

TEST_F(FabricLife, AProviderEndsWhatIsNotPaidForWithoutItsBuyer) {
  const model::Contract contract = trade_units(1);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  liqo.add_guest(fabric::liqo::unit_user(unit, pki::sha256_hex("rome")), "web");
  live(4);
  buyer.kill();
  liqo.is_replicating = false;
  seller.broker.tell_of(closed(contract), "contract-closed");
  EXPECT_TRUE(comes([&] { return !liqo.milan.has(slice_path(liqo.milan, unit)); }));
  EXPECT_TRUE(liqo.milan.all(fabric::liqo::k_shadow_pods).empty());
  // Its replicator would make it again: the record says no.
  liqo.is_replicating = true;
  live(40);
  EXPECT_FALSE(liqo.milan.has(slice_path(liqo.milan, unit)));
}

TEST_F(FabricLife, AContractThatEndsLeavesNothingAndThePeeringStaysForAWhile) {
  const model::Contract contract = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  tell_both(closed(contract), "contract-closed");
  for (const std::string& unit : unit_names(contract)) {
    EXPECT_TRUE(comes([&] { return left_of(unit).empty(); }))
        << (left_of(unit).empty() ? "" : left_of(unit).front());
  }
  EXPECT_TRUE(
      liqo.milan.has(test::Place::path(fabric::liqo::k_tenants, "liqo-tenant-rome", "rome")));
  EXPECT_EQ(buyer.kept(contract.id), nullptr);
  loop.run_for(minutes(31));
  live(40);
  EXPECT_TRUE(liqo.milan.all(fabric::liqo::k_tenants).empty());
  EXPECT_TRUE(liqo.rome.all(fabric::liqo::k_identities).empty());
  EXPECT_TRUE(seller.agent->state().fabric.sold_to.empty());
  EXPECT_TRUE(buyer.agent->state().fabric.bought_from.empty());
}

// An API server may do what it was asked to long after it was given up on.
TEST_F(FabricLife, ANodeThatIsMadeWhenAllElseHasGoneDoesNotStay) {
  const model::Contract contract = trade_units(1);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  tell_both(closed(contract), "contract-closed");
  ASSERT_TRUE(comes([&] { return left_of(unit).empty(); }));
  const std::string late = model::to_json(fabric::liqo::node_to_adopt({unit, "milan", "", {}}));
  liqo.rome.create("/api/v1/nodes", late);
  EXPECT_TRUE(comes([&] { return left_of(unit).empty(); }));
  loop.run_for(minutes(31));
  live(40);
  ASSERT_TRUE(buyer.agent->state().fabric.bought_from.empty());
  liqo.rome.create("/api/v1/nodes", late);
  EXPECT_TRUE(comes([&] { return left_of(unit).empty(); })) << "its provider was forgotten";
}

// Of a VirtualNode that came and went while nobody could look, its Lease is all that is left.
TEST_F(FabricLife, ALeaseOfAVirtualNodeThatNobodySawIsFoundWhenTheClusterIsListedAgain) {
  const model::Contract contract = trade_units(1);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  tell_both(closed(contract), "contract-closed");
  ASSERT_TRUE(comes([&] { return left_of(unit).empty(); }));
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/liqo-tenant-milan/leases";
  liqo.rome.create(leases, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", unit));
  live(40);
  ASSERT_TRUE(liqo.rome.has(leases + "/" + unit)) << "Leases of virtual kubelets are not watched";
  liqo.rome.cluster.forget_history();
  liqo.rome.cluster.restart(milliseconds(100), 1000);
  EXPECT_TRUE(comes([&] { return !liqo.rome.has(leases + "/" + unit); }));
}

// Of a provider that was started anew: fences are seen when they are, and no contract waits for it.
TEST_F(FabricLife, AFenceThatIsSeenWhenItsBuyerWasForgottenIsTakenDown) {
  const std::string space = "liqo-tenant-rome";
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  tell_both(closed(contract), "contract-closed");
  live(40);
  loop.run_for(minutes(33));
  ASSERT_TRUE(comes([&] { return seller.agent->state().fabric.sold_to.empty(); }));
  const std::string lease =
      test::Place::path(fabric::liqo::k_leases, space, std::string(fabric::k_fence_name));
  liqo.milan.create("/apis/coordination.k8s.io/v1/namespaces/" + space + "/leases",
                    fmt::format(R"({{"metadata":{{"name":"{}"}}}})", fabric::k_fence_name));
  live(4);
  EXPECT_TRUE(liqo.milan.has(lease));
  loop.run_for(minutes(31));
  EXPECT_TRUE(comes([&] { return !liqo.milan.has(lease); }));
  EXPECT_TRUE(comes([&] { return seller.agent->state().fabric.sold_to.empty(); }));
}

// Each would let sixteen namespaces more in, and nobody would take them down.
TEST_F(FabricLife, NamespaceMapsThatLiqoHasNotMadeDoNotStay) {
  const std::string space = "liqo-tenant-rome";
  const auto at = [&](std::string_view name) {
    return test::Place::path(fabric::liqo::k_namespace_maps, space, name);
  };
  const auto make = [&](const std::string& name) {
    const test::Told made = liqo.milan.create(
        test::Place::path(fabric::liqo::k_namespace_maps, space),
        fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"liqo.io/replicated":"true"}}}}}})",
                    name));
    EXPECT_EQ(made.status, 201);
  };
  const auto is_noted = [&] {
    return liqo.milan.ask("GET", "/api/v1/namespaces/" + space)
               .text({"metadata", "annotations", fabric::liqo::k_provider_annotation}) == "milan";
  };
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  EXPECT_TRUE(is_noted());
  liqo.milan.merge("/api/v1/namespaces/" + space,
                   R"({"metadata":{"annotations":{"spillway.dev/provider":"rome"}}})");
  EXPECT_TRUE(comes(is_noted));
  for (const char* name : {"milan", "more", "rome"}) make(name);
  EXPECT_TRUE(comes([&] { return !liqo.milan.has(at("more")) && !liqo.milan.has(at("rome")); }));
  EXPECT_TRUE(liqo.milan.has(at("milan")));
  EXPECT_GT(events(liqo.milan, "it has another namespace map: "), 0);
  tell_both(closed(contract), "contract-closed");
  live(40);
  loop.run_for(minutes(33));
  EXPECT_TRUE(comes([&] { return !liqo.milan.has(at("milan")); }));
  ASSERT_TRUE(comes([&] { return seller.agent->state().fabric.sold_to.empty(); }));
  make("late");
  EXPECT_TRUE(comes([&] { return !liqo.milan.has(at("late")); })) << "its buyer was forgotten";
}

// Whoever peers by hand has maps of any name.
TEST_F(FabricTest, NamespaceMapsOfWhoNeverBoughtAreLeftAlone) {
  seller.start();
  live(4);
  liqo.milan.create("/api/v1/namespaces",
                    R"({"metadata":{"name":"liqo-tenant-rome","labels":{)"
                    R"("liqo.io/remote-cluster-id":"rome","liqo.io/tenant-namespace":"true"}}})");
  const std::string maps = test::Place::path(fabric::liqo::k_namespace_maps, "liqo-tenant-rome");
  ASSERT_EQ(
      liqo.milan
          .create(maps, R"({"metadata":{"name":"any","labels":{"liqo.io/replicated":"true"}}})")
          .status,
      201);
  live(40);
  EXPECT_TRUE(liqo.milan.has(maps + "/any"));
}

// Killed after every 25 ms of the handshake, each side, both.
TEST_F(FabricLife, WhoeverIsKilledGoesOn) {
  for (int kill_after = 0; kill_after < 24; ++kill_after) {
    const model::Contract contract = trade_units(1);
    live(kill_after);
    if (kill_after % 3 != 0) seller.kill();
    if (kill_after % 3 != 1) buyer.kill();
    live(2);
    if (!seller.agent) seller.start();
    if (!buyer.agent) buyer.start();
    ASSERT_TRUE(comes([&] { return all_ready(contract); }, 1200)) << "killed after " << kill_after;
    tell_both(closed(contract), "contract-closed");
    live(kill_after);
    if (kill_after % 3 != 0) seller.kill();
    if (kill_after % 3 != 1) buyer.kill();
    live(2);
    if (!seller.agent) seller.start();
    if (!buyer.agent) buyer.start();
    const std::string unit = unit_names(contract)[0];
    ASSERT_TRUE(comes([&] { return left_of(unit).empty(); }, 1200))
        << "killed after " << kill_after << ": " << left_of(unit).front();
    // Every third time from nothing at all.
    if (kill_after % 3 == 2) loop.run_for(minutes(31));
  }
}

// Killed after every 25 ms: what it was asked for is done, and the answer lost; or it is not done.
// It is away for longer than anybody waits for an answer, and tells what it knows when it is back.
TEST_F(FabricLife, ABrokerThatIsKilledAnywhereIsWaitedFor) {
  const auto kill_broker = [&](bool is_done) {
    for (Party* party : {&seller, &buyer}) {
      const auto first = party->broker.first;
      party->broker.loses = [](const net::Request&) { return true; };
      if (!is_done) party->broker.first = [](const net::Request&) { return test::lost(); };
      party->broker.channel.end({Code::unavailable, "broker", "the connection broke", ""});
      live(8);
      party->broker.first = first;
      party->broker.loses = [](const net::Request&) { return false; };
    }
  };
  for (int after = 0; after < 24; ++after) {
    const model::Contract contract = trade_units(1);
    live(after);
    kill_broker(after % 2 == 0);
    ASSERT_TRUE(comes([&] { return all_ready(contract); }, 2400)) << "killed after " << after;
    tell_both(closed(contract), "contract-closed");
    live(after % 4);
    kill_broker(after % 2 != 0);
    const std::string unit = unit_names(contract)[0];
    ASSERT_TRUE(comes([&] { return left_of(unit).empty(); }, 2400))
        << "killed after " << after << ": " << left_of(unit).front();
    if (after % 3 == 2) loop.run_for(minutes(31));  // every third time from nothing at all
  }
}

TEST_F(FabricLife, ABrokerThatIsAwayAtTheStartEndsNothing) {
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  for (Party* party : {&seller, &buyer}) {
    party->kill();
    party->broker.loses = [](const net::Request&) { return true; };
    party->start();
  }
  live(200);
  EXPECT_TRUE(all_ready(contract));
}

// Its API server was killed while Liqo signed, and the slice was gone when it came back.
TEST_F(FabricTest, ACertificateThatLiqoWroteTooLateGoes) {
  seller.start();
  live(4);
  ASSERT_EQ(
      liqo.milan
          .create("/api/v1/namespaces",
                  R"({"metadata":{"name":"liqo-tenant-rome","labels":{)"
                  R"("liqo.io/remote-cluster-id":"rome","liqo.io/tenant-namespace":"true"}}})")
          .status,
      201);
  const auto write = [&](const std::string& slice) {
    const std::string name = fabric::liqo::certificate_secret_name(slice);
    const test::Told made =
        liqo.milan.create(test::Place::path(fabric::liqo::k_secrets, "liqo-tenant-rome"),
                          fmt::format(R"({{"metadata":{{"name":"{}","labels":)"
                                      R"({{"liqo.io/remote-cluster-id":"rome"}}}}}})",
                                      name));
    EXPECT_EQ(made.status, 201);
    return test::Place::path(fabric::liqo::k_secrets, "liqo-tenant-rome", name);
  };
  const std::string by_hand = write("by-hand");
  live(40);
  EXPECT_TRUE(liqo.milan.has(by_hand)) << "somebody else's";
  const std::string ours = write("sw-01m7jvqwfj4xxt60c2xbz461h3-0");
  EXPECT_TRUE(comes([&] { return !liqo.milan.has(ours); }));
}

}  // namespace
}  // namespace spillway::agent
