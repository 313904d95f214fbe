// What two sides sign has one text, says everything, and is refused when it says too much.
#include "model/agreement.h"

#include <gtest/gtest.h>

#include "model/card.h"
#include "model/contract_event.h"
#include "support/sample_records.h"

namespace spillway::model {
namespace {

using namespace test;

Agreement plain_agreement() {
  Agreement agreement = agreement_on(sample_contract(1), "alps");
  agreement.buyer.key = sample_key_text(1);
  agreement.buyer.sealing = sample_key_text(2);
  agreement.provider.key = sample_key_text(3);
  agreement.provider.sealing = sample_key_text(4);
  return agreement;
}

Agreement liqo_agreement() {
  Agreement agreement = plain_agreement();
  agreement.trust = Trust::given;
  agreement.fabric.liqo =
      LiqoPart{"milan", "turin", "MCowBQYDK2VwAyEA", sample_key(1), {sample_key(2), sample_key(3)}};
  return agreement;
}

ContractEvent plain_event(ContractEventKind kind) {
  ContractEvent event;
  event.agreement = sample_key(1);
  event.hold = sample_contract_id(1);
  event.by = sample_cluster(1);
  event.key = sample_key_text(1);
  event.kind = kind;
  event.at = k_sample_time;
  using Kind = ContractEventKind;
  if (kind == Kind::extension || kind == Kind::renewal) event.until = k_sample_time + hours(1);
  if (kind == Kind::accepted) event.trust = Trust::first_use;
  if (kind == Kind::usage) event.used.push_back({0, {.cpu_core_ms = 5000}});
  return event;
}

TEST(Agreement, ReadsBackFromTheOneTextThatItHas) {
  for (const Agreement& agreement : {plain_agreement(), liqo_agreement()}) {
    const std::string payload = to_payload(agreement);
    const auto back = agreement_from_payload(payload);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, agreement);
    EXPECT_EQ(to_payload(*back), payload);
  }
}

TEST(Agreement, SpellsEveryTermOut) {
  const std::string payload = to_payload(plain_agreement());
  for (const std::string_view term : {"lease", "notice", "drain", "grace", "fence",
                                      "early_end_by_buyer", "early_end_by_provider"}) {
    EXPECT_NE(payload.find(fmt::format("\"{}\":", term)), std::string::npos) << payload;
  }
}

// Two texts of one agreement would have two ids.
TEST(Agreement, AnotherTextOfTheSameIsRefused) {
  std::string payload = to_payload(plain_agreement());
  const size_t at = payload.find("\"price\":{");
  payload.insert(at + 9, "\"basis\":\"reserved\",");
  const auto back = agreement_from_payload(payload);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, Code::invalid);
  EXPECT_FALSE(agreement_from_payload(" " + to_payload(plain_agreement())));
}

TEST(Agreement, OnAContractDiffersInNothingFromIt) {
  const Contract contract = sample_contract(1);
  EXPECT_EQ(difference(plain_agreement(), contract), "");
}

struct Change {
  std::string_view names;
  void (*change)(Agreement&);
};

TEST(Agreement, EveryFieldOfTheSaleIsHeldAgainstTheContract) {
  const Change changes[] = {
      {"hold", [](Agreement& a) { a.hold = sample_contract_id(2); }},
      {"buyer", [](Agreement& a) { a.buyer.cluster = sample_cluster(77); }},
      {"provider", [](Agreement& a) { a.provider.cluster = sample_cluster(77); }},
      {"pool", [](Agreement& a) { a.pool = sample_pool_id(2); }},
      {"offer", [](Agreement& a) { a.offer = sample_offer_id(2); }},
      {"shape", [](Agreement& a) { a.shape.cpu_millis += 1; }},
      {"price", [](Agreement& a) { a.price.minimum_term = seconds(1); }},
      {"rate", [](Agreement& a) { a.rate += 1; }},
      {"terms", [](Agreement& a) { a.terms.fence = seconds(1); }},
      {"units", [](Agreement& a) { a.units.pop_back(); }},
      {"early end by the buyer", [](Agreement& a) { a.terms.by_buyer = EarlyEnd::time_used; }},
      {"early end by the provider",
       [](Agreement& a) { a.terms.by_provider = EarlyEnd::minimum_term; }},
  };
  for (const Change& change : changes) {
    Agreement agreement = plain_agreement();
    change.change(agreement);
    EXPECT_EQ(difference(agreement, sample_contract(1)), change.names);
  }
}

TEST(Agreement, WhatCannotBeAgreedOnIsRefusedByName) {
  const Change changes[] = {
      {"federation", [](Agreement& a) { a.federation = "The Alps"; }},
      {"buyer.key", [](Agreement& a) { a.buyer.key = "short"; }},
      {"provider.card", [](Agreement& a) { a.provider.card = 0; }},
      {"provider", [](Agreement& a) { a.provider.key = a.buyer.key; }},
      {"offer", [](Agreement& a) { a.offer = sample_offer_id(2); }},
      {"rate", [](Agreement& a) { a.rate += 1; }},
      {"terms.lease", [](Agreement& a) { a.terms.lease = seconds(1); }},
      {"units[1].name", [](Agreement& a) { a.units[1] = a.units[0]; }},
      {"fabric.liqo.unit_requests", [](Agreement& a) { a.fabric.liqo->unit_requests.pop_back(); }},
      {"fabric.liqo.buyer", [](Agreement& a) { a.fabric.liqo->buyer = "a/b"; }},
  };
  for (const Change& change : changes) {
    Agreement agreement = liqo_agreement();
    change.change(agreement);
    const Status status = validate(agreement);
    ASSERT_FALSE(status) << change.names;
    EXPECT_EQ(status.error().thing, change.names);
    EXPECT_FALSE(agreement_from_payload(to_payload(agreement)));
  }
}

TEST(Card, ReadsBackFromTheOneTextThatItHas) {
  Card card = sample_card(1).card;
  EXPECT_EQ(card_from_payload(to_payload(card)).value(), card);
  card.liqo.clear();
  EXPECT_EQ(card_from_payload(to_payload(card)).value(), card);
  card.key = "no key";
  EXPECT_FALSE(card_from_payload(to_payload(card)));
}

TEST(ContractEvent, EveryKindReadsBackAndHasWhatBelongsToIt) {
  for (int i = 0; i < 7; ++i) {
    const ContractEvent event = plain_event(static_cast<ContractEventKind>(i));
    const auto back = contract_event_from_payload(to_payload(event));
    ASSERT_TRUE(back) << to_text(event.kind) << ": " << back.error().message();
    EXPECT_EQ(*back, event);
    ContractEvent other = event;
    if (other.until) {
      other.until.reset();
    } else {
      other.until = k_sample_time;
    }
    EXPECT_FALSE(contract_event_from_payload(to_payload(other))) << to_text(event.kind);
  }
}

}  // namespace
}  // namespace spillway::model
