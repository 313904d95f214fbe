#include "cli/embedded_cluster.h"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>

#include "cli/signals.h"
#include "embedded/cluster.h"
#include "host/random.h"
#include "pki/private_file.h"
#include "services/service_loop.h"

namespace spillway::cli {

Status run_embedded(const ClusterWish& wish) {
  SPILLWAY_TRY(check(wish));
  auto signals = Signals::block({SIGTERM, SIGINT});
  if (!signals) return tl::unexpected(signals.error());
  net::Poll poll;
  services::ServiceLoop loop(poll);
  host::SystemRandom random;
  embedded::ClusterOptions options;
  options.name = wish.name;
  options.nodes = wish.nodes;
  options.node.cpu = wish.cpu;
  options.node.memory = wish.memory;
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
  poll.run();
  return {};
}

}  // namespace spillway::cli
