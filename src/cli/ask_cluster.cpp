#include "cli/ask_cluster.h"

#include "host/random.h"
#include "kube/session.h"
#include "services/service_loop.h"

namespace spillway::cli {

Status ask_cluster(const std::string& kubeconfig, const std::string& context,
                   const std::function<void(kube::Api& api, kube::Then<void> done)>& begin) {
  const auto access = kube::read_access(kubeconfig, context);
  if (!access) return tl::unexpected(access.error());
  net::Poll poll;
  services::ServiceLoop loop(poll);
  host::SystemRandom random;
  const auto session = kube::Session::open(poll, loop, random, *access);
  if (!session) return tl::unexpected(session.error());
  Status told = fail(Code::unavailable, "the cluster", "it did not answer in time", "try again");
  poll.after(k_longest_asking, [&poll] { poll.stop(); });
  begin((*session)->api(), [&](Status answer) {
    told = std::move(answer);
    poll.stop();
  });
  poll.run();
  return told;
}

}  // namespace spillway::cli
