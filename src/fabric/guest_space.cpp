#include "fabric/guest_space.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/quantity.h"
#include "base/text.h"
#include "fabric/liqo/cluster_objects.h"
#include "fabric/liqo/shape.h"
#include "fabric/liqo/writer.h"
#include "fabric/pod_shares.h"
#include "model/json.h"

namespace spillway::fabric {
namespace {

using liqo::list_of;
using liqo::object_of;
using model::Node;
using model::text_node;

// Each may have a megabyte, and all of them lie in the provider's etcd.
constexpr int64_t k_most_objects = 128;
constexpr const char* k_counted[] = {
    "count/configmaps",
    "count/secrets",
    "count/services",
    "count/ingresses.networking.k8s.io",
    "count/shadowendpointslices.offloading.liqo.io",
};
constexpr const char* k_most_claims = "32";
constexpr const char* k_most_balancers = "8";
constexpr const char* k_most_node_ports = "64";  // a load balancer takes some

int64_t amount_of(const liqo::Grant& grant, std::string_view resource) {
  const auto found = grant.amounts.find(resource);
  return found == grant.amounts.end() ? 0 : found->second;
}

// What is more than an int64 holds, is as much as it holds.
int64_t granted(const GuestWish& wish, std::string_view resource) {
  int64_t sum = 0;
  for (const GuestUnit& unit : wish.units) {
    sum = try_add(sum, amount_of(unit.grant, resource)).value_or(INT64_MAX);
  }
  return sum;
}

int64_t largest(const GuestWish& wish, std::string_view resource) {
  int64_t most = 0;
  for (const GuestUnit& unit : wish.units) most = std::max(most, amount_of(unit.grant, resource));
  return most;
}

using Classes = std::vector<liqo::OfferedClass> liqo::Grant::*;

std::set<std::string> classes_of(const GuestWish& wish, Classes which) {
  std::set<std::string> names;
  for (const GuestUnit& unit : wish.units) {
    for (const liqo::OfferedClass& one : unit.grant.*which) names.insert(one.name);
  }
  return names;
}

std::string selectors_of(const GuestWish& wish) {
  std::set<std::string> units;
  for (const GuestUnit& unit : wish.units) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : unit.grant.node_selector) {
      pairs.push_back(fmt::format("{}={}", key, value));
    }
    if (pairs.empty()) continue;
    units.insert(
        fmt::format("{}:{}", liqo::unit_user(unit.name, wish.buyer_hash), fmt::join(pairs, ",")));
  }
  return fmt::format("{}", fmt::join(units, ";"));
}

Create made(const liqo::Kind& kind, std::string_view space, std::string_view part, Node value) {
  Node object = liqo::empty_object(kind);
  model::put(object, "metadata",
             object_of({{"name", text_node(k_guests_name)},
                        {"namespace", text_node(space)},
                        {"labels",
                         object_of({{liqo::k_guard_label, text_node(liqo::k_guard_edition)}})}}));
  model::put(object, part, std::move(value));
  return {{kind, std::string(space), std::string(k_guests_name)}, std::move(object)};
}

// As an API server writes it: what it has is compared with what we want as text.
std::string count_text(int64_t count) {
  for (const char* suffix : {"", "k", "M", "G"}) {
    if (count == 0 || count % 1000 != 0) return std::to_string(count) + suffix;
    count /= 1000;
  }
  return std::to_string(count) + "T";
}

bool is_bytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

std::string request_text(std::string_view resource, int64_t amount) {
  if (resource == "cpu")
    return amount % 1000 == 0 ? count_text(amount / 1000) : cpu_to_text(amount);
  return is_bytes(resource) ? bytes_to_text(amount) : count_text(amount);
}

// Of what is granted beside cpu and memory, that which a ResourceQuota can count.
bool is_countable(std::string_view resource) {
  if (is_bytes(resource)) return true;
  const bool is_extended = resource.find('/') != std::string_view::npos;
  return is_extended && resource.find("kubernetes.io/") == std::string_view::npos;
}

// What pods may ask for together. Liqo gives back what a guest had when its ShadowPod is deleted,
// and its pod may run on for ten minutes: whoever deletes and starts again and again would have
// more than it bought. Kubernetes counts such pods. All of it in each namespace, for guests of any
// namespace have to fit: by several of them a buyer has as many times more for these minutes, and
// never more pods than were granted. Of a resource that is granted no more, what was written stays:
// Liqo's Quota has none of it then.
void limit_requests(Node& hard, const GuestWish& wish) {
  std::set<std::string> resources{"cpu", "memory"};
  for (const GuestUnit& unit : wish.units) {
    for (const auto& [resource, amount] : unit.grant.amounts) {
      if (is_countable(resource)) resources.insert(resource);
    }
  }
  for (const std::string& resource : resources) {
    model::put(hard, "requests." + resource,
               text_node(request_text(resource, granted(wish, resource))));
  }
}

Create quota_of(const GuestWish& wish, std::string_view space, int64_t pods) {
  const bool has_storage = !classes_of(wish, &liqo::Grant::storage).empty();
  const bool has_balancers = !classes_of(wish, &liqo::Grant::load_balancer).empty();
  Node hard = object_of({
      {"pods", text_node(count_text(pods))},
      {"services.nodeports", text_node(has_balancers ? k_most_node_ports : "0")},
      {"services.loadbalancers", text_node(has_balancers ? k_most_balancers : "0")},
      {"persistentvolumeclaims", text_node(has_storage ? k_most_claims : "0")},
      {"requests.storage", text_node(has_storage ? count_text(granted(wish, "storage")) : "0")},
  });
  for (const char* what : k_counted) {
    model::put(hard, what, text_node(std::to_string(k_most_objects)));
  }
  limit_requests(hard, wish);
  // Those that have ended are counted, too.
  const int64_t most = std::max(k_most_objects, 2 * granted(wish, "pods"));
  model::put(hard, "count/shadowpods.offloading.liqo.io", text_node(count_text(most)));
  return made(liqo::k_resource_quotas, space, "spec", object_of({{"hard", std::move(hard)}}));
}

// No guest is larger than the largest unit, whatever its limits say.
Create limits_of(const GuestWish& wish, std::string_view space) {
  Node pod = object_of({{"type", text_node("Pod")}});
  liqo::Writer(pod).amounts("max",
                            {{"cpu", largest(wish, "cpu")}, {"memory", largest(wish, "memory")}});
  return made(liqo::k_limit_ranges, space, "spec",
              object_of({{"limits", list_of({std::move(pod)})}}));
}

Node anywhere_but(const std::vector<std::string>& closed, bool is_v6) {
  std::vector<std::string> except;
  std::copy_if(closed.begin(), closed.end(), std::back_inserter(except), [&](const auto& network) {
    return (network.find(':') != std::string::npos) == is_v6;
  });
  Node block = object_of({{"cidr", text_node(is_v6 ? "::/0" : "0.0.0.0/0")}});
  if (!except.empty()) model::put(block, "except", liqo::text_list(except));
  return object_of({{"ipBlock", std::move(block)}});
}

Node port_of(const char* protocol, int64_t number) {
  return object_of({{"protocol", text_node(protocol)}, {"port", model::integer_node(number)}});
}

Node spaces_with(std::string_view label, std::string_view value) {
  return object_of({{"matchLabels", object_of({{label, text_node(value)}})}});
}

Create network_of(const GuestWish& wish, std::string_view space) {
  const auto own = [&wish] {
    return object_of({{"namespaceSelector", spaces_with(liqo::k_peer_label, wish.buyer)}});
  };
  Node names =
      object_of({{"namespaceSelector", spaces_with("kubernetes.io/metadata.name", "kube-system")},
                 {"podSelector", spaces_with("k8s-app", "kube-dns")}});
  const auto own_everywhere = [&] {
    std::vector<Node> all = {own()};
    for (const std::string& range : wish.ranges_here) {
      all.push_back(object_of({{"ipBlock", object_of({{"cidr", text_node(range)}})}}));
    }
    return list_of(std::move(all));
  };
  std::vector<Node> egress;
  egress.push_back(object_of({{"to", own_everywhere()}}));
  egress.push_back(object_of({{"to", list_of({std::move(names)})},
                              {"ports", list_of({port_of("UDP", 53), port_of("TCP", 53)})}}));
  egress.push_back(object_of({{"to", list_of({anywhere_but(wish.closed_networks, false),
                                              anywhere_but(wish.closed_networks, true)})}}));
  // What was granted a way in from outside is meant to be reached by it.
  const bool is_open = !classes_of(wish, &liqo::Grant::ingress).empty() ||
                       !classes_of(wish, &liqo::Grant::load_balancer).empty();
  Node from = is_open ? model::object_node() : object_of({{"from", own_everywhere()}});
  Node spec = object_of({{"podSelector", model::object_node()},
                         {"policyTypes", list_of({text_node("Ingress"), text_node("Egress")})},
                         {"ingress", list_of({std::move(from)})},
                         {"egress", list_of(std::move(egress))}});
  return made(liqo::k_network_policies, space, "spec", std::move(spec));
}

Create space_of(const GuestWish& wish, std::string_view space) {
  const auto joined = [](const auto& names) {
    return text_node(fmt::format("{}", fmt::join(names, ",")));
  };
  Node object = liqo::empty_object(liqo::k_namespaces);
  Node labels = object_of({{liqo::k_guard_label, text_node(liqo::k_guard_edition)}});
  for (const char* mode : {"enforce", "warn"}) {
    model::put(labels, fmt::format("pod-security.kubernetes.io/{}", mode),
               text_node(to_text(wish.security)));
  }
  Node notes = object_of({
      {liqo::k_tolerable_annotation, joined(wish.tolerable)},
      {liqo::k_selectors_annotation, text_node(selectors_of(wish))},
      {liqo::k_storage_annotation, joined(classes_of(wish, &liqo::Grant::storage))},
      {liqo::k_ingress_annotation, joined(classes_of(wish, &liqo::Grant::ingress))},
      {liqo::k_load_balancer_annotation, joined(classes_of(wish, &liqo::Grant::load_balancer))},
      {liqo::k_endpoints_annotation, joined(wish.ranges_there)},
  });
  model::put(object, "metadata",
             object_of({{"name", text_node(space)},
                        {"labels", std::move(labels)},
                        {"annotations", std::move(notes)}}));
  return {{liqo::k_namespaces, {}, std::string(space)}, std::move(object)};
}

// Anybody may have written into it: no more than arithmetic can bear.
int64_t count_at(const std::optional<Node>& quota, std::string_view part, std::string_view inner) {
  constexpr int64_t k_most_pods = 1'000'000'000;
  if (!quota) return 0;
  const std::string_view text = model::text_at(*quota, {part, inner, "pods"});
  const int64_t count = parse_quantity(text, QuantityStep::whole, Rounding::up).value_or(0);
  return std::clamp<int64_t>(count, 0, k_most_pods);
}

PodShare share_of(const GuestSpaceSight& seen) {
  return {seen.quota.has_value(), count_at(seen.quota, "spec", "hard"),
          count_at(seen.quota, "status", "hard"), count_at(seen.quota, "status", "used")};
}

// A merge patch of what we write: what others wrote stays.
Node patch_to(Node object) {
  model::erase(object, "apiVersion");
  model::erase(object, "kind");
  Node& meta = model::ensure(object, {"metadata"});
  model::erase(meta, "name");
  model::erase(meta, "namespace");
  return object;
}

void settle(Plan& plan, const std::optional<Node>& seen, Create wanted) {
  if (!seen) {
    plan.deeds.emplace_back(std::move(wanted));
    return;
  }
  Node patch = patch_to(std::move(wanted.object));  // items of a list do not say their kind
  const bool is_right = liqo::has_all_of(*seen, patch);
  plan.kept.push_back({wanted.at, std::hash<std::string>{}(model::to_json(patch)), is_right});
  if (!is_right) plan.deeds.emplace_back(Merge{wanted.at, std::move(patch)});
}

// What of our limits Kubernetes has not counted yet, and refuses until then.
std::vector<std::string> uncounted(const Node& seen, const Node& wanted) {
  const auto& counted = model::items_at(seen, {"status", "used"});
  std::vector<std::string> left;
  for (const Node& limit : model::items_at(wanted, {"spec", "hard"})) {
    const bool is_counted = std::any_of(counted.begin(), counted.end(),
                                        [&](const Node& one) { return one.key == limit.key; });
    if (!is_counted) left.push_back(limit.key);
  }
  return left;
}

// A kind that an API server has only just learnt of is counted some minutes later.
void tell_uncounted(Plan& plan, const GuestSpaceSight& seen, const std::vector<std::string>& what,
                    Instant now) {
  const auto made = parse_instant(model::text_at(*seen.quota, {"metadata", "creationTimestamp"}));
  const Instant late = made.value_or(Instant{}) + k_patience;
  if (late > now) return plan.look_by(late);
  plan.troubles.push_back(
      {fmt::format("guests in {}", model::text_at(seen.space, {"metadata", "name"})),
       fmt::format("Kubernetes has not counted {} in ResourceQuota {}, and none is let in until it "
                   "has",
                   name_few(what), k_guests_name),
       "if it stays so, see what the kube-controller-manager says of resourcequotas"});
}

bool is_marked(const GuestSpaceSight& seen) {
  return !model::text_at(seen.space, {"metadata", "labels", liqo::k_guard_label}).empty();
}

// Its label only when all else is there; and not, when something was taken away.
void settle_space(Plan& plan, const GuestSpaceSight& seen, Create wanted,
                  const std::vector<std::string>& not_counted, Instant now) {
  const bool is_whole = seen.quota && seen.limits && seen.network;
  Node& labels = model::ensure(wanted.object, {"metadata", "labels"});
  if (!is_whole) model::erase(labels, liqo::k_guard_label);
  if (!is_whole && is_marked(seen)) {
    Node patch = patch_to(std::move(wanted.object));
    model::put(model::ensure(patch, {"metadata", "labels"}), liqo::k_guard_label, Node{});
    plan.deeds.emplace_back(Merge{wanted.at, std::move(patch)});
    return;
  }
  // Who is let in already stays so while a new limit is counted.
  if (is_whole && !is_marked(seen) && !not_counted.empty()) {
    model::erase(labels, liqo::k_guard_label);
    tell_uncounted(plan, seen, not_counted, now);
  }
  settle(plan, seen.space, std::move(wanted));
}

bool is_guests(const GuestSpaceSight& seen, const GuestWish& wish) {
  const auto space = liqo::read_space(seen.space);
  return space && space->peer() == wish.buyer && !space->is_tenants() &&
         space->meta.deleted.empty();
}

}  // namespace

std::vector<std::string> private_networks() {
  return {"10.0.0.0/8",     "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12",
          "192.168.0.0/16", "fc00::/7",      "fe80::/10"};
}

std::vector<Create> guest_space_objects(const GuestWish& wish, std::string_view space,
                                        int64_t pods) {
  return {quota_of(wish, space, pods), limits_of(wish, space), network_of(wish, space),
          space_of(wish, space)};
}

Plan plan_guest_spaces(const GuestWish& wish, const std::vector<GuestSpaceSight>& seen,
                       Instant now) {
  std::vector<const GuestSpaceSight*> spaces;
  std::vector<PodShare> shares;
  for (const GuestSpaceSight& one : seen) {
    if (!is_guests(one, wish)) continue;
    spaces.push_back(&one);
    shares.push_back(share_of(one));
  }
  Plan plan;
  const std::vector<int64_t> pods = deal_pods(granted(wish, "pods"), shares);
  for (size_t at = 0; at < spaces.size(); ++at) {
    const GuestSpaceSight& one = *spaces[at];
    const auto name = model::text_at(one.space, {"metadata", "name"});
    Create quota = quota_of(wish, name, pods[at]);
    const auto not_counted =
        one.quota ? uncounted(*one.quota, quota.object) : std::vector<std::string>{};
    settle(plan, one.quota, std::move(quota));
    settle(plan, one.limits, limits_of(wish, name));
    settle(plan, one.network, network_of(wish, name));
    settle_space(plan, one, space_of(wish, name), not_counted, now);
  }
  return plan;
}

}  // namespace spillway::fabric
