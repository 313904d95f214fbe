#include "services/autoscaler/autoscaler.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/text.h"

namespace spillway::autoscaler {
namespace {

// A cap has left room for fewer than were wanted: these stay, as with any shortfall.
Autoscaler::Then only_some(const OfferId& group, const Permit& permit, int32_t wanted,
                           Autoscaler::Then then) {
  return [group, permit, wanted, then = std::move(then)](const Status& status) {
    if (!status) return then(status);
    then(fail(Code::taken, "group " + in_quotes(group.text),
              fmt::format("{} of {} units were bought: {}", permit.units, wanted, permit.fewer),
              "take the others from another group, or raise the cap"));
  };
}

// Told once all are known; of several that failed, the first.
Autoscaler::Then after_all(size_t count, Autoscaler::Then then) {
  struct Waiting {
    size_t left;
    Status first;
    Autoscaler::Then then;
  };
  const auto waiting = std::make_shared<Waiting>(Waiting{count, {}, std::move(then)});
  return [waiting](const Status& status) {
    if (!status && waiting->first) waiting->first = status;
    if (--waiting->left == 0) waiting->then(waiting->first);
  };
}

agent::AgentOptions signing_options(const AutoscalerOptions& options) {
  agent::AgentOptions made{options.cluster};
  made.signatory = options.signatory;
  made.papers = options.papers;
  made.fabric_of = options.fabric_of;
  return made;
}

}  // namespace

Autoscaler::Autoscaler(host::Loop& loop, host::Random& random, net::Channel& broker,
                       agent::StateStore& store, NodeMaker& maker, services::Log& log,
                       AutoscalerOptions options)
    : loop_(loop),
      maker_(maker),
      options_(std::move(options)),
      audience_(options_.audience == nullptr ? nobody_ : *options_.audience),
      contracts_(
          loop, random, no_store_, log, [] {}, [] {}),
      keeper_(loop, random, store, log),
      alarm_(loop, [this] { step(); }),
      signing_(agent::signing_of(broker, loop, signing_options(options_))),
      context_{loop,
               random,
               log,
               signing_options(options_),
               wire::BrokerClient(broker),
               contracts_,
               [this](Instant time) { alarm_.wake_by(time); },
               signing_ ? &*signing_ : nullptr},
      market_(context_, {.currency = options_.policy.currency},
              [this] {
                if (ledger().state().groups.empty()) show();
                round_trips_.look(market_.seen());
              }),
      round_trips_(loop, random, options_.measure),
      advisor_(loop, keeper_.ledger(), options_.policy,
               {[this](const model::Offer& offer) { return round_trips_.of(offer); },
                [this](const OfferId& offer) { return market_.heard_of(offer); }}),
      holdings_(context_, keeper_,
                {[this] { alarm_.wake_by(loop_.now()); },
                 [this](const OfferId& group, const demand::HeldUnit& unit,
                        const demand::Failure& failure) { lose(group, unit, failure); },
                 [this](const ContractId& id) { asks_.hear(id); }}),
      asks_(context_, keeper_,
            [this](const model::Contract& contract) {
              holdings_.bought(contract);
              note_bought(contract);
            }),
      units_(context_, keeper_, maker, options_.unready_after,
             {[this](const ContractId& id) { return holdings_.is_over(id); },
              [this](const model::Contract& contract) { holdings_.put(contract); },
              [this](const OfferId& group) { remember_try(group, false); },
              [this](const OfferId& group, const demand::HeldUnit& unit,
                     const demand::Failure& failure) { lose(group, unit, failure); }}),
      spares_(context_, keeper_, maker,
              {[this] { return advisor_.best(market_.seen()); },
               [this](const OfferId& group, int32_t units) { keep_spares(group, units); }}) {
  spares_.set_policy(options_.policy.spares);
}

Status Autoscaler::start() {
  SPILLWAY_TRY(keeper_.load(options_.cluster));
  const auto contracts = contracts_.load(options_.cluster);
  if (!contracts) return tl::unexpected(contracts.error());
  maker_.start(life_.guard([this] { alarm_.wake_by(loop_.now()); }));
  holdings_.start();
  asks_.start();
  alarm_.wake_by(loop_.now());
  return {};
}

void Autoscaler::credentials_changed() {
  if (is_stopped_) return;
  holdings_.reconnect();
  market_.look_soon();
}

void Autoscaler::stop(std::function<void()> done) {
  is_stopped_ = true;
  holdings_.stop();
  keeper_.flush(std::move(done));
}

void Autoscaler::step() {
  if (is_stopped_) return;
  Instant next = asks_.step();
  next = std::min(next, units_.step());
  next = std::min(next, holdings_.step());
  if (market_.is_known()) next = std::min(next, spares_.step());
  next = std::min(next, market_.step());
  if (next < agent::k_never) alarm_.wake_by(next);
}

void Autoscaler::show() {
  keeper_.ledger().show(advisor_.to_show(market_.seen(), options_.best_of_class), loop_.now());
  pod_prices_ = demand::PodPrices(ledger().state());
}

// Before the market is known, what is held is all there is to show.
void Autoscaler::refresh() {
  if (market_.is_known()) {
    show();
    tell_pods_without_hope();
  }
  market_.look_soon();
}

Autoscaler::Then Autoscaler::in_time(Then then) {
  auto waiting = std::make_shared<Then>(std::move(then));
  auto answer = [waiting](const Status& status) {
    if (const Then once = std::exchange(*waiting, nullptr)) once(status);
  };
  loop_.after(k_answer_within, life_.guard([answer] {
    answer(fail(Code::unavailable, "broker", "what came of it is not known yet",
                "look at the group's target: it counts until that is known"));
  }));
  return answer;
}

void Autoscaler::set_policy(rank::Policy policy) {
  market_.set_currency(policy.currency);
  spares_.set_policy(policy.spares);
  advisor_.set_policy(std::move(policy));
}

void Autoscaler::increase(const OfferId& group, int32_t delta, Then then) {
  if (const Status status = ledger().may_increase(group, delta); !status) return then(status);
  const auto permit = advisor_.permit(*ledger().find(group), delta);
  if (!permit) {
    counts_.refused += delta;
    tell_pending(fmt::format("{}: {}", group.text, permit.error().reason));
    decisions_.add({loop_.now(),
                    {group.text},
                    fmt::format("{} units of {} refused", delta, group.text),
                    "      " + permit.error().reason + "\n"});
    return then(tl::unexpected(permit.error()));
  }
  const auto asks = keeper_.ledger().increase(group, permit->units, loop_.now(), permit->use);
  if (!asks) return then(tl::unexpected(asks.error()));
  spares_.bought();
  if (permit->units < delta) then = only_some(group, *permit, delta, std::move(then));
  const Then each = after_all(asks->size(), in_time(std::move(then)));
  for (const demand::Ask& ask : *asks) asks_.add(group, ask, each);
}

// What they would take is asked about when they are bought: until then they take nothing.
void Autoscaler::keep_spares(const OfferId& group, int32_t units) {
  const demand::GroupState* state = ledger().find(group);
  if (state == nullptr || !state->is_on_sale || state->rests_until) return;
  const auto permit = advisor_.permit(*state, 1);
  if (!permit) return;
  asks_.add(group, keeper_.ledger().keep_spares(group, units, loop_.now(), permit->use), {});
}

void Autoscaler::remove(const OfferId& group, std::vector<demand::NodeRef> nodes, Then then) {
  answer_when_safe(keeper_.ledger().remove(group, nodes, loop_.now()), then);
}

void Autoscaler::cancel(const OfferId& group, int32_t delta, Then then) {
  answer_when_safe(keeper_.ledger().cancel(group, delta, loop_.now()), then);
}

void Autoscaler::answer_when_safe(const Status& status, const Then& then) {
  if (!status) return then(status);
  keeper_.flush(life_.guard([this, answer = in_time(then)] {
    answer({});
    alarm_.wake_by(loop_.now());
  }));
}

// The Cluster Autoscaler makes templates of nodes that it has seen, with their provider id and
// another name: such a one is not held, it would be bought.
const demand::HeldUnit* Autoscaler::find_held(const model::Labels& labels,
                                              const std::string& provider_id) const {
  const auto id = ledger().group_of({provider_id, {}});
  if (!id) return nullptr;
  const std::string* host = model::find_label(labels, "kubernetes.io/hostname");
  for (const demand::HeldUnit& unit : ledger().find(*id)->units) {
    if (unit_provider_id(unit.contract, unit.number) != provider_id) continue;
    return host == nullptr || *host == unit_name(unit.contract, unit.number) ? &unit : nullptr;
  }
  return nullptr;
}

Result<int64_t> Autoscaler::node_price(const model::Labels& labels, const std::string& provider_id,
                                       const cluster_autoscaler::Window& window) const {
  if (const demand::HeldUnit* unit = find_held(labels, provider_id)) {
    return price_of_held(*unit, window);
  }
  OfferId id = demand::offer_of(labels);
  if (id.text.empty()) id = ledger().group_of({provider_id, {}}).value_or(OfferId());
  const demand::GroupState* group = ledger().find(id);
  if (group == nullptr) {
    return fail(Code::not_found, "node " + in_quotes(provider_id),
                "its labels name no offer that is known here",
                "ask for prices of nodes of these groups only");
  }
  const Duration time = window.to - window.from;
  return advisor_.price(group->offer, demand::price_of_new(group->offer, time), time);
}

// What is paid for anyway is nearly free, whatever else the policy would hold against it.
int64_t Autoscaler::price_of_held(const demand::HeldUnit& unit,
                                  const cluster_autoscaler::Window& window) const {
  const model::Contract* contract = holdings_.find(unit.contract);
  const demand::HeldPrice held{
      unit.use.rate, unit.use.minimum_term,
      contract == nullptr ? unit.use.started : contract->started.value_or(contract->created)};
  const Instant open = std::max(window.from, held.started + held.minimum_term);
  if (open >= window.to) return 1;
  const OfferId group = *ledger().group_of({unit_provider_id(unit.contract, unit.number), {}});
  return advisor_.price(ledger().find(group)->offer,
                        demand::price_of_held(held, window.from, window.to), window.to - open);
}

int64_t Autoscaler::pod_price(const model::Resources& requests,
                              const cluster_autoscaler::Window& window) const {
  return pod_prices_.price(requests, window.to - window.from);
}

std::vector<std::string> Autoscaler::gpu_models() const {
  std::set<std::string> models;
  for (const auto& [id, group] : ledger().state().groups) {
    for (const model::Count& gpu : group.offer.shape.gpus) models.insert(gpu.name);
  }
  return {models.begin(), models.end()};
}

AutoscalerStatus Autoscaler::status() const {
  AutoscalerStatus status = counts_;
  status.is_connected = holdings_.is_connected();
  status.is_market_known = market_.is_known();
  for (const auto& [id, group] : ledger().state().groups) {
    status.groups += 1;
    status.target += group.target();
    for (const demand::HeldUnit& unit : group.units) {
      status.running += unit.state == demand::UnitState::running ? 1 : 0;
      status.failed += unit.state == demand::UnitState::failed ? 1 : 0;
      status.spares += unit.state == demand::UnitState::spare ? 1 : 0;
      status.rate += unit.use.rate;
    }
  }
  return status;
}

}  // namespace spillway::autoscaler
