// Buying and selling over the wire, from the first publication to the bill.
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "live/federation.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::Federation;
using test::Papers;

class Trade : public testing::Test {
 protected:
  Trade()
      : seller(federation.join("edge-1", {Role::provider})),
        buyer(federation.join("edge-2", {Role::consumer})) {}

  net::Response put_pool(int64_t sequence, int64_t units, int64_t epoch = 0, int64_t report = 0) {
    model::Pool pool = test::plain_pool();
    pool.node = test::plain_shape();
    pool.capacity = test::plain_shape().times(units);
    return federation.call(seller,
                           Federation::put("/v1/pools/edge-1/standard",
                                           model::write_json(wire::PoolPut{
                                               pool, sequence, minutes(30), {}, epoch, report})));
  }
  net::Response put_offer(const model::Offer& offer = test::plain_offer()) {
    return federation.call(seller, Federation::put("/v1/offers/" + offer.id.text,
                                                   model::write_json(wire::OfferPut{offer, 1})));
  }
  void open_shop(int64_t units) {
    ASSERT_EQ(put_pool(1, units).status, 200);
    ASSERT_EQ(put_offer().status, 204);
  }
  net::Response hold(const std::string& key, int32_t units, int32_t at_least) {
    net::Request request = Federation::post(
        "/v1/holds", model::write_json(wire::HoldRequest{
                         {{OfferId("edge-1/small"), units, at_least}}, minutes(5)}));
    request.headers.push_back({"Idempotency-Key", key});
    return federation.call(buyer, request);
  }
  std::string held(const std::string& key, int32_t units) {
    return Federation::read<wire::HoldAnswer>(hold(key, units, units)).grants.at(0).contract.text;
  }
  net::Response act(const Papers& who, const std::string& id, const std::string& verb,
                    const std::string& body = {}) {
    return federation.call(who, Federation::post("/v1/contracts/" + id + "/" + verb, body));
  }

  Federation federation;
  Papers seller;
  Papers buyer;
};

TEST_F(Trade, WhatIsPublishedIsFoundAtOnceAndSoldOnce) {
  open_shop(2);
  wire::QueryRequest query;
  query.intent.shape = test::plain_shape();
  const auto ranking = Federation::read<wire::QueryAnswer>(
      federation.call(buyer, Federation::post("/v1/query", model::write_json(query))));
  ASSERT_EQ(ranking.candidates.size(), 1U) << ranking.why;
  EXPECT_EQ(ranking.candidates[0].free_units, 2);

  const auto first = hold("a", 2, 1);
  EXPECT_EQ(first.status, 201) << first.body;
  const auto again = hold("a", 2, 1);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(Federation::read<wire::HoldAnswer>(first).grants,
            Federation::read<wire::HoldAnswer>(again).grants);
  EXPECT_EQ(hold("a", 1, 1).status, 422) << "the same key with another body";
  const auto more = hold("b", 1, 1);
  EXPECT_EQ(more.status, 409);
  EXPECT_NE(more.body.find("urn:spillway:problem:taken"), std::string::npos) << more.body;
}

TEST_F(Trade, AContractGoesUpTheLadderAndIsSeenByItsParties) {
  open_shop(3);
  const std::string id = held("a", 2);
  EXPECT_EQ(act(buyer, id, "extend", R"({"version":1,"ttl":"6m"})").status, 200);
  const auto active = Federation::read<wire::ContractAnswer>(act(buyer, id, "confirm"));
  EXPECT_EQ(active.contract.state, model::ContractState::active);
  EXPECT_EQ(act(buyer, id, "renew").status, 200);
  EXPECT_EQ(act(seller, id, "renew").status, 403) << "it is the buyer's to renew";
  for (const Papers* who : {&seller, &buyer}) {
    const auto page = Federation::read<wire::ContractPage>(
        federation.call(*who, Federation::get("/v1/contracts")));
    ASSERT_EQ(page.contracts.size(), 1U) << who->name;
    EXPECT_EQ(page.contracts[0].id.text, id);
  }
  const auto less = Federation::read<wire::ContractAnswer>(
      act(buyer, id, "release", R"({"version":1,"units":[1]})"));
  EXPECT_EQ(less.contract.live_units(), 1);
  EXPECT_EQ(act(seller, id, "notice").status, 200);
  EXPECT_EQ(act(buyer, id, "release").status, 200);
  const auto closed = act(buyer, id, "confirm");
  EXPECT_EQ(closed.status, 410) << closed.body;
}

TEST_F(Trade, AnUnchangedThingIsNotSentTwice) {
  open_shop(1);
  net::Request request = Federation::get("/v1/pools/edge-1/standard");
  const auto first = federation.call(seller, request);
  const std::string* tag = net::find_header(first.headers, "ETag");
  ASSERT_NE(tag, nullptr);
  request.headers.push_back({"If-None-Match", *tag});
  EXPECT_EQ(federation.call(seller, request).status, 304);
  ASSERT_EQ(put_pool(2, 5).status, 200);
  EXPECT_EQ(federation.call(seller, request).status, 200);
}

TEST_F(Trade, TheOperatorChangesAClusterOnlyIfItIsWhatItWas) {
  net::Request put =
      Federation::put("/v1/clusters/edge-2", R"({"version":1,"id":"edge-2","quota":{"units":1}})");
  const auto before = federation.call(federation.boss(), Federation::get("/v1/clusters/edge-2"));
  put.headers.push_back({"If-Match", *net::find_header(before.headers, "ETag")});
  EXPECT_EQ(federation.call(federation.boss(), put).status, 200);
  EXPECT_EQ(federation.call(federation.boss(), put).status, 412) << "it has changed since";
  open_shop(3);
  const auto refused = hold("a", 2, 2);
  EXPECT_EQ(refused.status, 429) << refused.body;
}

TEST_F(Trade, PagesPutTogetherAreTheWhole) {
  open_shop(30);
  std::set<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.insert(held(fmt::format("k{}", i), 1));
  for (const Papers& who : {seller, buyer, federation.boss()}) {
    std::vector<std::string> seen;
    std::string after;
    do {
      const auto page = Federation::read<wire::ContractPage>(federation.call(
          who, Federation::get(fmt::format("/v1/contracts?limit=3&after={}", after))));
      EXPECT_LE(page.contracts.size(), 3U);
      for (const auto& contract : page.contracts) seen.push_back(contract.id.text);
      after = page.next;
    } while (!after.empty());
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), ids) << who.name;
    EXPECT_EQ(seen.size(), ids.size()) << who.name;
  }
}

TEST_F(Trade, GarbageIsRefusedWithAReasonAndChangesNothing) {
  open_shop(1);
  const auto post = [&](const std::string& target, const std::string& body) {
    net::Request request = Federation::post(target, body);
    request.headers.push_back({"Idempotency-Key", "k"});
    return federation.call(buyer, request);
  };
  EXPECT_EQ(post("/v1/holds", "{").status, 400);
  EXPECT_EQ(post("/v1/holds", "[]").status, 422);
  const auto near = post("/v1/holds", R"({"version":1,"linse":[]})");
  EXPECT_EQ(near.status, 422);
  EXPECT_NE(near.body.find("lines"), std::string::npos) << "it says what was probably meant";
  EXPECT_EQ(post("/v1/holds", R"({"version":9,"lines":[]})").status, 422);
  EXPECT_EQ(post("/v1/contracts/%2e%2e/confirm", "").status, 400);
  EXPECT_EQ(federation.call(buyer, Federation::post("/v1/holds", "{}")).status, 428);
  EXPECT_EQ(post("/v1/holds", std::string(3'000'000, ' ')).status, 413);
  EXPECT_EQ(federation.call(buyer, Federation::get("/v1/contracts?limit=0")).status, 422);
  EXPECT_EQ(federation.call(seller, Federation::get("/v1/pools/edge-1/standard")).status, 200);
}

TEST_F(Trade, TheAuditSaysWhoDidWhatByWhichRequest) {
  open_shop(1);
  const auto answer = hold("a", 1, 1);
  const std::string* request = net::find_header(answer.headers, "X-Request-Id");
  ASSERT_NE(request, nullptr);
  const auto page = Federation::read<wire::EventPage>(
      federation.call(federation.boss(), Federation::get("/v1/audit?after=0&limit=1000")));
  const auto found =
      std::find_if(page.events.begin(), page.events.end(),
                   [&](const wire::EventBody& event) { return event.request == *request; });
  ASSERT_NE(found, page.events.end());
  EXPECT_EQ(found->kind, "contract-held");
  EXPECT_EQ(found->by, "edge-2");
}

}  // namespace
}  // namespace spillway
