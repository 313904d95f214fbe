// A member's end of the relay, before a broker that lies in every way that a broker can.
#include <gtest/gtest.h>

#include "pki/jws.h"
#include "unit/services/relayed.h"

namespace spillway::agent {
namespace {

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

}  // namespace
}  // namespace spillway::agent
