// TestBook: the book on rows in memory, at a time that the test sets. One caller, no store, no
// conflicts: for tests of what the transitions decide.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "market/book.h"
#include "support/memory_rows.h"
#include "support/nouns.h"

namespace spillway::test {

inline const ClusterId k_seller("edge-1");
inline const ClusterId k_buyer("edge-2");
inline const ClusterId k_rival("edge-3");

// A unit costs 60,000 micro-units an hour, which is 1,000 a minute: 40,000 and 2 cores at 10,000.
// Until its lease could be renewed it can run for 60 + 15 (grace) + 10 (notice) minutes, so 85,000
// are set aside for it.
inline constexpr int64_t k_micros_per_minute = 1'000;
inline constexpr int64_t k_set_aside = 85'000;

inline model::Offer minute_offer(const std::string& name = "small") {
  model::Offer offer = test::plain_offer();
  offer.id = OfferId(k_seller.text + "/" + name);
  offer.price.unit_hour = 40'000;
  offer.price.cpu_hour = 10'000;
  return offer;
}

inline model::Pool pool_of(int64_t units, const std::string& name = "standard") {
  model::Pool pool = test::plain_pool();
  pool.id = PoolId(k_seller.text + "/" + name);
  pool.capacity = test::plain_shape().times(units);
  return pool;
}

class TestBook {
 public:
  Instant now = test::k_some_day;
  market::Rules rules;

  // Decides on the rows that are there, and writes what changed.
  Result<market::Answer> run(const market::Command& command) {
    market::Workspace workspace;
    const market::Context context{now, rules};
    Result<market::Answer> answer = market::decide(workspace, command, context);
    for (int rounds = 0; workspace.lacks_rows(); ++rounds) {
      SPILLWAY_CHECK(rounds < 100, "a decision asks for rows without end");
      load_missing(workspace);
      answer = market::decide(workspace, command, context);
    }
    MemoryRows::Puts puts;
    for (const auto& [key, entry] : workspace.rows()) {
      if (entry.changed) puts.emplace_back(key, entry.record);
    }
    if (!puts.empty() || !workspace.events().empty()) rows_.commit(puts, workspace.events());
    return answer;
  }

  // --- time ---
  void pass(Duration time) { now = now + time; }
  // Brokers have beaten up to now; then all are silent for that long, and the one that comes back
  // records it.
  void be_away(Duration time) {
    const market::HeartRecord heart{now};
    rows_.commit({{market::heart_key(), std::make_shared<const market::HeartRecord>(heart)}}, {});
    pass(time);
    run(market::Beat{}).value();
  }
  // What a broker does by itself at this time, until nothing is due any more.
  void attend() {
    for (const auto kind : {market::Kind::contract, market::Kind::pool, market::Kind::request,
                            market::Kind::token, market::Kind::mailbox}) {
      for (int rounds = 0; rounds < 10; ++rounds) {
        const auto due = rows_.due(kind, now);
        if (due.empty()) break;
        for (const market::Key& key : due) run(market::Attend{key}).value();
      }
    }
  }

  // --- short cuts, for what a test takes for granted ---
  void enrol(model::Cluster cluster) { run(market::PutCluster{std::move(cluster)}).value(); }
  void enrol(const ClusterId& id) {
    model::Cluster cluster;
    cluster.id = id;
    enrol(std::move(cluster));
  }
  // With a sequence number above the last, and a lease that outlasts any test.
  Result<market::Answer> publish(const model::Pool& pool,
                                 std::vector<market::Carried> carries = {}) {
    rules.max_pool_lease = hours(24 * 365);
    const auto* present = get<market::PoolRecord>(market::key_of(pool.id));
    return run(market::PublishPool{ClusterId(std::string(owner_of(pool.id.text))), pool,
                                   present == nullptr ? 1 : present->sequence + 1,
                                   rules.max_pool_lease, std::move(carries), epoch(),
                                   present == nullptr ? 1 : present->report + 1});
  }
  Result<market::Answer> publish(const model::Offer& offer) {
    const auto* present = get<market::OfferRecord>(market::key_of(offer.id));
    return run(market::PublishOffer{ClusterId(std::string(owner_of(offer.id.text))), offer,
                                    present == nullptr ? 1 : present->sequence + 1});
  }
  // Seller, buyer and rival; `units` of minute_offer() on sale.
  void open_market(int64_t units) {
    for (const ClusterId& id : {k_seller, k_buyer, k_rival}) enrol(id);
    publish(pool_of(units)).value();
    publish(minute_offer()).value();
  }

  ContractId fresh_id() { return make_contract_id(now, ++ids_, 0); }
  market::Hold hold_of(const ClusterId& buyer, std::vector<market::HoldLine> lines) {
    market::Hold hold{buyer, "key-" + std::to_string(++keys_), std::move(lines), minutes(5), {}};
    for (size_t i = 0; i < hold.lines.size(); ++i) hold.fresh.push_back(fresh_id());
    return hold;
  }
  Result<market::Answer> hold(const ClusterId& buyer, int32_t units,
                              const OfferId& offer = minute_offer().id) {
    return run(hold_of(buyer, {{offer, units, units}}));
  }
  ContractId held(const ClusterId& buyer, int32_t units, const OfferId& offer = minute_offer().id) {
    return hold(buyer, units, offer).value().grants.at(0).contract;
  }
  ContractId active(const ClusterId& buyer, int32_t units,
                    const OfferId& offer = minute_offer().id) {
    ContractId id = held(buyer, units, offer);
    run(market::Confirm{buyer, id}).value();
    return id;
  }

  // --- looking ---
  int64_t epoch() const {
    const auto* record = get<market::EpochRecord>(market::epoch_key());
    return record == nullptr ? market::EpochRecord{}.epoch : record->epoch;
  }
  template <class T>
  const T* get(const market::Key& key) const {
    return rows_.get<T>(key);
  }
  const model::Contract& contract(const ContractId& id) const {
    return must<model::Contract>(market::key_of(id));
  }
  const market::PoolRecord& pool(const PoolId& id = pool_of(1).id) const {
    return must<market::PoolRecord>(market::key_of(id));
  }
  const market::AccountRecord& account(const ClusterId& id = k_buyer) const {
    return must<market::AccountRecord>(market::account_key(id));
  }
  market::Purse purse(const ClusterId& id = k_buyer, Currency currency = {}) const {
    for (const market::Purse& purse : account(id).purses) {
      if (purse.currency == currency) return purse;
    }
    return {currency, 0, 0};
  }
  // Sold units of plain_shape().
  int64_t sold(const PoolId& id = pool_of(1).id) const {
    return pool(id).committed.cpu_millis / test::plain_shape().cpu_millis;
  }
  const MemoryRows& rows() const { return rows_; }
  std::map<std::string, std::string> picture() const { return rows_.picture(); }
  int64_t count_events(market::EventKind kind) const {
    return std::count_if(rows_.events().begin(), rows_.events().end(),
                         [&](const market::Event& event) { return event.kind == kind; });
  }

 private:
  template <class T>
  const T& must(const market::Key& key) const {
    const T* record = get<T>(key);
    SPILLWAY_CHECK(record != nullptr, "a test looks at a row that is not there");
    return *record;
  }

  void load_missing(market::Workspace& workspace) const {
    for (const market::Key& key : std::vector(workspace.missing())) {
      const auto [version, record] = rows_.find(key);
      workspace.add(key, version, record);
    }
    for (const market::Listing& listing : std::vector(workspace.missing_scans())) {
      std::vector<std::string> found;
      const bool by_group = listing.kind == market::Kind::contract;
      for (const market::Key& key : rows_.live(listing.kind, [&](const market::Facets& facets) {
             return (by_group ? facets.group : facets.owner) == listing.of;
           })) {
        const auto [version, record] = rows_.find(key);
        workspace.add(key, version, record);
        found.push_back(key.id);
      }
      workspace.add_scan(listing, std::move(found));
    }
  }

  MemoryRows rows_;
  uint64_t ids_ = 0;
  uint64_t keys_ = 0;
};

// Every refusal names the thing, the reason and the next step (law 7).
template <class T>
testing::AssertionResult is_refused(const Result<T>& result, Code code) {
  if (result) return testing::AssertionFailure() << "it was not refused";
  const Error& error = result.error();
  if (error.code != code) {
    return testing::AssertionFailure()
           << "refused as " << describe(error.code).name << ": " << error.message();
  }
  if (error.thing.empty() || error.reason.empty() || error.next.empty()) {
    return testing::AssertionFailure() << "thing '" << error.thing << "', reason '" << error.reason
                                       << "', next '" << error.next << "'";
  }
  return testing::AssertionSuccess();
}

}  // namespace spillway::test
