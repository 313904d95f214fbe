// A member's end of the relay: in order, each once, through kills and lost answers.
#include <gtest/gtest.h>

#include "services/agent/mailbox_fields.h"
#include "unit/services/relayed.h"

namespace spillway::agent {
namespace {

TEST_F(Relayed, MessagesComeInOrderAndOnce) {
  for (int n = 1; n <= 5; ++n) send(buyer, fmt::format("m{}", n));
  deliver(seller);
  send(seller, "back");
  deliver(buyer);
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}, {2, "m2"}, {3, "m3"}, {4, "m4"}, {5, "m5"}}));
  EXPECT_EQ(buyer.handed(), (Handed{{1, "back"}}));
  EXPECT_TRUE(relay.waiting(k_seller, id).empty()) << "they are acknowledged";
  EXPECT_TRUE(buyer.state.mailbox.contracts.at(id).unsent.empty());
  EXPECT_EQ(seller.mailbox().counts().received, 5);
}

TEST_F(Relayed, WhatIsSentMayBeAnyText) {
  const std::string body = "line\n\"quoted\" \x01 gr\xc3\xbc\xc3\x9f" + std::string(20'000, 'x');
  send(buyer, body);
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{1, body}}));
  EXPECT_FALSE(buyer.mailbox().send(id, "nonce", "\xff"));
  EXPECT_FALSE(buyer.mailbox().send(id, "nonce", std::string(40'000, 'x')));
  EXPECT_FALSE(buyer.mailbox().send(id, "No step", "x"));
  send(buyer, "next");
  deliver(seller);
  EXPECT_EQ(seller.handed().back(), (std::pair<int64_t, std::string>{2, "next"}))
      << "what was refused has used no number";
}

TEST_F(Relayed, ALostAnswerIsNoSecondMessage) {
  int answers = 0;
  relay.loses = [&](const net::Request&) { return ++answers % 2 == 1; };
  for (int n = 1; n <= 3; ++n) send(buyer, fmt::format("m{}", n));
  loop.run_for(minutes(1));
  deliver(seller);
  loop.run_for(minutes(2));
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}, {2, "m2"}, {3, "m3"}}));
}

TEST_F(Relayed, NothingIsToldBeforeItIsWrittenDown) {
  buyer.disk_works = false;
  send(buyer, "m1");
  deliver(seller);
  EXPECT_TRUE(relay.waiting(k_seller, id).empty());
  buyer.disk_works = true;
  send(buyer, "m2");
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}, {2, "m2"}}));
}

TEST_F(Relayed, NothingIsAcknowledgedBeforeItIsWrittenDown) {
  seller.disk_works = false;
  send(buyer, "m1");
  deliver(seller);
  EXPECT_EQ(relay.waiting(k_seller, id).size(), 1u);
  seller.kill();
  EXPECT_TRUE(seller.handed().empty()) << "it never saw it";
  seller.disk_works = true;
  seller.start();
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}}));
}

TEST_F(Relayed, KilledBeforeItAcknowledgesAReceiverKnowsWhatItHas) {
  relay.loses = [](const net::Request& request) { return request.target.ends_with("/taken"); };
  const auto honest = relay.waiting(k_seller, id);
  send(buyer, "m1");
  loop.run();
  const Rows first = relay.waiting(k_seller, id);
  deliver(seller);
  seller.kill();
  relay.loses = [](const net::Request&) { return false; };
  relay.tamper = [&](const ClusterId&, Rows& rows) { rows = first; };  // as if not acknowledged
  seller.start();
  deliver(seller);
  relay.tamper = [](const ClusterId&, Rows&) {};
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}}));
  EXPECT_GE(seller.refused(Refusal::replayed), 1);
}

TEST_F(Relayed, AnAcknowledgementThatGotLostIsMadeUpFor) {
  relay.never_gets = [&](const net::Request& request) {
    return request.target.ends_with("/taken") && !seller.handed().empty();
  };
  send(buyer, "m1");
  deliver(seller);
  EXPECT_EQ(seller.handed().size(), 1u);
  EXPECT_EQ(relay.waiting(k_seller, id).size(), 1u);
  relay.never_gets = [](const net::Request&) { return false; };
  loop.run_for(minutes(1));
  EXPECT_TRUE(relay.waiting(k_seller, id).empty())
      << "as long as one waits, nobody would be told of the next";
}

TEST_F(Relayed, AKilledSenderGoesOnWithTheSameEnvelope) {
  relay.loses = [](const net::Request& request) { return request.method == "POST"; };
  send(buyer, "m1");
  send(buyer, "m2");
  loop.run();
  buyer.kill();
  relay.loses = [](const net::Request&) { return false; };
  buyer.start();
  loop.run_for(minutes(1));
  send(buyer, "m3");
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}, {2, "m2"}, {3, "m3"}}));
}

TEST_F(Relayed, AGapIsToldAndNotFatal) {
  send(buyer, "m1");
  send(buyer, "m2");
  relay.tamper = [](const ClusterId&, Rows& rows) {
    std::erase_if(rows, [](const wire::MessageRow& row) { return row.sequence == 1; });
  };
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{2, "m2"}}));
  EXPECT_EQ(seller.mailbox().counts().missed, 1);
}

TEST_F(Relayed, WhatExpiresBeforeTheBrokerHasItIsDropped) {
  relay.loses = [](const net::Request&) { return true; };
  buyer.kill();
  buyer.start();
  ASSERT_TRUE(buyer.mailbox().send(id, "nonce", "m1", minutes(1)));
  loop.run_for(minutes(2));
  EXPECT_EQ(buyer.mailbox().counts().dropped, 1);
  EXPECT_TRUE(buyer.state.mailbox.contracts.at(id).unsent.empty());
}

TEST_F(Relayed, AClosedContractEndsIt) {
  const auto row = relay.book.contract(id);
  relay.book.pass(seconds(1));
  ASSERT_TRUE(relay.book.run(market::GiveNotice{k_seller, id, [&] {
                                                  market::SignedEvent notice;
                                                  notice.document = "notice";
                                                  notice.event.agreement = test::sample_key(77);
                                                  notice.event.hold = id;
                                                  notice.event.by = k_seller;
                                                  notice.event.key = test::sample_key_text(1);
                                                  notice.event.number = 2;
                                                  notice.event.kind =
                                                      model::ContractEventKind::notice;
                                                  return notice;
                                                }()}));
  loop.run_for(row.terms.notice + seconds(1));
  relay.book.now = loop.now();
  relay.book.attend();
  ASSERT_FALSE(relay.book.contract(id).is_live());
  send(buyer, "late");
  loop.run_for(seconds(1));
  EXPECT_EQ(buyer.mailbox().counts().dropped, 1);
  buyer.mailbox().forget(id);
  EXPECT_TRUE(buyer.state.mailbox.contracts.empty());
}

TEST_F(Relayed, NoMoreThanSoManyWaitToBeSent) {
  relay.loses = [](const net::Request&) { return true; };
  for (size_t n = 0; n < k_most_unsent; ++n) send(buyer, "m");
  const auto refused = buyer.mailbox().send(id, "nonce", "one more");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::over_quota);
}

TEST_F(Relayed, WithoutAnAgreementNothingIsSentAndNothingLost) {
  const auto agreement = seller.agreements.at(id);
  seller.agreements.clear();
  EXPECT_FALSE(seller.mailbox().send(id, "nonce", "m"));
  send(buyer, "m1");
  deliver(seller);
  EXPECT_TRUE(seller.handed().empty());
  EXPECT_EQ(relay.waiting(k_seller, id).size(), 1u);
  seller.agreements[id] = agreement;
  loop.run_for(minutes(1));
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}}));
}

TEST_F(Relayed, AnAgreementOnOtherKeysIsNotOurs) {
  const ContractId other = test::signed_by_both(relay.book);
  agree(relay, other, buyer, seller);
  buyer.agreements[other].buyer.key = buyer.agreements[other].provider.key;
  EXPECT_FALSE(buyer.mailbox().send(other, "nonce", "m"));
}

TEST_F(Relayed, TheStateHasOneTextAndComesBack) {
  relay.loses = [](const net::Request&) { return true; };
  send(buyer, "m1");
  loop.run();
  const std::string text = model::write_json(buyer.state.mailbox);
  const auto back = model::read_json<MailboxState>(text, "mailbox");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, buyer.state.mailbox);
  EXPECT_EQ(back->contracts.at(id).unsent.size(), 1u);
  MailboxState broken = *back;
  broken.contracts.at(id).sent = 0;
  EXPECT_FALSE(model::read_json<MailboxState>(model::write_json(broken), "mailbox"));
}

}  // namespace
}  // namespace spillway::agent
