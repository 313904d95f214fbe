#include "fabric/fence.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "fabric/liqo/guard.h"
#include "fabric/liqo/reader.h"
#include "fabric/liqo/shape.h"
#include "fabric/liqo/writer.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

using liqo::list_of;
using liqo::object_of;
using model::Node;
using model::text_node;

constexpr std::string_view k_settled_annotation = "spillway.dev/settled";

RightsAt at_fence(std::string_view buyer) {
  return {liqo::tenant_namespace_name(buyer), k_fence_name};
}

Node guard_mark() { return object_of({{liqo::k_guard_label, text_node(liqo::k_guard_edition)}}); }

// By name: the right is to this Lease and to no other.
Node role_rules() { return list_of({rule_of(liqo::k_leases, k_fence_name, {"get", "patch"})}); }

Node binding_subjects(std::string_view buyer) {
  return list_of({object_of({{"apiGroup", text_node(liqo::k_roles.group)},
                             {"kind", text_node("User")},
                             {"name", text_node(buyer)}})});
}

Node settled_patch(int64_t turns) {
  Node annotations = object_of({{k_settled_annotation, text_node(std::to_string(turns))}});
  return object_of({{"metadata", object_of({{"annotations", std::move(annotations)}})}});
}

// Kubernetes wants exactly six digits.
std::string micro_text(Instant time) {
  const std::string whole = to_text(Instant{time.ms / 1000 * 1000});
  return fmt::format("{}.{:03}000Z", whole.substr(0, whole.size() - 1), time.ms % 1000);
}

std::optional<Instant> time_in(std::string_view text) {
  // Whoever else writes it may be finer than we are.
  std::string cut(text);
  const size_t dot = cut.find('.');
  const size_t end = dot == std::string::npos ? dot : cut.find_first_not_of("0123456789", dot + 1);
  if (end != std::string::npos && end - dot > 4) cut.erase(dot + 4, end - dot - 4);
  const auto read = parse_instant(cut);
  return read ? std::optional(*read) : std::nullopt;
}

int64_t number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0 ? number : 0;
}

// One that is made in another's place goes on where that one was.
Node lease_after(const FenceSight& sight) {
  if (!sight.before) return model::object_node();
  Node made = settled_patch(sight.settled);
  model::put(model::ensure(made, {"spec"}), "renewTime", text_node(micro_text(*sight.before)));
  return made;
}

}  // namespace

bool has_identity(const Node& labels, const Node& pod_spec) {
  if (labels.find("statefulset.kubernetes.io/pod-name") != nullptr) return true;
  const auto& volumes = model::items_at(pod_spec, {"volumes"});
  return std::any_of(volumes.begin(), volumes.end(), [](const Node& volume) {
    return volume.find("persistentVolumeClaim") != nullptr;
  });
}

Result<BuyerLease> read_buyer_lease(const Node& object) {
  liqo::Reader reader(object, liqo::k_leases);
  BuyerLease lease;
  std::string renewed;
  std::string made;
  liqo::Texts annotations;
  liqo::Texts labels;
  reader.text("metadata.resourceVersion", lease.version);
  reader.text("metadata.creationTimestamp", made);
  reader.texts("metadata.annotations", annotations);
  reader.texts("metadata.labels", labels);
  reader.text("spec.renewTime", renewed);
  reader.number("spec.leaseTransitions", lease.turns);
  SPILLWAY_TRY(reader.status());
  lease.renewed = time_in(renewed).value_or(time_in(made).value_or(Instant{}));
  const auto settled = annotations.find(k_settled_annotation);
  if (settled != annotations.end()) lease.settled = number_in(settled->second);
  lease.is_marked = labels.contains(liqo::k_guard_label);
  return lease;
}

int64_t turns_in(std::string_view lease) {
  constexpr size_t k_most_lease = size_t{64} << 10;
  const auto object = model::parse_json(lease, "lease", k_most_lease, model::k_max_foreign_depth);
  if (!object) return 0;
  const auto read = read_buyer_lease(*object);
  return read ? read->turns : 0;
}

Node renewal_patch(std::string_view buyer, int64_t turns, Instant now) {
  return object_of({{"spec", object_of({{"holderIdentity", text_node(buyer)},
                                        {"leaseTransitions", model::integer_node(turns)},
                                        {"renewTime", text_node(micro_text(now))}})}});
}

Right judge_fence_role(const Node& role) { return judge_role(role, role_rules()); }

Right judge_fence_binding(const Node& binding, std::string_view buyer) {
  return judge_binding(binding, k_fence_name, binding_subjects(buyer));
}

void note_lease(FenceSight& sight, BuyerLease lease, Instant now) {
  const bool is_first = sight.seen == Instant{};
  // Buyers renew what is there; one that stands in another's place is ours, or somebody's hand's.
  const bool is_renewed =
      sight.lease && (sight.lease->renewed != lease.renewed || sight.lease->turns != lease.turns);
  if (is_first || is_renewed) sight.seen = now;
  if (is_renewed) sight.before.reset();
  sight.is_followed = sight.is_followed || is_renewed;
  sight.settled = lease.settled;
  sight.lease = std::move(lease);
}

void note_no_lease(FenceSight& sight, bool has_units) {
  if (sight.lease) {
    sight.before = std::min(sight.before.value_or(k_last_instant), sight.lease->renewed);
  }
  sight.lease.reset();
  if (!has_units) sight = {.role = sight.role, .binding = sight.binding};
}

void keep_fence(const std::string& buyer, const FenceSight& sight, Plan& plan) {
  const RightsAt at = at_fence(buyer);
  const Node mark = object_of({{"metadata", object_of({{"labels", guard_mark()}})}});
  if (!sight.lease) {
    Node lease = bare_object(liqo::k_leases, at);
    model::merge(lease, mark);
    model::merge(lease, lease_after(sight));
    plan.deeds.emplace_back(Create{at.place(liqo::k_leases), std::move(lease)});
  } else if (!sight.lease->is_marked) {
    plan.deeds.emplace_back(Merge{at.place(liqo::k_leases), mark});
  }
  keep_role(sight.role, at, role_rules(), plan);
  keep_binding(sight.binding, at, binding_subjects(buyer), plan);
}

void remove_fence(const std::string& buyer, const FenceSight& sight, Plan& plan) {
  const auto remove = [&](bool is_there, const liqo::Kind& kind) {
    if (is_there) plan.deeds.emplace_back(Remove{at_fence(buyer).place(kind), {}});
  };
  remove(sight.binding != Right::absent, liqo::k_role_bindings);
  remove(sight.role != Right::absent, liqo::k_roles);
  remove(sight.lease.has_value(), liqo::k_leases);
}

Instant last_heard(const FenceSight& sight, Duration skew) {
  Instant written = sight.before.value_or(k_last_instant);
  if (sight.lease) written = std::min(written, sight.lease->renewed);
  // Times that nobody means would leave the range of int64.
  return std::min(sight.seen, std::clamp(written, k_first_instant, k_last_instant - skew) + skew);
}

bool is_unsettled(const FenceSight& sight) {
  return sight.lease && sight.lease->turns > sight.lease->settled;
}

Merge settle_fence(const std::string& buyer, const BuyerLease& lease) {
  return {at_fence(buyer).place(liqo::k_leases), settled_patch(lease.turns)};
}

}  // namespace spillway::fabric
