// What is done under two signatures: signed itself, numbered, and taken for nothing else.
#include <gtest/gtest.h>

#include "unit/market/signing_fixture.h"

namespace spillway::market {
namespace {

TEST_F(Signing, WhatIsDoneUnderASignatureIsSigned) {
  const ContractId id = signed_by_both(2);
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, id}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(Release{k_buyer, id, {0}}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(GiveNotice{k_seller, id}), Code::conflict));

  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Renew{k_buyer, id, event_for(id, ContractEventKind::renewal, 1)}));
  EXPECT_EQ(book.contract(id).deadline, book.now + hours(1));
  SignedEvent release = event_for(id, ContractEventKind::release, 2);
  release.event.units = {1};
  EXPECT_TRUE(is_refused(book.run(Release{k_buyer, id, {0}, release}), Code::conflict))
      << "the units that are signed for are those that are meant";
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}, release}));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id, event_for(id, ContractEventKind::notice, 2)}));
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
  EXPECT_EQ(record(id).events.size(), 4u);
}

TEST_F(Signing, ThatItIsDrainedIsSignedToo) {
  const ContractId id = signed_by_both();
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id, event_for(id, ContractEventKind::notice, 2)}));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(Drained{k_buyer, id}), Code::conflict));
  const SignedEvent drained = event_for(id, ContractEventKind::drained, 1);
  EXPECT_TRUE(is_refused(book.run(Drained{k_seller, id, drained}), Code::conflict))
      << "the buyer has signed it";
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(book.run(Drained{k_buyer, id, drained}));
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(record(id).events.back().kind, ContractEventKind::drained);
  EXPECT_TRUE(book.run(Drained{k_buyer, id, drained})) << "its answer was lost";
}

TEST_F(Signing, ARenewalBindsNoLongerThanItSays) {
  const ContractId id = signed_by_both();
  book.pass(minutes(30));
  SignedEvent renewal = event_for(id, ContractEventKind::renewal, 1);
  renewal.event.until = book.now + minutes(40);
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  EXPECT_EQ(book.contract(id).deadline, book.now + minutes(40));
}

TEST_F(Signing, APromiseThatIsShownAgainTakesNoGraceBack) {
  const ContractId id = signed_by_both();
  book.pass(minutes(30));
  SignedEvent renewal = event_for(id, ContractEventKind::renewal, 1);
  renewal.event.until = book.now + minutes(35);
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  book.pass(minutes(34));
  book.be_away(minutes(5));
  book.attend();
  const Instant moved = book.contract(id).deadline;
  ASSERT_GT(moved, *renewal.event.until) << "by the outage";
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  EXPECT_EQ(book.contract(id).deadline, moved);
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::active);
}

TEST_F(Signing, OfRenewalsTheNewestIsKept) {
  const ContractId id = signed_by_both();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(book.run(Renew{k_buyer, id, event_for(id, ContractEventKind::renewal, i)}));
  }
  ASSERT_EQ(record(id).events.size(), 2u);
  EXPECT_EQ(record(id).events.back().number, 5);
}

TEST_F(Signing, OfASignedContractReadingsAreSigned) {
  model::Offer offer = minute_offer();
  offer.price.basis = model::PriceBasis::pay_per_use;
  book.publish(offer).value();
  const ContractId id = signed_by_both();
  book.pass(minutes(10));
  const auto reading = [&](int64_t core_ms, int64_t number) {
    MeterUsage usage{k_seller, id, {{0, {.cpu_core_ms = core_ms}}}};
    usage.event = event_for(id, ContractEventKind::usage, number);
    usage.event->event.used = usage.used;
    usage.event->document += fmt::format(", {}", core_ms);
    return usage;
  };
  MeterUsage unsigned_one = reading(1000, 2);
  unsigned_one.event.reset();
  EXPECT_TRUE(is_refused(book.run(unsigned_one), Code::conflict));
  MeterUsage other = reading(1000, 2);
  other.used[0].use.cpu_core_ms = 2000;
  EXPECT_TRUE(is_refused(book.run(other), Code::conflict)) << "that is not what was signed";
  ASSERT_TRUE(book.run(reading(1000, 2)));
  ASSERT_TRUE(book.run(reading(1000, 2))) << "its answer was lost";
  EXPECT_TRUE(is_refused(book.run(reading(1500, 2)), Code::conflict)) << "the number was used";
  ASSERT_TRUE(book.run(reading(2000, 3)));
  EXPECT_EQ(book.contract(id).units[0].metered.cpu_core_ms, 2000);
  EXPECT_EQ(
      std::count_if(record(id).events.begin(), record(id).events.end(),
                    [](const KeptEvent& kept) { return kept.kind == ContractEventKind::usage; }),
      1)
      << "of readings the newest is kept";
}

// Each of them names a unit that the next one does not, so none takes another's place.
TEST_F(Signing, ReadingsInEverOtherCombinationsHaveAnEnd) {
  model::Offer offer = minute_offer();
  offer.price.basis = model::PriceBasis::pay_per_use;
  book.publish(offer).value();
  const ContractId id = signed_by_both(3);
  book.pass(minutes(10));
  const auto reading = [&](std::vector<int32_t> units, int64_t number) {
    MeterUsage usage{k_seller, id, {}};
    for (const int32_t unit : units) usage.used.push_back({unit, {.cpu_core_ms = number}});
    usage.event = event_for(id, ContractEventKind::usage, number);
    usage.event->event.used = usage.used;
    usage.event->document += std::string(size_t{400} << 10, ' ');
    return usage;
  };
  ASSERT_TRUE(book.run(reading({0, 1}, 2)));
  ASSERT_TRUE(book.run(reading({1, 2}, 3)));
  const auto before = book.picture();
  const auto third = book.run(reading({0, 2}, 4));
  ASSERT_TRUE(is_refused(third, Code::conflict));
  EXPECT_NE(third.error().next.find("all units that live"), std::string::npos);
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(book.run(reading({0, 1, 2}, 4)));
  EXPECT_EQ(record(id).events.size(), 2u) << "accepted, and what was read last";
}

TEST_F(Signing, AnEventOfAnotherContractSideKindOrTimeIsRefused) {
  const ContractId id = signed_by_both();
  ASSERT_TRUE(book.run(Renew{k_buyer, id, event_for(id, ContractEventKind::renewal, 3)}));
  const std::pair<const char*, void (*)(SignedEvent&)> forgeries[] = {
      {"heard before", [](SignedEvent& e) { e.event.number = 3; }},
      {"heard before", [](SignedEvent& e) { e.event.number = 2; }},
      {"another contract", [](SignedEvent& e) { e.event.agreement = sample_key(78); }},
      {"another contract", [](SignedEvent& e) { e.event.hold = sample_contract_id(5); }},
      {"not signed by", [](SignedEvent& e) { e.event.by = k_seller; }},
      {"not signed by", [](SignedEvent& e) { e.event.key = sample_key_text(3); }},
      {"is a release", [](SignedEvent& e) { e.event.kind = ContractEventKind::release; }},
  };
  for (const auto& [words, change] : forgeries) {
    SignedEvent event = event_for(id, ContractEventKind::renewal, 4);
    event.document = "forged";
    change(event);
    const auto before = book.picture();
    const auto answer = book.run(Renew{k_buyer, id, event});
    ASSERT_TRUE(is_refused(answer, Code::conflict)) << words;
    EXPECT_NE(answer.error().reason.find(words), std::string::npos) << answer.error().reason;
    EXPECT_EQ(book.picture(), before);
  }
}

TEST_F(Signing, WhatWasSignedForOneThingIsShownForNoOther) {
  const ContractId id = signed_by_both();
  const SignedEvent renewal = event_for(id, ContractEventKind::renewal, 1);
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  const SignedEvent accepted = event_for(id, ContractEventKind::accepted, 1);
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(Release{k_buyer, id, {}, renewal}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(GiveNotice{k_seller, id, accepted}), Code::conflict));
  EXPECT_EQ(book.picture(), before);
}

}  // namespace
}  // namespace spillway::market
