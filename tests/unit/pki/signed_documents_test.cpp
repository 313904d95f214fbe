// Whatever is changed in what was signed, by whoever has it in their hands on the way, is refused.
#include "pki/signed_documents.h"

#include <gtest/gtest.h>

#include "model/canonical.h"
#include "model/json.h"
#include "model/tree.h"
#include "pki/base64url.h"
#include "pki/jws.h"
#include "support/signed_contract.h"

namespace spillway::pki {
namespace {

using test::SignedContract;
using test::SigningParty;

std::string payload_in(const std::string& document) {
  return Jws::parse(document)->unverified_payload();
}

// The signatures of `document` over another payload.
std::string with_payload(const std::string& document, const std::string& payload) {
  model::Node root = *model::parse_json(document, "document", size_t{1} << 20);
  model::put(root, "payload", model::text_node(std::string(to_base64url(payload).view())));
  return *model::canonical_json(root);
}

std::string denied_because(const Error& error) {
  EXPECT_TRUE(error.code == Code::denied || error.code == Code::invalid) << error.message();
  EXPECT_FALSE(error.thing.empty());
  return error.reason;
}

TEST(SignedAgreement, IsVerifiedWithTheKeysThatItNames) {
  const SignedContract signed_one;
  const auto half = verify_agreement(signed_one.half(), Signers::buyer);
  ASSERT_TRUE(half) << half.error().message();
  EXPECT_EQ(half->agreement, signed_one.agreement);
  const auto whole = verify_agreement(signed_one.whole(), Signers::both);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->id, half->id) << "the provider signs what the buyer signed";
  EXPECT_EQ(whole->id, payload_id(model::to_payload(signed_one.agreement)));
}

TEST(SignedAgreement, OneSignatureIsNotTwoNorTwoOne) {
  const SignedContract signed_one;
  EXPECT_FALSE(verify_agreement(signed_one.half(), Signers::both));
  EXPECT_FALSE(verify_agreement(signed_one.whole(), Signers::buyer));
}

TEST(SignedAgreement, NobodySignsForAnother) {
  const SignedContract signed_one;
  const SigningParty rival{ClusterId("rival")};
  EXPECT_FALSE(sign(signed_one.agreement, rival.key));
  EXPECT_FALSE(sign(signed_one.agreement, signed_one.provider.key)) << "the buyer signs first";
  EXPECT_FALSE(countersign(signed_one.half(), rival.key));
  EXPECT_FALSE(countersign(signed_one.half(), signed_one.buyer.key));
  EXPECT_FALSE(countersign(signed_one.whole(), signed_one.provider.key)) << "once";

  // Somebody who signs all the same, without asking us.
  const std::string payload = model::to_payload(signed_one.agreement);
  Jws forged = *Jws::sign(model::k_agreement_type, payload, signed_one.buyer.key);
  ASSERT_TRUE(forged.add_signature(rival.key));
  const auto verdict = verify_agreement(forged.to_text(), Signers::both);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, Code::denied);
}

// Every leaf of the payload, one after the other, under the old signatures.
void change_leaves(model::Node& node, const std::function<void()>& look) {
  using Kind = model::Node::Kind;
  for (model::Node& item : node.items) change_leaves(item, look);
  if (node.kind == Kind::string) {
    const std::string text = node.text;
    for (const std::string& other :
         {text + "x", text.substr(0, text.size() / 2), std::string("0")}) {
      if (other == text) continue;
      node.text = other;
      look();
    }
    node.text = text;
  } else if (node.kind == Kind::integer) {
    node.integer += 1;
    look();
    node.integer -= 1;
  } else if (node.kind == Kind::array && !node.items.empty()) {
    model::Node last = node.items.back();
    node.items.pop_back();
    look();
    node.items.push_back(std::move(last));
  }
}

TEST(SignedAgreement, EachFieldIsUnderTheSignatures) {
  SignedContract signed_one;
  signed_one.agreement.fabric.liqo = model::LiqoPart{"milan",
                                                     "turin",
                                                     "MCowBQYDK2VwAyEA",
                                                     test::sample_key(1),
                                                     {test::sample_key(2), test::sample_key(3)}};
  const std::string document = signed_one.whole();
  model::Node root = *model::parse_json(payload_in(document), "payload", size_t{1} << 20);
  int changes = 0;
  change_leaves(root, [&] {
    ++changes;
    const std::string payload = *model::canonical_json(root);
    const auto verdict = verify_agreement(with_payload(document, payload), Signers::both);
    ASSERT_FALSE(verdict) << payload;
    denied_because(verdict.error());
  });
  EXPECT_GT(changes, 60);
  EXPECT_TRUE(verify_agreement(document, Signers::both));
}

TEST(SignedAgreement, SignaturesSwappedDroppedOrDuplicatedAreRefused) {
  const SignedContract signed_one;
  const SignedContract other{test::sample_contract(2)};
  const std::string document = signed_one.whole();
  model::Node root = *model::parse_json(document, "document", size_t{1} << 20);
  const auto refused = [](const model::Node& changed) {
    const auto text = model::canonical_json(changed);
    return text && !verify_agreement(*text, Signers::both);
  };
  const auto signatures = [](model::Node& node) -> std::vector<model::Node>& {
    return const_cast<model::Node*>(node.find("signatures"))->items;
  };
  model::Node dropped = root;
  signatures(dropped).pop_back();
  EXPECT_TRUE(refused(dropped));
  model::Node twice = root;
  signatures(twice)[1] = signatures(twice)[0];
  EXPECT_TRUE(refused(twice));
  model::Node three = root;
  signatures(three).push_back(signatures(three)[1]);
  EXPECT_TRUE(refused(three));
  model::Node turned = root;
  std::swap(signatures(turned)[0], signatures(turned)[1]);
  EXPECT_TRUE(refused(turned));
  // The bytes of one signature under the other's name.
  model::Node exchanged = root;
  auto* first = const_cast<model::Node*>(signatures(exchanged)[0].find("signature"));
  auto* second = const_cast<model::Node*>(signatures(exchanged)[1].find("signature"));
  std::swap(first->text, second->text);
  EXPECT_TRUE(refused(exchanged));
  // Those of another contract of the same two.
  EXPECT_FALSE(verify_agreement(with_payload(other.whole(), payload_in(document)), Signers::both));
}

TEST(SignedDocuments, OneTypeIsNoneOfTheOthers) {
  const SignedContract signed_one;
  const std::string card = *sign(signed_one.buyer.card(), signed_one.buyer.key);
  const std::string event = *sign(signed_one.renewal(1), signed_one.buyer.key);
  EXPECT_TRUE(verify_card(card));
  EXPECT_TRUE(verify_event(event));
  EXPECT_FALSE(verify_event(card));
  EXPECT_FALSE(verify_card(event));
  EXPECT_FALSE(verify_agreement(event, Signers::buyer));
  // The payload of an event, signed by the right key as something else.
  const Jws mistyped = *Jws::sign(model::k_card_type, payload_in(event), signed_one.buyer.key);
  EXPECT_FALSE(verify_event(mistyped.to_text()));
}

TEST(SignedEvent, EachFieldIsUnderTheSignature) {
  const SignedContract signed_one;
  const std::string document = *sign(signed_one.renewal(3), signed_one.buyer.key);
  model::Node root = *model::parse_json(payload_in(document), "payload", size_t{1} << 20);
  change_leaves(root, [&] {
    const std::string payload = *model::canonical_json(root);
    EXPECT_FALSE(verify_event(with_payload(document, payload))) << payload;
  });
}

TEST(SignedCard, IsSignedByTheKeyThatItNames) {
  const SigningParty party{ClusterId("edge-1")};
  const SigningParty rival{ClusterId("rival")};
  const auto card = verify_card(*sign(party.card(), party.key));
  ASSERT_TRUE(card);
  EXPECT_EQ(card->fingerprint, party.key.fingerprint());
  EXPECT_FALSE(sign(party.card(), rival.key));
  const Jws forged = *Jws::sign(model::k_card_type, model::to_payload(party.card()), rival.key);
  EXPECT_FALSE(verify_card(forged.to_text()));
}

}  // namespace
}  // namespace spillway::pki
