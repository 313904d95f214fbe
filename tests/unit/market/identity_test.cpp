// Tokens and identities: who may join, once; who may renew; and what revoking ends.
#include <gtest/gtest.h>

#include "support/sample_records.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::Role;

const model::Roles k_both{Role::provider, Role::consumer};
const model::Roles k_operator{Role::operator_};

class Identities : public testing::Test {
 protected:
  Result<Answer> make(const std::string& id, const std::string& name, model::Roles roles,
                      model::Labels labels = {}, Duration ttl = hours(1)) {
    return book.run(MakeToken{id, name, std::move(roles), std::move(labels), ttl});
  }
  Result<Answer> join(const std::string& token, int key, int certificate = 1) {
    return book.run(
        Join{token, sample_key(key), sample_certificate(certificate), book.now + hours(24)});
  }
  Result<Answer> renew(const std::string& name, int key, int new_key, int certificate) {
    return book.run(Recertify{name, sample_key(key), sample_key(new_key),
                              sample_certificate(certificate), book.now + hours(24)});
  }
  const model::Identity& identity(const std::string& name) {
    const auto* found = book.get<model::Identity>(identity_key(name));
    SPILLWAY_CHECK(found != nullptr, "no such identity");
    return *found;
  }
  // Somebody who joined with the key of that number.
  void enrol(const std::string& name, int key, model::Roles roles = k_both) {
    make("token-of-" + name, name, std::move(roles)).value();
    join("token-of-" + name, key).value();
  }
  // The seller with key 1 has three units on sale, the buyer with key 2 has bought this one.
  ContractId sell_one() {
    enrol(k_seller.text, 1);
    enrol(k_buyer.text, 2);
    book.publish(pool_of(3)).value();
    book.publish(minute_offer()).value();
    return book.active(k_buyer, 1);
  }

  TestBook book;
};

TEST_F(Identities, ATokenIsMadeOnceAndFoundUntilItIsCancelled) {
  const auto made = make("t-1", "edge-7", k_both, {{"tier", "gold"}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->token->expires, book.now + hours(1));
  EXPECT_EQ(book.rows().events().back().kind, EventKind::token_made);
  EXPECT_EQ(book.rows().events().back().subject, "t-1");
  EXPECT_TRUE(book.rows().events().back().buyer.empty());

  book.pass(seconds(5));
  const auto before = book.picture();
  const auto repeated = make("t-1", "edge-7", k_both, {{"tier", "gold"}});
  ASSERT_TRUE(repeated);
  EXPECT_TRUE(repeated->replayed);
  EXPECT_EQ(repeated->token, made->token);
  EXPECT_TRUE(is_refused(make("t-1", "edge-8", k_both), Code::conflict));
  EXPECT_EQ(book.picture(), before);

  EXPECT_EQ(book.run(FindToken{"t-1"})->token, made->token);
  ASSERT_TRUE(book.run(CancelToken{"t-1"}));
  EXPECT_EQ(book.rows().events().back().kind, EventKind::token_cancelled);
  EXPECT_TRUE(is_refused(book.run(CancelToken{"t-1"}), Code::not_found));
  const auto cancelled = book.run(FindToken{"t-1"});
  ASSERT_TRUE(is_refused(cancelled, Code::not_found));
  EXPECT_EQ(cancelled.error(), book.run(FindToken{"never-made"}).error());
  EXPECT_TRUE(is_refused(join("t-1", 1), Code::denied));
}

TEST_F(Identities, ATokenThatMakesNoSenseIsRefused) {
  EXPECT_TRUE(is_refused(make("", "edge-7", k_both), Code::invalid));
  EXPECT_TRUE(is_refused(make("With/Slash", "edge-7", k_both), Code::invalid));
  EXPECT_TRUE(is_refused(make(std::string(65, 'a'), "edge-7", k_both), Code::invalid));
  EXPECT_TRUE(is_refused(make("t-1", "Edge 7", k_both), Code::invalid));
  EXPECT_TRUE(is_refused(make("t-1", "edge-7", {}), Code::invalid));
  EXPECT_TRUE(is_refused(make("t-1", "edge-7", {Role::consumer, Role::provider}), Code::invalid));
  EXPECT_TRUE(is_refused(make("t-1", "edge-7", {Role::consumer, Role::viewer}), Code::invalid));
  EXPECT_TRUE(is_refused(make("t-1", "boss", k_operator, {{"tier", "gold"}}), Code::invalid));
  EXPECT_TRUE(is_refused(make("t-1", "edge-7", k_both, {{"b", ""}, {"a", ""}}), Code::invalid));
  EXPECT_TRUE(is_refused(make("t-1", "edge-7", k_both, {}, seconds(59)), Code::invalid));
  EXPECT_TRUE(
      is_refused(make("t-1", "edge-7", k_both, {}, hours(24 * 7) + seconds(1)), Code::invalid));
  EXPECT_TRUE(book.picture().empty());
}

TEST_F(Identities, JoiningMakesAnIdentityAndTheAccountOfACluster) {
  make("t-1", "edge-7", k_both, {{"tier", "gold"}}).value();
  const auto joined = join("t-1", 1, 5);
  ASSERT_TRUE(joined) << joined.error().message();
  EXPECT_FALSE(joined->replayed);
  EXPECT_EQ(*joined->identity, identity("edge-7"));
  EXPECT_EQ(joined->identity->key, sample_key(1));
  EXPECT_EQ(joined->identity->certificate, sample_certificate(5));
  EXPECT_EQ(joined->identity->since, book.now);
  EXPECT_TRUE(joined->identity->has(Role::provider));
  EXPECT_FALSE(joined->identity->has(Role::operator_));
  EXPECT_EQ(book.account(ClusterId("edge-7")).cluster.labels, (model::Labels{{"tier", "gold"}}));
  EXPECT_EQ(book.count_events(EventKind::cluster_put), 1);
  EXPECT_EQ(book.rows().events().back().kind, EventKind::identity_joined);
  EXPECT_EQ(book.rows().events().back().buyer, ClusterId("edge-7"));
  EXPECT_TRUE(is_refused(book.run(CancelToken{"t-1"}), Code::conflict));
}

TEST_F(Identities, AnOperatorHasNoAccount) {
  enrol("boss", 1, k_operator);
  EXPECT_EQ(book.get<AccountRecord>(account_key(ClusterId("boss"))), nullptr);
  EXPECT_TRUE(book.rows().events().back().buyer.empty());
}

TEST_F(Identities, TheSameKeyGetsTheSameCertificateAndAnotherNever) {
  make("t-1", "edge-7", k_both).value();
  join("t-1", 1, 5).value();
  const auto before = book.picture();
  const auto again = join("t-1", 1, 6);  // the broker has made another one meanwhile
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->identity->certificate, sample_certificate(5));
  const auto thief = join("t-1", 2, 7);
  ASSERT_TRUE(is_refused(thief, Code::denied));
  EXPECT_NE(thief.error().reason.find("used already"), std::string::npos);
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Identities, ATokenEndsAndIsForgotten) {
  make("used", "edge-7", k_both).value();
  make("unused", "edge-8", k_both).value();
  book.pass(hours(1) - milliseconds(1));
  join("used", 1, 5).value();
  book.pass(milliseconds(1));
  EXPECT_TRUE(is_refused(join("unused", 2), Code::gone));
  EXPECT_TRUE(join("used", 1)->replayed);  // the answer may have been lost
  EXPECT_TRUE(is_refused(join("used", 2), Code::denied));
  book.pass(hours(24) - milliseconds(1));
  book.attend();
  EXPECT_TRUE(join("used", 1)->replayed);
  book.pass(milliseconds(1));
  book.attend();
  EXPECT_TRUE(is_refused(join("used", 1), Code::denied));
  EXPECT_TRUE(is_refused(book.run(FindToken{"unused"}), Code::not_found));
  EXPECT_EQ(identity("edge-7").key, sample_key(1));
}

TEST_F(Identities, JoiningAgainKeepsQuotaAndBudget) {
  model::Cluster cluster;
  cluster.id = ClusterId("edge-7");
  cluster.quota.units = 5;
  cluster.budget = model::Budget{Money{1'000'000, Currency{}}, book.now};
  book.enrol(cluster);
  make("t-1", "edge-7", k_both, {{"tier", "gold"}}).value();
  join("t-1", 1).value();
  const model::Cluster& after = book.account(ClusterId("edge-7")).cluster;
  EXPECT_EQ(after.quota, cluster.quota);
  EXPECT_EQ(after.budget, cluster.budget);
  EXPECT_EQ(after.labels, (model::Labels{{"tier", "gold"}}));
}

TEST_F(Identities, AClusterNeverBecomesAnOperatorNorTheOtherWayRound) {
  enrol("edge-7", 1);
  enrol("boss", 2, k_operator);
  book.enrol(ClusterId("edge-8"));  // by the operator's hand, without an identity
  EXPECT_TRUE(is_refused(make("t-1", "edge-7", k_operator), Code::conflict));
  EXPECT_TRUE(is_refused(make("t-1", "edge-8", {Role::viewer}), Code::conflict));
  EXPECT_TRUE(is_refused(make("t-1", "boss", k_both), Code::conflict));
  EXPECT_TRUE(make("t-1", "boss", {Role::viewer}));
  // Two tokens for one name, made while it was nobody's: the second to come is too late.
  make("t-2", "edge-9", k_both).value();
  make("t-3", "edge-9", k_operator).value();
  join("t-2", 3).value();
  EXPECT_TRUE(is_refused(join("t-3", 4), Code::conflict));
}

TEST_F(Identities, RenewingNeedsTheKeyOnRecord) {
  enrol("edge-7", 1);
  ASSERT_TRUE(renew("edge-7", 1, 1, 11));  // the same key, another certificate
  EXPECT_EQ(identity("edge-7").certificate, sample_certificate(11));
  ASSERT_TRUE(renew("edge-7", 1, 2, 12));
  EXPECT_EQ(identity("edge-7").key, sample_key(2));
  EXPECT_EQ(book.rows().events().back().kind, EventKind::identity_renewed);
  EXPECT_TRUE(is_refused(renew("edge-7", 1, 3, 13), Code::denied));
  EXPECT_TRUE(is_refused(renew("edge-7", 3, 3, 13), Code::denied));
  EXPECT_TRUE(is_refused(renew("nobody", 1, 1, 13), Code::denied));
}

TEST_F(Identities, ARenewalWhoseAnswerWasLostMayBeAskedForAgain) {
  enrol("edge-7", 1);
  renew("edge-7", 1, 2, 12).value();
  const size_t events = book.rows().events().size();
  const auto same = renew("edge-7", 1, 2, 12);  // the broker itself did not know the outcome
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->replayed);
  EXPECT_EQ(book.rows().events().size(), events);
  const auto later = renew("edge-7", 1, 2, 13);  // the client did not hear
  ASSERT_TRUE(later);
  EXPECT_EQ(later->identity->certificate, sample_certificate(13));
  EXPECT_EQ(identity("edge-7").key, sample_key(2));
}

TEST_F(Identities, WhoIsRevokedStaysSoUntilItJoinsAnew) {
  enrol("edge-7", 1);
  EXPECT_TRUE(is_refused(book.run(Revoke{"nobody"}), Code::not_found));
  ASSERT_TRUE(book.run(Revoke{"edge-7"}));
  EXPECT_EQ(identity("edge-7").revoked, book.now);
  EXPECT_EQ(book.rows().events().back().kind, EventKind::identity_revoked);
  const auto before = book.picture();
  book.pass(minutes(1));
  EXPECT_TRUE(book.run(Revoke{"edge-7"})->replayed);
  EXPECT_TRUE(is_refused(renew("edge-7", 1, 1, 12), Code::denied));
  EXPECT_TRUE(is_refused(renew("edge-7", 1, 2, 12), Code::denied));
  EXPECT_EQ(book.picture(), before);

  make("t-2", "edge-7", k_both).value();
  join("t-2", 9).value();
  EXPECT_FALSE(identity("edge-7").revoked);
  EXPECT_TRUE(is_refused(renew("edge-7", 1, 1, 12), Code::denied));  // the old key is worth nothing
  EXPECT_TRUE(renew("edge-7", 9, 9, 12));
}

TEST_F(Identities, ARevokedProviderSellsNothingAndItsContractsStay) {
  const ContractId sold = sell_one();
  book.publish(pool_of(3, "second")).value();
  const int64_t sequence = book.pool().sequence;
  const model::Pool pool = book.pool().pool;

  ASSERT_TRUE(book.run(Revoke{k_seller.text}));
  EXPECT_TRUE(book.pool().withdrawn);
  EXPECT_TRUE(book.pool(pool_of(3, "second").id).withdrawn);
  EXPECT_EQ(book.pool().sequence, sequence);
  EXPECT_EQ(book.count_events(EventKind::pool_withdrawn), 2);
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
  EXPECT_TRUE(book.contract(sold).is_live());
  EXPECT_TRUE(book.run(Renew{k_buyer, sold}));
  // What was on its way meanwhile comes too late.
  EXPECT_TRUE(is_refused(book.publish(pool_of(3)), Code::denied));
  EXPECT_TRUE(is_refused(book.publish(pool_of(3, "third")), Code::denied));
  EXPECT_TRUE(is_refused(book.publish(minute_offer("other")), Code::denied));

  make("t-2", k_seller.text, k_both).value();
  join("t-2", 3).value();
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));  // until it is published again
  ASSERT_TRUE(book.run(PublishPool{
      k_seller, pool, sequence + 1, minutes(1), {}, book.epoch(), book.pool().report + 1}));
  EXPECT_TRUE(book.hold(k_buyer, 1));
}

TEST_F(Identities, ARevokedBuyerBuysNothingUntilItJoinsAnew) {
  const ContractId bought = sell_one();

  ASSERT_TRUE(book.run(Revoke{k_buyer.text}));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::denied));
  EXPECT_EQ(book.picture(), before);
  EXPECT_TRUE(book.contract(bought).is_live());

  make("t-2", k_buyer.text, k_both).value();
  join("t-2", 3).value();
  EXPECT_TRUE(book.hold(k_buyer, 1));
}

TEST_F(Identities, ARevokedBuyerKeepsNothingLongerAndMayGiveBack) {
  const ContractId bought = sell_one();
  const ContractId held = book.hold(k_buyer, 1)->grants.front().contract;

  ASSERT_TRUE(book.run(Revoke{k_buyer.text}));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(Confirm{k_buyer, held}), Code::denied));
  EXPECT_TRUE(is_refused(book.run(Extend{k_buyer, held, minutes(2)}), Code::denied));
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, bought}), Code::denied));
  EXPECT_EQ(book.picture(), before);
  EXPECT_TRUE(book.run(Release{k_buyer, bought, {}}));
}

TEST_F(Identities, ATokenFromBeforeARevocationAdmitsNobody) {
  enrol("edge-7", 1);
  make("t-2", "edge-7", k_both).value();
  book.pass(seconds(1));
  ASSERT_TRUE(book.run(Revoke{"edge-7"}));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(join("t-2", 2), Code::denied));
  EXPECT_EQ(book.picture(), before);

  make("t-3", "edge-7", k_both).value();
  EXPECT_TRUE(join("t-3", 2));
}

TEST_F(Identities, WhatIsNoKeyOrCertificateIsRefused) {
  make("t-1", "edge-7", k_both).value();
  const Join good{"t-1", sample_key(1), sample_certificate(1), book.now + hours(1)};
  for (const auto& bend : std::vector<std::function<void(Join&)>>{
           [](Join& j) { j.key.clear(); }, [](Join& j) { j.key[5] = 'G'; },
           [](Join& j) { j.certificate.clear(); },
           [](Join& j) { j.certificate = std::string(20'000, 'a'); },
           [](Join& j) { j.not_after = {-1}; }}) {
    Join bad = good;
    bend(bad);
    EXPECT_TRUE(is_refused(book.run(bad), Code::invalid));
  }
  EXPECT_TRUE(book.run(good));
}

}  // namespace
}  // namespace spillway::market
