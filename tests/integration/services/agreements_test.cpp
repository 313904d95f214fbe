// Two signatures over the wire: what the broker takes, and what it refuses by name.
#include <gtest/gtest.h>

#include "live/federation.h"
#include "pki/ed25519.h"
#include "pki/envelope.h"
#include "pki/jws.h"
#include "pki/signed_documents.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::ContractEventKind;
using model::ContractState;
using model::Role;
using test::Federation;
using test::Papers;

// A member that signs by hand, with the key of its certificate.
struct Member {
  Member(Federation& in, const std::string& name, const model::Roles& roles)
      : federation(in),
        papers(in.join(name, roles)),
        key(*pki::Key::from_pem(papers.tls->key_pem)) {
    card = {.federation = "testers",
            .cluster = ClusterId(name),
            .number = 1,
            .key = *pki::signing_key_text(key.public_key()),
            .sealing = to_text(pki::SealingKey::generate().public_key()),
            .liqo = "liqo-" + name};
  }
  net::Response show(const model::Card& shown, const pki::Key& by) {
    return federation.call(
        papers, Federation::put("/v1/cards/" + papers.name,
                                model::write_json(wire::CardBody{*pki::sign(shown, by)})));
  }
  template <class Body>
  net::Response act(const std::string& id, const std::string& verb, const Body& body) {
    return federation.call(
        papers, Federation::post("/v1/contracts/" + id + "/" + verb, model::write_json(body)));
  }
  wire::AgreementAnswer agreement(const std::string& id) {
    return Federation::read<wire::AgreementAnswer>(
        federation.call(papers, Federation::get("/v1/contracts/" + id + "/agreement")));
  }

  Federation& federation;
  Papers papers;
  pki::Key key;
  model::Card card;
};

class Agreements : public testing::Test {
 protected:
  void SetUp() override {
    model::Pool pool = test::plain_pool();
    pool.capacity = test::plain_shape().times(4);
    const wire::PoolPut put{pool, 1, minutes(30), {}, 0, 0};
    ASSERT_EQ(federation
                  .call(seller.papers,
                        Federation::put("/v1/pools/edge-1/standard", model::write_json(put)))
                  .status,
              200);
    ASSERT_EQ(federation
                  .call(seller.papers,
                        Federation::put("/v1/offers/edge-1/small",
                                        model::write_json(wire::OfferPut{test::plain_offer(), 1})))
                  .status,
              204);
    for (Member* member : {&seller, &buyer, &rival}) {
      ASSERT_EQ(member->show(member->card, member->key).status, 204);
    }
  }

  std::string held(const std::string& key) {
    net::Request request = Federation::post(
        "/v1/holds",
        model::write_json(wire::HoldRequest{{{OfferId("edge-1/small"), 2, 2}}, minutes(5)}));
    request.headers.push_back({"Idempotency-Key", key});
    return Federation::read<wire::HoldAnswer>(federation.call(buyer.papers, request))
        .grants.at(0)
        .contract.text;
  }
  model::Agreement agreement_on(const std::string& id) {
    const auto told = buyer.agreement(id);
    model::Agreement agreement = model::agreement_on(told.contract, "testers");
    agreement.buyer = {buyer.card.cluster, buyer.card.key, buyer.card.sealing, 1};
    agreement.provider = {seller.card.cluster, seller.card.key, seller.card.sealing, 1};
    return agreement;
  }
  model::ContractEvent event_by(const Member& member, const std::string& id, ContractEventKind kind,
                                int64_t number) {
    const auto told = buyer.agreement(id);
    model::ContractEvent event;
    event.agreement = told.contract.agreement;
    event.hold = told.contract.id;
    event.by = member.card.cluster;
    event.key = member.card.key;
    event.number = number;
    event.kind = kind;
    event.at = test::wall_clock();
    if (kind == ContractEventKind::renewal) event.until = event.at + hours(2);
    if (kind == ContractEventKind::accepted) event.trust = model::Trust::first_use;
    return event;
  }
  std::string signed_by_both(const std::string& key) {
    const std::string id = held(key);
    const std::string half = *pki::sign(agreement_on(id), buyer.key);
    EXPECT_EQ(buyer.act(id, "confirm", wire::ConfirmRequest{half}).status, 200);
    const std::string accepted =
        *pki::sign(event_by(seller, id, ContractEventKind::accepted, 1), seller.key);
    const auto whole = wire::CountersignRequest{*pki::countersign(half, seller.key), accepted};
    EXPECT_EQ(seller.act(id, "countersign", whole).status, 200);
    return id;
  }

  Federation federation;
  Member seller{federation, "edge-1", {Role::provider}};
  Member buyer{federation, "edge-2", {Role::consumer}};
  Member rival{federation, "edge-3", {Role::provider, Role::consumer}};
};

TEST_F(Agreements, BothSignAndBothFindWhatTheOtherSigned) {
  const std::string id = signed_by_both("a");
  for (Member* member : {&seller, &buyer}) {
    const auto told = member->agreement(id);
    EXPECT_EQ(told.contract.state, ContractState::active);
    EXPECT_TRUE(told.complete);
    const auto verified = pki::verify_agreement(told.document, pki::Signers::both);
    ASSERT_TRUE(verified) << verified.error().message();
    EXPECT_EQ(verified->id, told.contract.agreement);
    EXPECT_EQ(model::difference(verified->agreement, told.contract), "");
    ASSERT_EQ(told.events.size(), 1U);
    EXPECT_EQ(pki::verify_event(told.events[0])->event.kind, ContractEventKind::accepted);
    EXPECT_EQ(pki::verify_card(told.buyer_card)->card, buyer.card);
    EXPECT_EQ(pki::verify_card(told.provider_card)->card, seller.card);
  }
  EXPECT_EQ(
      federation.call(rival.papers, Federation::get("/v1/contracts/" + id + "/agreement")).status,
      404);
}

TEST_F(Agreements, WhatIsSignedSurvivesTheBroker) {
  const std::string id = signed_by_both("a");
  const auto before = buyer.agreement(id);
  federation.stop();
  federation.start();
  EXPECT_EQ(buyer.agreement(id), before);
}

TEST_F(Agreements, ASignatureByAnotherKeyIsRefused) {
  const std::string id = held("a");
  const std::string payload = model::to_payload(agreement_on(id));
  const auto by_rival = pki::Jws::sign(model::k_agreement_type, payload, rival.key);
  EXPECT_EQ(buyer.act(id, "confirm", wire::ConfirmRequest{by_rival->to_text()}).status, 403);
  EXPECT_EQ(buyer.act(id, "confirm", wire::ConfirmRequest{"{}"}).status, 422);
  // Right in itself, by the keys that it names, which are not those of the cards.
  model::Agreement swapped = agreement_on(id);
  swapped.buyer.key = rival.card.key;
  const auto answer =
      buyer.act(id, "confirm", wire::ConfirmRequest{*pki::sign(swapped, rival.key)});
  EXPECT_EQ(answer.status, 409) << answer.body;
  EXPECT_EQ(buyer.agreement(id).contract.agreement, "") << "nothing of it was kept";
}

TEST_F(Agreements, AnOlderContractIsNotSignedAgain) {
  const std::string old = signed_by_both("a");
  const std::string id = held("b");
  const auto told = buyer.agreement(old);
  const auto half =
      *pki::sign(pki::verify_agreement(told.document, pki::Signers::both)->agreement, buyer.key);
  const auto answer = buyer.act(id, "confirm", wire::ConfirmRequest{half});
  EXPECT_EQ(answer.status, 409) << answer.body;
  const auto again = seller.act(id, "countersign", wire::CountersignRequest{told.document, {}});
  EXPECT_EQ(again.status, 409) << again.body;
}

TEST_F(Agreements, UnsignedIsRefusedWhereBothCanSign) {
  const std::string id = held("a");
  EXPECT_EQ(buyer.act(id, "confirm", wire::ConfirmRequest{}).status, 409);
  const std::string active = signed_by_both("b");
  EXPECT_EQ(buyer.act(active, "renew", wire::SignedRequest{}).status, 409);
  EXPECT_EQ(buyer.act(active, "release", wire::ReleaseRequest{{0}}).status, 409);
  EXPECT_EQ(seller.act(active, "notice", wire::SignedRequest{}).status, 409);
}

TEST_F(Agreements, EventsCountOnceAndOnlyForTheirContract) {
  const std::string id = signed_by_both("a");
  const std::string other = signed_by_both("b");
  const auto renewal = wire::SignedRequest{
      *pki::sign(event_by(buyer, id, ContractEventKind::renewal, 1), buyer.key)};
  EXPECT_EQ(buyer.act(id, "renew", renewal).status, 200);
  EXPECT_EQ(buyer.act(id, "renew", renewal).status, 200) << "the answer was lost";
  EXPECT_EQ(buyer.act(other, "renew", renewal).status, 409) << "another contract";
  const auto newer = wire::SignedRequest{
      *pki::sign(event_by(buyer, id, ContractEventKind::renewal, 2), buyer.key)};
  EXPECT_EQ(buyer.act(id, "renew", newer).status, 200);
  EXPECT_EQ(buyer.act(id, "renew", renewal).status, 409) << "an older one";
  const auto by_seller = wire::SignedRequest{
      *pki::sign(event_by(seller, id, ContractEventKind::renewal, 3), seller.key)};
  EXPECT_EQ(buyer.act(id, "renew", by_seller).status, 409) << "by the other side";
}

TEST_F(Agreements, CardsAreTheirOwnersAndALiqoIdIsOneClusters) {
  model::Card stolen = rival.card;
  stolen.number = 2;
  stolen.liqo = buyer.card.liqo;
  EXPECT_EQ(rival.show(stolen, rival.key).status, 409);
  model::Card for_another = rival.card;
  for_another.cluster = buyer.card.cluster;
  EXPECT_EQ(rival.show(for_another, rival.key).status, 422);
  // A key that is in no certificate of the member.
  const pki::Key other_key = pki::Key::generate_member();
  model::Card other = rival.card;
  other.number = 2;
  other.key = *pki::signing_key_text(other_key.public_key());
  EXPECT_EQ(rival.show(other, other_key).status, 403);
  EXPECT_EQ(federation.call(rival.papers, Federation::get("/v1/cards/edge-2")).status, 404);
}

TEST_F(Agreements, WhoWasRevokedSignsNothing) {
  const std::string id = held("a");
  const std::string half = *pki::sign(agreement_on(id), buyer.key);
  ASSERT_EQ(buyer.act(id, "confirm", wire::ConfirmRequest{half}).status, 200);
  const auto revoke = Federation::post("/v1/identities/edge-2/revoke");
  ASSERT_EQ(federation.call(federation.boss(), revoke).status, 200);
  const std::string accepted = *pki::sign(
      [&] {
        model::ContractEvent event;
        event.agreement = pki::verify_agreement(half, pki::Signers::buyer)->id;
        event.hold = ContractId(id);
        event.by = seller.card.cluster;
        event.key = seller.card.key;
        event.kind = ContractEventKind::accepted;
        event.at = test::wall_clock();
        event.trust = model::Trust::first_use;
        return event;
      }(),
      seller.key);
  const auto answer = seller.act(
      id, "countersign", wire::CountersignRequest{*pki::countersign(half, seller.key), accepted});
  EXPECT_GE(answer.status, 400) << answer.body;
}

}  // namespace
}  // namespace spillway
