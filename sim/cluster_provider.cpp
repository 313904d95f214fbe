#include "sim/cluster_provider.h"

#include <array>
#include <utility>

#include "sim/recount.h"

namespace spillway::sim {
namespace {

supply::Step step_of(std::string name, int64_t cores) {
  supply::Step step;
  step.name = std::move(name);
  step.shape.cpu_millis = cores * 1000;
  step.shape.memory_bytes = cores * (int64_t{1} << 30);
  step.shape.pods = cores * 2;
  return step;
}

supply::OfferingPolicy invent_policy(World& world) {
  supply::OfferingPolicy policy;
  policy.ladder = {step_of("small", 1), step_of("large", 4)};
  policy.headroom.amount.cpu_millis = static_cast<int64_t>(world.below(500));
  policy.headroom.share_permille = static_cast<int32_t>(world.below(150));
  policy.price.unit_hour = 10'000 + static_cast<int64_t>(world.below(1'000'000));
  policy.visibility.everyone = true;
  policy.place.country = "IT";
  policy.labels.pass = {"zone"};
  policy.terms.lease = seconds(30 + static_cast<int64_t>(world.below(270)));
  policy.terms.notice = seconds(10 + static_cast<int64_t>(world.below(50)));
  policy.terms.drain = seconds(1 + static_cast<int64_t>(world.below(20)));
  policy.terms.grace = seconds(static_cast<int64_t>(world.below(300)));
  return policy;
}

model::Resources size_of(const supply::View& view) {
  model::Resources all;
  for (const auto& [name, place] : view.places()) {
    if (place.row) all += place.row->allocatable;
  }
  return all;
}

constexpr int k_most_streams = 2;  // nodes and pods
// Of nodes: ClusterLife makes no others.
constexpr std::array<std::pair<int64_t, const char*>, 6> k_kinds{
    {{3, ""}, {8, ""}, {3, "a"}, {8, "a"}, {3, "b"}, {8, "b"}}};

}  // namespace

ClusterProvider::ClusterProvider(Surroundings& around, Address at, Address cluster_at,
                                 const std::string& name)
    : SimProvider(around, at, name),
      policy_(invent_policy(around.world)),
      cluster_(around.world, cluster_at, around.laws, name),
      life_(around.world, around.network, cluster_, at),
      to_cluster_(process_, at, around.network, {&cluster_}) {
  to_cluster_.set_patience(k_watch_patience);
}

// Those of an empty node of each size that there is.
std::vector<OfferId> ClusterProvider::offer_ids() const {
  std::vector<OfferId> ids;
  for (const auto& [cores, zone] : k_kinds) {
    supply::NodeRow row;
    if (*zone != '\0') row.labels = {{"zone", zone}};
    row.name = "any";
    row.arch = "amd64";
    row.allocatable = step_of("", cores).shape;
    row.allocatable.memory_bytes *= 2;
    row.allocatable.pods = 30;
    row.ready = true;
    supply::View view;
    view.replace_nodes({row});
    view.replace_pods({});
    for (const model::Offer& offer :
         supply::offer(view, policy_, id_, world_.now()).supply.offers) {
      ids.push_back(offer.id);
    }
  }
  return ids;
}

void ClusterProvider::on_agent_started() {
  api_ = std::make_unique<kube::Api>(process_, world_.random(), to_cluster_, kube::ApiOptions{});
  agent::LiveSupplyCalls calls;
  calls.then = [this](agent::Supply supply) {
    laws_.on_cluster_size(id_, size_of(live_->view()));
    // Who cannot see its cluster repeats what was published, and offers nothing of it.
    if (!live_->is_blind()) laws_.check_computed(supply, *live_, agent_->sold(), policy_);
    laws_.expect(!live_->is_blind() || supply.offers.empty(), 4,
                 fmt::format("{} offers what it cannot see", id_.text));
    agent_->set_supply(std::move(supply));
  };
  calls.published = [this] { return agent_->state().supply; };
  calls.sold = [this] { return agent_->sold(); };
  live_.emplace(*api_, log_, id_, policy_, std::move(calls));
  agent_->when_sold_changes([this] {
    if (live_) live_->sold_changed();
  });
  live_->start();
}

void ClusterProvider::on_agent_ending() {
  live_.reset();
  api_.reset();
}

void ClusterProvider::check_supply() {
  laws_.expect(
      to_cluster_.most_streams() <= k_most_streams, 3,
      fmt::format("{} had {} streams of its cluster open", id_.text, to_cluster_.most_streams()));
  laws_.expect(cluster_.streams() <= k_most_streams, 3,
               fmt::format("the API server of {} holds {} streams", id_.text, cluster_.streams()));
  laws_.check_published(id_, recount(cluster_.live(), policy_));
}

}  // namespace spillway::sim
