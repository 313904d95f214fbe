#include "sim/simulation.h"

#include <memory>
#include <set>
#include <vector>

#include "sim/buyer.h"
#include "sim/cluster_provider.h"
#include "sim/fabrics.h"
#include "sim/faults.h"
#include "sim/operator.h"
#include "sim/owner_provider.h"
#include "sim/scaling_buyer.h"

namespace spillway::sim {
namespace {

// Shorter than a real market's, so that an hour sees many lives.
market::Rules quick_rules() {
  market::Rules rules;
  rules.max_hold_ttl = minutes(2);  // what an autoscaler asks for
  rules.max_hold_total = minutes(2);
  rules.max_pool_lease = minutes(1);
  // Longer than a hold, the longest lease and all its grace: who asks again after an outage must
  // not get a second contract while the first one lives.
  rules.key_retention = minutes(13);
  rules.reclaim_after = seconds(30);
  rules.max_token_ttl = minutes(5);
  rules.token_retention = minutes(5);
  return rules;
}

class Federation {
 public:
  Federation(uint64_t seed, const Scenario& scenario);
  Report run();

 private:
  void add_brokers();
  void add_liar();
  void check_papers();
  void add_parties();
  void add_clusters();
  void add_scalers();
  void add_fabrics();
  std::vector<FabricParty*> fabric_parties() const;
  model::Cluster invent_buyer(int64_t number);
  void check_directories();
  void check_agents();
  bool run_until(Instant end);

  uint64_t seed_;
  Scenario scenario_;
  World world_;
  Network network_;
  SimStore store_;
  Laws laws_;
  std::vector<std::unique_ptr<SimBroker>> brokers_;
  std::unique_ptr<Liar> liar_;
  Surroundings around_;
  std::vector<std::unique_ptr<SimProvider>> providers_;
  std::vector<ClusterProvider*> clusters_;  // among them
  std::vector<std::unique_ptr<SimBuyer>> buyers_;
  std::vector<std::unique_ptr<ScalingBuyer>> scalers_;
  std::unique_ptr<Fabrics> fabrics_;  // null: there are none
  std::vector<std::unique_ptr<SimMember>> members_;
  std::unique_ptr<SimOperator> operator_;
  std::vector<OfferId> offers_;
  Address next_address_ = 1;   // 0 is the store
  std::set<Instant> outages_;  // as they were recorded: the log forgets them
};

Federation::Federation(uint64_t seed, const Scenario& scenario)
    : seed_(seed),
      scenario_(scenario),
      world_(seed),
      network_(world_),
      store_(world_),
      laws_(store_.rows(), quick_rules()),
      around_{world_, network_, laws_, brokers_} {
  add_liar();
  laws_.set_clock([this] { return world_.now(); });
  store_.watch([this](const host::Commit& commit, const Undo& undo) {
    laws_.on_commit(commit, undo);
    for (const market::Event& event : commit.events) {
      world_.note(event.subject, static_cast<int64_t>(event.kind));
      if (event.kind == market::EventKind::outage_recorded) outages_.insert(event.at);
    }
  });
  add_brokers();
  add_parties();
}

void Federation::add_brokers() {
  host::BookOptions options;
  options.rules = quick_rules();
  // Short, so that who is away for a while has missed something.
  options.keep_events = minutes(1);
  options.forget_every = seconds(20);
  options.forget_at_once = 100;
  for (int64_t i = 0; i < scenario_.brokers; ++i) {
    brokers_.push_back(
        std::make_unique<SimBroker>(world_, network_, store_, 0, next_address_++, laws_, options));
  }
}

model::Cluster Federation::invent_buyer(int64_t number) {
  model::Cluster cluster;
  cluster.id = ClusterId(fmt::format("buyer-{}", number));
  if (world_.chance(500)) cluster.labels = {{"tier", "gold"}};
  if (world_.chance(400)) cluster.quota.units = 3 + static_cast<int64_t>(world_.below(10));
  if (world_.chance(300)) cluster.quota.open_holds = 2;
  if (world_.chance(400)) {
    const auto limit = 300'000 + static_cast<int64_t>(world_.below(3'000'000));
    cluster.budget = model::Budget{Money{limit, Currency{}}, world_.now()};
  }
  return cluster;
}

void Federation::add_parties() {
  std::vector<ClusterId> friends;
  std::vector<model::Cluster> clusters;
  std::vector<Party*> everyone;
  for (int64_t i = 0; i < scenario_.buyers; ++i) {
    clusters.push_back(invent_buyer(i));
    friends.push_back(clusters.back().id);
  }
  for (int64_t i = 0; i < scenario_.providers; ++i) {
    providers_.push_back(std::make_unique<OwnerProvider>(around_, next_address_++,
                                                         fmt::format("provider-{}", i), friends));
  }
  add_clusters();
  for (const auto& provider : providers_) {
    for (const OfferId& offer : provider->offer_ids()) offers_.push_back(offer);
    everyone.push_back(provider.get());
  }
  for (const model::Cluster& cluster : clusters) {
    buyers_.push_back(std::make_unique<SimBuyer>(around_, next_address_++, cluster, offers_));
    everyone.push_back(buyers_.back().get());
  }
  for (int i = 0; i < 2; ++i) {
    members_.push_back(std::make_unique<SimMember>(
        around_, next_address_++,
        Person{fmt::format("member-{}", i), {model::Role::provider, model::Role::consumer}}));
    everyone.push_back(members_.back().get());
  }
  members_.push_back(std::make_unique<SimMember>(around_, next_address_++,
                                                 Person{"watcher", {model::Role::viewer}}));
  everyone.push_back(members_.back().get());
  add_scalers();
  for (const auto& scaler : scalers_) everyone.push_back(scaler.get());
  add_fabrics();
  for (FabricParty* party : fabric_parties()) everyone.push_back(party);
  operator_ = std::make_unique<SimOperator>(around_, next_address_++, everyone, clusters);
  brokers_.front()->set_up(operator_->name(), operator_->key().fingerprint);
}

// By lots of their own: a seed without clusters is the same world as it was before there were any.
void Federation::add_clusters() {
  host::SeededRandom lots(seed_ + 0x5eed);
  const int64_t drawn = host::below(lots, 3) == 0 ? 1 : 0;
  for (int64_t i = 0; i < scenario_.clusters.value_or(drawn); ++i) {
    const Address at = next_address_++;
    auto provider = std::make_unique<ClusterProvider>(around_, at, next_address_++,
                                                      fmt::format("cluster-{}", i));
    clusters_.push_back(provider.get());
    providers_.push_back(std::move(provider));
  }
}

// By lots of their own, as well.
void Federation::add_scalers() {
  host::SeededRandom lots(seed_ + 0x5ca1e);
  const int64_t drawn = host::below(lots, 3) == 0 ? 1 : 0;
  for (int64_t i = 0; i < scenario_.autoscalers.value_or(drawn); ++i) {
    const ScalingBuyer::Addresses at{next_address_, next_address_ + 1, next_address_ + 2};
    next_address_ += 3;
    scalers_.push_back(std::make_unique<ScalingBuyer>(around_, at, fmt::format("scaler-{}", i)));
  }
}

// Only where a scenario asks for them: they take as long as ten other seeds.
void Federation::add_fabrics() {
  const int64_t pairs = scenario_.fabrics.value_or(0);
  if (pairs == 0) return;
  fabrics_ = std::make_unique<Fabrics>(around_);
  for (int64_t i = 0; i < pairs; ++i) {
    fabrics_->add_pair(next_address_);
    next_address_ += 4;
  }
}

std::vector<FabricParty*> Federation::fabric_parties() const {
  std::vector<FabricParty*> parties;
  if (fabrics_ == nullptr) return parties;
  for (const auto& party : fabrics_->parties()) parties.push_back(party.get());
  return parties;
}

// When all is quiet, every broker knows everybody as they are.
void Federation::check_directories() {
  for (const auto& broker : brokers_) {
    const host::Directory* directory = broker->directory();
    laws_.expect(directory != nullptr && directory->is_ready(), 2, "a broker does not get ready");
    if (directory == nullptr) continue;
    for (const auto& [key, row] : store_.rows().all()) {
      const auto* identity = held<model::Identity>(row.record);
      if (identity == nullptr) continue;
      const auto known = directory->find(key.id);
      laws_.expect(known != nullptr && *known == *identity, 2,
                   fmt::format("a broker does not know {} as it is", key.id));
    }
  }
}

// By lots of their own, as clusters.
void Federation::add_liar() {
  host::SeededRandom lots(seed_ + 0x11a7);
  const int64_t drawn = host::below(lots, 4) == 0 ? 100 : 0;
  const int64_t permille = scenario_.lies.value_or(drawn);
  if (permille == 0) return;
  liar_ = std::make_unique<Liar>(world_, static_cast<uint64_t>(permille));
  around_.liar = liar_.get();
}

void Federation::check_papers() {
  for (Party* party : around_.parties) {
    for (const auto& [id, paper] : party->papers().papers) laws_.check_paper(party->name(), paper);
  }
}

// Some minutes after the last fault: every agent knows what it carries.
void Federation::check_agents() {
  for (const auto& provider : providers_) provider->check_agent();
}

bool Federation::run_until(Instant end) {
  while (world_.now() < end && !laws_.broken()) {
    if (!world_.step()) break;
  }
  return !laws_.broken();
}

Report Federation::run() {
  std::vector<Party*> parties;
  for (auto& provider : providers_) parties.push_back(provider.get());
  for (auto& buyer : buyers_) parties.push_back(buyer.get());
  for (auto& member : members_) parties.push_back(member.get());
  for (auto& scaler : scalers_) parties.push_back(scaler.get());
  for (FabricParty* party : fabric_parties()) parties.push_back(party);
  parties.push_back(operator_.get());
  const Instant start = world_.now();
  run_until(start + seconds(3));  // until there is an operator
  operator_->take_office();
  for (Party* party : parties) party->start();
  run_until(start + seconds(10));  // everyone joins in peace

  const FaultPlan plan = scenario_.faults ? *scenario_.faults : draw_plan(world_);
  Faults faults(world_, network_, store_, 0, brokers_, parties, laws_, plan);
  faults.begin();
  for (ClusterProvider* cluster : clusters_) cluster->live(plan.cluster_fault);
  for (auto& scaler : scalers_) scaler->live(plan.cluster_fault);
  if (fabrics_ != nullptr) fabrics_->live(plan.cluster_fault);
  const Instant end = start + scenario_.length;
  if (run_until(end)) {
    faults.stop();
    check_papers();
    if (liar_ != nullptr) liar_->fall_silent();
    for (ClusterProvider* cluster : clusters_) cluster->calm();
    for (auto& scaler : scalers_) scaler->calm();
    if (fabrics_ != nullptr) fabrics_->calm();
    for (Party* party : parties) party->retire();
    if (run_until(end + minutes(4))) check_agents();
    if (run_until(end + scenario_.settle)) {
      laws_.settled();
      check_directories();
      check_papers();
      for (Party* party : parties) {
        if (!party->has_vanished()) party->check_settled();
      }
      if (fabrics_ != nullptr) fabrics_->check_settled();
    }
  }

  Report report;
  report.seed = seed_;
  report.steps = world_.steps();
  report.checks = laws_.checks();
  for (const auto& [key, row] : store_.rows().all()) {
    if (key.kind == market::Kind::contract) ++report.contracts;
  }
  for (const auto& scaler : scalers_) report.increases += scaler->increases();
  if (fabrics_ != nullptr) {
    report.nodes = fabrics_->nodes();
    report.begun = fabrics_->begun();
    report.excused = fabrics_->excused();
    report.mended = fabrics_->mended();
  }
  report.outages = outages_.size();
  report.lies = liar_ == nullptr ? 0 : liar_->lies();
  for (Party* party : around_.parties) report.agreements += party->papers().papers.size();
  report.lost_commits = store_.lost_commits();
  report.kept_commits = store_.kept_unsynced();
  report.trace = world_.trace();
  report.broken = laws_.broken();
  report.broken_at = world_.now();
  return report;
}

}  // namespace

Report simulate(uint64_t seed, const Scenario& scenario) {
  return Federation(seed, scenario).run();
}

}  // namespace spillway::sim
