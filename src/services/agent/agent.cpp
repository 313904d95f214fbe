#include "services/agent/agent.h"

#include <algorithm>
#include <map>
#include <utility>

namespace spillway::agent {

Agent::Agent(host::Loop& loop, host::Random& random, net::Channel& channel, StateStore& store,
             services::Log& log, AgentOptions options)
    : loop_(loop),
      keeper_(
          loop, random, store, log,
          [this] { keeper_.state().last_event = tenancy_.settled_through(follower_.last_seen()); },
          [this] { alarm_.wake_by(loop_.now()); }),
      alarm_(loop, [this] { step(); }),
      signing_(signing_of(channel, loop, options)),
      context_{loop,
               random,
               log,
               std::move(options),
               wire::BrokerClient(channel),
               keeper_,
               [this](Instant time) { alarm_.wake_by(time); },
               signing_ ? &*signing_ : nullptr},
      messages_(context_),
      agreements_(context_, {[this](const model::Contract& contract) { tenancy_.put(contract); },
                             [this](const ContractId& id, const Paper& paper) {
                               messages_.verified(id, paper);
                               contracts_changed();
                             }}),
      renewals_(context_, {[this](const model::Contract& contract) { tenancy_.put(contract); },
                           [this](const ContractId& id) { tenancy_.look_at(id); }}),
      tenancy_(context_, {[this](const PoolId& pool) { publisher_.carries_changed(pool); },
                          [this] { sold_changed_(); },
                          [this](const model::Contract& contract) {
                            renewals_.seen(contract);
                            agreements_.seen(contract);
                            messages_.seen(contract);
                            contracts_changed();
                          },
                          [this](const ContractId& id) { renewals_.hurry(id); }}),
      untold_(context_),
      notices_(context_, tenancy_),
      publisher_(
          context_, [this](const PoolId& pool) { return tenancy_.carries(pool); },
          [this] { resync_later(); }),
      follower_(context_, {[this](const wire::EventBody& event) { on_event(event); },
                           [this](const wire::SnapshotAnswer& snapshot) { take_over(snapshot); },
                           [this] {
                             untold_.hurry();
                             publisher_.hurry();
                           }}),
      dealings_(context_, messages_) {}

Status Agent::start(std::optional<Supply> supply) {
  const auto known = keeper_.load(context_.options.cluster);
  if (!known) return tl::unexpected(known.error());
  is_supply_known_ = supply || *known;
  if (supply) context_.state().supply = std::move(*supply);
  messages_.start();
  follower_.start();
  tenancy_.start();
  agreements_.start();
  if (context_.state().last_event >= 0) begin_selling();
  return {};
}

// Who has neither a supply nor a memory of one knows nothing of what to withdraw: what the broker
// has stays as it is, and its leases run out.
void Agent::begin_selling() {
  selling_ = true;
  if (!is_supply_known_) return;
  Supply told = context_.state().supply;
  for (model::Offer& offer : told.offers) offer.enforcement = enforcement_;
  publisher_.want(told);
}

void Agent::set_supply(Supply supply) {
  if (is_supply_known_ && supply == context_.state().supply) return;
  is_supply_known_ = true;
  context_.state().supply = std::move(supply);
  keeper_.touch();
  if (selling_) begin_selling();
}

void Agent::credentials_changed() {
  if (stopped_) return;
  follower_.reconnect();
  untold_.hurry();
  publisher_.hurry();
}

void Agent::start_fabric(kube::Api& api, FabricOptions options) {
  fabric_.emplace(dealings_, api, context_.log, std::move(options));
  fabric_->start();
  guard_.emplace(api, [this](model::Enforcement now) { know_enforcement(now); });
  guard_->start();
}

void Agent::stop_fabric() {
  fabric_.reset();
  guard_.reset();
}

void Agent::know_enforcement(model::Enforcement enforcement) {
  if (fabric_) fabric_->set_guarded(enforcement == model::Enforcement::full);
  if (stopped_ || std::exchange(enforcement_, enforcement) == enforcement) return;
  if (selling_) begin_selling();
}

void Agent::know_liqo(const LiqoHome& self) {
  if (stopped_) return;
  context_.options.liqo = self.id();
  agreements_.show_card();
  if (fabric_) fabric_->know_self(self);
}

void Agent::contracts_changed() {
  if (fabric_) fabric_->contracts_changed();
}

void Agent::stop(std::function<void()> done) {
  stop_fabric();
  keeper_.flush(std::move(done));
  stopped_ = true;
  follower_.stop();
}

void Agent::step() {
  if (stopped_) return;
  Instant next = std::min(tenancy_.step(), renewals_.step());
  next = std::min(next, agreements_.step());
  next = std::min(next, untold_.step());
  next = std::min(next, notices_.step());
  next = std::min(next, publisher_.step());
  if (next < k_never) alarm_.wake_by(next);
}

void Agent::on_event(const wire::EventBody& event) {
  if (stopped_) return;
  keeper_.touch();
  if (event.kind == "epoch-begun" || event.kind == "outage-recorded") {
    publisher_.confirm_all();
    return;
  }
  tenancy_.on_event(event);
  messages_.on_event(event);
  notices_.on_event(event);
}

void Agent::take_over(const wire::SnapshotAnswer& snapshot) {
  if (stopped_) return;
  tenancy_.take_over(snapshot);
  agreements_.show_card();
  messages_.look_at_all();
  publisher_.take_over(snapshot);
  keeper_.touch();
  begin_selling();
}

// Only the numbers of what is published: contracts are newer from the stream.
void Agent::resync() {
  context_.client.snapshot(life_.guard([this](const Result<wire::SnapshotAnswer>& snapshot) {
    resyncing_ = false;
    if (stopped_) return;
    if (!snapshot) return resync_later();
    publisher_.take_over(*snapshot);
    begin_selling();
  }));
}

void Agent::resync_later() {
  if (std::exchange(resyncing_, true)) return;
  loop_.after(resync_backoff_.next(context_.random), life_.guard([this] { resync(); }));
}

// Also from pools that are withdrawn: whoever held in the last moment has a contract all the same.
std::vector<supply::Sold> Agent::sold() const {
  std::map<PoolId, supply::Sold> by_pool;
  for (const auto& [id, contract] : keeper_.state().contracts) {
    if (contract.provider != context_.options.cluster || contract.bought_units() == 0) continue;
    const auto [at, is_new] = by_pool.try_emplace(contract.pool);
    if (is_new) {
      const auto memory = keeper_.state().pools.find(contract.pool);
      const bool known = memory != keeper_.state().pools.end() && memory->second.published;
      at->second.pool =
          known ? *memory->second.published : model::Pool{contract.pool, contract.shape, {}};
    }
    supply::add_capped(at->second.units, contract.taken());
  }
  std::vector<supply::Sold> all;
  for (auto& entry : by_pool) all.push_back(std::move(entry.second));
  return all;
}

AgentStatus Agent::status() const {
  return {follower_.is_connected(),
          follower_.last_seen(),
          context_.heard,
          keeper_.state().epoch,
          publisher_.pools_published(),
          publisher_.offers_published(),
          tenancy_.sold(),
          tenancy_.bought(),
          agreements_.countersigned(),
          agreements_.refused(),
          agreements_.disputed(),
          tenancy_.orphans_found(),
          tenancy_.orphans_ended(),
          messages_.counts(),
          context_.last_error};
}

}  // namespace spillway::agent
