// The network between two clusters: who serves, in which order things come and go, what is believed
// of the other side.
#include "fabric/network.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "fabric/cidr.h"
#include "fabric/spaces.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

const std::string k_key(32, 'k');
const Instant k_now{1'800'000'000'000};

NetworkWord word_of_peer() { return {{{"10.20.0.0/16"}, {"10.70.0.0/16"}}}; }

NetworkWish wish_of_seller() {
  NetworkWish wish;
  wish.self = "milan";
  wish.peer = "rome";
  wish.is_wanted = true;
  wish.is_selling = true;
  wish.contract = ContractId("c1");
  wish.ranges = {{"10.10.0.0/16"}, {"10.71.0.0/16"}};
  wish.heard = NetworkTalk{word_of_peer()};
  return wish;
}

NetworkWish wish_of_buyer() {
  NetworkWish wish = wish_of_seller();
  wish.is_selling = false;
  wish.is_buying = true;
  return wish;
}

template <class T>
std::optional<T> ours(T object) {
  object.meta.labels.emplace(k_owner_label, k_owner_fabric);
  object.meta.uid = std::string(T::k_kind.kind) + "-uid";
  return object;
}

NetworkSight configured() {
  NetworkSight sight;
  sight.has_space = true;
  sight.configuration = ours(liqo::new_configuration("rome", word_of_peer().ranges));
  sight.configuration->peer_here = sight.configuration->peer;
  return sight;
}

NetworkSight with_server() {
  NetworkSight sight = configured();
  sight.server = ours(liqo::new_gateway_server("rome", {}));
  sight.server->endpoint = liqo::Endpoint{{"192.0.2.1"}, 51840, "UDP"};
  sight.own_key = k_key;
  return sight;
}

NetworkPlan plan(const NetworkWish& wish, const NetworkSight& sight) {
  return plan_network(wish, sight, k_now);
}

// What is done, but for talk: "create configurations".
std::vector<std::string> deeds(const NetworkPlan& made) {
  std::vector<std::string> words;
  for (const Deed& deed : made.plan.deeds) {
    if (const auto* one = std::get_if<Create>(&deed)) {
      words.push_back("create " + std::string(one->at.kind.plural));
      EXPECT_EQ(one->at.space, "liqo-tenant-rome");
      EXPECT_EQ(model::text_at(one->object, {"metadata", "labels", "liqo.io/remote-cluster-id"}),
                "rome");
    }
    if (const auto* one = std::get_if<Merge>(&deed)) {
      words.push_back("merge " + std::string(one->at.kind.plural));
    }
    if (const auto* one = std::get_if<Remove>(&deed)) {
      words.push_back("remove " + std::string(one->at.kind.plural));
    }
  }
  return words;
}

std::optional<NetworkTalk> said(const NetworkPlan& made) {
  for (const Deed& deed : made.plan.deeds) {
    if (const auto* one = std::get_if<Say>(&deed)) return read_network_talk(one->body).value();
  }
  return std::nullopt;
}

using Words = std::vector<std::string>;

TEST(Network, NothingIsMadeBeforeTheOtherSideHasSpoken) {
  NetworkWish wish = wish_of_seller();
  wish.heard.reset();
  NetworkSight sight;
  sight.has_space = true;
  const NetworkPlan made = plan(wish, sight);
  EXPECT_EQ(deeds(made), Words{});
  EXPECT_EQ(made.step, NetworkStep::asked);
  ASSERT_TRUE(said(made));
  EXPECT_TRUE(said(made)->is_asking);
  EXPECT_EQ(said(made)->own.ranges, wish.ranges);
  wish.ranges = {};
  EXPECT_FALSE(said(plan(wish, sight))) << "Liqo has not settled what could be told";
}

TEST(Network, ComesInTheOrderInWhichLiqoNeedsIt) {
  NetworkWish wish = wish_of_seller();
  NetworkSight sight;
  sight.has_space = true;
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"create configurations"});
  sight = configured();
  sight.configuration->peer_here = {};
  EXPECT_EQ(deeds(plan(wish, sight)), Words{}) << "Liqo looks for room";
  EXPECT_EQ(plan(wish, sight).step, NetworkStep::configured);
  EXPECT_EQ(deeds(plan(wish, configured())), Words{"create gatewayservers"});
  sight = with_server();
  EXPECT_EQ(deeds(plan(wish, sight)), Words{});
  EXPECT_EQ(said(plan(wish, sight))->own.addresses, Words{"192.0.2.1"});
  EXPECT_EQ(said(plan(wish, sight))->own.key, to_base64(k_key));
  wish.heard->own.key = to_base64(std::string(32, 'p'));
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"create publickeies"});
  sight.peer_key = ours(
      liqo::new_public_key("rome", std::string(32, 'p'), {"", "", "rome", sight.server->meta.uid}));
  EXPECT_EQ(plan(wish, sight).step, NetworkStep::keyed);
  sight.connection = liqo::Connection{};
  sight.connection->value = "Connected";
  EXPECT_EQ(plan(wish, sight).step, NetworkStep::connected);
}

TEST(Network, TheBuyerConnectsToWhereTheProviderSaysItIs) {
  NetworkWish wish = wish_of_buyer();
  EXPECT_EQ(deeds(plan(wish, configured())), Words{}) << "nobody knows where yet";
  wish.heard->own.addresses = {"192.0.2.7"};
  wish.heard->own.port = 51840;
  EXPECT_EQ(deeds(plan(wish, configured())), Words{"create gatewayclients"});
  NetworkSight sight = configured();
  sight.client = ours(liqo::new_gateway_client("rome", {{"192.0.2.6"}, 51840, "UDP"}));
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"merge gatewayclients"}) << "it has moved";
}

TEST(Network, BothFindTheSameServer) {
  NetworkWish milan = wish_of_seller();
  NetworkWish rome = wish_of_buyer();
  rome.self = "rome";
  rome.peer = "milan";
  rome.heard->own.addresses = {"192.0.2.7"};
  rome.heard->own.port = 1;
  const auto serves = [](const NetworkWish& wish) {
    NetworkSight sight = configured();
    return deeds(plan(wish, sight)) == Words{"create gatewayservers"};
  };
  const auto one_serves = [&] {
    rome.heard->own.can_serve = milan.can_serve;
    milan.heard->own.can_serve = rome.can_serve;
    NetworkSight sight = configured();
    sight.configuration->meta.space = "liqo-tenant-milan";
    const bool at_rome = [&] {
      for (const Deed& deed : plan(rome, sight).plan.deeds) {
        const auto* one = std::get_if<Create>(&deed);
        if (one != nullptr && one->at.kind.plural == "gatewayservers") return true;
      }
      return false;
    }();
    EXPECT_NE(serves(milan), at_rome);
    return serves(milan);
  };
  EXPECT_TRUE(one_serves()) << "the provider";
  milan.can_serve = false;
  EXPECT_FALSE(one_serves()) << "it cannot be reached";
  rome.can_serve = false;
  EXPECT_TRUE(one_serves()) << "neither can: as ever";
  milan.can_serve = rome.can_serve = true;
  milan.is_buying = rome.is_selling = true;
  EXPECT_TRUE(one_serves()) << "both sell: the lesser id";
}

TEST(Network, TalkEndsWhenBothKnow) {
  NetworkWish wish = wish_of_seller();
  NetworkSight sight = with_server();
  const NetworkTalk first = *said(plan(wish, sight));
  wish.heard->heard = first.own;
  EXPECT_FALSE(said(plan(wish, sight)));
  wish.owes_answer = true;
  ASSERT_TRUE(said(plan(wish, sight)));
  EXPECT_FALSE(said(plan(wish, sight))->is_asking) << "an answer wants none";
  EXPECT_EQ(said(plan(wish, sight))->heard, wish.heard->own);
  wish.owes_answer = false;
  sight.own_key = std::string(32, 'n');
  EXPECT_TRUE(said(plan(wish, sight))->is_asking) << "the gateway has another key";
}

TEST(Network, EndsGatewaysFirstAndNeverWaitsForTheOther) {
  NetworkWish wish = wish_of_seller();
  wish.is_wanted = false;
  wish.heard.reset();
  NetworkSight sight = with_server();
  wish.is_kept = true;
  EXPECT_EQ(deeds(plan(wish, sight)), Words{}) << "the peering is warm";
  wish.is_kept = false;
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"remove gatewayservers"});
  sight.server->meta.deleted = "2027-01-15T08:00:00Z";
  EXPECT_EQ(deeds(plan(wish, sight)), Words{});
  sight.server.reset();
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"remove configurations"});
  EXPECT_FALSE(is_clear(sight));
  EXPECT_TRUE(is_clear(NetworkSight{}));
}

TEST(Network, WhatWasConnectedByHandIsUsedAndLeftAlone) {
  NetworkWish wish = wish_of_seller();
  NetworkSight sight = with_server();
  sight.configuration->meta.labels.clear();
  sight.server->meta.labels.clear();
  sight.server->service_type = "NodePort";
  sight.client = liqo::new_gateway_client("rome", {});
  EXPECT_EQ(deeds(plan(wish, sight)), Words{});
  EXPECT_EQ(plan(wish, sight).step, NetworkStep::opened);
  sight.configuration->peer.pods = {"10.99.0.0/16"};
  EXPECT_EQ(deeds(plan(wish, sight)), Words{});
  EXPECT_EQ(plan(wish, sight).plan.troubles.size(), 1U) << "other ranges than it tells";
  wish.is_wanted = false;
  EXPECT_EQ(deeds(plan(wish, sight)), Words{});
  EXPECT_TRUE(is_clear(sight));
}

TEST(Network, WhatSomebodyEditedIsPutRight) {
  NetworkWish wish = wish_of_seller();
  NetworkSight sight = with_server();
  sight.configuration->peer.pods = {"10.99.0.0/16"};
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"merge configurations"});
  sight = with_server();
  sight.server->port = 1;
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"remove gatewayservers"});
  wish.heard->own.key = to_base64(k_key);
  sight = with_server();
  sight.peer_key = ours(liqo::new_public_key("rome", k_key, {"", "", "rome", "earlier"}));
  EXPECT_EQ(deeds(plan(wish, sight)), Words{"remove publickeies"}) << "of an earlier gateway";
}

// Liqo 1.1 says nothing but the ranges; 1.2 says when they are complete.
TEST(Network, SettledIsWhatEitherVersionSays) {
  liqo::Configuration known = *configured().configuration;
  EXPECT_TRUE(known.is_settled());
  known.states = {{"NetworkCIDRsConfigured", "False", "", "", ""}};
  EXPECT_FALSE(known.is_settled());
  known.states = {{"NetworkCIDRsConfigured", "True", "", "", ""}};
  EXPECT_TRUE(known.is_settled());
  known.peer_here.pods = {""};
  EXPECT_FALSE(known.is_settled());
}

TEST(Network, TheProxyIsReachedWhereItsRangeIsHere) {
  NetworkWish wish = wish_of_buyer();
  wish.heard->own.proxy = "10.70.0.3";
  NetworkSight sight = configured();
  EXPECT_EQ(in_band_url(wish, sight), "") << "nobody asked";
  wish.is_in_band = true;
  EXPECT_EQ(in_band_url(wish, sight), "http://10.70.0.3:8118");
  sight.configuration->peer_here.external = {"10.81.0.0/16"};
  EXPECT_EQ(in_band_url(wish, sight), "http://10.81.0.3:8118");
  EXPECT_EQ(said(plan(wish, sight))->own.in_band, "http://10.81.0.3:8118");
  sight.configuration->peer_here.external = {};
  EXPECT_EQ(in_band_url(wish, sight), "");
}

std::string refusal(void (*spoil)(NetworkWord&)) {
  NetworkWord word = word_of_peer();
  word.addresses = {"192.0.2.1", "gw.example.org"};
  word.port = 51840;
  word.key = to_base64(k_key);
  word.proxy = "10.70.0.3";
  word.in_band = "http://10.81.0.3:8118";
  spoil(word);
  const auto read = read_network_talk(to_body(NetworkTalk{word}));
  if (!read) return "unreadable";
  const Status checked = check_network(*read);
  return checked ? "" : checked.error().message();
}

TEST(Network, HonestWordsAreTaken) {
  EXPECT_EQ(refusal([](NetworkWord&) {}), "");
  EXPECT_EQ(refusal([](NetworkWord& w) { w = word_of_peer(); }), "");
}

TEST(Network, HostileWordsAreRefused) {
  EXPECT_NE(refusal([](NetworkWord& w) { w.ranges.pods = {}; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.ranges.external = {}; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.ranges.pods.assign(9, "10.20.0.0/16"); }), "");
  for (const char* range :
       {"", "x", "10.20.0.0", "10.20.0.1/16", "10.20.0.0/33", "10.20.0.0/016", "010.20.0.0/16",
        "0.0.0.0/0", "8.8.8.0/24", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/8", "10.0.0.0/4",
        "10.0.0.0/31", "10.70.1.0/24", "fd00::/8", "10.20.0.0/16\n"}) {
    NetworkTalk talk{word_of_peer()};
    talk.own.ranges.pods = {range};
    EXPECT_FALSE(check_network(talk)) << range;
  }
  EXPECT_NE(refusal([](NetworkWord& w) { w.port = 0; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.port = 65536; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.addresses = {}; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.addresses.assign(5, "192.0.2.1"); }), "");
  for (const char* address :
       {"", "127.0.0.1", "169.254.169.254", "0.0.0.0", "255.255.255.255", "localhost",
        "a.localhost", "Gw", "-gw", "gw example", "1.2.3", "2130706433", "a/b", "gw."}) {
    NetworkTalk talk{word_of_peer()};
    talk.own.addresses = {address};
    talk.own.port = 1;
    EXPECT_FALSE(check_network(talk)) << address;
  }
  EXPECT_NE(refusal([](NetworkWord& w) { w.key = "no base64"; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.key = to_base64("short"); }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.proxy = "10.20.0.3"; }), "") << "no external range";
  EXPECT_NE(refusal([](NetworkWord& w) { w.in_band = "http://10.1.1.1:80"; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.in_band = "http://127.0.0.1:8118"; }), "");
  EXPECT_NE(refusal([](NetworkWord& w) { w.in_band = "http://user@10.1.1.1:8118"; }), "");
  EXPECT_EQ(refusal([](NetworkWord& w) { w.key = std::string(70'000, 'x'); }), "unreadable");
  EXPECT_FALSE(read_network_talk(R"({"version":1,"own":{"pods":[],"external":[],"more":1}})"));
}

TEST(Cidr, HasOneSpelling) {
  for (const char* text : {"10.0.0.0/8", "192.0.2.0/24", "0.0.0.0/0", "203.0.113.7/32"}) {
    ASSERT_TRUE(parse_cidr(text)) << text;
    EXPECT_EQ(address_to_text(parse_cidr(text)->base),
              std::string(text).substr(0, std::string(text).find('/')));
  }
  EXPECT_FALSE(parse_address("1.2.3.4.5"));
  EXPECT_FALSE(parse_address("1.2.3.256"));
  EXPECT_FALSE(parse_address("1..3.4"));
  EXPECT_FALSE(parse_address("1.2.3.4."));
}

TEST(Cidr, OverlapsAreSeenFromBothSides) {
  const Cidr wide = *parse_cidr("10.0.0.0/8");
  const Cidr narrow = *parse_cidr("10.1.0.0/16");
  EXPECT_TRUE(wide.overlaps(narrow));
  EXPECT_TRUE(narrow.overlaps(wide));
  EXPECT_FALSE(narrow.overlaps(*parse_cidr("10.2.0.0/16")));
  EXPECT_EQ(remap(*parse_address("10.1.2.3"), narrow, *parse_cidr("172.16.0.0/16")),
            parse_address("172.16.2.3"));
  EXPECT_FALSE(remap(*parse_address("10.2.0.1"), narrow, wide));
}

}  // namespace
}  // namespace spillway::fabric
