#include "conformance/cluster_under_test.h"

#include <cstdlib>
#include <future>

#include "model/json.h"

namespace spillway::conformance {
namespace {

const Resource k_definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions", false};

std::string unlike_any_other() {
  host::SystemRandom random;
  return fmt::format("{:010x}", random.next() >> 24);
}

}  // namespace

Object parsed(const std::string& json) { return model::parse_json(json).value(); }

ClusterUnderTest& ClusterUnderTest::get() {
  static ClusterUnderTest cluster;
  return cluster;
}

ClusterUnderTest::ClusterUnderTest() {
  const char* given = std::getenv("SPILLWAY_CONFORMANCE_KUBECONFIG");
  if (given != nullptr && *given != '\0') {
    auto read = kube::read_own_kubeconfig(given);
    SPILLWAY_CHECK(read.has_value(), read ? "" : read.error().message());
    access_ = std::move(*read);
  } else {
    embedded::ClusterOptions options;
    options.kubelets.heartbeat_every = seconds(1);  // a test waits for two of them
    embedded_ = std::make_unique<test::LiveCluster>(options);
    access_ = embedded_->admin();
  }
  thread_.run([&] {
    auto session = kube::Session::open(thread_.poll(), loop_, random_, access_);
    SPILLWAY_CHECK(session.has_value(), session ? "" : session.error().message());
    session_ = std::move(*session);
    return true;
  });
}

ClusterUnderTest::~ClusterUnderTest() {
  thread_.run([this] {
    session_.reset();
    return true;
  });
}

net::Request ClusterUnderTest::get(std::string target) const {
  net::Request request{"GET", access_.prefix + std::move(target), {}, {}};
  if (!access_.token.empty()) {
    request.headers.push_back({"Authorization", "Bearer " + access_.token});
  }
  return request;
}

net::Response ClusterUnderTest::answer_to(const std::string& target) {
  const auto answer =
      thread_.ask<Result<net::Response>>([&](auto then) { channel().send(get(target), then); });
  EXPECT_TRUE(answer) << answer.error().message();
  return answer.value_or(net::Response{});
}

Result<Object> ClusterUnderTest::read(const Resource& resource, const Name& name) {
  return thread_.ask<Result<Object>>([&](auto then) { api().get(resource, name, then); });
}

Result<Object> ClusterUnderTest::create(const Resource& resource, const Object& object) {
  return thread_.ask<Result<Object>>([&](auto then) { api().create(resource, object, then); });
}

Result<Object> ClusterUnderTest::replace(const Resource& resource, const Object& object) {
  return thread_.ask<Result<Object>>([&](auto then) { api().replace(resource, object, then); });
}

Result<Object> ClusterUnderTest::replace_status(const Resource& resource, const Object& object) {
  return thread_.ask<Result<Object>>(
      [&](auto then) { api().replace_status(resource, object, then); });
}

Result<Object> ClusterUnderTest::patch(const Resource& resource, const Name& name,
                                       kube::PatchKind kind, const std::string& json,
                                       std::string_view subresource) {
  return thread_.ask<Result<Object>>(
      [&](auto then) { api().patch(resource, name, kind, parsed(json), then, subresource); });
}

Result<Object> ClusterUnderTest::apply(const Resource& resource, const Object& object, bool force,
                                       const std::string& manager) {
  return thread_.ask<Result<Object>>([&](auto then) {
    api().apply(resource, object, {manager, force}, then);
  });
}

Status ClusterUnderTest::remove(const Resource& resource, const Name& name,
                                const kube::RemoveAsked& asked) {
  return thread_.ask<Status>([&](auto then) { api().remove(resource, name, asked, then); });
}

Status ClusterUnderTest::evict(const Name& pod) {
  return thread_.ask<Status>([&](auto then) { api().evict(pod, then); });
}

Result<std::vector<Object>> ClusterUnderTest::list(const Resource& resource,
                                                   const kube::Wanted& wanted,
                                                   std::string* version) {
  std::vector<Object> all;
  const auto told = thread_.ask<Result<std::string>>([&](auto then) {
    api().list(
        resource, wanted,
        [&all](kube::ListPage page) {
          if (page.is_first) all.clear();
          std::move(page.items.begin(), page.items.end(), std::back_inserter(all));
        },
        then);
  });
  if (!told) return tl::unexpected(told.error());
  if (version != nullptr) *version = *told;
  return all;
}

bool ClusterUnderTest::wait_until(const Resource& resource, const Name& name,
                                  const Predicate& holds, std::chrono::seconds patience) {
  std::promise<void> held;
  auto future = held.get_future();
  bool is_held = false;
  bool is_there = false;
  const auto look = [&](const Object* object) {
    if (!is_held && holds(object)) {
      is_held = true;
      held.set_value();
    }
  };
  std::unique_ptr<kube::Watch> watch;
  thread_.run([&] {
    kube::WatchCalls calls;
    calls.on_put = [&](const Object& object) {
      is_there = true;
      look(&object);
    };
    calls.on_gone = [&](const Name&) { look(nullptr); };
    calls.on_synced = [&] {
      if (!is_there) look(nullptr);
    };
    watch = std::make_unique<kube::Watch>(
        api(), resource, kube::Wanted{.space = name.space, .fields = "metadata.name=" + name.name},
        std::move(calls));
    watch->start();
    return true;
  });
  const bool in_time = future.wait_for(patience) == std::future_status::ready;
  thread_.run([&] {
    watch.reset();
    return true;
  });
  return in_time;
}

ConformanceTest::ConformanceTest() : space_("conformance-" + unlike_any_other()) {
  const auto made = cluster_.create(
      kube::k_namespaces, kube::new_object(kube::k_namespaces, "Namespace", {"", space_}));
  EXPECT_TRUE(made) << made.error().message();
}

ConformanceTest::~ConformanceTest() {
  EXPECT_TRUE(cluster_.remove(kube::k_namespaces, {"", space_}));
  for (const std::string& node : nodes_) cluster_.remove(kube::k_nodes, {"", node});
  for (const std::string& name : definitions_) {
    EXPECT_TRUE(cluster_.remove(k_definitions, {"", name}));
  }
}

std::string ConformanceTest::add_node(const std::string& cpu, const std::string& more_spec) {
  std::string name = fmt::format("{}-{}", space_, nodes_.size());
  Object node = kube::new_object(kube::k_nodes, "Node", {"", name});
  Object& metadata = model::ensure(node, {"metadata"});
  // Brings it to life: kwok looks for the one on a real control plane, an embedded one for the
  // other.
  model::merge(metadata, parsed(fmt::format(
                             R"({{"annotations":{{"kwok.x-k8s.io/node":"fake",
                                    "embedded.spillway.dev/kubelet":"on"}},
                                 "labels":{{"conformance":"{}","kubernetes.io/hostname":"{}"}}}})",
                             space_, name)));
  model::put(node, "spec", parsed(more_spec));
  const std::string amounts =
      fmt::format(R"({{"cpu":"{}","memory":"16Gi","pods":"20","ephemeral-storage":"50Gi"}})", cpu);
  model::put(node, "status",
             parsed(fmt::format(R"({{"allocatable":{},"capacity":{}}})", amounts, amounts)));
  const auto made = cluster_.create(kube::k_nodes, node);
  EXPECT_TRUE(made) << made.error().message();
  nodes_.push_back(name);
  EXPECT_TRUE(cluster_.wait_until(
      kube::k_nodes, {"", name},
      [](const Object* seen) {
        if (seen == nullptr) return false;
        // Taints of a node that is not yet ready keep pods off it for a moment longer.
        for (const Object& taint : model::items_at(*seen, {"spec", "taints"})) {
          if (model::text_at(taint, {"key"}) == "node.kubernetes.io/not-ready") return false;
        }
        for (const Object& condition : model::items_at(*seen, {"status", "conditions"})) {
          if (model::text_at(condition, {"type"}) == "Ready") {
            return model::text_at(condition, {"status"}) == "True";
          }
        }
        return false;
      }))
      << name << " does not become ready";
  return name;
}

Object ConformanceTest::pod(const std::string& name, const std::string& cpu,
                            const std::string& more_spec) const {
  Object made = kube::new_object(kube::k_pods, "Pod", named(name));
  model::merge(model::ensure(made, {"metadata"}), parsed(R"({"labels":{"app":"web"}})"));
  Object& spec = model::ensure(made, {"spec"});
  model::merge(spec, parsed(fmt::format(
                         R"({{"nodeSelector":{{"conformance":"{}"}},
                             "terminationGracePeriodSeconds":0,
                             "containers":[{{"name":"main","image":"none",
                               "resources":{{"requests":{{"cpu":"{}","memory":"64Mi"}}}}}}]}})",
                         space_, cpu)));
  model::merge(spec, parsed(more_spec));
  return made;
}

Object ConformanceTest::config(const std::string& name, const std::string& value) const {
  Object made = kube::new_object(kube::k_config_maps, "ConfigMap", named(name));
  model::put(model::ensure(made, {"data"}), "value", model::text_node(value));
  return made;
}

Resource ConformanceTest::define_widgets() {
  const std::string group = space_ + ".spillway.test";
  Resource widgets{group, "v1", "widgets", true};
  Object definition =
      kube::new_object(k_definitions, "CustomResourceDefinition", {"", "widgets." + group});
  model::put(definition, "spec",
             parsed(fmt::format(R"({{"group":"{}","scope":"Namespaced",
               "names":{{"kind":"Widget","listKind":"WidgetList","plural":"widgets","singular":"widget"}},
               "versions":[{{"name":"v1","served":true,"storage":true,"subresources":{{"status":{{}}}},
                 "schema":{{"openAPIV3Schema":{{"type":"object",
                   "x-kubernetes-preserve-unknown-fields":true}}}}}}]}})",
                                group)));
  EXPECT_TRUE(cluster_.create(k_definitions, definition));
  definitions_.push_back("widgets." + group);
  EXPECT_TRUE(cluster_.wait_until(k_definitions, {"", "widgets." + group}, [](const Object* seen) {
    if (seen == nullptr) return false;
    for (const Object& condition : model::items_at(*seen, {"status", "conditions"})) {
      if (model::text_at(condition, {"type"}) == "Established") {
        return model::text_at(condition, {"status"}) == "True";
      }
    }
    return false;
  }));
  return widgets;
}

bool ConformanceTest::wait_running(const std::string& pod) {
  return cluster_.wait_until(kube::k_pods, named(pod), [](const Object* seen) {
    return seen != nullptr && model::text_at(*seen, {"status", "phase"}) == "Running";
  });
}

bool ConformanceTest::wait_unschedulable(const std::string& pod) {
  return cluster_.wait_until(kube::k_pods, named(pod), [](const Object* seen) {
    if (seen == nullptr) return false;
    for (const Object& condition : model::items_at(*seen, {"status", "conditions"})) {
      if (model::text_at(condition, {"reason"}) == "Unschedulable") return true;
    }
    return false;
  });
}

}  // namespace spillway::conformance
