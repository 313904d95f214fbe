// Catalogue: what the market has on sale, in memory, for queries (rank/query.h).
//
// Memory serves queries only; the book on the store decides every sale. So the catalogue may lag
// behind and may be rebuilt at any time from pools and offers, in any order: an offer whose pool is
// not known yet is merely not on sale.
//
// On sale at `now`: the pool is sellable, now < sellable_until, now < the offer's `until`, and what
// is free of the pool covers at least one unit. Pools change with every hold, offers seldom:
// putting a pool costs one look-up, whatever the number of offers that draw on it.
//
// Two parts to an offer: a Row for scans, of one size, in one array; and a PackedOffer from which
// the whole is rebuilt. At most 1,536 bytes an offer in all, at 10,000 offers (bench
// book.offer_bytes). Not for use by two threads at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/result.h"
#include "base/time.h"
#include "model/offer.h"
#include "rank/interner.h"
#include "rank/packed_offer.h"
#include "rank/sphere.h"

namespace spillway::rank {

// A currency as one number: scans compare it ten thousand times.
inline uint32_t pack(Currency currency) {
  uint32_t packed = 0;
  for (const char letter : currency.letters) packed = packed << 8 | static_cast<uint8_t>(letter);
  return packed;
}
inline Currency unpack_currency(uint32_t packed) {
  return {
      {static_cast<char>(packed >> 16), static_cast<char>(packed >> 8), static_cast<char>(packed)}};
}

struct PoolState {
  model::Resources free;  // may be negative: a deficit
  bool sellable = false;
  Instant sellable_until;
  std::optional<Instant> heard = {};  // the provider's last sign of life
};

// What scans read of an offer. Its order in rows() depends on history: nothing that a buyer gets to
// see may follow it.
struct Row {
  const OfferId* id = nullptr;
  int64_t rate = 0;  // model::hourly_rate
  int64_t cpu_millis = 0;
  int64_t memory_bytes = 0;
  int64_t pods = 0;
  int64_t storage_bytes = 0;
  Direction direction;
  int32_t latitude_microdegrees = 0;
  int32_t longitude_microdegrees = 0;
  int64_t unit_milliwatts = -1;  // below zero: not stated
  Instant until{INT64_MAX};
  Duration lease;
  uint32_t currency = 0;  // as pack() has it
  Ref pool = 0;
  Ref visibility = 0;
  Ref provider = 0;
  Ref country = 0;
  PackedOffer packed;
};

struct VisibilityHash {
  size_t operator()(const model::Visibility& visibility) const;
};
using Visibilities = Interner<model::Visibility, VisibilityHash>;

// How much of each is held; goes back to zero with the last offer and pool.
struct Census {
  size_t offers = 0;
  size_t pools = 0;  // put, or named by an offer
  size_t texts = 0;
  size_t visibilities = 0;
  bool operator==(const Census&) const = default;
};

class Catalogue {
 public:
  Catalogue() = default;
  Catalogue(Catalogue&&) = default;
  Catalogue& operator=(Catalogue&&) = default;
  Catalogue(const Catalogue&) = delete;  // rows point into the index
  Catalogue& operator=(const Catalogue&) = delete;

  void put_pool(const PoolId& id, PoolState state);
  void erase_pool(const PoolId& id);  // its offers stay, not on sale
  // Replaces what is under its id. The offer has passed model::validate.
  void put_offer(const model::Offer& offer);
  void erase_offer(const OfferId& id);

  // For whoever may see everything; for a buyer's question see find_visible in rank/query.h.
  Result<model::Offer> find(const OfferId& id) const;
  size_t size() const { return rows_.size(); }
  Census census() const;

  // For queries.
  std::span<const Row> rows() const { return rows_; }
  const Row* find_row(const OfferId& id) const;
  const PoolState& pool(const Row& row) const { return pool_states_[row.pool].state; }
  const std::string& pool_id(const Row& row) const { return pool_ids_[row.pool]; }
  bool covers_a_unit(const Row& row) const;  // by what is free of its pool
  int32_t free_units(const Row& row) const;
  model::Resources shape(const Row& row) const;
  const Texts& texts() const { return texts_; }
  const Visibilities& visibilities() const { return visibilities_; }

 private:
  struct PoolSlot {
    PoolState state;
    bool known = false;          // put, not only named by an offer
    bool count_deficit = false;  // below zero in a GPU model or an extended resource
  };

  Row make_row(const model::Offer& offer);
  void let_go(Row& row);
  Ref hold_pool(const std::string& id);

  std::vector<Row> rows_;
  std::unordered_map<OfferId, uint32_t> index_;  // rows point to its keys
  Texts pool_ids_;
  std::vector<PoolSlot> pool_states_;  // by Ref in pool_ids_
  Texts texts_;
  Visibilities visibilities_;
};

}  // namespace spillway::rank
