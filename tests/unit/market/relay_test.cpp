// Messages between the parties of a contract: ordered, bounded, each taken once, gone in time.
#include "market/relay.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "support/signed_market.h"

namespace spillway::market {
namespace {

using namespace test;

SendMessage message(const ContractId& id, int64_t sequence, const std::string& content = "x",
                    const ClusterId& sender = k_buyer) {
  return {sender, id, sequence, "nonce", to_base64(content), minutes(10)};
}

using Numbers = std::vector<int64_t>;

class Relay : public testing::Test {
 protected:
  void SetUp() override { open_signed_market(book, 3); }

  Numbers waiting(const ContractId& id, Direction direction) {
    const auto* mailbox = book.get<MailboxRecord>(mailbox_key(id, direction));
    if (mailbox == nullptr) return {};
    return numbers_of(waiting_after(*mailbox, 0, book.now));
  }
  Numbers numbers_of(const std::vector<Key>& messages) {
    Numbers numbers;
    for (const Key& key : messages) numbers.push_back(book.get<MessageRecord>(key)->sequence);
    return numbers;
  }
  // Rows of messages, of any contract.
  size_t messages() {
    size_t n = 0;
    for (const auto& [text, row] : book.picture()) n += text.starts_with("message ") ? 1 : 0;
    return n;
  }
  int64_t told() const { return book.count_events(EventKind::message_sent); }

  TestBook book;
};

TEST_F(Relay, EachSideHasAMailboxOfItsOwn) {
  const ContractId id = signed_by_both(book);
  ASSERT_TRUE(book.run(message(id, 1)));
  ASSERT_TRUE(book.run(message(id, 2)));
  ASSERT_TRUE(book.run(message(id, 1, "back", k_seller)));
  EXPECT_EQ(waiting(id, Direction::to_provider), (Numbers{1, 2}));
  EXPECT_EQ(waiting(id, Direction::to_buyer), (Numbers{1}));
  const auto* row = book.get<MessageRecord>(message_key(id, Direction::to_buyer, 1));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->envelope, to_base64("back"));
  EXPECT_EQ(row->expires, book.now + minutes(10));
}

TEST_F(Relay, OnlyTheReceiverIsToldAndOnlyOfTheFirstThatWaits) {
  const ContractId id = signed_by_both(book);
  for (int64_t n = 1; n <= 3; ++n) ASSERT_TRUE(book.run(message(id, n)));
  EXPECT_EQ(told(), 1);
  const Event& event = book.rows().events().back();
  EXPECT_EQ(event.kind, EventKind::message_sent);
  EXPECT_EQ(event.subject, id.text);
  EXPECT_EQ(event.provider, k_seller);
  EXPECT_TRUE(event.buyer.text.empty());

  ASSERT_TRUE(book.run(TakeMessages{k_seller, id, 2}));
  ASSERT_TRUE(book.run(message(id, 4)));
  EXPECT_EQ(told(), 1) << "one waits still, so its receiver asks again";
  ASSERT_TRUE(book.run(TakeMessages{k_seller, id, 4}));
  ASSERT_TRUE(book.run(message(id, 5)));
  EXPECT_EQ(told(), 2);
}

TEST_F(Relay, WhoeverComesAfterAnExpiredOneIsToldOf) {
  const ContractId id = signed_by_both(book);
  ASSERT_TRUE(book.run(message(id, 1)));
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(message(id, 2)));
  EXPECT_EQ(told(), 2) << "nobody has attended to the first yet, but it waits for nobody";
}

TEST_F(Relay, ARetryIsNoSecondMessage) {
  const ContractId id = signed_by_both(book);
  ASSERT_TRUE(book.run(message(id, 1)));
  auto before = book.picture();
  EXPECT_TRUE(book.run(message(id, 1)).value().replayed);
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(book.run(TakeMessages{k_seller, id, 1}));
  before = book.picture();
  EXPECT_TRUE(book.run(message(id, 1)).value().replayed) << "also of one that was taken";
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Relay, ANumberIsUsedOnce) {
  const ContractId id = signed_by_both(book);
  ASSERT_TRUE(book.run(message(id, 1)));
  ASSERT_TRUE(book.run(message(id, 5)));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(message(id, 5, "other")), Code::stale));
  EXPECT_TRUE(is_refused(book.run(message(id, 1, "other")), Code::stale));
  EXPECT_TRUE(is_refused(book.run(message(id, 3)), Code::gone)) << "between two that were used";
  SendMessage other_step = message(id, 5);
  other_step.step = "identity";
  EXPECT_TRUE(is_refused(book.run(other_step), Code::stale));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Relay, RetriesAreKnownForTheLastFew) {
  book.rules.remembered_messages = 4;
  const ContractId id = signed_by_both(book);
  for (int64_t n = 1; n <= 10; ++n) {
    ASSERT_TRUE(book.run(message(id, n)));
    ASSERT_TRUE(book.run(TakeMessages{k_seller, id, n}));
  }
  EXPECT_TRUE(book.run(message(id, 7)));
  EXPECT_TRUE(is_refused(book.run(message(id, 6)), Code::gone));
}

TEST_F(Relay, TakingDeletesAndMayBeRepeated) {
  const ContractId id = signed_by_both(book);
  for (int64_t n = 1; n <= 4; ++n) ASSERT_TRUE(book.run(message(id, n)));
  const auto taken = book.run(TakeMessages{k_seller, id, 3});
  ASSERT_TRUE(taken);
  EXPECT_EQ(numbers_of(taken->waiting), (Numbers{4}));
  EXPECT_EQ(messages(), 1u);
  const auto before = book.picture();
  EXPECT_TRUE(book.run(TakeMessages{k_seller, id, 3}));
  EXPECT_TRUE(book.run(TakeMessages{k_seller, id, 0}));
  EXPECT_EQ(book.picture(), before);
  EXPECT_TRUE(book.run(TakeMessages{k_buyer, id, 9})) << "nobody has sent to the buyer";
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Relay, NoMoreThanSoManyWait) {
  const ContractId id = signed_by_both(book);
  for (int64_t n = 1; n <= 64; ++n) ASSERT_TRUE(book.run(message(id, n)));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(message(id, 65)), Code::over_quota));
  EXPECT_EQ(book.picture(), before);
  EXPECT_TRUE(book.run(message(id, 1, "other direction", k_seller)));
  ASSERT_TRUE(book.run(TakeMessages{k_seller, id, 1}));
  EXPECT_TRUE(book.run(message(id, 65)));
}

TEST_F(Relay, NoMoreThanSoManyBytesWait) {
  const ContractId id = signed_by_both(book);
  const std::string large(65'000, 'x');
  for (int64_t n = 1; n <= 16; ++n) ASSERT_TRUE(book.run(message(id, n, large)));
  EXPECT_TRUE(is_refused(book.run(message(id, 17, large)), Code::over_quota));
  EXPECT_TRUE(book.run(message(id, 17, "small")));
}

TEST_F(Relay, WhatExpiresGoesAndTheMailboxMovesOn) {
  const ContractId id = signed_by_both(book);
  SendMessage soon = message(id, 1);
  soon.ttl = minutes(1);
  ASSERT_TRUE(book.run(soon));
  ASSERT_TRUE(book.run(message(id, 2)));
  book.pass(minutes(1));
  book.attend();
  EXPECT_EQ(waiting(id, Direction::to_provider), (Numbers{2}));
  EXPECT_EQ(messages(), 1u);
  book.pass(minutes(9));
  book.attend();
  EXPECT_EQ(messages(), 0u);
  EXPECT_TRUE(is_refused(book.run(message(id, 2, "other")), Code::stale)) << "numbers stay used";
  EXPECT_TRUE(book.run(message(id, 3)));
}

TEST_F(Relay, AMailboxStaysAsLongAsItsContract) {
  const ContractId id = signed_by_both(book);
  const Key key = mailbox_key(id, Direction::to_provider);
  ASSERT_TRUE(book.run(message(id, 1)));
  book.rules.mailbox_retention = minutes(20);
  book.pass(minutes(30));
  book.attend();
  ASSERT_NE(book.get<MailboxRecord>(key), nullptr);
  EXPECT_TRUE(is_refused(book.run(message(id, 1, "other")), Code::stale));
  book.pass(hours(3));  // the lease lapses, and the drain is over
  book.attend();
  book.pass(hours(1));
  book.attend();
  EXPECT_FALSE(book.contract(id).is_live());
  EXPECT_EQ(book.get<MailboxRecord>(key), nullptr);
}

TEST_F(Relay, AHoldThatItsBuyerHasSignedHasMessages) {
  const ContractId id = half_signed(book);
  EXPECT_TRUE(book.run(message(id, 1)));
  EXPECT_TRUE(book.run(message(id, 1, "y", k_seller)));
}

TEST_F(Relay, NobodyElseSendsOrTakes) {
  const ContractId id = signed_by_both(book);
  ASSERT_TRUE(book.run(message(id, 1)));
  EXPECT_TRUE(is_refused(book.run(message(id, 2, "x", k_rival)), Code::not_found));
  EXPECT_TRUE(is_refused(book.run(TakeMessages{k_rival, id, 1}), Code::not_found));
  EXPECT_EQ(messages(), 1u);
}

TEST_F(Relay, WithoutASignatureOrALiveContractNothingIsSent) {
  const ContractId unsigned_one = book.held(k_buyer, 1);
  EXPECT_TRUE(is_refused(book.run(message(unsigned_one, 1)), Code::conflict));
  const ContractId id = half_signed(book);
  ASSERT_TRUE(book.run(message(id, 1, "last words", k_seller)));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_TRUE(is_refused(book.run(message(id, 1)), Code::gone));
  EXPECT_TRUE(book.run(TakeMessages{k_buyer, id, 1})) << "what was sent before may be taken";
  EXPECT_EQ(messages(), 0u);
}

TEST_F(Relay, WhatIsMalformedIsRefused) {
  const ContractId id = signed_by_both(book);
  const std::pair<const char*, void (*)(SendMessage&)> mistakes[] = {
      {"sequence", [](SendMessage& m) { m.sequence = 0; }},
      {"sequence", [](SendMessage& m) { m.sequence = INT64_MAX; }},
      {"step", [](SendMessage& m) { m.step = ""; }},
      {"step", [](SendMessage& m) { m.step = "No!"; }},
      {"ttl", [](SendMessage& m) { m.ttl = {}; }},
      {"ttl", [](SendMessage& m) { m.ttl = minutes(10) + milliseconds(1); }},
      {"envelope", [](SendMessage& m) { m.envelope = ""; }},
      {"envelope", [](SendMessage& m) { m.envelope = "no base64"; }},
      {"envelope", [](SendMessage& m) { m.envelope = "AAEC\nAw=="; }},
      {"envelope", [](SendMessage& m) { m.envelope = to_base64(std::string(65'586, 'x')); }},
  };
  const auto before = book.picture();
  for (const auto& [what, change] : mistakes) {
    SendMessage bad = message(id, 1);
    change(bad);
    const auto answer = book.run(bad);
    ASSERT_TRUE(is_refused(answer, Code::invalid)) << what;
    EXPECT_NE(answer.error().message().find(what), std::string::npos) << answer.error().message();
  }
  EXPECT_EQ(book.picture(), before);
  EXPECT_TRUE(book.run(message(id, 1, std::string(65'585, 'x'))));
}

}  // namespace
}  // namespace spillway::market
