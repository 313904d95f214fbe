#include "rank/catalogue.h"

#include <algorithm>
#include <utility>

#include "model/price.h"

namespace spillway::rank {
namespace {

bool in_deficit(const model::Counts& counts) {
  return std::any_of(counts.begin(), counts.end(),
                     [](const model::Count& count) { return count.amount < 0; });
}

int64_t amount_of(const model::Counts& counts, const std::string& name) {
  for (const model::Count& count : counts) {
    if (count.name == name) return count.amount;
  }
  return 0;
}

}  // namespace

size_t VisibilityHash::operator()(const model::Visibility& visibility) const {
  size_t hash = visibility.everyone ? 1 : 2;
  const auto mix = [&hash](std::string_view text) {
    hash = hash * 0x100000001b3 ^ TextHash {}(text);
  };
  for (const ClusterId& cluster : visibility.clusters) mix(cluster.text);
  for (const model::Label& label : visibility.selector) {
    mix(label.key);
    mix(label.value);
  }
  return hash;
}

Ref Catalogue::hold_pool(const std::string& id) {
  const Ref ref = pool_ids_.take(std::string_view(id));
  if (ref >= pool_states_.size()) pool_states_.resize(ref + 1);
  return ref;
}

void Catalogue::put_pool(const PoolId& id, PoolState state) {
  const std::optional<Ref> named = pool_ids_.find(std::string_view(id.text));
  const Ref ref = named && pool_states_[*named].known ? *named : hold_pool(id.text);
  const bool deficit = in_deficit(state.free.gpus) || in_deficit(state.free.extended);
  pool_states_[ref] = {std::move(state), true, deficit};
}

void Catalogue::erase_pool(const PoolId& id) {
  const std::optional<Ref> ref = pool_ids_.find(std::string_view(id.text));
  if (!ref || !pool_states_[*ref].known) return;
  pool_states_[*ref] = PoolSlot{};
  pool_ids_.drop(*ref);
}

Row Catalogue::make_row(const model::Offer& offer) {
  Row row;
  row.rate = model::hourly_rate(offer.price, offer.shape);
  row.cpu_millis = offer.shape.cpu_millis;
  row.memory_bytes = offer.shape.memory_bytes;
  row.pods = offer.shape.pods;
  row.storage_bytes = offer.shape.storage_bytes;
  row.latitude_microdegrees = offer.place.latitude_microdegrees;
  row.longitude_microdegrees = offer.place.longitude_microdegrees;
  row.direction = direction_of(row.latitude_microdegrees, row.longitude_microdegrees);
  if (offer.energy && offer.energy->unit_milliwatts) {
    row.unit_milliwatts = *offer.energy->unit_milliwatts;
  }
  if (offer.until) row.until = *offer.until;
  row.lease = offer.terms.lease;
  row.currency = pack(offer.price.currency);
  row.pool = hold_pool(offer.pool.text);
  row.visibility = visibilities_.take(offer.visibility);
  row.provider = texts_.take(owner_of(offer.id.text));
  row.country = texts_.take(std::string_view(offer.place.country));
  row.packed = PackedOffer(offer, texts_);
  return row;
}

void Catalogue::let_go(Row& row) {
  pool_ids_.drop(row.pool);
  visibilities_.drop(row.visibility);
  texts_.drop(row.provider);
  texts_.drop(row.country);
  row.packed.drop_texts(texts_);
}

void Catalogue::put_offer(const model::Offer& offer) {
  Row row = make_row(offer);  // before the old one lets go: what they share is not freed between
  const auto [at, is_new] = index_.try_emplace(offer.id, static_cast<uint32_t>(rows_.size()));
  row.id = &at->first;
  if (is_new) {
    rows_.push_back(std::move(row));
  } else {
    Row& old = rows_[at->second];
    let_go(old);
    old = std::move(row);
  }
}

void Catalogue::erase_offer(const OfferId& id) {
  const auto found = index_.find(id);
  if (found == index_.end()) return;
  const uint32_t vacated = found->second;
  let_go(rows_[vacated]);
  index_.erase(found);
  if (vacated + 1 != rows_.size()) {
    rows_[vacated] = std::move(rows_.back());
    index_.find(*rows_[vacated].id)->second = vacated;
  }
  rows_.pop_back();
}

const Row* Catalogue::find_row(const OfferId& id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &rows_[found->second];
}

Result<model::Offer> Catalogue::find(const OfferId& id) const {
  const Row* row = find_row(id);
  if (row == nullptr) return fail(Code::not_found, "offer " + id.text, "there is no such offer");
  model::Offer offer = row->packed.unpack(texts_);
  offer.id = id;
  offer.pool = PoolId(pool_ids_[row->pool]);
  offer.visibility = visibilities_[row->visibility];
  return offer;
}

Census Catalogue::census() const {
  return {rows_.size(), pool_ids_.size(), texts_.size(), visibilities_.size()};
}

// As Resources::covers, without building the shape first.
bool Catalogue::covers_a_unit(const Row& row) const {
  const PoolSlot& slot = pool_states_[row.pool];
  const model::Resources& free = slot.state.free;
  if (free.cpu_millis < row.cpu_millis || free.memory_bytes < row.memory_bytes ||
      free.pods < row.pods || free.storage_bytes < row.storage_bytes || slot.count_deficit) {
    return false;
  }
  for (uint32_t i = 0; i < row.packed.gpus(); ++i) {
    const PackedOffer::CountRef gpu = row.packed.gpu(i);
    if (amount_of(free.gpus, texts_[gpu.name]) < gpu.amount) return false;
  }
  for (uint32_t i = 0; i < row.packed.extended(); ++i) {
    const PackedOffer::CountRef count = row.packed.extended(i);
    if (amount_of(free.extended, texts_[count.name]) < count.amount) return false;
  }
  return true;
}

int32_t Catalogue::free_units(const Row& row) const { return pool(row).free.how_many(shape(row)); }

model::Resources Catalogue::shape(const Row& row) const {
  model::Resources shape;
  shape.cpu_millis = row.cpu_millis;
  shape.memory_bytes = row.memory_bytes;
  shape.pods = row.pods;
  shape.storage_bytes = row.storage_bytes;
  for (uint32_t i = 0; i < row.packed.gpus(); ++i) {
    const PackedOffer::CountRef gpu = row.packed.gpu(i);
    shape.gpus.push_back({texts_[gpu.name], gpu.amount});
  }
  for (uint32_t i = 0; i < row.packed.extended(); ++i) {
    const PackedOffer::CountRef count = row.packed.extended(i);
    shape.extended.push_back({texts_[count.name], count.amount});
  }
  return shape;
}

}  // namespace spillway::rank
