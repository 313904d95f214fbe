// Bad input: a clear error, nothing changed.
#include <limits>

#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using test::plain_shape;

constexpr int64_t k_huge = std::numeric_limits<int64_t>::max();
constexpr int32_t k_huge_units = std::numeric_limits<int32_t>::max();

struct Case {
  std::string name;
  Command command;
  Code code = Code::invalid;
};

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    book.open_market(4);
    hold_id = book.held(k_buyer, 1);
    active_id = book.active(k_buyer, 2);
  }

  void expect_refused(const std::vector<Case>& cases) {
    for (const Case& one : cases) {
      const auto before = book.picture();
      const size_t events = book.rows().events().size();
      EXPECT_TRUE(is_refused(book.run(one.command), one.code))
          << name_of(one.command) << ": " << one.name;
      EXPECT_EQ(book.picture(), before) << name_of(one.command) << ": " << one.name;
      EXPECT_EQ(book.rows().events().size(), events) << one.name;
    }
  }

  Command hold(const std::function<void(Hold&)>& bend) {
    Hold command = book.hold_of(k_buyer, {{minute_offer().id, 1, 1}});
    bend(command);
    command.fresh.resize(command.lines.size(), book.fresh_id());
    return command;
  }
  Command pool(const std::function<void(PublishPool&)>& bend) {
    PublishPool command{k_seller, pool_of(4), 9, minutes(1), {}};
    bend(command);
    return command;
  }
  Command offer(const std::function<void(PublishOffer&)>& bend) {
    PublishOffer command{k_seller, minute_offer("new"), 1};
    bend(command);
    return command;
  }
  Command cluster(const std::function<void(model::Cluster&)>& bend) {
    PutCluster command{test::plain_cluster()};
    bend(command.cluster);
    return command;
  }

  TestBook book;
  ContractId hold_id;
  ContractId active_id;
};

TEST_F(BadInput, OfHolds) {
  const OfferId id = minute_offer().id;
  expect_refused({
      {"no key", hold([](Hold& h) { h.key = ""; })},
      {"overlong key", hold([](Hold& h) { h.key = std::string(129, 'k'); })},
      {"key with a space", hold([](Hold& h) { h.key = "a b"; })},
      {"key with a newline", hold([](Hold& h) { h.key = "a\nb"; })},
      {"key with a zero", hold([](Hold& h) { h.key = std::string("a\0b", 3); })},
      {"key beyond ASCII", hold([](Hold& h) { h.key = "clé"; })},
      {"no lines", hold([](Hold& h) { h.lines.clear(); })},
      {"too many lines", hold([](Hold& h) {
         for (int i = 0; i < 16; ++i)
           h.lines.push_back({OfferId("edge-1/x" + std::to_string(i)), 1, 1});
       })},
      {"an offer twice", hold([&](Hold& h) {
         h.lines.push_back({id, 1, 1});
       })},
      {"no units", hold([](Hold& h) { h.lines[0].units = 0; })},
      {"negative units", hold([](Hold& h) { h.lines[0].units = -1; })},
      {"absurdly many units", hold([](Hold& h) { h.lines[0].units = k_huge_units; })},
      {"one unit too many", hold([](Hold& h) { h.lines[0].units = 1001; })},
      {"at least none", hold([](Hold& h) { h.lines[0].at_least = 0; })},
      {"at least a negative number", hold([](Hold& h) { h.lines[0].at_least = -3; })},
      {"at least more than wanted", hold([](Hold& h) { h.lines[0].at_least = 2; })},
      {"no time", hold([](Hold& h) { h.ttl = {}; })},
      {"negative time", hold([](Hold& h) { h.ttl = seconds(-5); })},
      {"less than a second", hold([](Hold& h) { h.ttl = milliseconds(999); })},
      {"too long", hold([](Hold& h) { h.ttl = minutes(10) + milliseconds(1); })},
      {"absurdly long", hold([](Hold& h) { h.ttl = {k_huge}; })},
      {"unknown offer", hold([](Hold& h) { h.lines[0].offer = OfferId("edge-1/none"); }),
       Code::not_found},
      {"empty offer", hold([](Hold& h) { h.lines[0].offer = OfferId(""); }), Code::not_found},
      {"overlong offer",
       hold([](Hold& h) { h.lines[0].offer = OfferId(std::string(100'000, 'x')); }),
       Code::not_found},
      {"unknown buyer", hold([](Hold& h) { h.buyer = ClusterId("nobody"); }), Code::denied},
      {"empty buyer", hold([](Hold& h) { h.buyer = ClusterId(""); }), Code::denied},
  });
}

TEST_F(BadInput, OfPools) {
  const auto carried = [&](Carried one) {
    return pool([&](PublishPool& p) { p.carries = {std::move(one)}; });
  };
  const ContractId stray = book.fresh_id();
  const model::Resources one = plain_shape();
  model::Resources most;
  most.cpu_millis = model::k_max_amount;
  model::Resources negative = one;
  negative.pods = -1;
  expect_refused({
      {"no sequence", pool([](PublishPool& p) { p.sequence = 0; })},
      {"negative sequence", pool([](PublishPool& p) { p.sequence = -k_huge; })},
      {"empty id", pool([](PublishPool& p) { p.pool.id = PoolId(""); })},
      {"id without an owner", pool([](PublishPool& p) { p.pool.id = PoolId("standard"); })},
      {"negative capacity", pool([](PublishPool& p) { p.pool.capacity.cpu_millis = -1; })},
      {"absurd capacity", pool([](PublishPool& p) { p.pool.capacity.memory_bytes = k_huge; })},
      {"negative node", pool([](PublishPool& p) { p.pool.node.pods = -1; })},
      {"empty node", pool([](PublishPool& p) { p.pool.node = {}; })},
      {"GPUs out of order", pool([](PublishPool& p) {
         p.pool.capacity.gpus = {{"b", 1}, {"a", 1}};
       })},
      {"a GPU model twice", pool([](PublishPool& p) {
         p.pool.capacity.gpus = {{"a", 1}, {"a", 1}};
       })},
      {"no lease", pool([](PublishPool& p) { p.lease = {}; })},
      {"negative lease", pool([](PublishPool& p) { p.lease = {-k_huge}; })},
      {"absurd lease", pool([](PublishPool& p) { p.lease = {k_huge}; })},
      {"too many carried", pool([&](PublishPool& p) {
         p.carries.assign(k_max_carried + 1, {stray, 1, plain_shape()});
       })},
      {"a contract carried twice", pool([&](PublishPool& p) {
         p.carries = {{stray, 1, one}, {active_id, 2, one}, {stray, 1, one}};
       })},
      {"a carried contract without id", carried({ContractId(""), 1, one})},
      {"a carried contract with a strange id", carried({ContractId("../../etc/passwd"), 1, one})},
      {"negative carried units", carried({stray, -1, one})},
      {"absurd carried units", carried({stray, k_huge_units, one})},
      {"a negative carried shape", carried({stray, 1, negative})},
      {"carried beyond counting", carried({stray, k_max_carried_units, most})},
      {"a known contract carried beyond counting", pool([&](PublishPool& p) {
         p.carries = {{active_id, k_max_carried_units, {}}, {stray, 1, most}};
       })},
      {"carried beyond counting together", pool([&](PublishPool& p) {
         for (int i = 0; i < 9000; ++i) p.carries.push_back({book.fresh_id(), 1, most});
       })},
      {"an older sequence", pool([](PublishPool& p) {
         p.sequence = 1;
         p.pool = pool_of(5);
       }),
       Code::stale},
      {"another's", pool([](PublishPool& p) { p.provider = k_rival; }), Code::denied},
  });
  ASSERT_TRUE(book.publish(pool_of(4)));
  expect_refused({
      {"unknown pool", WithdrawPool{k_seller, PoolId("edge-1/none"), 1}, Code::not_found},
      {"empty pool", WithdrawPool{k_seller, PoolId(""), 1}, Code::denied},
      {"negative sequence", WithdrawPool{k_seller, pool_of(4).id, -1}},
      {"older sequence", WithdrawPool{k_seller, pool_of(4).id, 1}, Code::stale},
  });
}

TEST_F(BadInput, OfOffers) {
  expect_refused({
      {"no sequence", offer([](PublishOffer& o) { o.sequence = 0; })},
      {"negative sequence", offer([](PublishOffer& o) { o.sequence = -1; })},
      {"empty id", offer([](PublishOffer& o) { o.offer.id = OfferId(""); })},
      {"a pool of another",
       offer([](PublishOffer& o) { o.offer.pool = PoolId("edge-3/standard"); })},
      {"no shape", offer([](PublishOffer& o) { o.offer.shape = {}; })},
      {"negative shape", offer([](PublishOffer& o) { o.offer.shape.cpu_millis = -1; })},
      {"absurd shape", offer([](PublishOffer& o) { o.offer.shape.cpu_millis = k_huge; })},
      {"larger than a node",
       offer([](PublishOffer& o) { o.offer.shape.cpu_millis = model::k_max_amount; })},
      {"a resource that no node has", offer([](PublishOffer& o) {
         o.offer.shape.gpus = {{"nvidia-a100", 1}};
       })},
      {"negative price", offer([](PublishOffer& o) { o.offer.price.unit_hour = -1; })},
      {"absurd price", offer([](PublishOffer& o) { o.offer.price.unit_hour = k_huge; })},
      {"absurd together", offer([](PublishOffer& o) {
         o.offer.price.unit_hour = o.offer.price.cpu_hour = model::k_max_price;
       })},
      {"no currency", offer([](PublishOffer& o) {
         o.offer.price.currency = {{'e', 'u', 'r'}};
       })},
      {"negative term", offer([](PublishOffer& o) { o.offer.price.minimum_term = {-1}; })},
      {"absurd term", offer([](PublishOffer& o) { o.offer.price.minimum_term = {k_huge}; })},
      {"no lease", offer([](PublishOffer& o) { o.offer.terms.lease = {}; })},
      {"absurd lease", offer([](PublishOffer& o) { o.offer.terms.lease = {k_huge}; })},
      {"negative notice", offer([](PublishOffer& o) { o.offer.terms.notice = {-1}; })},
      {"absurd drain", offer([](PublishOffer& o) { o.offer.terms.drain = {k_huge}; })},
      {"negative grace", offer([](PublishOffer& o) { o.offer.terms.grace = {-1}; })},
      {"ends in the past", offer([&](PublishOffer& o) { o.offer.until = book.now; })},
      {"ends before time", offer([](PublishOffer& o) { o.offer.until = Instant{-1}; })},
      {"ends after time", offer([](PublishOffer& o) { o.offer.until = Instant{k_huge}; })},
      {"seen by a list out of order", offer([](PublishOffer& o) {
         o.offer.visibility = {.everyone = false, .clusters = {k_rival, k_buyer}, .selector = {}};
       })},
      {"seen by all and some",
       offer([](PublishOffer& o) { o.offer.visibility.clusters = {k_buyer}; })},
      {"unknown pool", offer([](PublishOffer& o) { o.offer.pool = PoolId("edge-1/none"); }),
       Code::not_found},
      {"another's", offer([](PublishOffer& o) { o.provider = k_rival; }), Code::denied},
      {"unknown offer", WithdrawOffer{k_seller, OfferId("edge-1/none"), 1}, Code::not_found},
      {"negative sequence", WithdrawOffer{k_seller, minute_offer().id, -1}},
  });
}

TEST_F(BadInput, OfContracts) {
  const ContractId unknown = book.fresh_id();
  expect_refused({
      {"unknown", Confirm{k_buyer, unknown}, Code::not_found},
      {"empty", Confirm{k_buyer, ContractId("")}, Code::not_found},
      {"overlong", Confirm{k_buyer, ContractId(std::string(100'000, '0'))}, Code::not_found},
      {"unknown", Renew{k_buyer, unknown}, Code::not_found},
      {"unknown", Extend{k_buyer, unknown, minutes(1)}, Code::not_found},
      {"unknown", Release{k_buyer, unknown, {}}, Code::not_found},
      {"unknown", Look{k_buyer, unknown}, Code::not_found},
      {"unknown", GiveNotice{k_seller, unknown}, Code::not_found},
      {"no time", Extend{k_buyer, hold_id, {}}},
      {"negative time", Extend{k_buyer, hold_id, {-k_huge}}},
      {"absurd time", Extend{k_buyer, hold_id, {k_huge}}},
      {"negative unit", Release{k_buyer, active_id, {-1}}},
      {"a unit too far", Release{k_buyer, active_id, {0, 2}}},
      {"an absurd unit", Release{k_buyer, active_id, {k_huge_units}}},
  });
}

TEST_F(BadInput, OfClusters) {
  expect_refused({
      {"empty id", cluster([](model::Cluster& c) { c.id = ClusterId(""); })},
      {"an id with a slash", cluster([](model::Cluster& c) { c.id = ClusterId("a/b"); })},
      {"overlong id", cluster([](model::Cluster& c) { c.id = ClusterId(std::string(64, 'a')); })},
      {"negative quota", cluster([](model::Cluster& c) { c.quota.units = -1; })},
      {"absurd quota", cluster([](model::Cluster& c) { c.quota.cpu_millis = k_huge; })},
      {"negative budget", cluster([](model::Cluster& c) {
         c.budget = model::Budget{{-1, {}}, Instant{0}};
       })},
      {"budget in no currency", cluster([](model::Cluster& c) {
         c.budget = model::Budget{{1, Currency{{'1', '2', '3'}}}, Instant{0}};
       })},
      {"budget from before time", cluster([](model::Cluster& c) {
         c.budget = model::Budget{{1, {}}, Instant{-1}};
       })},
      {"labels out of order", cluster([](model::Cluster& c) {
         c.labels = {{"b", "1"}, {"a", "1"}};
       })},
  });
}

TEST_F(BadInput, AttendingWhatIsNotThereIsNoError) {
  const auto before = book.picture();
  EXPECT_TRUE(book.run(Attend{key_of(book.fresh_id())}));
  EXPECT_TRUE(book.run(Attend{key_of(PoolId("edge-1/none"))}));
  EXPECT_TRUE(book.run(Attend{request_key(k_buyer, "none")}));
  EXPECT_TRUE(book.run(Attend{epoch_key()}));
  EXPECT_EQ(book.picture(), before);
}

}  // namespace
}  // namespace spillway::market
