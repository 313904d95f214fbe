#include "cli/demo_owner.h"

#include "cli/ask_cluster.h"
#include "model/json.h"

namespace spillway::cli {
Status run_own_pod(const std::string& kubeconfig, const std::string& name, int cpus) {
  kube::Object pod = kube::new_object(kube::k_pods, "Pod", {"default", name});
  auto spec = model::parse_json(fmt::format(
      R"({{"terminationGracePeriodSeconds":0,"containers":[{{"name":"main","image":"none",
          "resources":{{"requests":{{"cpu":"{}"}}}}}}]}})",
      cpus));
  if (!spec) return tl::unexpected(spec.error());
  model::put(pod, "spec", std::move(*spec));
  return ask_cluster(kubeconfig, {}, [&pod](kube::Api& api, kube::Then<void> then) {
    api.create(kube::k_pods, pod, [then = std::move(then)](const Result<kube::Object>& made) {
      then(made ? Status() : tl::unexpected(made.error()));
    });
  });
}

Status end_own_pod(const std::string& kubeconfig, const std::string& name) {
  return ask_cluster(kubeconfig, {}, [&name](kube::Api& api, kube::Then<void> then) {
    api.remove(kube::k_pods, {"default", name}, {}, std::move(then));
  });
}

}  // namespace spillway::cli
