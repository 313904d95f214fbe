// A member's end of the relay, before a broker that lies in every way that a broker can.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "pki/jws.h"
#include "pki/signed_documents.h"
#include "services/agent/mailbox_fields.h"
#include "support/corresponding.h"

namespace spillway::agent {
namespace {

using test::Corresponding;
using test::k_buyer;
using test::k_seller;
using Handed = Corresponding::Handed;
using Rows = test::LyingRelay::Rows;

class Relayed : public testing::Test {
 protected:
  Relayed() : relay(loop), buyer(loop, relay, k_buyer), seller(loop, relay, k_seller) {
    id = test::signed_by_both(relay.book);
    agree(relay, id, buyer, seller);
    buyer.start();
    seller.start();
  }

  void send(Corresponding& from, const std::string& body, std::string_view step = "nonce") {
    const auto sent = from.mailbox().send(id, step, body);
    ASSERT_TRUE(sent) << sent.error().message();
  }
  // As the receiver does when it hears of it.
  void deliver(Corresponding& to) {
    loop.run();
    wire::EventBody event;
    event.kind = "message-sent";
    event.subject = id.text;
    to.mailbox().on_event(event);
    loop.run_for(seconds(40));
  }
  // Sealed for the seller as number `sequence` of this contract, whatever is inside.
  wire::MessageRow sealed(int64_t sequence, const std::string& inside,
                          const std::string& step = "nonce") {
    const std::string agreement = pki::payload_id(to_payload(seller.agreements.at(id)));
    const auto envelope = pki::seal_envelope(
        seller.sealing.public_key(),
        {agreement, model::Direction::to_provider, step, static_cast<uint64_t>(sequence)}, inside);
    return {sequence, step, to_base64(*envelope), loop.now() + minutes(5)};
  }
  model::Message message(int64_t sequence) {
    return {pki::payload_id(to_payload(seller.agreements.at(id))), model::Direction::to_provider,
            "nonce", sequence, "forged"};
  }

  test::ManualLoop loop;
  test::LyingRelay relay;
  Corresponding buyer;
  Corresponding seller;
  ContractId id;
};

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

// ---- a broker that lies --------------------------------------------------------------------

TEST_F(Relayed, AnAlteredOneIsRefused) {
  send(buyer, "m1");
  relay.tamper = [](const ClusterId&, Rows& rows) {
    for (wire::MessageRow& row : rows) {
      std::string bytes = *from_base64(row.envelope);
      bytes[bytes.size() / 2] ^= 1;
      row.envelope = to_base64(bytes);
    }
  };
  deliver(seller);
  EXPECT_TRUE(seller.handed().empty());
  EXPECT_EQ(seller.refused(Refusal::altered), 1);
}

TEST_F(Relayed, AReplayedOneIsRefused) {
  send(buyer, "m1");
  loop.run();
  const Rows old = relay.waiting(k_seller, id);
  deliver(seller);
  send(buyer, "m2");
  relay.tamper = [&](const ClusterId&, Rows& rows) {
    if (!rows.empty()) rows.insert(rows.end(), old.begin(), old.end());
  };
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}, {2, "m2"}}));
  EXPECT_GE(seller.refused(Refusal::replayed) + seller.refused(Refusal::out_of_order), 1);
  send(buyer, "m3");
  relay.tamper = [&](const ClusterId&, Rows& rows) {
    if (rows.empty()) return;
    rows = old;
    rows[0].sequence = 3;  // under a number that is still to come
  };
  deliver(seller);
  EXPECT_EQ(seller.handed().size(), 2u);
  EXPECT_GE(seller.refused(Refusal::altered), 1);
}

TEST_F(Relayed, ARedirectedOneIsRefused) {
  send(buyer, "m1");
  loop.run();
  const Rows to_seller = relay.waiting(k_seller, id);
  send(seller, "back");
  relay.tamper = [&](const ClusterId& receiver, Rows& rows) {
    if (receiver == k_buyer && !rows.empty()) rows = to_seller;
  };
  deliver(buyer);
  EXPECT_TRUE(buyer.handed().empty()) << "its own message came back to it";
  EXPECT_EQ(buyer.refused(Refusal::altered), 1);
}

TEST_F(Relayed, OneOfAnotherContractIsRefused) {
  const ContractId other = test::signed_by_both(relay.book);
  agree(relay, other, buyer, seller);
  ASSERT_TRUE(buyer.mailbox().send(other, "nonce", "for the other"));
  send(buyer, "m1");
  loop.run();
  const Rows elsewhere = relay.waiting(k_seller, other);
  ASSERT_EQ(elsewhere.size(), 1u);
  relay.tamper = [&](const ClusterId&, Rows& rows) { rows = rows.empty() ? rows : elsewhere; };
  deliver(seller);
  EXPECT_TRUE(seller.handed().empty());
  EXPECT_EQ(seller.refused(Refusal::altered), 1);
}

TEST_F(Relayed, OutOfOrderTheLaterOneIsRefused) {
  send(buyer, "m1");
  send(buyer, "m2");
  relay.tamper = [](const ClusterId&, Rows& rows) { std::reverse(rows.begin(), rows.end()); };
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{2, "m2"}}));
  EXPECT_EQ(seller.refused(Refusal::out_of_order), 1);
}

TEST_F(Relayed, UnderAnotherStepItIsRefused) {
  send(buyer, "m1", "nonce");
  relay.tamper = [](const ClusterId&, Rows& rows) {
    for (wire::MessageRow& row : rows) row.step = "identity";
  };
  deliver(seller);
  EXPECT_TRUE(seller.handed().empty());
  EXPECT_EQ(seller.refused(Refusal::altered), 1);
}

TEST_F(Relayed, WhatTheBrokerInventsIsRefused) {
  send(buyer, "m1");
  const pki::Key broker = pki::Key::generate_member();
  struct Case {
    std::string inside;
    Refusal why;
  };
  model::Message elsewhere = message(1);
  elsewhere.agreement = std::string(64, 'a');
  model::Message backwards = message(1);
  backwards.direction = model::Direction::to_buyer;
  model::Message other_step = message(1);
  other_step.step = "identity";
  // What the buyer has signed for another place, and a third party has opened and sealed again.
  const Case cases[] = {
      {"", Refusal::unreadable},
      {"pay me", Refusal::unreadable},
      {*pki::sign(message(1), broker), Refusal::other_sender},
      {*pki::sign(message(1), seller.key), Refusal::other_sender},
      {pki::Jws::sign("spillway-event", to_payload(message(1)), buyer.key)->to_text(),
       Refusal::other_sender},
      {*pki::sign(elsewhere, buyer.key), Refusal::other_contract},
      {*pki::sign(backwards, buyer.key), Refusal::redirected},
      {*pki::sign(other_step, buyer.key), Refusal::other_step},
      {*pki::sign(message(7), buyer.key), Refusal::other_number},
  };
  loop.run();
  const Rows honest = relay.waiting(k_seller, id);
  for (const Case& one : cases) {
    seller.kill();
    seller.start();
    const Rows forged{sealed(1, one.inside)};
    bool shown = false;
    relay.tamper = [&](const ClusterId&, Rows& rows) {
      rows = std::exchange(shown, true) ? Rows{} : forged;
    };
    deliver(seller);
    EXPECT_TRUE(seller.handed().empty()) << one.inside;
    EXPECT_EQ(seller.refused(one.why), 1) << to_text(one.why);
  }
  relay.tamper = [&, shown = false](const ClusterId&, Rows& rows) mutable {
    rows = std::exchange(shown, true) ? Rows{} : honest;
  };
  deliver(seller);
  EXPECT_EQ(seller.handed(), (Handed{{1, "m1"}})) << "a forged one does not use up its number";
}

TEST_F(Relayed, ABrokerWithNothingButJunkIsNotAskedAsFastAsItAnswers) {
  send(buyer, "m1");
  loop.run();
  int pages = 0;
  const Rows junk{sealed(1, "junk")};
  relay.tamper = [&](const ClusterId&, Rows& rows) {
    ++pages;
    rows = junk;
  };
  seller.mailbox().look_at(id);
  loop.run_for(minutes(5));
  EXPECT_LT(pages, 100);
  EXPECT_TRUE(seller.handed().empty());
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
