// CatalogueFeed: keeps a catalogue up to date, and answers queries from it.
//
// It loads everything on sale once, then follows the event log: what an event names is loaded
// again. What this process commits itself is taken over at once, and not read again unless another
// broker's event lies between. So a query may lag behind another
// broker's sale by `refresh_every`; the hold that follows it does not. When the log has forgotten
// what it would have to follow, it loads everything again.
#pragma once

#include <memory>
#include <unordered_map>

#include "host/lifeline.h"
#include "host/loop.h"
#include "host/store.h"
#include "model/intent.h"
#include "rank/query.h"

namespace spillway::host {

class CatalogueFeed {
 public:
  CatalogueFeed(Loop& loop, Store& store, Duration refresh_every = seconds(1));
  CatalogueFeed(const CatalogueFeed&) = delete;
  CatalogueFeed& operator=(const CatalogueFeed&) = delete;

  void start();
  // For BookHost::listen.
  void learn(const Commit& commit, const Committed& committed);

  // `unavailable` until everything was loaded once.
  Result<rank::Ranking> query(const ClusterId& buyer, const model::Intent& intent,
                              const rank::Page& page,
                              rank::Detail detail = rank::Detail::candidates) const;

  // As `buyer` may see it; an offer that it may not see is not found.
  Result<model::Offer> find(const ClusterId& buyer, const OfferId& id) const;

  struct Counts {
    size_t pools = 0;
    size_t offers = 0;
  };
  Counts counts_of(const ClusterId& provider) const;  // not withdrawn
  bool knows(const PoolId& id) const { return pools_.contains(id); }
  bool knows(const OfferId& id) const { return offer_versions_.contains(id); }

  bool is_ready() const { return ready_; }
  const Status& trouble() const { return trouble_; }  // why the last page could not be loaded
  const rank::Catalogue& catalogue() const { return catalogue_; }

 private:
  struct PoolSeen {
    int64_t version = 0;
    market::Shared<market::PoolRecord> record;
  };

  struct LabelsSeen {
    int64_t version = 0;
    model::Labels labels;
  };

  // `unavailable` until everything was loaded once.
  Result<rank::Buyer> buyer_of(const ClusterId& id) const;
  void load_page(size_t kind, std::string after);
  void refresh_later();
  void refresh();
  void begin_again();
  void follow(const std::vector<market::Event>& events);
  void take(const Row& row);
  void take_pool(const market::Shared<market::PoolRecord>& pool);
  void take_offer(const market::OfferRecord& offer);
  void show(const market::PoolRecord& pool);
  Instant store_now() const { return loop_.now() + store_ahead_; }

  Loop& loop_;
  Store& store_;
  Duration refresh_every_;
  rank::Catalogue catalogue_;
  std::unordered_map<PoolId, PoolSeen> pools_;
  std::unordered_map<OfferId, int64_t> offer_versions_;
  std::unordered_map<ClusterId, LabelsSeen> labels_;
  std::unordered_map<ClusterId, Counts> counts_;
  market::EpochRecord epoch_;
  int64_t epoch_version_ = 0;
  int64_t last_event_ = 0;
  Duration store_ahead_;
  Status trouble_;
  bool ready_ = false;
  bool busy_ = false;
  Lifeline lifeline_;
};

}  // namespace spillway::host
