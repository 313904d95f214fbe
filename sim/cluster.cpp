#include "sim/cluster.h"

#include "sim/sim_exchange.h"

namespace spillway::sim {
namespace {

embedded::ClusterOptions options_for(const std::string& name, World& world) {
  embedded::ClusterOptions options;
  options.name = name;
  options.nodes = 2;
  options.node.cpu = std::to_string(world.chance(500) ? 8 : 3);
  options.trusts_strangers = true;
  options.history.changes = 60;  // so that who is away for a while is told that it is forgotten
  options.kubelets.heartbeat_every = seconds(20);
  options.kubelets.start_after = milliseconds(300);
  return options;
}

void cut(const std::shared_ptr<net::Exchange>& exchange, Code code, std::string reason) {
  static_cast<SimExchange&>(*exchange).cut({code, "API server", std::move(reason), "ask again"});
}

}  // namespace

SimCluster::SimCluster(World& world, Address at, Laws& laws, const std::string& name)
    : SimCluster(world, at, laws, options_for(name, world)) {}

SimCluster::SimCluster(World& world, Address at, Laws& laws, embedded::ClusterOptions options)
    : process_(world),
      address_(at),
      laws_(laws),
      name_(options.name),
      cluster_(process_, world.random(), std::move(options)) {
  cluster_.on_cut([](const std::string&, const std::shared_ptr<net::Exchange>& exchange) {
    cut(exchange, Code::unavailable, "the connection was cut");
  });
}

SimCluster::~SimCluster() { alive_.reset(); }

void SimCluster::restart(Duration down, int64_t lost_versions) {
  alive_ = std::make_shared<const bool>(true);
  cluster_.restart(down, lost_versions);
  for (const auto& one : std::exchange(pipes_, {})) {
    const auto pipe = one.lock();
    if (pipe != nullptr && !pipe->is_gone()) pipe->cut();
  }
}

size_t SimCluster::streams() const {
  std::erase_if(pipes_, [](const std::weak_ptr<Pipe>& one) {
    const auto held = one.lock();
    return held == nullptr || held->is_gone();
  });
  return pipes_.size();
}

void SimCluster::arrive(const std::shared_ptr<Asked>& asked,
                        std::shared_ptr<net::Exchange> exchange) {
  laws_.on_cluster_asked(name_, most_asked_);
  if (is_expired_) return cut(exchange, Code::denied, "its certificate has expired");
  cluster_.handler().handle(asked->request, asked->peer, std::move(exchange));
}

void SimCluster::leaves(const Asked& asked, const net::Response& response) {
  process_.world().note(asked.request.target, response.status);
}

}  // namespace spillway::sim
