// Messages between two members through a real broker: over TLS, in a real file, and through its
// sudden end.
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "live/broker_process.h"
#include "live/live_mailbox.h"
#include "live/shop.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::Federation;
using test::LiveMailbox;
using test::Members;

// What came, for a test to wait for.
class Inbox {
 public:
  LiveMailbox::OnMessage taker() {
    return [this](const agent::Received& message) {
      const std::lock_guard lock(mutex_);
      bodies_.push_back(message.body);
      came_.notify_all();
    };
  }
  std::vector<std::string> wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::seconds(60), [&] { return bodies_.size() >= count; });
    return bodies_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::string> bodies_;
};

std::vector<std::string> numbered(int first, int last) {
  std::vector<std::string> all;
  for (int i = first; i <= last; ++i) all.push_back(fmt::format("m{}", i));
  return all;
}

// Two members on one thread, and a contract that both have signed.
class Pair {
 public:
  explicit Pair(Members& members)
      : seller(join_signer(members, "seller", {Role::provider})),
        buyer(join_signer(members, "buyer", {Role::consumer})),
        at_seller(thread, members, *seller, to_seller.taker()),
        at_buyer(thread, members, *buyer, to_buyer.taker()) {
    test::open_shop(members, seller->papers, 10);
    const auto agreement = agree_over_the_wire(members, *buyer, *seller, "first");
    id = agreement.hold;
    at_seller.know(agreement);
    at_buyer.know(agreement);
  }

  std::unique_ptr<test::Signer> seller;
  std::unique_ptr<test::Signer> buyer;
  Inbox to_seller;
  Inbox to_buyer;
  test::PollThread thread;
  LiveMailbox at_seller;
  LiveMailbox at_buyer;
  ContractId id;
};

std::string messages_path(const ContractId& id) { return "/v1/contracts/" + id.text + "/messages"; }

TEST(RelayOverTheWire, BothWaysInOrderAndOnce) {
  Federation federation;
  Pair pair(federation);
  for (const std::string& body : numbered(1, 40)) ASSERT_TRUE(pair.at_buyer.send(pair.id, body));
  EXPECT_EQ(pair.to_seller.wait_for(40), numbered(1, 40));
  for (const std::string& body : numbered(1, 5)) ASSERT_TRUE(pair.at_seller.send(pair.id, body));
  EXPECT_EQ(pair.to_buyer.wait_for(5), numbered(1, 5));
  ASSERT_TRUE(pair.at_buyer.send(pair.id, "m41"));
  EXPECT_EQ(pair.to_seller.wait_for(41), numbered(1, 41)) << "it is told again after all was taken";
  EXPECT_EQ(pair.at_seller.counts().missed, 0);
}

TEST(RelayOverTheWire, NobodyElseReadsOrWrites) {
  Federation federation;
  Pair pair(federation);
  const auto rival = join_signer(federation, "rival", {Role::provider, Role::consumer});
  const std::string path = messages_path(pair.id);
  const std::string body = model::write_json(wire::MessageRequest{1, "step", "AAAA", minutes(1)});
  EXPECT_EQ(federation.call(rival->papers, Federation::get(path)).status, 404);
  EXPECT_EQ(federation.call(rival->papers, Federation::post(path, body)).status, 404);
  EXPECT_EQ(federation
                .call(rival->papers,
                      Federation::post(path + "/taken", model::write_json(wire::TakenRequest{1})))
                .status,
            404);
  EXPECT_EQ(federation.call(federation.boss(), Federation::get(path)).status, 403)
      << "nor does the operator";
  EXPECT_EQ(federation.call(pair.buyer->papers, Federation::get(path + "?after=x")).status, 422);
  EXPECT_EQ(federation.call(pair.buyer->papers, Federation::get(path)).status, 200);
}

TEST(RelayOverTheWire, ThePageIsBounded) {
  Federation federation;
  const auto seller = join_signer(federation, "seller", {Role::provider});
  const auto buyer = join_signer(federation, "buyer", {Role::consumer});
  test::open_shop(federation, seller->papers, 10);
  const ContractId id = agree_over_the_wire(federation, *buyer, *seller, "first").hold;
  const std::string path = messages_path(id);
  for (int64_t n = 1; n <= 8; ++n) {
    const wire::MessageRequest message{n, "step", std::string(60'000, 'A'), minutes(1)};
    ASSERT_EQ(
        federation.call(buyer->papers, Federation::post(path, model::write_json(message))).status,
        204);
  }
  const auto first =
      Federation::read<wire::MessagePage>(federation.call(seller->papers, Federation::get(path)));
  ASSERT_EQ(first.messages.size(), 4U);
  EXPECT_TRUE(first.more);
  const auto after = Federation::read<wire::MessagePage>(
      federation.call(seller->papers, Federation::get(path + "?after=6")));
  ASSERT_EQ(after.messages.size(), 2U);
  EXPECT_EQ(after.messages[0].sequence, 7);
  EXPECT_FALSE(after.more);
  const auto rest = Federation::read<wire::MessagePage>(federation.call(
      seller->papers, Federation::post(path + "/taken", model::write_json(wire::TakenRequest{7}))));
  ASSERT_EQ(rest.messages.size(), 1U) << "what waits after them";
  EXPECT_EQ(rest.messages[0].sequence, 8);
}

TEST(RelayOverTheWire, WhatTheBrokerHasTakenSurvivesItsSuddenEnd) {
  Members members;
  test::BrokerProcess process(members.data(), {"member_rate=0", "stranger_rate=0", "log=error"});
  process.start();
  members.set_port(process.port());
  Pair pair(members);
  for (int round = 0; round < 4; ++round) {
    const int first = round * 30 + 1;
    for (const std::string& body : numbered(first, first + 29)) {
      ASSERT_TRUE(pair.at_buyer.send(pair.id, body));
    }
    pair.to_seller.wait_for(static_cast<size_t>(first + 9));
    process.kill();
    process.start();
    EXPECT_EQ(pair.to_seller.wait_for(static_cast<size_t>(first + 29)), numbered(1, first + 29));
  }
  EXPECT_EQ(pair.at_seller.counts().missed, 0);
}

}  // namespace
}  // namespace spillway
