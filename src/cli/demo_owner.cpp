#include "cli/demo_owner.h"

#include <functional>

#include "host/random.h"
#include "kube/session.h"
#include "model/json.h"
#include "services/service_loop.h"

namespace spillway::cli {
namespace {

// One question, on a connection of its own.
Status ask(const std::string& kubeconfig,
           const std::function<void(kube::Api&, kube::Then<void>)>& question) {
  const auto access = kube::read_own_kubeconfig(kubeconfig);
  if (!access) return tl::unexpected(access.error());
  net::Poll poll;
  services::ServiceLoop loop(poll);
  host::SystemRandom random;
  const auto session = kube::Session::open(poll, loop, random, *access);
  if (!session) return tl::unexpected(session.error());
  Status told;
  question((*session)->api(), [&](Status answer) {
    told = std::move(answer);
    poll.stop();
  });
  poll.run();
  return told;
}

}  // namespace

Status run_own_pod(const std::string& kubeconfig, const std::string& name, int cpus) {
  kube::Object pod = kube::new_object(kube::k_pods, "Pod", {"default", name});
  auto spec = model::parse_json(fmt::format(
      R"({{"terminationGracePeriodSeconds":0,"containers":[{{"name":"main","image":"none",
          "resources":{{"requests":{{"cpu":"{}"}}}}}}]}})",
      cpus));
  if (!spec) return tl::unexpected(spec.error());
  model::put(pod, "spec", std::move(*spec));
  return ask(kubeconfig, [&pod](kube::Api& api, kube::Then<void> then) {
    api.create(kube::k_pods, pod, [then = std::move(then)](const Result<kube::Object>& made) {
      then(made ? Status() : tl::unexpected(made.error()));
    });
  });
}

Status end_own_pod(const std::string& kubeconfig, const std::string& name) {
  return ask(kubeconfig, [&name](kube::Api& api, kube::Then<void> then) {
    api.remove(kube::k_pods, {"default", name}, {}, std::move(then));
  });
}

}  // namespace spillway::cli
