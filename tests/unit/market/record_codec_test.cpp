#include "market/record_codec.h"

#include <set>

#include <gtest/gtest.h>

#include "support/sample_records.h"

namespace spillway::market {
namespace {

using namespace test;

template <class T>
void expect_round_trip(Kind kind, const T& value) {
  const std::string text = encode(Record(std::make_shared<const T>(value)));
  const auto back = decode(kind, text);
  ASSERT_TRUE(back) << text << "\n" << back.error().message();
  const auto* held = std::get_if<Shared<T>>(&*back);
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(**held, value) << text;
  EXPECT_EQ(encode(*back), text);
}

TEST(RecordCodec, EveryKindReadsBackAsItWasWritten) {
  PoolRecord pool = sample_pool(1);
  expect_round_trip(Kind::pool, pool);
  pool.withdrawn = true;
  pool.unaccounted = sample_shape();
  pool.oversold_since = k_sample_time + milliseconds(1);
  pool.reclaim_at = k_sample_time + minutes(2);
  expect_round_trip(Kind::pool, pool);

  OfferRecord offer = sample_offer(1);
  expect_round_trip(Kind::offer, offer);
  offer.withdrawn = true;
  offer.offer.visibility = {};
  expect_round_trip(Kind::offer, offer);

  AccountRecord account = sample_account(1);
  account.open_holds = 3;
  account.purses.push_back({*parse_currency("USD"), 1, 0});
  expect_round_trip(Kind::account, account);

  model::Contract contract = sample_contract(1);
  expect_round_trip(Kind::contract, contract);
  contract.state = model::ContractState::closing;
  contract.started = k_sample_time;
  contract.units[0].live = false;
  contract.units[0].ended = k_sample_time;
  contract.units[0].reserved = 0;
  contract.units[0].charged = 99;
  contract.grace_used = seconds(3);
  expect_round_trip(Kind::contract, contract);

  expect_round_trip(Kind::request, sample_request(1));
  expect_round_trip(Kind::epoch, EpochRecord{7, minutes(12)});
  expect_round_trip(Kind::heart, HeartRecord{k_sample_time});

  model::Identity identity = sample_identity(1);
  expect_round_trip(Kind::identity, identity);
  identity.roles = {model::Role::operator_};
  identity.revoked = k_sample_time;
  expect_round_trip(Kind::identity, identity);

  TokenRecord token = sample_token(1);
  expect_round_trip(Kind::token, token);
  token.key = sample_key(1);
  token.certificate = sample_certificate(1);
  token.not_after = k_sample_time;
  expect_round_trip(Kind::token, token);
}

TEST(RecordCodec, WhatWasSignedAndSentReadsBackAsItWasWritten) {
  CardRecord card = sample_card(1);
  expect_round_trip(Kind::card, card);
  card.card.liqo.clear();
  expect_round_trip(Kind::card, card);
  expect_round_trip(Kind::liqo, LiqoRecord{"turin-1", sample_cluster(1)});
  AgreementRecord agreement = sample_agreement(1);
  expect_round_trip(Kind::agreement, agreement);
  agreement.complete = true;
  agreement.events.clear();
  expect_round_trip(Kind::agreement, agreement);
  expect_round_trip(Kind::mailbox, sample_mailbox(1));
  expect_round_trip(Kind::message, sample_message(1));
}

TEST(RecordCodec, SumsMayExceedWhatASingleShapeMayHave) {
  PoolRecord pool = sample_pool(1);
  pool.unaccounted.cpu_millis = model::k_max_amount * 100;
  expect_round_trip(Kind::pool, pool);
}

TEST(RecordCodec, EveryEventReadsBackAndUsesTheWordOfItsKind) {
  std::set<std::string_view> words;
  for (int i = 0; i < static_cast<int>(k_event_kinds); ++i) {
    Event event = sample_event(i);
    event.sequence = i + 1;
    event.kind = static_cast<EventKind>(i);
    if (i % 3 == 0) {
      event.by = "headquarters";
      event.request = "r-1";
    }
    if (i % 2 == 0) event.detail = "\"quoted\" \n ü";
    const std::string text = encode(event);
    EXPECT_NE(text.find(fmt::format("\"{}\"", to_text(event.kind))), std::string::npos) << text;
    const auto back = decode_event(text);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, event);
    words.insert(to_text(event.kind));
  }
  EXPECT_EQ(words.size(), k_event_kinds);
  EXPECT_EQ(*decode_event(encode(Event{})), Event{});
}

template <class T, class Change>
T changed(T record, Change change) {
  change(record);
  return record;
}

struct Refused {
  Kind kind;
  Record record;
  std::string_view names;  // what the error must mention
};

TEST(RecordCodec, RowsThatBreakAnInvariantAreRefusedByName) {
  const auto pool = [](auto change) {
    PoolRecord record = sample_pool(1);
    change(record);
    return shared(record);
  };
  const auto account = [](auto change) {
    AccountRecord record = sample_account(1);
    change(record);
    return shared(record);
  };
  const auto request = [](auto change) {
    RequestRecord record = sample_request(1);
    change(record);
    return shared(record);
  };
  const auto contract = [](auto change) {
    model::Contract record = sample_contract(1);
    change(record);
    return shared(record);
  };
  const auto identity = [](auto change) {
    model::Identity record = sample_identity(1);
    change(record);
    return shared(record);
  };
  const auto token = [](auto change) {
    TokenRecord record = sample_token(1);
    change(record);
    return shared(record);
  };
  OfferRecord stranger = sample_offer(1);
  stranger.provider = sample_cluster(2);

  const std::vector<Refused> cases = {
      {Kind::pool, pool([](auto& r) { r.committed.cpu_millis = -1; }), "committed.cpu"},
      {Kind::pool, pool([](auto& r) { r.provider = sample_cluster(2); }), "provider"},
      {Kind::pool, pool([](auto& r) { r.sequence = 0; }), "sequence"},
      {Kind::pool, pool([](auto& r) { r.epoch = -1; }), "epoch"},
      {Kind::pool, pool([](auto& r) { r.reclaim_at = k_sample_time; }), "reclaim_at"},
      {Kind::offer, shared(stranger), "provider"},
      {Kind::account, account([](auto& r) { r.units = -1; }), "units"},
      {Kind::account, account([](auto& r) { r.purses[0].reserved = -1; }), "purses[0].reserved"},
      {Kind::account, account([](auto& r) { r.purses.push_back(r.purses[0]); }), "purses[1]"},
      {Kind::account, account([](auto& r) { r.cluster.id = ClusterId("Not A Name"); }), "id"},
      {Kind::request, request([](auto& r) { r.key.clear(); }), "key"},
      {Kind::request, request([](auto& r) { r.grants.clear(); }), "grants"},
      {Kind::request, request([](auto& r) { r.grants[0].units = 0; }), "grants[0].units"},
      {Kind::contract, contract([](auto& r) { r.rate += 1; }), "rate"},
      {Kind::contract, contract([](auto& r) { r.units.clear(); }), "units"},
      {Kind::epoch, shared(EpochRecord{0, {}}), "epoch"},
      {Kind::epoch, shared(EpochRecord{1, milliseconds(-1)}), "lost"},
      {Kind::heart, shared(HeartRecord{{-1}}), "beat"},
      {Kind::identity, identity([](auto& r) { r.name = "Not A Name"; }), "name"},
      {Kind::identity, identity([](auto& r) { r.roles.clear(); }), "roles"},
      {Kind::identity, identity([](auto& r) { r.roles.push_back(r.roles[1]); }), "roles"},
      {Kind::identity, identity([](auto& r) { r.roles.push_back(model::Role::viewer); }), "roles"},
      {Kind::identity, identity([](auto& r) { r.key.pop_back(); }), "key"},
      {Kind::identity, identity([](auto& r) { r.key[0] = 'A'; }), "key"},
      {Kind::identity, identity([](auto& r) { r.certificate.clear(); }), "certificate"},
      {Kind::identity, identity([](auto& r) { r.certificate += "\x01"; }), "certificate"},
      {Kind::identity, identity([](auto& r) { r.revoked = Instant{-1}; }), "revoked"},
      {Kind::card, shared(changed(sample_card(1), [](auto& r) { r.card.key = "x"; })), "card.key"},
      {Kind::card, shared(changed(sample_card(1), [](auto& r) { r.document.clear(); })),
       "document"},
      {Kind::liqo, shared(LiqoRecord{"a/b", sample_cluster(1)}), "id"},
      {Kind::agreement, shared(changed(sample_agreement(1), [](auto& r) { r.id = "1"; })), "id"},
      {Kind::agreement,
       shared(changed(sample_agreement(1), [](auto& r) { r.events[0].by = sample_cluster(77); })),
       "events[0].by"},
      {Kind::mailbox, shared(changed(sample_mailbox(1), [](auto& r) { r.posted[1].sequence = 3; })),
       "posted[1].sequence"},
      {Kind::message, shared(changed(sample_message(1), [](auto& r) { r.envelope.clear(); })),
       "envelope"},
      {Kind::token, token([](auto& r) { r.id = "a/b"; }), "id"},
      {Kind::token, token([](auto& r) { r.roles.clear(); }), "roles"},
      {Kind::token, token([](auto& r) { r.key = sample_key(1); }), "certificate"},
      {Kind::token, token([](auto& r) { r.certificate = sample_certificate(1); }), "certificate"},
  };
  for (const Refused& refused : cases) {
    const auto back = decode(refused.kind, encode(refused.record));
    ASSERT_FALSE(back) << encode(refused.record);
    EXPECT_NE(back.error().message().find(refused.names), std::string::npos)
        << refused.names << ": " << back.error().message();
  }
}

TEST(RecordCodec, TextThatIsNoRowIsRefused) {
  const std::string good = encode(shared(sample_contract(1)));
  ASSERT_TRUE(decode(Kind::contract, good));
  for (const std::string& bad :
       {std::string(), std::string("null"), std::string("{}"), std::string("[]"),
        good.substr(0, good.size() - 1), good + "x", std::string("\xff\xfe"),
        std::string(good).replace(good.find("\"version\":1"), 11, "\"version\":2"),
        std::string(good).replace(good.find("\"buyer\""), 7, "\"bayer\"")}) {
    EXPECT_FALSE(decode(Kind::contract, bad)) << bad;
  }
  EXPECT_FALSE(decode(Kind::pool, good));
  EXPECT_FALSE(decode_event(good));
}

TEST(RecordCodec, ANewerVersionIsCalledNewer) {
  std::string text = encode(shared(HeartRecord{k_sample_time}));
  text.replace(text.find("\"version\":1"), 11, "\"version\":2");
  const auto back = decode(Kind::heart, text);
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().message().find("version 2"), std::string::npos) << back.error().message();
}

}  // namespace
}  // namespace spillway::market
