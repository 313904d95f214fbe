#include "sim/fabric_party.h"

#include <algorithm>

#include "fabric/buyer.h"
#include "model/tree.h"

namespace spillway::sim {
namespace {

namespace liqo = fabric::liqo;

constexpr Duration k_pool_lease = seconds(30);
constexpr size_t k_most_contracts = 3;
// The agent has some 25 watches, Liqo of another cluster some more.
constexpr int k_most_asked = 2000;
constexpr Duration k_most_skew = seconds(5);  // of clocks: two of them are within what is allowed

embedded::ClusterOptions cluster_options(const std::string& name) {
  embedded::ClusterOptions options;
  options.name = name;
  options.nodes = 1;
  options.node.cpu = "32";
  options.node.memory = "128Gi";
  options.trusts_strangers = true;
  options.history.changes = 200;  // so that who is away for a while is told that it is forgotten
  options.kubelets.heartbeat_every = seconds(20);
  options.kubelets.start_after = milliseconds(300);
  embedded::LiqoOptions with;
  with.api_server = Roads::url_of(name);
  options.liqo = std::move(with);
  return options;
}

model::Resources cores(int64_t count) {
  model::Resources shape;
  shape.cpu_millis = count * 1000;
  shape.memory_bytes = count * (int64_t{2} << 30);
  shape.pods = count * 10;
  return shape;
}

}  // namespace

FabricParty::FabricParty(Surroundings& around, const Addresses& at, const std::string& name,
                         Roads& roads, bool sells)
    : Party(around, at.agent,
            {name, {model::Role::provider, model::Role::consumer}, {{"fabric", "liqo"}}}),
      at_(at),
      id_(name),
      roads_(roads),
      cluster_(around.world, at.cluster, around.laws,
               [this, name] {
                 embedded::ClusterOptions options = cluster_options(name);
                 options.liqo->dial = [this](const kube::Access& access) {
                   return roads_.dial(cluster_.process(), at_.cluster, access);
                 };
                 return options;
               }()),
      work_(cluster_.process(), cluster_.live()),
      trouble_(around.world, around.network, cluster_, at.agent,
               {.most_skew = k_most_skew, .has_slow_bytes = false}),
      hand_(around.world, cluster_),
      disk_(process_),
      to_cluster_(process_, at.agent, around.network, {&cluster_}),
      renews_(around.world.chance(700)) {
  always_signs();
  cluster_.set_most_asked(k_most_asked);
  to_cluster_.set_patience(k_watch_patience);
  to_cluster_.watch_requests([this](const net::Request& request) { kill_at_deed(request); });
  roads.add(name, cluster_);
  if (sells) invent();
}

void FabricParty::invent() {
  pool_.id = PoolId(id_.text + "/pool");
  pool_.node = cores(8);
  pool_.capacity = pool_.node.times(2);
  for (int i = 0; i < 2; ++i) {
    model::Offer offer;
    offer.id = OfferId(fmt::format("{}/offer-{}", id_.text, i));
    offer.pool = pool_.id;
    offer.shape = cores(1 + i);
    offer.price.unit_hour = 1000;
    offer.visibility.selector = {{"fabric", "liqo"}};
    offer.labels = {{"disk", "ssd"}};
    offer.terms.lease = seconds(60 + static_cast<int64_t>(world_.below(240)));
    offer.terms.notice = seconds(10 + static_cast<int64_t>(world_.below(50)));
    offer.terms.drain = seconds(1 + static_cast<int64_t>(world_.below(20)));
    offer.terms.grace = seconds(static_cast<int64_t>(world_.below(300)));
    offer.terms.fence = seconds(20 + static_cast<int64_t>(world_.below(60)));
    offers_.push_back(std::move(offer));
  }
}

std::vector<OfferId> FabricParty::offer_ids() const {
  std::vector<OfferId> ids;
  for (const model::Offer& offer : offers_) ids.push_back(offer.id);
  return ids;
}

agent::Supply FabricParty::supply() const {
  agent::Supply made;
  if (!offers_.empty()) made.pools = {pool_};
  made.offers = offers_;
  return made;
}

// ---- the agent -----------------------------------------------------------------------------

void FabricParty::begin() {
  if (has_joined()) start_agent();
  shop_later();
  look_at_agent();
}

void FabricParty::end() {
  hindered_ = world_.now();
  (void)last_mourned();  // since the last second, maybe; and what it has begun by that goes on
  signing_.reset();
  agent_.reset();
  liqo_.reset();
  api_.reset();
  disk_.crash();
}

void FabricParty::on_certificate() {
  if (agent_ == nullptr) return start_agent();
  agent_->credentials_changed();
}

agent::FabricOptions FabricParty::fabric_options() {
  agent::FabricOptions options;
  options.warm = minutes(2);
  options.drain = seconds(30);
  options.offload.namespaces = {FabricWork::k_space};
  options.pulse.dial = [this](const kube::Access& access) {
    return roads_.dial(process_, at_.agent, access);
  };
  return options;
}

void FabricParty::start_agent() {
  hindered_ = world_.now();
  has_looked_ = false;
  api_ = std::make_unique<kube::Api>(process_, world_.random(), to_cluster_, kube::ApiOptions{});
  liqo_.emplace(*api_, world_.random(), log_, [this](const agent::LiqoHome& home) {
    if (agent_ != nullptr) agent_->know_liqo(home);
  });
  agent::AgentOptions options;
  options.cluster = id_;
  options.pool_lease = k_pool_lease;
  options.renew = renews_ && !is_retired();
  options.signatory = signatory();
  options.papers = &papers();
  options.fabric_of = liqo_->fabric_of();
  signing_ = std::make_unique<agent::Signing>(wire::BrokerClient(channel_), papers(), signatory(),
                                              [this] { return process_.now(); });
  signing_->bind_fabric(liqo_->fabric_of());
  agent_ = std::make_unique<agent::Agent>(process_, world_.random(), channel_, disk_, log_,
                                          std::move(options));
  laws_.expect(agent_->start(supply()).has_value(), 2,
               fmt::format("the agent of {} does not start from what it saved", id_.text));
  (void)last_mourned();
  agent_->start_fabric(*api_, fabric_options());
  liqo_->start();
}

// What it had a second ago is what it may have gone by.
void FabricParty::look_at_agent() {
  process_.after(seconds(1), [this] {
    look_at_agent();
    if (agent_ == nullptr) return;
    (void)last_mourned();
    const auto able = able_since();
    has_looked_ = has_looked_ || (able && *able + k_looks_within <= world_.now());
    for (const auto& [id, contract] : agent_->state().contracts) {
      known_.insert_or_assign(id, contract);
    }
  });
}

Instant FabricParty::last_mourned() {
  if (agent_ == nullptr) return mourned_;
  for (const auto& [provider, memory] : agent_->state().fabric.bought_from) {
    if (memory.dead) mourned_ = world_.now();
  }
  return mourned_;
}

const model::Contract* FabricParty::last_known(const ContractId& id) const {
  if (agent_ != nullptr) {
    const auto now = agent_->state().contracts.find(id);
    if (now != agent_->state().contracts.end()) return &now->second;
  }
  const auto found = known_.find(id);
  return found == known_.end() ? nullptr : &found->second;
}

std::optional<Instant> FabricParty::told_to_end(const std::string& unit) const {
  const auto found = told_to_end_.find(unit);
  return found == told_to_end_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Instant> FabricParty::able_since() const {
  const bool is_cut = around_.network.is_cut(at_.agent, at_.cluster);
  if (agent_ == nullptr || is_cut || trouble_.lasts_until() > world_.now()) return std::nullopt;
  return std::max(hindered_, trouble_.lasts_until());
}

// ---- buying --------------------------------------------------------------------------------

void FabricParty::shop_later() {
  process_.after(world_.between(seconds(5), seconds(40)), [this] {
    if (signing_ != nullptr) shop();
    shop_later();
  });
}

std::vector<ContractId> FabricParty::bought() const {
  std::vector<ContractId> ids;
  for (const auto& [id, contract] : agent_->state().contracts) {
    if (contract.buyer == id_ && contract.started) ids.push_back(id);
  }
  return ids;
}

void FabricParty::shop() {
  const std::vector<ContractId> mine = bought();
  if (is_retired()) {
    for (const ContractId& id : mine) give_back(id, {});
    return;
  }
  if (!renews_) {
    for (const ContractId& id : mine) {
      if (!world_.chance(700)) continue;
      agent::renew(client_, signing_.get(), id, [](const Result<wire::ContractAnswer>&) {});
    }
  }
  const auto dice = world_.below(100);
  if (mine.size() < k_most_contracts && dice < 50) return hold();
  if (mine.empty()) return;
  const ContractId& one = mine[world_.below(mine.size())];
  if (dice < 60) return give_back(one, {});
  if (dice < 66) return give_back(one, {0});
  if (dice < 74) return end_by_annotation(one);
  if (dice < 84) return buy_spares(one);
  if (dice < 86 && !offers_.empty() && agent_ != nullptr) {
    // Shrinks or grows: who has sold more gives notice.
    pool_.capacity = pool_.node.times(1 + static_cast<int64_t>(world_.below(2)));
    agent_->set_supply(supply());
  }
}

void FabricParty::hold() {
  if (market_.empty()) return;
  wire::HoldRequest body;
  body.ttl = seconds(60);
  const auto units = static_cast<int32_t>(1 + world_.below(2));
  body.lines.push_back({market_[world_.below(market_.size())], units, units, world_.chance(250)});
  insist<wire::HoldAnswer>(
      [this, key = fmt::format("key-{}", ++keys_), body](wire::Then<wire::HoldAnswer> then) {
        client_.hold(key, body, std::move(then));
      },
      [this](const Result<wire::HoldAnswer>& answer) {
        if (!answer) return;
        for (const market::Grant& grant : answer->grants) {
          around_.contracts.push_back(grant.contract);
          sign(grant.contract, 20);
        }
      });
}

// Until its provider has signed, too.
void FabricParty::sign(const ContractId& contract, int tries) {
  if (signing_ == nullptr) return;
  signing_->sign(
      contract, [](const model::Contract&) { return Status(); },
      [this, contract, tries](const Result<model::Contract>& told) {
        const bool is_done = told && told->state != model::ContractState::hold;
        if (is_done || tries <= 1) return;
        process_.after(world_.between(milliseconds(300), seconds(3)),
                       [this, contract, tries] { sign(contract, tries - 1); });
      });
}

void FabricParty::give_back(const ContractId& contract, std::vector<int32_t> units) {
  agent::release(client_, signing_.get(), contract, std::move(units),
                 [](const Result<wire::ContractAnswer>&) {});
}

// As the autoscaler ends a unit: its slice is told, and when the node is gone, so is the broker.
void FabricParty::end_by_annotation(const ContractId& contract) {
  const auto known = agent_->state().contracts.find(contract);
  if (known == agent_->state().contracts.end() || known->second.units.empty()) return;
  const int32_t number = known->second.units[world_.below(known->second.units.size())].number;
  const std::string unit = unit_name(contract, number);
  embedded::Objects& objects = cluster_.live().objects();
  const embedded::Kind& slices =
      objects.registry.built_in(liqo::k_slices.plural, liqo::k_slices.group);
  const embedded::Key key{liqo::tenant_namespace_name(known->second.provider.text), unit};
  if (objects.table.find(slices, key) == nullptr) return;
  told_to_end_.try_emplace(unit, world_.now());
  objects.change(slices, key, [](model::Node& document) {
    model::put(model::ensure(document, {"metadata", "annotations"}), fabric::k_end_annotation,
               model::text_node("now"));
  });
  process_.after(world_.between(seconds(10), seconds(90)), [this, contract, number] {
    if (signing_ != nullptr) give_back(contract, {number});
  });
}

void FabricParty::buy_spares(const ContractId& contract) {
  const auto known = agent_->state().contracts.find(contract);
  if (known == agent_->state().contracts.end() || !known->second.spare) return;
  agent::buy(client_, signing_.get(), contract, {0}, [](const Result<wire::ContractAnswer>&) {});
}

// ---- faults --------------------------------------------------------------------------------

void FabricParty::live(Duration fault_every) {
  is_calm_ = fault_every.ms == 0;
  process_.set_skew(world_.between({-k_most_skew.ms}, k_most_skew));
  if (!market_.empty()) work_.begin();
  if (!is_calm_) fail_later(fault_every);
}

void FabricParty::calm() {
  is_calm_ = true;
  trouble_.end();
  work_.end();
}

void FabricParty::fail_later(Duration mean) {
  world_.after(world_.between({}, {mean.ms * 2}), [this, mean] {
    if (is_calm_) return;
    fail();
    fail_later(mean);
  });
}

void FabricParty::fail() {
  const auto dice = world_.below(100);
  if (dice < 55) return trouble_.cause();
  if (dice < 65) return disk_.be_slow_until(world_.now() + minutes(1));
  if (dice < 85) return hand_.remove();
  hand_.edit();
}

// In the middle of something, often: what it has written down and what it has done are not yet the
// same.
void FabricParty::kill_at_deed(const net::Request& request) {
  if (is_calm_ || request.method == "GET" || !world_.chance(4)) return;
  world_.after(world_.between({}, milliseconds(150)), [this] {
    if (is_calm_) return;
    if (world_.chance(300)) return trouble_.restart();
    kill(world_.chance(200) ? minutes(4) : seconds(20));
  });
}

void FabricParty::kill(Duration longest) {
  if (!process_.is_up()) return;
  crash();
  world_.after(world_.between(seconds(1), longest), [this] {
    if (!process_.is_up()) restart();
  });
}

void FabricParty::check_settled() {
  Party::check_settled();
  laws_.expect(agent_ != nullptr && agent_->status().connected, 3,
               fmt::format("the agent of {} has not found back", id_.text));
  if (agent_ == nullptr) return;
  laws_.expect(agent_->state().contracts.empty(), 3,
               fmt::format("{} carries what has ended", id_.text));
  laws_.expect(agent_->state().ended_unheard.empty(), 3,
               fmt::format("{} never told what it has ended by itself", id_.text));
  const agent::FabricStatus fabric = agent_->fabric()->status();
  laws_.expect(fabric.is_seeing && fabric.peers == 0, 3,
               fmt::format("{} has {} peerings in the end", id_.text, fabric.peers));
}

}  // namespace spillway::sim
