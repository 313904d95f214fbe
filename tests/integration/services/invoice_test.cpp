// Readings and invoices over the wire, on a real store.
#include <gtest/gtest.h>

#include "live/federation.h"
#include "support/comes_true.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using market::InvoiceLine;
using market::LineReason;
using model::Role;
using test::Federation;
using test::Papers;

class Invoices : public testing::Test {
 protected:
  Invoices()
      : seller(federation.join("edge-1", {Role::provider})),
        buyer(federation.join("edge-2", {Role::consumer})),
        rival(federation.join("edge-3", {Role::consumer})) {
    model::Pool pool = test::plain_pool();
    pool.capacity = test::plain_shape().times(40);
    EXPECT_EQ(
        federation
            .call(seller,
                  Federation::put("/v1/pools/edge-1/standard",
                                  model::write_json(wire::PoolPut{pool, 1, minutes(30), {}, 0, 0})))
            .status,
        200);
    // So dear that every millisecond counts.
    model::Offer offer = test::plain_offer();
    offer.price.basis = model::PriceBasis::pay_per_use;
    offer.price.unit_hour = 7'777'777'777;
    offer.price.cpu_hour = 3'333'333'333;
    offer.price.minimum_term = hours(1);
    EXPECT_EQ(federation
                  .call(seller, Federation::put("/v1/offers/" + offer.id.text,
                                                model::write_json(wire::OfferPut{offer, 1})))
                  .status,
              204);
  }

  net::Response act(const Papers& who, const std::string& id, const std::string& verb,
                    const std::string& body = {}) {
    return federation.call(who, Federation::post("/v1/contracts/" + id + "/" + verb, body));
  }
  std::string bought(const Papers& who, int32_t units) {
    net::Request request =
        Federation::post("/v1/holds", model::write_json(wire::HoldRequest{
                                          {{OfferId("edge-1/small"), units, units}}, minutes(5)}));
    request.headers.push_back({"Idempotency-Key", fmt::format("key-{}", ++keys_)});
    const auto held = Federation::read<wire::HoldAnswer>(federation.call(who, request));
    const std::string id = held.grants.at(0).contract.text;
    const auto confirmed = act(who, id, "confirm");
    EXPECT_EQ(confirmed.status, 200);
    // What has run for no time at all costs nothing and used nothing, and this machine may be fast.
    const Instant started = *Federation::read<wire::ContractAnswer>(confirmed).contract.started;
    EXPECT_TRUE(test::comes_true([&] { return test::wall_clock() > started + milliseconds(1); }));
    return id;
  }
  net::Response meter(const Papers& who, const std::string& id, int64_t core_ms) {
    return act(who, id, "usage",
               model::write_json(wire::UsageRequest{{{0, {.cpu_core_ms = core_ms}}}}));
  }
  net::Response get(const Papers& who, const std::string& query = {}) {
    return federation.call(who, Federation::get("/v1/invoices" + query));
  }
  // All parts of it.
  std::vector<InvoiceLine> lines(const Papers& who, const std::string& query, int limit) {
    std::vector<InvoiceLine> all;
    std::string after;
    do {
      const auto part = Federation::read<wire::InvoiceAnswer>(
          get(who, fmt::format("?limit={}{}&after={}", limit, query, after)));
      for (const InvoiceLine& line : part.lines) all.push_back(line);
      after = part.next;
    } while (!after.empty());
    return all;
  }

  Federation federation;
  Papers seller;
  Papers buyer;
  Papers rival;
  int keys_ = 0;
};

int64_t sum_of(const std::vector<InvoiceLine>& lines) {
  int64_t sum = 0;
  for (const InvoiceLine& line : lines) sum += line.amount;
  return sum;
}

int64_t charged_in(const net::Response& response) {
  int64_t sum = 0;
  for (const model::Unit& unit : Federation::read<wire::ContractAnswer>(response).contract.units) {
    sum += unit.charged;
  }
  return sum;
}

TEST_F(Invoices, BothSidesReadTheSameLinesAndTheySumToWhatWasCharged) {
  std::set<std::string> ids;
  int64_t charged = 0;
  Instant first;
  Instant last;
  for (int i = 0; i < 5; ++i) {
    const std::string id = bought(buyer, 2);
    ids.insert(id);
    if (i % 2 == 0) {
      EXPECT_EQ(meter(seller, id, 1).status, 200);
    }
    const auto released = act(buyer, id, "release");
    charged += charged_in(released);
    const auto contract = Federation::read<wire::ContractAnswer>(released).contract;
    if (i == 0) first = *contract.started;
    last = contract.deadline;
  }
  ASSERT_GT(charged, 0);
  const auto owed = lines(buyer, "", 100);
  EXPECT_EQ(sum_of(owed), charged);
  EXPECT_EQ(lines(seller, "", 100), owed);
  EXPECT_EQ(lines(federation.boss(), "&cluster=edge-2", 100), owed);
  EXPECT_EQ(lines(buyer, "&side=bought", 100), owed);
  EXPECT_TRUE(lines(buyer, "&side=sold", 100).empty());
  EXPECT_TRUE(lines(rival, "", 100).empty());
  for (const int limit : {1, 2, 3}) EXPECT_EQ(lines(buyer, "", limit), owed) << limit;
  // In two windows, wherever they meet.
  const Instant between{(first.ms + last.ms) / 2};
  EXPECT_EQ(sum_of(lines(buyer, "&until=" + to_text(between), 2)) +
                sum_of(lines(buyer, "&from=" + to_text(between), 2)),
            charged);
  std::set<LineReason> reasons;
  for (const InvoiceLine& line : owed) {
    reasons.insert(line.why);
    EXPECT_FALSE(line.running);
  }
  EXPECT_EQ(reasons.size(), 3u) << "time, minimum term and use";
}

TEST_F(Invoices, WhatRunsIsInItBeforeWhatHasEnded) {
  const std::string ended = bought(buyer, 1);
  ASSERT_EQ(act(buyer, ended, "release").status, 200);
  std::set<std::string> live{bought(buyer, 1), bought(buyer, 1), bought(buyer, 1)};
  for (const int limit : {1, 2, 3, 4, 10}) {
    std::vector<std::string> seen;
    for (const InvoiceLine& line : lines(buyer, "", limit)) {
      if (seen.empty() || seen.back() != line.contract.text) seen.push_back(line.contract.text);
      EXPECT_EQ(line.running, live.contains(line.contract.text));
    }
    ASSERT_EQ(seen.size(), 4u) << limit;
    EXPECT_EQ(seen.back(), ended) << limit;
  }
  const auto told = Federation::read<wire::InvoiceAnswer>(get(buyer));
  ASSERT_EQ(told.totals.size(), 1u);
  EXPECT_EQ(told.totals[0].counterpart, ClusterId("edge-1"));
  EXPECT_GT(told.totals[0].settled, 0);
  EXPECT_GT(told.totals[0].running, 0);
}

TEST_F(Invoices, AreOfOnesOwnAndOfATimeThatThereIs) {
  EXPECT_EQ(get(rival, "?cluster=edge-2").status, 404);
  EXPECT_EQ(get(buyer, "?cluster=edge-2").status, 200);
  EXPECT_EQ(get(federation.boss()).status, 422) << "it has to say whose";
  EXPECT_EQ(get(federation.boss(), "?cluster=").status, 422);
  EXPECT_EQ(get(federation.boss(), "?cluster=nobody").status, 200) << "a name that never traded";
  EXPECT_EQ(get(buyer, "?from=yesterday").status, 422);
  EXPECT_EQ(get(buyer, "?from=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z").status, 422);
  EXPECT_EQ(get(buyer, "?side=both").status, 422);
  for (const std::string after : {"x", "ended/", "ended/x/y", "ended/12", "live"}) {
    EXPECT_EQ(get(buyer, "?after=" + after).status, 422) << after;
  }
}

TEST_F(Invoices, OnlyTheProviderMetersAndReadingsOnlyGrow) {
  const std::string id = bought(buyer, 1);
  EXPECT_EQ(meter(buyer, id, 1).status, 403);
  EXPECT_EQ(meter(seller, id, 1).status, 200);
  EXPECT_EQ(meter(seller, id, 1).status, 200);
  const auto less = meter(seller, id, 0);
  EXPECT_EQ(less.status, 409);
  EXPECT_NE(less.body.find("urn:spillway:problem:stale"), std::string::npos) << less.body;
  EXPECT_EQ(act(seller, id, "usage", R"({"version":1,"used":[]})").status, 422);
  ASSERT_EQ(act(buyer, id, "release").status, 200);
  EXPECT_EQ(meter(seller, id, 2).status, 410);
}

TEST_F(Invoices, AUnitWithinItsMinimumTermIsPaidForAnyway) {
  const std::string id = bought(buyer, 2);
  const auto shown = Federation::read<wire::ContractAnswer>(
      federation.call(buyer, Federation::get("/v1/contracts/" + id)));
  EXPECT_EQ(shown.paid_anyway_until, *shown.contract.started + hours(1));
  wire::QueryRequest query;
  query.intent.shape = test::plain_shape();
  const auto ask = [&](const Papers& who) {
    return Federation::read<wire::QueryAnswer>(
        federation.call(who, Federation::post("/v1/query", model::write_json(query))));
  };
  EXPECT_TRUE(ask(buyer).paid.empty());
  query.paid = true;
  const auto told = ask(buyer);
  ASSERT_EQ(told.paid.size(), 1u);
  EXPECT_EQ(told.paid[0].contract.text, id);
  EXPECT_EQ(told.paid[0].units, 2);
  EXPECT_EQ(told.paid[0].until, shown.paid_anyway_until);
  EXPECT_EQ(told.paid[0].marginal_rate, shown.contract.rate - shown.contract.price.unit_hour);
  EXPECT_TRUE(ask(rival).paid.empty());
  query.intent.shape.cpu_millis *= 100;
  EXPECT_TRUE(ask(buyer).paid.empty()) << "it would not do";
}

}  // namespace
}  // namespace spillway
