#include "cli/demo_run.h"

#include <future>
#include <optional>

#include "cli/demo_load.h"
#include "cli/waiting.h"
#include "kube/session.h"
#include "net/grpc_client.h"
#include "net/poll.h"
#include "services/service_loop.h"
#include "sim/scaler/cluster_autoscaler.h"
#include "sim/scaler/grpc_cloud.h"
#include "sim/scaler/watched_cluster.h"

namespace spillway::cli {
namespace {

constexpr Duration k_run_tick = milliseconds(20);
constexpr Duration k_cloud_patience = seconds(5);  // grpc_timeout of its cloud-config
constexpr auto k_open_patience = std::chrono::seconds(30);
constexpr auto k_open_look = std::chrono::milliseconds(20);

scaler::GrpcCloud::Caller caller_of(net::GrpcClient& client) {
  return [&client](const std::string& method, const std::string& message,
                   scaler::GrpcCloud::Answered answered) {
    client.call(method, message, k_cloud_patience, std::move(answered));
  };
}

}  // namespace

// All that lives on the run's thread; in the order in which each needs those before it.
class DemoRun::Parts {
 public:
  Parts(const kube::Access& access, net::GrpcClientOptions cloud, net::GrpcClientOptions expander,
        scaler::Expander by)
      : loop_(poll),
        session_(kube::Session::open(poll, loop_, random_, access)),
        cloud_client_(poll, std::move(cloud)),
        expander_client_(poll, std::move(expander)),
        cloud_(caller_of(cloud_client_), caller_of(expander_client_)) {
    options_.expander = by;
  }

  Status start() {
    if (!session_) return tl::unexpected(session_.error());
    cluster_.emplace((*session_)->api());
    cluster_->start();
    nodes_.emplace((*session_)->api());
    nodes_->start();
    load_.emplace((*session_)->api());
    load_->create();
    look_for_groups();
    return {};
  }

  Status watch_guests(const std::string& seller, const kube::Access& access) {
    auto session = kube::Session::open(poll, loop_, random_, access);
    if (!session) return tl::unexpected(session.error());
    nodes_->watch_guests(seller, (*session)->api());
    sellers_.push_back(std::move(*session));
    return {};
  }

  Result<bool> is_ready() const {
    if (!load_->problem()) return tl::unexpected(load_->problem().error());
    return load_->is_there() && cluster_->is_synced() && nodes_->is_synced() &&
           groups_ == k_sellers.size();
  }

  void begin(FastTime time) {
    time_ = time;
    fast_loop_.emplace(loop_, time);
    fast_cluster_.emplace(*cluster_, time);
    decided_.emplace(options_);
    autoscaler_.emplace(*fast_loop_, random_, cloud_, *fast_cluster_, options_,
                        [this](const scaler::Action& action, const scaler::Outcome& outcome) {
                          decided_->note(action, outcome, time_.since_begun(loop_.now()));
                        });
    autoscaler_->start();
    tick();
  }

  RunView view() {
    RunView view{load_->problem(),
                 load_->wanted(),
                 0,
                 0,
                 autoscaler_->loops(),
                 waits_.all(fast_loop_->now()),
                 decided_->all(),
                 nodes_->all(),
                 nodes_->most_guests()};
    for (const scaler::PodView& pod : cluster_->look().pods) {
      (pod.node.empty() ? view.waiting : view.placed) += 1;
    }
    return view;
  }

  net::Poll poll;

 private:
  void tick() {
    load_->want(replicas_at(time_.since_begun(loop_.now())));
    const scaler::ClusterView seen = cluster_->look();
    waits_.look(seen, fast_loop_->now());
    nodes_->look(seen, loop_.now());
    loop_.after(k_run_tick, life_.guard([this] { tick(); }));
  }

  // The market is known some time after the autoscaler is up.
  void look_for_groups() {
    cloud_.refresh(life_.guard([this](const Status&) {
      cloud_.node_groups(life_.guard([this](const Result<std::vector<scaler::GroupView>>& groups) {
        groups_ = groups ? groups->size() : 0;
        if (groups_ == k_sellers.size()) return;
        loop_.after(k_run_tick, life_.guard([this] { look_for_groups(); }));
      }));
    }));
  }

  services::ServiceLoop loop_;
  host::SystemRandom random_;
  Result<std::unique_ptr<kube::Session>> session_;
  net::GrpcClient cloud_client_;
  net::GrpcClient expander_client_;
  scaler::GrpcCloud cloud_;
  scaler::Options options_;
  std::optional<scaler::WatchedCluster> cluster_;
  std::vector<std::unique_ptr<kube::Session>> sellers_;
  std::optional<DemoNodes> nodes_;
  std::optional<Load> load_;
  FastTime time_;
  std::optional<FastLoop> fast_loop_;
  std::optional<FastCluster> fast_cluster_;
  std::optional<Decided> decided_;
  std::optional<scaler::ClusterAutoscaler> autoscaler_;
  PodWaits waits_;
  size_t groups_ = 0;
  host::Lifeline life_;
};

namespace {

// Asked on the run's thread.
template <class F>
auto ask_on(net::Poll& poll, F question) {
  std::promise<decltype(question())> promise;
  auto answer = promise.get_future();
  poll.post([&] { promise.set_value(question()); });
  return answer.get();
}

}  // namespace

DemoRun::DemoRun(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)), thread_([this] { parts_->poll.run(); }) {}

DemoRun::~DemoRun() {
  parts_->poll.stop();
  thread_.join();
}

Result<std::unique_ptr<DemoRun>> DemoRun::open(const DemoFederation& federation,
                                               scaler::Expander expander) {
  const auto access = kube::read_access(federation.kubeconfig(k_buyer), {});
  if (!access) return tl::unexpected(access.error());
  auto cloud = read_grpc_target(federation.autoscaler());
  if (!cloud) return tl::unexpected(cloud.error());
  auto chooser = read_grpc_target(federation.expander());
  if (!chooser) return tl::unexpected(chooser.error());
  auto parts = std::make_unique<Parts>(*access, std::move(*cloud), std::move(*chooser), expander);
  if (const Status started = parts->start(); !started) return tl::unexpected(started.error());
  for (const Seller& seller : k_sellers) {
    const auto at_seller = kube::read_access(federation.kubeconfig(seller.name), {});
    if (!at_seller) return tl::unexpected(at_seller.error());
    const Status watched = parts->watch_guests(seller.name, *at_seller);
    if (!watched) return tl::unexpected(watched.error());
  }
  std::unique_ptr<DemoRun> run(new DemoRun(std::move(parts)));
  const auto ready = wait_until(k_open_patience, k_open_look, [&run] {
    return ask_on(run->parts_->poll, [&run] { return run->parts_->is_ready(); });
  });
  if (!ready) return tl::unexpected(ready.error());
  if (*ready) return run;
  return fail(Code::unavailable, federation.name(), "its node groups do not come in sight",
              "look whether the machine is busy, then try again");
}

void DemoRun::begin(FastTime time) {
  parts_->poll.post([this, time] { parts_->begin(time); });
}

RunView DemoRun::look() {
  return ask_on(parts_->poll, [this] { return parts_->view(); });
}

}  // namespace spillway::cli
