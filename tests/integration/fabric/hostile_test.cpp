// What the other party may not say.
#include "integration/fabric/fabric_fixture.h"
#include "services/agent/letters.h"
#include "services/fabric/hearing.h"

namespace spillway::agent {
namespace {

class HostileTalk : public FabricTest {
 protected:
  HostileTalk() : contract(SignedTrade::held(loop.now())), part(part_of(contract)) {
    units = unit_names(contract);
  }
  fabric::RequestTalk honest() {
    fabric::RequestTalk talk;
    talk.proof = fabric::Proof{"nonce-1", to_base64(*pki::sign_message(liqo.rome.key, "nonce-1")),
                               to_pem(liqo.rome.key.public_key()),
                               *pki::make_subject_request(liqo.rome.key, {"liqo.io", "rome"})};
    for (const std::string& unit : units) talk.units[unit] = request_of(unit);
    return talk;
  }
  std::string refusal(const fabric::RequestTalk& talk) {
    const auto heard = hear_request(to_body(talk), {part, units});
    return heard ? "" : heard.error().message();
  }
  fabric::IdentityTalk identity() {
    const std::string pem = pki::Authority::create("milan", loop.now())->certificate_pem();
    return {{pem, pem, "https://milan:6443", ""}, "liqo-tenant-rome", {units[0]}};
  }
  std::string refusal(const fabric::IdentityTalk& talk, const AllowedServers& allowed = {}) {
    const auto heard = hear_identity(to_body(talk), {part, units}, allowed);
    return heard ? "" : heard.error().message();
  }

  model::Contract contract;
  model::LiqoPart part;
  std::vector<std::string> units;
};

TEST_F(HostileTalk, HonestWordsAreTaken) {
  EXPECT_EQ(refusal(honest()), "");
  EXPECT_EQ(refusal(identity()), "");
  EXPECT_EQ(refusal(identity(), {"https://milan:*"}), "");
}

// The buyer signed for this request, so that its hash is right; its subject is not.
TEST_F(HostileTalk, ARequestForSomebodyElseIsRefusedThoughItWasSignedFor) {
  fabric::RequestTalk talk = honest();
  const std::string user = fabric::liqo::unit_user(units[0], pki::sha256_hex("rome"));
  const pki::Key other = pki::Key::generate_member();
  for (const std::string& forged :
       {*pki::make_subject_request(liqo.rome.key, {"system.masters", user}),
        *pki::make_subject_request(liqo.rome.key, {"rome", "admin"}),
        *pki::make_subject_request(other, {"rome", user})}) {
    talk.units[units[0]] = forged;
    part.unit_requests[0] = pki::sha256_hex(forged);
    EXPECT_NE(refusal(talk), "");
  }
}

TEST_F(HostileTalk, ARequestThatNobodySignedForIsRefused) {
  fabric::RequestTalk talk = honest();
  talk.units[units[0]] = request_of(units[1]);
  EXPECT_NE(refusal(talk), "");
  talk = honest();
  talk.units["sw-of-another-contract-0"] = request_of(units[0]);
  EXPECT_NE(refusal(talk), "");
}

TEST_F(HostileTalk, AProofByAnotherKeyIsNone) {
  const pki::Key other = pki::Key::generate_member();
  fabric::RequestTalk talk = honest();
  talk.proof->signature = to_base64(*pki::sign_message(other, "nonce-1"));
  EXPECT_NE(refusal(talk), "");
  talk.proof->public_key = to_pem(other.public_key());
  EXPECT_NE(refusal(talk), "");
  talk = honest();
  talk.proof->nonce = "nonce-2";
  EXPECT_NE(refusal(talk), "");
  talk = honest();
  talk.proof->request = *pki::make_subject_request(liqo.rome.key, {"liqo.io", "naples"});
  part.control_plane_request = pki::sha256_hex(talk.proof->request);
  EXPECT_NE(refusal(talk), "");
}

TEST_F(HostileTalk, OnlyANonceIsSigned) {
  EXPECT_TRUE(hear_nonce(to_body(fabric::NonceTalk{"nEsFJ4anNa9NMxLjO1WWtsgDkpx6kawoHT12=="})));
  EXPECT_FALSE(hear_nonce(to_body(fabric::NonceTalk{""})));
  EXPECT_FALSE(hear_nonce(to_body(fabric::NonceTalk{std::string(513, 'n')})));
  EXPECT_FALSE(hear_nonce(to_body(fabric::NonceTalk{"\x01\x02"})));
  EXPECT_FALSE(hear_nonce("{}"));
  EXPECT_FALSE(hear_nonce("not JSON"));
}

TEST_F(HostileTalk, ABuyerIsSentNowhereElse) {
  const auto sent_to = [this](const std::string& url, const AllowedServers& allowed = {}) {
    fabric::IdentityTalk talk = identity();
    talk.access.api_server = url;
    return refusal(talk, allowed);
  };
  EXPECT_EQ(sent_to("https://milan.example:6443", {"https://milan.example:6443"}), "");
  EXPECT_NE(sent_to("https://elsewhere:6443", {"https://milan.example:6443"}), "");
  EXPECT_NE(sent_to("https://milan.example:64430", {"https://milan.example:6443"}), "");
  EXPECT_NE(sent_to("http://milan:6443"), "");
  EXPECT_NE(sent_to("https://user@milan:6443"), "");
  EXPECT_NE(sent_to(""), "");
  fabric::IdentityTalk talk = identity();
  talk.access.proxy = "https://elsewhere:1";
  EXPECT_NE(refusal(talk, {"https://milan:6443"}), "");
  talk = identity();
  talk.access.authority = "no certificate";
  EXPECT_NE(refusal(talk), "");
  talk = identity();
  talk.space = "../kube-system";
  EXPECT_NE(refusal(talk), "");
  talk = identity();
  talk.units = {"sw-of-another-contract-0"};
  EXPECT_NE(refusal(talk), "");
}

// Its owner is told which server it was: the unit waits until that is allowed.
TEST_F(HostileTalk, AServerThatIsNotAllowedIsTold) {
  seller.start();
  FabricOptions options;
  options.api_servers = {"https://elsewhere:6443"};
  buyer.start(options);
  live(4);
  const model::Contract bought = trade_units(1);
  const auto told = [&] {
    std::string all;
    for (const std::string& one : buyer.agent->fabric()->status().troubles) all += one + "\n";
    return all;
  };
  EXPECT_TRUE(comes([&] { return told().find("is refused") != std::string::npos; })) << told();
  EXPECT_NE(told().find(bought.id.text), std::string::npos) << told();
  EXPECT_FALSE(all_ready(bought));
  // Allowed, it is over.
  buyer.kill();
  buyer.start();
  EXPECT_TRUE(comes([&] { return all_ready(bought); }, 1200));
  EXPECT_EQ(told(), "");
}

// By the whole way: what is refused changes nothing, and the honest word after it is heard.
TEST_F(HostileTalk, WhatIsRefusedIsCountedAndChangesNothing) {
  seller.start();
  live(4);
  const model::Contract sold = trade_units(1);
  ASSERT_TRUE(comes([&] { return seller.kept(sold.id) != nullptr; }));
  const LetterKeys keys{trade.buyer.key(), trade.buyer.sealing()};
  const auto peer =
      peer_of(*seller.agent->messages().agreement(sold.id), ClusterId("edge-2"), keys);
  ASSERT_TRUE(peer);
  const auto say = [&](int64_t number, const std::string& step, const std::string& body) {
    const auto letter = write_letter(*peer, keys, step, number, body);
    seller.broker.waiting.push_back({number, step, *letter, loop.now() + minutes(5)});
    seller.broker.tell("message-sent", sold.id.text);
    live(4);
  };
  const std::string unit = unit_names(sold)[0];
  say(1, "request", "garbage");
  say(2, "request", to_body(fabric::RequestTalk{{}, {{unit, request_of("sw-another-0")}}}));
  say(3, "identity", to_body(identity()));
  EXPECT_EQ(seller.agent->fabric()->status().refused, 3);
  EXPECT_FALSE(seller.kept(sold.id)->request);
  say(4, "request", to_body(fabric::RequestTalk{{}, {{unit, request_of(unit)}}}));
  EXPECT_EQ(seller.agent->fabric()->status().refused, 3);
  ASSERT_TRUE(seller.kept(sold.id)->request);
  EXPECT_TRUE(seller.kept(sold.id)->request->units.contains(unit));
}

// Somebody else's cluster answers under that Liqo id; the contract has the provider's own key.
TEST_F(HostileTalk, AnImpostorIsNotHeardAndNamed) {
  seller.start();
  buyer.start();
  live(4);
  const model::Contract bought = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(bought); }));
  live(60);
  const auto agreement = *buyer.agent->messages().agreement(bought.id);
  const auto to_buyer = peer_of(agreement, ClusterId("edge-1"),
                                LetterKeys{trade.provider.key(), trade.provider.sealing()});
  ASSERT_TRUE(to_buyer);
  seller.kill();
  live(20);
  const std::string at =
      test::Place::path(fabric::liqo::k_identities, "liqo-tenant-milan", "controlplane-milan");
  const auto before = liqo.rome.ask("GET", at).body;
  const size_t said = steps.size();
  const LetterKeys own{trade.stranger.key(), trade.stranger.sealing()};
  int64_t number = 1000;
  for (const auto& [step, body] : {std::pair("nonce", to_body(fabric::NonceTalk{"nonce-7"})),
                                   std::pair("identity", to_body(identity()))}) {
    const auto letter = write_letter(*to_buyer, own, step, ++number, body);
    ASSERT_TRUE(letter);
    buyer.broker.waiting.push_back({number, step, *letter, loop.now() + minutes(5)});
    buyer.broker.tell("message-sent", bought.id.text);
    live(20);
  }
  EXPECT_EQ(steps.size(), said) << "nothing is signed for it";
  EXPECT_TRUE(model::same(before, liqo.rome.ask("GET", at).body));
  EXPECT_EQ(buyer.log.count("message refused"), 2);
  EXPECT_EQ(buyer.log.count("other-sender"), 2);
  EXPECT_TRUE(all_ready(bought));
}

// A provider that was installed anew with another key of its own has none of the old contracts.
TEST_F(HostileTalk, AProviderWithAnotherKeyMakesNothingOfOldContractsAndSaysWhy) {
  seller.start();
  buyer.start();
  live(4);
  const model::Contract bought = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(bought); }));
  seller.kill();
  seller.signatory = signing_member("edge-1");
  seller.store = MemoryState();
  seller.papers = MemoryPapers();
  const size_t said = steps.size();
  seller.start();
  live(400);
  EXPECT_EQ(steps.size(), said);
  EXPECT_EQ(seller.kept(bought.id), nullptr);
  EXPECT_GE(seller.log.count("what was signed names another key than ours"), 1);
  EXPECT_GE(seller.log.count("if it is of before you joined anew, let it end"), 1);
  // What runs is paid for: nothing that is not verified ends.
  EXPECT_TRUE(all_ready(bought));
  EXPECT_TRUE(liqo.milan.has(slice_path(liqo.milan, unit_names(bought)[0])));
}

}  // namespace
}  // namespace spillway::agent
