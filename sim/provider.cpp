#include "sim/provider.h"

namespace spillway::sim {
namespace {

constexpr Duration k_pool_lease = seconds(30);

model::Resources shape_of(int64_t cores) {
  model::Resources shape;
  shape.cpu_millis = cores * 1000;
  shape.memory_bytes = cores * (int64_t{2} << 30);
  shape.pods = cores * 10;
  return shape;
}

}  // namespace

SimProvider::SimProvider(World& world, Network& network,
                         std::vector<std::unique_ptr<SimBroker>>& brokers, Address at, ClusterId id,
                         const std::vector<ClusterId>& friends)
    : Party(world, network, brokers, at), id_(std::move(id)) {
  invent(friends);
}

void SimProvider::invent(const std::vector<ClusterId>& friends) {
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

model::Offer SimProvider::invent_offer(const model::Pool& pool, int number,
                                       const std::vector<ClusterId>& friends) {
  model::Offer offer;
  offer.id = OfferId(fmt::format("{}/offer-{}", id_.text, number));
  offer.pool = pool.id;
  offer.shape = shape_of(1 + static_cast<int64_t>(world_.below(4)));
  if (!pool.node.gpus.empty() && world_.chance(500)) offer.shape.gpus = {{"nvidia-a100", 1}};
  offer.price.unit_hour = 10'000 + static_cast<int64_t>(world_.below(1'000'000));
  offer.price.cpu_hour = static_cast<int64_t>(world_.below(100'000));
  if (world_.chance(300)) offer.price.basis = model::PriceBasis::pay_per_use;
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

void SimProvider::begin() {
  publish_all();
  follow_events();
}

void SimProvider::publish_all() {
  for (const model::Pool& pool : pools_) publish(pool);
  process_.after(world_.between(seconds(8), seconds(12)), [this] {
    if (world_.chance(150) && !is_retired()) change_something();
    publish_all();
  });
}

void SimProvider::publish(const model::Pool& pool) {
  market::PublishPool command{
      id_, pool, std::max<int64_t>(1, sequence_[pool.id]), k_pool_lease, {}, epoch_, ++reports_};
  sequence_[pool.id] = command.sequence;
  for (const auto& [contract, carrying] : carries_) {
    if (carrying.pool != pool.id) continue;
    command.carries.push_back({contract, carrying.units, carrying.shape});
  }
  ask(
      command,
      [this, pool](Result<market::Answer> answer) {
        if (!answer) {
          // It was withdrawn for us, since we were revoked; or the message was overtaken.
          if (answer.error().code == Code::stale) ++sequence_[pool.id];
          return;
        }
        // Another epoch: what we said confirmed nothing. Say it again, in this one.
        if (std::exchange(epoch_, answer->epoch) != answer->epoch) publish(pool);
        for (const model::Offer& offer : offers_) {
          if (offer.pool != pool.id || offer_sequence_.contains(offer.id)) continue;
          offer_sequence_[offer.id] = 1;
          ask(market::PublishOffer{id_, offer, 1},
              [this, id = offer.id](Result<market::Answer> told) {
                if (!told) offer_sequence_.erase(id);
              });
        }
      },
      2);
}

void SimProvider::change_something() {
  model::Pool& pool = pools_[world_.below(pools_.size())];
  if (world_.chance(200)) {
    model::Offer& offer = offers_[world_.below(offers_.size())];
    offer.price.unit_hour += 1000;
    auto& sequence = offer_sequence_[offer.id];
    ask(market::PublishOffer{id_, offer, ++sequence}, [](const Result<market::Answer>&) {});
    return;
  }
  // Shrinks or grows: a truth that the book has to take.
  pool.capacity = pool.node.times(static_cast<int64_t>(world_.below(4)));
  ++sequence_[pool.id];
  if (world_.chance(100)) {
    ask(market::WithdrawPool{id_, pool.id, ++sequence_[pool.id]},
        [](const Result<market::Answer>&) {});
    ++sequence_[pool.id];
  }
}

void SimProvider::follow_events() {
  ask_events(last_event_, [this](Result<std::vector<market::Event>> events) {
    if (!events) {
      if (events.error().code == Code::gone) catch_up();
      return;
    }
    for (const market::Event& event : *events) {
      if (event.sequence <= last_event_) continue;
      last_event_ = event.sequence;
      if (event.provider == id_) on_event(event);
    }
  });
  // An answer may be lost: look at one of them again, whatever was heard.
  if (!carries_.empty()) {
    look_at(
        std::next(carries_.begin(), static_cast<ptrdiff_t>(world_.below(carries_.size())))->first);
  }
  process_.after(world_.between(seconds(2), seconds(5)), [this] { follow_events(); });
}

// What happened meanwhile is forgotten: look at all that there is.
void SimProvider::catch_up() {
  ask_contracts(id_, [this](Result<ContractsSeen> seen) {
    if (!seen) return;
    last_event_ = std::max(last_event_, seen->last_event);
    for (const ContractId& contract : seen->contracts) look_at(contract);
    for (const auto& [contract, carrying] : carries_) look_at(contract);
  });
}

void SimProvider::on_event(const market::Event& event) {
  switch (event.kind) {
    case market::EventKind::contract_confirmed:
    case market::EventKind::units_released:
    case market::EventKind::contract_closed:
      look_at(ContractId(event.subject));
      break;
    case market::EventKind::pool_oversold:
      if (world_.chance(700)) give_notice_on(event.pool);
      break;
    default:
      break;
  }
}

void SimProvider::look_at(const ContractId& contract) {
  ask(market::Look{id_, contract}, [this, contract](Result<market::Answer> answer) {
    if (!answer || !answer->contract) return;
    const model::Contract& seen = *answer->contract;
    const int32_t live = seen.live_units();
    if (live > 0 && seen.started) {
      carries_[contract] = {live, seen.shape, seen.pool};
    } else {
      carries_.erase(contract);
    }
  });
}

void SimProvider::give_notice_on(const PoolId& pool) {
  for (const auto& [contract, carrying] : carries_) {
    if (carrying.pool != pool || world_.chance(400)) continue;
    ask(market::GiveNotice{id_, contract}, [](const Result<market::Answer>&) {});
  }
}

}  // namespace spillway::sim
