#include "sim/owner_provider.h"

#include <algorithm>

namespace spillway::sim {
namespace {

model::Resources shape_of(int64_t cores) {
  model::Resources shape;
  shape.cpu_millis = cores * 1000;
  shape.memory_bytes = cores * (int64_t{2} << 30);
  shape.pods = cores * 10;
  return shape;
}

}  // namespace

OwnerProvider::OwnerProvider(Surroundings& around, Address at, const std::string& name,
                             const std::vector<ClusterId>& friends)
    : SimProvider(around, at, name) {
  invent(friends);
}

std::vector<OfferId> OwnerProvider::offer_ids() const {
  std::vector<OfferId> ids;
  for (const model::Offer& offer : offers_) ids.push_back(offer.id);
  return ids;
}

void OwnerProvider::invent(const std::vector<ClusterId>& friends) {
  const auto pools = 1 + world_.below(2);
  for (uint64_t i = 0; i < pools; ++i) {
    model::Pool pool;
    pool.id = PoolId(fmt::format("{}/pool-{}", id_.text, i));
    pool.node = shape_of(8);
    if (world_.chance(300)) pool.node.gpus = {{"nvidia-a100", 2}};
    pool.capacity = pool.node.times(1 + static_cast<int64_t>(world_.below(3)));
    pools_.push_back(pool);
    const auto offers = 1 + world_.below(3);
    for (uint64_t n = 0; n < offers; ++n) {
      offers_.push_back(invent_offer(pool, static_cast<int>(offers_.size()), friends));
    }
  }
}

model::Offer OwnerProvider::invent_offer(const model::Pool& pool, int number,
                                         const std::vector<ClusterId>& friends) {
  model::Offer offer;
  offer.id = OfferId(fmt::format("{}/offer-{}", id_.text, number));
  offer.pool = pool.id;
  offer.shape = shape_of(1 + static_cast<int64_t>(world_.below(4)));
  if (!pool.node.gpus.empty() && world_.chance(500)) offer.shape.gpus = {{"nvidia-a100", 1}};
  offer.price.unit_hour = 10'000 + static_cast<int64_t>(world_.below(1'000'000));
  offer.price.cpu_hour = static_cast<int64_t>(world_.below(100'000));
  if (world_.chance(400)) {
    offer.price.basis = model::PriceBasis::pay_per_use;
    offer.price.memory_gib_hour = static_cast<int64_t>(world_.below(30'000));
    if (!offer.shape.gpus.empty()) offer.price.gpu_hour = {{"nvidia-a100", 777'777}};
  }
  if (world_.chance(300)) offer.price.minimum_term = minutes(5);
  offer.place.latitude_microdegrees = static_cast<int32_t>(world_.below(120'000'000)) - 60'000'000;
  offer.place.longitude_microdegrees =
      static_cast<int32_t>(world_.below(360'000'000)) - 180'000'000;
  offer.place.country = "IT";
  if (world_.chance(300)) {
    offer.visibility.clusters = {friends[world_.below(friends.size())]};
  } else if (world_.chance(300)) {
    offer.visibility.selector = {{"tier", "gold"}};
  } else {
    offer.visibility.everyone = true;
  }
  offer.terms.lease = seconds(30 + static_cast<int64_t>(world_.below(270)));
  offer.terms.notice = seconds(10 + static_cast<int64_t>(world_.below(50)));
  offer.terms.drain = seconds(1 + static_cast<int64_t>(world_.below(20)));
  offer.terms.grace = seconds(static_cast<int64_t>(world_.below(300)));
  return offer;
}

// Now and then its file cannot be read: what was on sale stays on sale.
std::optional<agent::Supply> OwnerProvider::first_supply() {
  if (!world_.chance(900)) return std::nullopt;
  return supply();
}

void OwnerProvider::on_agent_started() {
  process_.after(seconds(1), [this] {
    if (agent_ != nullptr) agent_->set_supply(supply());
  });
}

agent::Supply OwnerProvider::supply() const {
  agent::Supply supply;
  for (const model::Pool& pool : pools_) {
    if (!pools_off_.contains(pool.id)) supply.pools.push_back(pool);
  }
  for (const model::Offer& offer : offers_) {
    if (!pools_off_.contains(offer.pool) && !offers_off_.contains(offer.id)) {
      supply.offers.push_back(offer);
    }
  }
  return supply;
}

void OwnerProvider::change_something() {
  model::Pool& pool = pools_[world_.below(pools_.size())];
  model::Offer& offer = offers_[world_.below(offers_.size())];
  const auto dice = world_.below(100);
  if (dice < 15) {
    offer.price.unit_hour += 1000;
  } else if (dice < 25) {
    if (offers_off_.erase(offer.id) == 0) offers_off_.insert(offer.id);
  } else if (dice < 30 || pools_off_.contains(pool.id)) {
    if (pools_off_.erase(pool.id) == 0) pools_off_.insert(pool.id);
  } else {
    // Shrinks or grows: a truth that the book has to take.
    pool.capacity = pool.node.times(static_cast<int64_t>(world_.below(4)));
  }
  if (agent_ != nullptr) agent_->set_supply(supply());
}

void OwnerProvider::check_supply() {
  const Rows& rows = laws_.rows();
  const agent::Supply wanted = supply();
  const auto* epoch = rows.get<market::EpochRecord>(market::epoch_key());
  for (const model::Pool& pool : pools_) {
    const auto* row = rows.get<market::PoolRecord>(market::key_of(pool.id));
    if (pools_off_.contains(pool.id)) {
      laws_.expect(row == nullptr || row->withdrawn, 2, pool.id.text + " was never withdrawn");
      continue;
    }
    laws_.expect(row != nullptr && !row->withdrawn && row->pool == pool, 2,
                 pool.id.text + " is not on sale as its owner wants it");
    laws_.expect(row != nullptr && epoch != nullptr && row->epoch == epoch->epoch, 4,
                 pool.id.text + " was not confirmed in this epoch");
  }
  for (const model::Offer& offer : offers_) {
    const auto* row = rows.get<market::OfferRecord>(market::key_of(offer.id));
    const bool on =
        std::find(wanted.offers.begin(), wanted.offers.end(), offer) != wanted.offers.end();
    laws_.expect(on ? row != nullptr && !row->withdrawn && row->offer == offer
                    : row == nullptr || row->withdrawn,
                 2, offer.id.text + " is not as its owner wants it");
  }
}

}  // namespace spillway::sim
