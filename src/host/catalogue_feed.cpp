#include "host/catalogue_feed.h"

#include <algorithm>
#include <array>

#include "market/account.h"
#include "market/pool_state.h"

namespace spillway::host {
namespace {

using market::EventKind;
using market::Key;
using market::Kind;

constexpr std::array k_kinds{Kind::epoch, Kind::account, Kind::pool, Kind::offer};
constexpr int32_t k_page = 500;

// Which row an event says has changed, of those that queries look at.
Key changed_row(const market::Event& event) {
  switch (event.kind) {
    case EventKind::offer_published:
    case EventKind::offer_withdrawn:
      return {Kind::offer, event.subject};
    case EventKind::cluster_put:
      return {Kind::account, event.subject};
    case EventKind::epoch_begun:
    case EventKind::outage_recorded:
      return market::epoch_key();
    default:
      return market::key_of(event.pool);
  }
}

bool concerns_queries(const market::Event& event) {
  switch (event.kind) {
    case EventKind::token_made:
    case EventKind::token_cancelled:
    case EventKind::identity_joined:
    case EventKind::identity_renewed:
    case EventKind::identity_revoked:
    case EventKind::card_published:
    case EventKind::contract_signed:
    case EventKind::contract_ending:
    case EventKind::usage_metered:
    case EventKind::message_sent:
      return false;
    default:
      return true;
  }
}

}  // namespace

CatalogueFeed::CatalogueFeed(Loop& loop, Store& store, Duration refresh_every)
    : loop_(loop), store_(store), refresh_every_(refresh_every) {}

void CatalogueFeed::start() {
  load_page(0, {});
  refresh_later();
}

void CatalogueFeed::load_page(size_t kind, std::string after) {
  const bool first = kind == 0 && after.empty();
  Load load;
  Scan scan;
  scan.kind = k_kinds[kind];
  scan.by = Scan::By::all;
  scan.after = std::move(after);
  scan.limit = k_page;
  load.scans.push_back(std::move(scan));
  busy_ = true;
  store_.load(std::move(load), lifeline_.guard([this, kind, first](Result<Snapshot> snapshot) {
    busy_ = false;
    trouble_ = snapshot ? Status{} : tl::unexpected(snapshot.error());
    if (!snapshot) return;  // the next refresh begins again
    store_ahead_ = snapshot->now - loop_.now();
    // Events since the very first page are followed later, so nothing falls between the
    // pages.
    if (first) last_event_ = snapshot->last_event;
    const std::vector<Row>& rows = snapshot->found.front();
    for (const Row& row : rows) take(row);
    if (rows.size() == static_cast<size_t>(k_page)) return load_page(kind, rows.back().key.id);
    if (kind + 1 < k_kinds.size()) return load_page(kind + 1, {});
    ready_ = true;
  }));
}

void CatalogueFeed::refresh_later() {
  loop_.after(refresh_every_, lifeline_.guard([this] {
    refresh();
    refresh_later();
  }));
}

void CatalogueFeed::refresh() {
  if (busy_) return;
  if (!ready_) return load_page(0, {});
  busy_ = true;
  store_.events_after({last_event_, k_page},
                      lifeline_.guard([this](Result<std::vector<market::Event>> events) {
                        busy_ = false;
                        if (events && !events->empty()) return follow(*events);
                        if (!events && events.error().code == Code::gone) begin_again();
                      }));
}

// Scans find what is on sale, not what no longer is: nothing may stay from before.
void CatalogueFeed::begin_again() {
  ready_ = false;
  catalogue_ = {};
  pools_.clear();
  offer_versions_.clear();
  labels_.clear();
  counts_.clear();
  epoch_version_ = 0;
  load_page(0, {});
}

void CatalogueFeed::follow(const std::vector<market::Event>& events) {
  Load load;
  for (const market::Event& event : events) {
    if (concerns_queries(event)) load.keys.push_back(changed_row(event));
  }
  std::sort(load.keys.begin(), load.keys.end());
  load.keys.erase(std::unique(load.keys.begin(), load.keys.end()), load.keys.end());
  busy_ = true;
  const bool more = events.size() == static_cast<size_t>(k_page);
  store_.load(
      std::move(load),
      lifeline_.guard([this, more, last = events.back().sequence](Result<Snapshot> snapshot) {
        busy_ = false;
        if (!snapshot) return;  // the same events again, next time
        store_ahead_ = snapshot->now - loop_.now();
        last_event_ = std::max(last_event_, last);
        for (const Row& row : snapshot->rows) take(row);
        if (more) refresh();
      }));
}

void CatalogueFeed::learn(const Commit& commit, const Committed& committed) {
  for (const Put& put : commit.puts) take({put.key, committed.version, put.record});
  // Answers come in any order: rows that were loaded before this commit are older than what it has
  // put, and are known by their version.
  if (ready_ && committed.first_event == last_event_ + 1) last_event_ = committed.last_event;
}

CatalogueFeed::Counts CatalogueFeed::counts_of(const ClusterId& provider) const {
  const auto found = counts_.find(provider);
  return found == counts_.end() ? Counts{} : found->second;
}

void CatalogueFeed::take_pool(const market::Shared<market::PoolRecord>& pool) {
  PoolSeen& seen = pools_[pool->pool.id];
  const bool was_there = seen.record != nullptr && !seen.record->withdrawn;
  seen.record = pool;
  size_t& pools = counts_[pool->provider].pools;
  if (was_there) --pools;
  if (!pool->withdrawn) ++pools;
  show(*pool);
}

void CatalogueFeed::take_offer(const market::OfferRecord& offer) {
  size_t& offers = counts_[offer.provider].offers;
  if (catalogue_.find_row(offer.offer.id) != nullptr) --offers;
  if (offer.withdrawn) return catalogue_.erase_offer(offer.offer.id);
  ++offers;
  catalogue_.put_offer(offer.offer);
}

void CatalogueFeed::take(const Row& row) {
  if (const auto* pool = std::get_if<market::Shared<market::PoolRecord>>(&row.record)) {
    PoolSeen& seen = pools_[(*pool)->pool.id];
    if (row.version < seen.version) return;
    seen.version = row.version;
    take_pool(*pool);
  } else if (const auto* offer = std::get_if<market::Shared<market::OfferRecord>>(&row.record)) {
    int64_t& version = offer_versions_[(*offer)->offer.id];
    if (row.version <= version) return;
    version = row.version;
    take_offer(**offer);
  } else if (const auto* account =
                 std::get_if<market::Shared<market::AccountRecord>>(&row.record)) {
    LabelsSeen& seen = labels_[(*account)->cluster.id];
    if (row.version < seen.version) return;
    seen = {row.version, (*account)->cluster.labels};
  } else if (const auto* epoch = std::get_if<market::Shared<market::EpochRecord>>(&row.record)) {
    if (row.version < epoch_version_) return;
    epoch_version_ = row.version;
    epoch_ = **epoch;
    for (const auto& [id, seen] : pools_) show(*seen.record);
  }
}

void CatalogueFeed::show(const market::PoolRecord& pool) {
  const bool sellable = market::why_not_sold(pool, epoch_, store_now()).empty();
  catalogue_.put_pool(pool.pool.id,
                      {market::free_of(pool), sellable, pool.lease_until, pool.heard});
}

Result<rank::Buyer> CatalogueFeed::buyer_of(const ClusterId& id) const {
  if (!ready_) {
    return fail(Code::unavailable, "market", "it is still reading what is on sale",
                "try again in a moment");
  }
  const auto labels = labels_.find(id);
  if (labels == labels_.end()) return market::not_enrolled(id);
  return rank::Buyer{id, labels->second.labels};
}

Result<rank::Ranking> CatalogueFeed::query(const ClusterId& buyer, const model::Intent& intent,
                                           const rank::Page& page, rank::Detail detail) const {
  const auto known = buyer_of(buyer);
  if (!known) return tl::unexpected(known.error());
  // The book would not sell a cluster its own capacity: it is not recommended either.
  model::Intent others = intent;
  auto& excluded = others.constraints.excluded_providers;
  if (std::find(excluded.begin(), excluded.end(), buyer) == excluded.end()) {
    excluded.push_back(buyer);
  }
  return rank::rank_offers(catalogue_, others, *known, store_now(), page, detail);
}

Result<model::Offer> CatalogueFeed::find(const ClusterId& buyer, const OfferId& id) const {
  const auto known = buyer_of(buyer);
  if (!known) return tl::unexpected(known.error());
  return rank::find_visible(catalogue_, id, *known);
}

}  // namespace spillway::host
