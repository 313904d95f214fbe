// Two members that write to each other, before a relay that a test may let lie.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "pki/signed_documents.h"
#include "support/corresponding.h"

namespace spillway::agent {

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

}  // namespace spillway::agent
