// Two agents that connect the networks of their clusters, with the work of Liqo's networking module
// played: what it was read to do (1.1.2, 1.2.0), for there is no kernel here that it could run on.
#include "fabric/network.h"

#include "integration/fabric/fabric_fixture.h"
#include "services/agent/letters.h"

namespace spillway::agent {
namespace {

using fabric::NetworkStep;
using test::Place;
namespace liqo = fabric::liqo;

constexpr auto k_on = NetworkOptions::Mode::on;

class FabricNetwork : public FabricTest {
 protected:
  FabricNetwork() {
    give_ranges(rome(), "10.10.0.0/16");
    give_ranges(milan(), "10.20.0.0/16");
  }

  static FabricOptions options(NetworkOptions::Mode mode) {
    FabricOptions made;
    made.warm = seconds(1);
    made.network.mode = mode;
    return made;
  }
  void start(NetworkOptions::Mode at_buyer, NetworkOptions::Mode at_seller) {
    seller.start(options(at_seller));
    buyer.start(options(at_buyer));
    live(4);
  }
  Place& rome() { return FabricTest::liqo.rome; }
  Place& milan() { return FabricTest::liqo.milan; }

  // Both sides of a peer's things: at rome those of milan.
  static std::string at(const Place& place, const liqo::Kind& kind) {
    const std::string peer = place.name == "rome" ? "milan" : "rome";
    return Place::path(kind, "liqo-tenant-" + peer, peer);
  }
  bool has(Place& place, const liqo::Kind& kind) { return place.has(at(place, kind)); }

  // Liqo's networking module, on both sides.
  void work_of_networks() {
    for (Place* place : {&rome(), &milan()}) {
      settle_ranges(*place);
      for (const auto* kind : {&liqo::k_gateway_servers, &liqo::k_gateway_clients}) {
        run_gateway(*place, *kind);
      }
      connect(*place);
    }
  }
  template <class F>
  bool comes_about(F is_true) {
    return comes([&] {
      work_of_networks();
      return is_true();
    });
  }
  NetworkStep step(Party& party) {
    for (const auto& [at, count] : party.agent->fabric()->status().networks) {
      if (count > 0) return at;
    }
    return NetworkStep::none;
  }
  bool are_connected() {
    return step(buyer) == NetworkStep::connected && step(seller) == NetworkStep::connected;
  }
  std::vector<std::string> networks_left() {
    std::vector<std::string> left;
    for (Place* place : {&rome(), &milan()}) {
      for (const auto* kind : {&liqo::k_configurations, &liqo::k_gateway_servers,
                               &liqo::k_gateway_clients, &liqo::k_public_keys}) {
        for (const model::Node& one : place->all(*kind)) {
          left.push_back(fmt::format("{} {}", place->name, kube::name_in(one)));
        }
      }
    }
    return left;
  }

 private:
  static void give_ranges(Place& place, const std::string& pods) {
    const auto add = [&](const std::string& name, const std::string& type,
                         const std::string& range) {
      place.create(
          Place::path(liqo::k_networks, "liqo"),
          fmt::format(R"({{"apiVersion":"ipam.liqo.io/v1alpha1","kind":"Network",)"
                      R"("metadata":{{"name":"{}","labels":{{"ipam.liqo.io/network-type":"{}"}}}},)"
                      R"("spec":{{"cidr":"{}"}}}})",
                      name, type, range));
      place.merge(Place::path(liqo::k_networks, "liqo", name) + "/status",
                  fmt::format(R"({{"status":{{"cidr":"{}"}}}})", range));
    };
    add("pod-cidr", "pod-cidr", pods);
    add("external-cidr", "external-cidr", "10.70.0.0/16");
    place.create(Place::path(liqo::k_addresses, "liqo"),
                 R"({"apiVersion":"ipam.liqo.io/v1alpha1","kind":"IP",)"
                 R"("metadata":{"name":"api-server-proxy"},"spec":{"ip":"10.96.0.9"}})");
    place.merge(Place::path(liqo::k_addresses, "liqo", "api-server-proxy") + "/status",
                R"({"status":{"ip":"10.70.0.3"}})");
  }
  // The external ranges of both are the same: here the other's is another.
  void settle_ranges(Place& place) {
    const test::Told told = place.ask("GET", at(place, liqo::k_configurations));
    const auto known = liqo::read_configuration(told.body);
    if (told.status != 200 || !known || known->is_settled()) return;
    place.merge(at(place, liqo::k_configurations) + "/status",
                fmt::format(R"({{"status":{{"remote":{{"cidr":{{"pod":["{}"],)"
                            R"("external":["10.71.0.0/16"]}}}}}}}})",
                            known->peer.pods.at(0)));
  }
  void run_gateway(Place& place, const liqo::Kind& kind) {
    const test::Told told = place.ask("GET", at(place, kind));
    if (told.status != 200 || !told.text({"status", "secretRef", "name"}).empty()) return;
    const std::string space(told.text({"metadata", "namespace"}));
    const std::string peer(told.text({"metadata", "name"}));
    const std::string key = fmt::format("{:032}", ++keys_);
    place.create(
        fmt::format("/api/v1/namespaces/{}/secrets", space),
        fmt::format(
            R"({{"metadata":{{"name":"gw-{0}","labels":{{"liqo.io/remote-cluster-id":"{0}",)"
            R"("networking.liqo.io/gateway-resource":"true"}},"ownerReferences":[)"
            R"({{"apiVersion":"networking.liqo.io/v1beta1","kind":"{1}","name":"{0}",)"
            R"("uid":"{2}"}}]}},"data":{{"publicKey":"{3}","privateKey":"{3}"}}}})",
            peer, kind.kind, told.text({"metadata", "uid"}), to_base64(key)));
    const bool is_server = kind.plural == liqo::k_gateway_servers.plural;
    const std::string endpoint =
        is_server ? R"("endpoint":{"addresses":["192.0.2.1"],"port":51840,"protocol":"UDP"},)" : "";
    place.merge(at(place, kind) + "/status",
                fmt::format(R"({{"status":{{{}"secretRef":{{"name":"gw-{}","namespace":"{}"}}}}}})",
                            endpoint, peer, space));
  }
  void connect(Place& place) {
    const bool has_gateway =
        has(place, liqo::k_gateway_servers) || has(place, liqo::k_gateway_clients);
    const bool has_both = has(rome(), liqo::k_public_keys) && has(milan(), liqo::k_public_keys);
    if (!has_gateway || !has_both || has(place, liqo::k_connections)) return;
    const std::string peer = place.name == "rome" ? "milan" : "rome";
    place.create(
        Place::path(liqo::k_connections, "liqo-tenant-" + peer),
        fmt::format(R"({{"apiVersion":"networking.liqo.io/v1beta1","kind":"Connection",)"
                    R"("metadata":{{"name":"{0}","labels":{{"liqo.io/remote-cluster-id":"{0}"}}}},)"
                    R"("spec":{{"type":"Server"}}}})",
                    peer));
    place.merge(at(place, liqo::k_connections) + "/status", R"({"status":{"value":"Connected"}})");
  }

  int keys_ = 0;
};

TEST_F(FabricNetwork, BothSidesConnectAndNothingIsLeft) {
  start(k_on, k_on);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes_about([&] { return are_connected(); }));
  EXPECT_TRUE(has(milan(), liqo::k_gateway_servers)) << "the provider serves";
  EXPECT_TRUE(has(rome(), liqo::k_gateway_clients));
  const test::Told known = rome().ask("GET", at(rome(), liqo::k_configurations));
  EXPECT_EQ(model::items_at(known.body, {"spec", "remote", "cidr", "pod"}).at(0).text,
            "10.20.0.0/16");
  const test::Told client = rome().ask("GET", at(rome(), liqo::k_gateway_clients));
  EXPECT_EQ(model::items_at(client.body, {"spec", "endpoint", "addresses"}).at(0).text,
            "192.0.2.1");
  ASSERT_TRUE(comes_about([&] { return all_ready(contract); }));
  live(80);
  const auto said = std::count(steps.begin(), steps.end(), "network");
  live(900);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "network"), said) << "both know: no more talk";
  tell_both(closed(contract), "contract-closed");
  ASSERT_TRUE(comes_about([&] { return networks_left().empty(); })) << networks_left().front();
  EXPECT_TRUE(comes([&] { return buyer.agent->state().fabric.networks.empty(); }));
  EXPECT_TRUE(comes([&] { return seller.agent->state().fabric.networks.empty(); }));
}

TEST_F(FabricNetwork, WhatSomebodyChangesIsMadeAnewAndAKilledAgentGoesOn) {
  start(k_on, k_on);
  trade_units(1);
  ASSERT_TRUE(comes_about([&] { return are_connected(); }));
  const auto told = [this](const std::string& what) {
    return events(rome(), "Configuration milan in liqo-tenant-milan: " + what);
  };
  live(20);
  rome().merge(at(rome(), liqo::k_configurations),
               R"({"spec":{"remote":{"cidr":{"pod":["10.99.0.0/16"]}}}})");
  EXPECT_TRUE(comes_about([&] { return told("somebody edited it") == 1; }));
  rome().remove(at(rome(), liqo::k_configurations));
  EXPECT_TRUE(comes_about([&] { return told("somebody removed it") == 1; }));
  milan().remove(at(milan(), liqo::k_gateway_servers));
  milan().remove(at(milan(), liqo::k_public_keys));
  seller.kill();
  live(10);
  seller.start(options(k_on));
  ASSERT_TRUE(comes_about([&] {
    return has(rome(), liqo::k_configurations) && has(milan(), liqo::k_public_keys) &&
           are_connected();
  }));
}

// Nothing else is left to look at: time alone tells.
TEST_F(FabricNetwork, GoesWithAPeerThatIsGone) {
  start(k_on, k_on);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes_about([&] { return are_connected(); }));
  seller.kill();
  tell_both(closed(contract), "contract-closed");
  live(4);
  rome().remove(Place::path(liqo::k_identities, "liqo-tenant-milan", "controlplane-milan"));
  ASSERT_TRUE(comes([&] {
    return !has(rome(), liqo::k_configurations) && !has(rome(), liqo::k_gateway_clients) &&
           !has(rome(), liqo::k_public_keys);
  }));
  EXPECT_TRUE(comes([&] { return buyer.agent->state().fabric.networks.empty(); }));
}

TEST_F(FabricNetwork, WhereOneSideDoesNotWantItNothingIsMadeAndContractsAreReal) {
  start(k_on, NetworkOptions::Mode::off);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes_about([&] { return all_ready(contract); }));
  live(40);
  EXPECT_EQ(networks_left(), std::vector<std::string>{});
  EXPECT_EQ(step(buyer), NetworkStep::asked);
  EXPECT_EQ(seller.agent->fabric()->status().refused, 0) << "passed over, as by an older agent";
}

TEST_F(FabricNetwork, WhatIsSwitchedOffIsTakenDown) {
  start(k_on, k_on);
  trade_units(1);
  ASSERT_TRUE(comes_about([&] { return are_connected(); }));
  for (Party* party : {&buyer, &seller}) {
    party->kill();
    party->start(options(NetworkOptions::Mode::off));
  }
  ASSERT_TRUE(comes([&] { return networks_left().empty(); }, 800)) << networks_left().front();
}

TEST_F(FabricNetwork, NodesWaitForItOnlyIfThatIsAskedFor) {
  start(NetworkOptions::Mode::required, k_on);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return has(milan(), liqo::k_configurations); }));
  live(80);
  EXPECT_TRUE(rome().all(liqo::k_virtual_nodes).empty());
  ASSERT_TRUE(comes_about([&] { return all_ready(contract); }));
}

TEST_F(FabricNetwork, AnApiServerIsReachedThroughTheNetworkByOption) {
  FabricOptions in_band = options(k_on);
  in_band.network.is_in_band = true;
  seller.start(options(k_on));
  buyer.start(in_band);
  live(4);
  const model::Contract contract = trade_units(1);
  const std::string url = "http://10.71.0.3:8118";  // where the provider's range is at home
  FabricTest::liqo.proxy = url;                     // in slices, too
  const std::string tenant = Place::path(liqo::k_tenants, "liqo-tenant-rome", "rome");
  ASSERT_TRUE(comes_about([&] {
    return milan().ask("GET", tenant).text({"spec", "proxyURL"}) == url;
  }));
  // Liqo's answer has it, too, and only then is there an Identity.
  milan().merge(tenant + "/status",
                fmt::format(R"({{"status":{{"authParams":{{"proxyURL":"{}"}}}}}})", url));
  const std::string identity =
      Place::path(liqo::k_identities, "liqo-tenant-milan", "controlplane-milan");
  ASSERT_TRUE(comes_about([&] {
    return rome().ask("GET", identity).text({"spec", "authParams", "proxyURL"}) == url;
  }));
  ASSERT_TRUE(comes_about([&] { return all_ready(contract); }));
  const auto uids = [&] {
    std::vector<std::string> all;
    for (const model::Node& one : rome().all(liqo::k_virtual_nodes)) {
      all.emplace_back(model::text_at(one, {"metadata", "uid"}));
    }
    return all;
  };
  // What was agreed on holds, whatever is seen of the network, and without the option.
  const auto before = uids();
  ASSERT_EQ(before.size(), 1U);
  rome().cluster.faults().add({.verb = "list", .resource = "configurations", .code = 403});
  buyer.start(in_band);
  live(80);
  EXPECT_EQ(uids(), before);
  rome().cluster.faults().clear();
  buyer.start(options(NetworkOptions::Mode::off));
  live(80);
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(events(rome(), "sends its virtual kubelet elsewhere"), 0);
}

TEST_F(FabricNetwork, HostileWordsAreCountedAndChangeNothing) {
  seller.start(options(k_on));
  live(4);
  const model::Contract sold = trade_units(1);
  ASSERT_TRUE(comes([&] { return seller.kept(sold.id) != nullptr; }));
  const LetterKeys keys{trade.buyer.key(), trade.buyer.sealing()};
  const auto peer =
      peer_of(*seller.agent->messages().agreement(sold.id), ClusterId("edge-2"), keys);
  ASSERT_TRUE(peer);
  const auto say = [&](int64_t number, const std::string& body) {
    const auto letter = write_letter(*peer, keys, "network", number, body);
    seller.broker.waiting.push_back({number, "network", *letter, loop.now() + minutes(5)});
    seller.broker.tell("message-sent", sold.id.text);
    live(4);
  };
  say(1, "garbage");
  say(2, to_body(fabric::NetworkTalk{{{{"8.8.8.0/24"}, {"10.70.0.0/16"}}}}));
  say(3, to_body(fabric::NetworkTalk{{{{"10.0.0.0/8"}, {"10.70.0.0/16"}}}}));
  EXPECT_EQ(seller.agent->fabric()->status().refused, 3);
  EXPECT_FALSE(has(milan(), liqo::k_configurations));
  say(4, to_body(fabric::NetworkTalk{{{{"10.10.0.0/16"}, {"10.70.0.0/16"}}}}));
  EXPECT_EQ(seller.agent->fabric()->status().refused, 3);
  EXPECT_TRUE(comes([&] { return has(milan(), liqo::k_configurations); }));
}

}  // namespace
}  // namespace spillway::agent
