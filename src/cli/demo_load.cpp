#include "cli/demo_load.h"

#include <fmt/format.h>

#include "model/json.h"

namespace spillway::cli {
namespace {

const kube::Name k_load_name{k_load_space, "web"};

// Nothing in it says that it may leave: its namespace is offloaded, so Liqo adds that to its pods.
std::string deployment_spec() {
  const model::Resources requests = replica_requests();
  return fmt::format(
      R"({{"replicas":0,"selector":{{"matchLabels":{{"app":"web"}}}},"template":{{
          "metadata":{{"labels":{{"app":"web"}}}},"spec":{{"terminationGracePeriodSeconds":0,
          "containers":[{{"name":"main","image":"none","resources":{{"requests":{{
            "cpu":"{}m","memory":"{}"}}}}}}]}}}}}})",
      requests.cpu_millis, requests.memory_bytes);
}

}  // namespace

model::Resources replica_requests() {
  model::Resources requests;
  requests.cpu_millis = 1000;
  requests.memory_bytes = int64_t{512} << 20;
  requests.pods = 1;
  return requests;
}

int32_t replicas_at(Duration since_begun) {
  const auto part = [](Duration done, Duration whole) {
    return static_cast<int32_t>((k_most_replicas * done.ms + whole.ms / 2) / whole.ms);
  };
  const Duration left = k_load_rises + k_load_falls - since_begun;
  if (since_begun.ms <= 0 || left.ms <= 0) return 0;
  return since_begun < k_load_rises ? part(since_begun, k_load_rises) : part(left, k_load_falls);
}

void Load::create() {
  const kube::Object space = kube::new_object(kube::k_namespaces, "Namespace", {"", k_load_space});
  api_.create(kube::k_namespaces, space, life_.guard([this](const Result<kube::Object>& made) {
    if (made) return create_deployment();
    problem_ = tl::unexpected(made.error());
  }));
}

void Load::create_deployment() {
  kube::Object load = kube::new_object(kube::k_deployments, "Deployment", k_load_name);
  auto spec = model::parse_json(deployment_spec());
  if (!spec) {
    problem_ = tl::unexpected(spec.error());
    return;
  }
  model::put(load, "spec", std::move(*spec));
  api_.create(kube::k_deployments, load, life_.guard([this](const Result<kube::Object>& made) {
    is_there_ = made.has_value();
    if (!made) problem_ = tl::unexpected(made.error());
  }));
}

void Load::want(int32_t replicas) {
  wanted_ = replicas;
  if (is_there_ && !is_asking_ && problem_ && told_ != wanted_) scale();
}

void Load::scale() {
  is_asking_ = true;
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec"}), "replicas", model::integer_node(wanted_));
  api_.patch(kube::k_deployments, k_load_name, kube::PatchKind::merge, patch,
             life_.guard([this, asked = wanted_](const Result<kube::Object>& scaled) {
               is_asking_ = false;
               if (!scaled) problem_ = tl::unexpected(scaled.error());
               told_ = asked;
               want(wanted_);
             }));
}

}  // namespace spillway::cli
