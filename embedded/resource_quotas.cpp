#include "embedded/resource_quotas.h"

#include <algorithm>

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;

// Every kind may be limited by "count/plural.group"; these also by their plural alone.
constexpr std::string_view k_by_plural[] = {
    "configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets",
    "services",
};

// Of Kubernetes' own kinds, whose groups have no name or are its own, those that are not served
// here have no objects. What a custom kind has nobody knows before it is defined.
bool is_of_kubernetes(std::string_view resource) {
  const size_t dot = resource.find('.');
  if (dot == std::string_view::npos) return true;
  const std::string_view group = resource.substr(dot + 1);
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

// By "requests.cpu" that is "cpu". Empty: it is none that pods request, or of no other's making.
std::string requested_resource(std::string_view limit) {
  constexpr std::string_view k_requests = "requests.";
  if (!limit.starts_with(k_requests)) return {};
  const std::string_view resource = limit.substr(k_requests.size());
  const bool is_own = resource == "cpu" || resource == "memory" ||
                      resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  const bool is_extended = resource.find('/') != std::string_view::npos &&
                           resource.find("kubernetes.io/") == std::string_view::npos;
  return is_own || is_extended ? std::string(resource) : std::string();
}

std::string amount_text(const std::string& resource, const Amounts& amounts) {
  const auto found = amounts.find(resource);
  const int64_t amount = found == amounts.end() ? 0 : found->second;
  if (resource == "cpu") return cpu_to_text(amount);
  const bool is_extended = resource.find('/') != std::string::npos;
  return is_extended ? std::to_string(amount) : bytes_to_text(amount);
}

// Those are none any more.
bool has_ended(const Object& pod) {
  const std::string* phase = find_pair(pod.fields, "status.phase");
  return phase != nullptr && (*phase == "Succeeded" || *phase == "Failed");
}

template <class F>
void for_each_in(const Shelf& shelf, const std::string& space, F f) {
  for (auto at = shelf.lower_bound({space, ""}); at != shelf.end() && at->first.space == space;
       ++at) {
    f(at->second);
  }
}

}  // namespace

ResourceQuotas::ResourceQuotas(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    const std::string& space = change.object->key.space;
    const Kind* kind = change.object->kind;
    if (kind == &objects_.registry.built_in("resourcequotas")) limited_.insert(space);
    const bool is_definition =
        kind == &objects_.registry.built_in("customresourcedefinitions", "apiextensions.k8s.io");
    if (is_definition) changed_ = limited_;
    if (limited_.contains(space)) changed_.insert(space);
    if (!changed_.empty()) turn_.soon();
  });
}

void ResourceQuotas::work() {
  const Kind& kind = objects_.registry.built_in("resourcequotas");
  for (const std::string& space : std::exchange(changed_, {})) {
    std::vector<ObjectPtr> quotas;
    for_each_in(objects_.table.shelf(kind), space,
                [&](const ObjectPtr& one) { quotas.push_back(one); });
    if (quotas.empty()) limited_.erase(space);
    for (const ObjectPtr& quota : quotas) count(*quota);
  }
}

void ResourceQuotas::count(const Object& quota) {
  objects_.change(*quota.kind, quota.key, [&](Node& changed) {
    const Node* found = model::look(changed, {"spec", "hard"});
    const Node hard = found == nullptr ? model::object_node() : *found;
    Node counted = model::object_node();
    std::optional<Amounts> asked;  // looked for once, and only if it is limited
    for (const Node& limit : hard.items) {
      const std::string resource = requested_resource(limit.key);
      if (!resource.empty()) {
        if (!asked) asked = requested(quota.key.space);
        model::put(counted, limit.key, model::text_node(amount_text(resource, *asked)));
      } else if (const auto count = used(quota.key.space, limit.key)) {
        model::put(counted, limit.key, model::text_node(std::to_string(*count)));
      }
    }
    Node& status = model::ensure(changed, {"status"});
    model::put(status, "hard", hard);
    model::put(status, "used", std::move(counted));
  });
}

// None: it is not counted here, or not yet.
std::optional<int64_t> ResourceQuotas::used(const std::string& space, std::string_view what) const {
  constexpr std::string_view k_count = "count/";
  if (what.starts_with(k_count)) return count_of(space, what.substr(k_count.size()));
  if (what == "pods") return live_pods(space);
  if (what == "services.nodeports") return service_ports(space, false);
  if (what == "services.loadbalancers") return service_ports(space, true);
  if (what == "requests.storage") return 0;  // there are no claims here
  const bool is_known =
      std::find(std::begin(k_by_plural), std::end(k_by_plural), what) != std::end(k_by_plural);
  return is_known ? count_of(space, what) : std::nullopt;
}

std::optional<int64_t> ResourceQuotas::count_of(const std::string& space,
                                                std::string_view resource) const {
  std::optional<int64_t> count;
  objects_.registry.for_each([&](const Kind& kind) {
    if (kind.resource() != resource) return;
    count = 0;
    for_each_in(objects_.table.shelf(kind), space, [&](const ObjectPtr&) { ++*count; });
  });
  if (!count && is_of_kubernetes(resource)) count = 0;
  return count;
}

int64_t ResourceQuotas::live_pods(const std::string& space) const {
  int64_t count = 0;
  const Kind& kind = objects_.registry.built_in("pods");
  for_each_in(objects_.table.shelf(kind), space,
              [&count](const ObjectPtr& pod) { count += has_ended(*pod) ? 0 : 1; });
  return count;
}

// Of pods that are being deleted, too: they run until they are gone.
Amounts ResourceQuotas::requested(const std::string& space) const {
  Amounts sum;
  const Kind& kind = objects_.registry.built_in("pods");
  for_each_in(objects_.table.shelf(kind), space, [&sum](const ObjectPtr& pod) {
    if (!has_ended(*pod)) add(sum, requests_of(pod->document()));
  });
  return sum;
}

int64_t ResourceQuotas::service_ports(const std::string& space, bool of_balancers) const {
  int64_t balancers = 0;
  int64_t ports = 0;
  const Kind& kind = objects_.registry.built_in("services");
  for_each_in(objects_.table.shelf(kind), space, [&](const ObjectPtr& service) {
    const Node document = service->document();
    const std::string_view type = model::text_at(document, {"spec", "type"});
    balancers += type == "LoadBalancer" ? 1 : 0;
    if (type == "LoadBalancer" || type == "NodePort") {
      ports += std::ssize(model::items_at(document, {"spec", "ports"}));
    }
  });
  return of_balancers ? balancers : ports;
}

}  // namespace spillway::embedded
