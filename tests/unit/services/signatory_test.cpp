#include "services/agent/signatory.h"

#include <gtest/gtest.h>

#include "pki/signed_documents.h"
#include "support/nouns.h"

namespace spillway::agent {
namespace {

Signatory signatory_of(const std::string& cluster) {
  return *Signatory::of(pki::Key::generate_member(), "lab", ClusterId(cluster));
}

model::Contract held_contract() {
  model::Contract contract = test::plain_contract();
  contract.state = model::ContractState::hold;
  contract.started.reset();
  contract.units = {{0, true, {}, 0, 0}, {1, true, {}, 0, 0}};
  return contract;
}

TEST(Signatory, ItsCardShowsItsKeys) {
  const Signatory far = signatory_of("far");
  const auto card = pki::verify_card(*far.sign(far.card(3, "liqo-far")));
  ASSERT_TRUE(card);
  EXPECT_EQ(card->fingerprint, far.fingerprint());
  EXPECT_EQ(card->card.sealing, to_text(far.sealing().public_key()));
  EXPECT_EQ(card->card.number, 3);
  EXPECT_TRUE(far.is_own(card->card));
  EXPECT_FALSE(signatory_of("far").is_own(card->card)) << "another key";
}

TEST(Signatory, BothSignTheSame) {
  const Signatory buyer = signatory_of("edge-2");
  const Signatory provider = signatory_of("edge-1");
  const model::Contract contract = held_contract();
  const auto half = buyer.sign(
      contract, {buyer.card(1, ""), provider.card(2, ""), model::Trust::given, contract.deadline});
  ASSERT_TRUE(half) << half.error().message();
  const auto seen = pki::verify_agreement(*half, pki::Signers::buyer);
  ASSERT_TRUE(seen);
  EXPECT_EQ(difference(seen->agreement, contract), "");
  EXPECT_EQ(seen->agreement.trust, model::Trust::given);
  EXPECT_EQ(seen->agreement.provider.card, 2);
  const auto whole = provider.countersign(*half);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(pki::verify_agreement(*whole, pki::Signers::both)->id, seen->id);
  EXPECT_FALSE(signatory_of("edge-1").countersign(*half)) << "another key than the agreement's";
}

TEST(Signatory, AnEventSaysWhatWasDone) {
  const Signatory far = signatory_of("far");
  const model::Contract contract = held_contract();
  const Under under{std::string(64, 'c'), contract.id};
  const auto event = pki::verify_event(*far.sign(
      under, {.kind = model::ContractEventKind::release, .units = {1}}, 7, contract.created));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->event.number, 7);
  EXPECT_EQ(event->event.units, std::vector<int32_t>{1});
  EXPECT_EQ(event->event.by, ClusterId("far"));
  EXPECT_EQ(event->event.agreement, under.agreement);
  EXPECT_FALSE(far.sign(under, {.kind = model::ContractEventKind::renewal}, 1, contract.created))
      << "until when?";
}

TEST(Signatory, IdentitiesOfBeforeCannotSign) {
  const auto old = Signatory::of(pki::Key::generate(), "lab", ClusterId("far"));
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().thing, "identity key");
}

}  // namespace
}  // namespace spillway::agent
