#include "sim/scaling_buyer.h"

#include <map>
#include <utility>

#include "model/json.h"
#include "sim/stated_point.h"

namespace spillway::sim {
namespace {

constexpr Duration k_grpc_timeout = seconds(10);
constexpr std::string_view k_work = R"({"apiVersion":"apps/v1","kind":"Deployment",
  "metadata":{"name":"work","namespace":"default"},
  "spec":{"replicas":0,"selector":{"matchLabels":{"app":"work"}},
    "template":{"metadata":{"labels":{"app":"work"}},
      "spec":{"tolerations":[{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists"}],
        "terminationGracePeriodSeconds":1,
        "containers":[{"name":"work","image":"none",
          "resources":{"requests":{"cpu":"700m","memory":"512Mi"}}}]}}}})";

embedded::ClusterOptions home_of(const std::string& name) {
  embedded::ClusterOptions options;
  options.name = name;
  options.nodes = 1;
  options.node.cpu = std::to_string(1);
  options.trusts_strangers = true;
  options.kubelets.heartbeat_every = seconds(20);
  options.kubelets.start_after = milliseconds(300);
  return options;
}

// Minutes become seconds, so that an hour sees many units come and go.
scaler::Options quick_options(World& world) {
  scaler::Options options;
  const bool is_newer = world.chance(500);
  options.version = is_newer ? scaler::Version::v1_35 : scaler::Version::v1_30;
  options.frequent_loops_enabled = is_newer;
  options.expander = static_cast<scaler::Expander>(world.below(3));
  options.scale_down_unneeded_time = seconds(30);
  options.scale_down_unready_time = seconds(60);
  options.scale_down_delay_after_add = seconds(20);
  options.scale_down_delay_after_failure = seconds(20);
  options.unremovable_node_recheck_timeout = seconds(20);
  options.max_node_provision_time = minutes(2);
  options.max_node_startup_time = minutes(2);
  options.initial_node_group_backoff_duration = seconds(30);
  options.max_node_group_backoff_duration = minutes(2);
  options.node_group_backoff_reset_timeout = minutes(10);
  return options;
}

bool changes_something(const std::string& method) {
  return method.ends_with("NodeGroupIncreaseSize") || method.ends_with("NodeGroupDeleteNodes") ||
         method.ends_with("NodeGroupDecreaseTargetSize") || method.ends_with("Refresh");
}

}  // namespace

ScalingBuyer::ScalingBuyer(Surroundings& around, const Addresses& at, const std::string& name)
    : Party(around, at.autoscaler, {name, {model::Role::consumer}, {}}),
      at_(at),
      id_(name),
      home_(around.world, at.cluster, around.laws, home_of(name)),
      network_(around.network),
      disk_(process_),
      to_home_(process_, at.autoscaler, around.network, {&home_}),
      model_process_(around.world),
      model_to_home_(model_process_, at.model, around.network, {&home_}),
      options_(quick_options(around.world)),
      cloud_([this](const std::string& method, std::string message,
                    scaler::GrpcCloud::Answered answered) {
        call(method, std::move(message), std::move(answered));
      }) {
  to_home_.set_patience(k_watch_patience);
  model_to_home_.set_patience(k_watch_patience);
  embedded::Objects& objects = home_.live().objects();
  (void)objects.create(objects.registry.built_in("deployments", "apps"),
                       *model::parse_json(k_work));
}

void ScalingBuyer::begin() {
  if (has_joined()) start_autoscaler();
  watch_units();
}

void ScalingBuyer::end() {
  door_.reset();
  autoscaler_.reset();
  nodes_.reset();
  api_.reset();
  disk_.crash();
}

void ScalingBuyer::on_certificate() {
  if (autoscaler_ == nullptr) return start_autoscaler();
  autoscaler_->credentials_changed();
}

void ScalingBuyer::start_autoscaler() {
  api_ = std::make_unique<kube::Api>(process_, world_.random(), to_home_, kube::ApiOptions{});
  nodes_.emplace(*api_, log_, *autoscaler::find_player("embedded"), "sim/" + id_.text);
  autoscaler::AutoscalerOptions options{id_};
  if (signs()) {
    options.signatory = signatory();
    options.papers = &papers();
  }
  autoscaler_ = std::make_unique<autoscaler::Autoscaler>(process_, world_.random(), channel_, disk_,
                                                         *nodes_, log_, std::move(options));
  laws_.expect(autoscaler_->start().has_value(), 2,
               fmt::format("the autoscaler of {} does not start from what it saved", id_.text));
  door_.emplace(*autoscaler_);
}

void ScalingBuyer::start_model() {
  model_api_ = std::make_unique<kube::Api>(model_process_, world_.random(), model_to_home_,
                                           kube::ApiOptions{});
  watched_.emplace(*model_api_, [this] {
    if (model_ != nullptr) model_->pod_is_unschedulable();
  });
  model_ = std::make_unique<scaler::ClusterAutoscaler>(model_process_, world_.random(), cloud_,
                                                       *watched_, options_);
  watched_->start();
  model_->start();
}

void ScalingBuyer::stop_model() {
  model_process_.crash();
  model_.reset();
  watched_.reset();
  model_api_.reset();
}

void ScalingBuyer::live(Duration fault_every) {
  start_model();
  work_later();
  if (fault_every.ms > 0) fail_later(fault_every);
}

void ScalingBuyer::calm() {
  is_calm_ = true;
  if (!model_process_.is_up()) {
    model_process_.restart();
    start_model();
  }
  scale(0);
}

void ScalingBuyer::work_later() {
  world_.after(world_.between(seconds(20), seconds(120)), [this] {
    if (is_calm_) return;
    scale(static_cast<int64_t>(world_.below(13)));
    work_later();
  });
}

void ScalingBuyer::scale(int64_t replicas) {
  embedded::Objects& objects = home_.live().objects();
  objects.change(objects.registry.built_in("deployments", "apps"), {"default", "work"},
                 [replicas](model::Node& document) {
                   model::put(model::ensure(document, {"spec"}), "replicas",
                              model::integer_node(replicas));
                 });
}

void ScalingBuyer::fail_later(Duration mean) {
  world_.after(world_.between({}, {mean.ms * 2}), [this, mean] {
    if (is_calm_) return;
    fail_something();
    fail_later(mean);
  });
}

void ScalingBuyer::fail_something() {
  switch (world_.below(6)) {
    case 4:
    case 5:
      disk_.be_slow_until(world_.now() + minutes(2));
      return kill_while_saving();
    case 0:
      return home_.restart(world_.between(seconds(1), seconds(30)),
                           static_cast<int64_t>(world_.below(3)));
    case 1:
      return silence_node();
    case 2: {
      const Address one = world_.chance(500) ? at_.model : at_.cluster;
      network_.cut(at_.autoscaler, one);
      return world_.after(world_.between(seconds(1), seconds(60)),
                          [this, one] { network_.mend(at_.autoscaler, one); });
    }
    default:
      if (!model_process_.is_up()) return;
      stop_model();
      world_.after(world_.between(seconds(1), seconds(90)), [this] {
        if (is_calm_ || model_process_.is_up()) return;
        model_process_.restart();
        start_model();
      });
  }
}

// A machine that goes down with its disk: what was on its way there is lost, or is not.
void ScalingBuyer::kill_while_saving() {
  world_.after(milliseconds(200), [this] {
    if (is_calm_ || !process_.is_up()) return;
    if (!disk_.is_saving() || !autoscaler_ || autoscaler_->status().target == 0) {
      return kill_while_saving();
    }
    crash();
    world_.after(world_.between(seconds(1), seconds(30)), [this] {
      if (!process_.is_up()) restart();
    });
  });
}

std::vector<std::string> ScalingBuyer::unit_nodes() {
  std::vector<std::string> names;
  embedded::Objects& objects = home_.live().objects();
  for (const auto& [key, node] : objects.table.shelf(objects.registry.built_in("nodes"))) {
    if (key.name.starts_with("sw-")) names.push_back(key.name);
  }
  return names;
}

// As if its provider were gone, for longer than it takes to be noticed.
void ScalingBuyer::silence_node() {
  const auto names = unit_nodes();
  if (names.empty()) return;
  const std::string name = names[world_.below(names.size())];
  home_.live().set_kubelet(name, false);
  world_.after(world_.between(seconds(10), minutes(5)),
               [this, name] { home_.live().set_kubelet(name, true); });
}

// A call over the simulated network: it arrives once or never, and so does its answer.
void ScalingBuyer::call(const std::string& method, std::string message,
                        scaler::GrpcCloud::Answered answered) {
  auto waiting = std::make_shared<scaler::GrpcCloud::Answered>(std::move(answered));
  const auto answer = [waiting](const net::GrpcAnswer& told) {
    if (const auto once = std::exchange(*waiting, nullptr)) once(told);
  };
  model_process_.after(k_grpc_timeout, [answer] {
    answer({net::GrpcCode::deadline_exceeded, "it did not answer in time", {}});
  });
  const auto hear = [this, answer, life = model_process_.life()](const net::GrpcAnswer& told) {
    network_.carry(at_.autoscaler, at_.model, [this, answer, told, life] {
      if (model_process_.is_up() && model_process_.life() == life) answer(told);
    });
  };
  network_.carry(at_.model, at_.autoscaler, [this, method, message = std::move(message), hear] {
    if (!process_.is_up() || !door_) return;
    door_->handle({method, message, std::nullopt, {}},
                  [this, method, hear](const net::GrpcAnswer& told) {
                    world_.note(method, static_cast<int64_t>(told.code));
                    const bool is_ok = told.code == net::GrpcCode::ok;
                    if (is_ok && method.ends_with("IncreaseSize")) increases_ += 1;
                    if (changes_something(method)) check_held(method);
                    hear(told);
                  });
  });
}

// The book against the ledger, group by group. A hold that nobody confirms and what its provider
// takes back end by themselves.
void ScalingBuyer::check_held(const std::string& method) {
  std::map<OfferId, int64_t> unknown;
  for (const auto& [key, row] : laws_.rows().all()) {
    const auto* contract = held<model::Contract>(row.record);
    if (contract == nullptr || contract->buyer != id_) continue;
    if (contract->state != model::ContractState::active) continue;
    for (const model::Unit& unit : contract->units) {
      const auto group =
          autoscaler_->ledger().group_of({unit_provider_id(contract->id, unit.number), {}});
      if (unit.live && !group) unknown[contract->offer] += 1;
      laws_.expect(!unit.live || !group || *group == contract->offer, 2,
                   fmt::format("{} has a unit of {} in group {}", id_.text, contract->offer.text,
                               group ? group->text : ""));
    }
  }
  for (const auto& [offer, units] : unknown) {
    int64_t asked = 0;
    if (const demand::GroupState* group = autoscaler_->ledger().find(offer)) {
      for (const demand::Ask& ask : group->asks) asked += ask.asked;
    }
    laws_.expect(
        units <= asked, 2,
        fmt::format("after {} {} pays for {} units of {} that its ledger does not know, "
                    "and asks for {}",
                    method.substr(method.rfind('/') + 1), id_.text, units, offer.text, asked));
  }
}

void ScalingBuyer::watch_units() {
  process_.after(seconds(1), [this] {
    watch_units();
    if (autoscaler_ == nullptr) return;
    for (const auto& [id, group] : autoscaler_->ledger().state().groups) {
      for (const demand::HeldUnit& unit : group.units) {
        const bool is_lost = unit.state == demand::UnitState::failed && unit.failure &&
                             unit.failure->code == "lapsed";
        if (is_lost && lost_.insert(unit_name(unit.contract, unit.number)).second) check_lost(unit);
      }
    }
  });
}

// The book has it for active: then it is the buyer's own judgement, by its own clock.
void ScalingBuyer::check_lost(const demand::HeldUnit& unit) {
  const auto* row = laws_.rows().get<model::Contract>(market::key_of(unit.contract));
  if (row == nullptr || row->state != model::ContractState::active) return;
  const Instant point = stated_point(*row);
  laws_.expect(process_.now() >= point, 4,
               fmt::format("{} lost a unit of contract {} {} before its stated point", id_.text,
                           unit.contract.text, to_text(point - process_.now())));
}

void ScalingBuyer::check_settled() {
  Party::check_settled();
  laws_.expect(autoscaler_ != nullptr && autoscaler_->status().is_connected, 3,
               fmt::format("the autoscaler of {} has not found back", id_.text));
  if (autoscaler_ == nullptr) return;
  for (const auto& [id, group] : autoscaler_->ledger().state().groups) {
    laws_.expect(!group.is_in_use(), 3,
                 fmt::format("{} still has {} units and {} asks of {}", id_.text,
                             group.units.size(), group.asks.size(), id.text));
  }
  const auto nodes = unit_nodes();
  laws_.expect(nodes.empty(), 3,
               fmt::format("{} is still a node of {}", nodes.empty() ? "" : nodes[0], id_.text));
  laws_.expect(model_ != nullptr && model_->loops() > 0, 3,
               fmt::format("the Cluster Autoscaler of {} does nothing", id_.text));
}

}  // namespace spillway::sim
