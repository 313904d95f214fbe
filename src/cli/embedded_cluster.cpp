#include "cli/embedded_cluster.h"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/cluster_home.h"
#include "cli/signals.h"
#include "embedded/cluster.h"
#include "host/random.h"
#include "pki/private_file.h"
#include "services/service_loop.h"

namespace spillway::cli {
namespace {

constexpr Duration k_look_home = seconds(1);

Status move_in(const ClusterHome& home, const std::string& name) {
  if (!home.is_of(STDOUT_FILENO)) {
    return fail(Code::gone, "cluster " + name, "its folder is not its own",
                "start it with: spillway cluster up " + name);
  }
  return home.remember(mark_of(name, ::getpid()));
}

void stop_without_home(net::Poll& poll, const ClusterHome& home) {
  if (!home.is_of(STDOUT_FILENO)) return poll.stop();
  poll.after(k_look_home, [&poll, &home] { stop_without_home(poll, home); });
}

}  // namespace

Status run_embedded(const ClusterWish& wish) {
  SPILLWAY_TRY(check(wish));
  const auto home = ClusterHome::of(wish.name);
  if (!home) return tl::unexpected(home.error());
  // Before anything that takes its time: until then nobody can end it.
  if (wish.at_home) SPILLWAY_TRY(move_in(*home, wish.name));
  net::Poll poll;  // outlives the signals that it watches
  auto signals = Signals::block({SIGTERM, SIGINT});
  if (!signals) return tl::unexpected(signals.error());
  services::ServiceLoop loop(poll);
  host::SystemRandom random;
  embedded::ClusterOptions options;
  options.name = wish.name;
  options.nodes = wish.nodes;
  options.node.cpu = wish.cpu;
  options.node.memory = wish.memory;
  if (wish.has_liqo) options.liqo.emplace();
  embedded::Cluster cluster(loop, random, std::move(options));
  net::ServerOptions server;
  server.port = static_cast<uint16_t>(wish.port);
  SPILLWAY_TRY(cluster.listen(poll, server));
  const auto kubeconfig = cluster.kubeconfig();
  if (!kubeconfig) return tl::unexpected(kubeconfig.error());
  SPILLWAY_TRY(pki::write_private(wish.kubeconfig, *kubeconfig));
  fmt::print("embedded cluster {} listens on https://127.0.0.1:{}\n", wish.name, cluster.port());
  std::fflush(stdout);
  signals->watch(poll, [&poll](int) { poll.stop(); });
  if (wish.at_home) stop_without_home(poll, *home);
  poll.run();
  return {};
}

}  // namespace spillway::cli
