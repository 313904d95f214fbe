// Hostile objects of Kubernetes' own kinds, and of Liqo's where whoever hosts the fabric looks at
// more than their readers do (liqo_objects_fuzz.cpp): each is seen as far as it makes sense, and
// what follows from it puts it right, whatever it had.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "fabric/account.h"
#include "fabric/fence.h"
#include "fabric/guest_space.h"
#include "fabric/leaves.h"
#include "fabric/liqo/guard_standing.h"
#include "fabric/liqo/standing.h"
#include "fabric/liqo/vk_options.h"
#include "fabric/mourning.h"
#include "fabric/record.h"
#include "fabric/see.h"
#include "model/tree.h"
#include "reached.h"
#include "services/fabric/doings.h"
#include "services/fabric/hearing.h"
#include "services/fabric/liqo_home.h"
#include "services/fabric/sights.h"

namespace spillway::fabric {
namespace {

using model::Node;
using model::text_at;

constexpr Instant k_now{1'800'000'000'000};
constexpr const char* k_buyer = "rome";  // of the corpus
constexpr const char* k_unit = "sw-01m7jvqwfj4xxt60c2xbz461h3-0";

bool is_a(const Node& object, const liqo::Kind& kind) {
  return text_at(object, {"kind"}) == kind.kind;
}

template <class T>
void check_refusal(const Result<T>& read) {
  if (!read) SPILLWAY_CHECK(is_printable(read.error().message()), "an error repeats the input");
}

// The first that is changed.
std::optional<Node> made_for(const Plan& plan, const liqo::Kind& kind) {
  for (const Deed& deed : plan.deeds) {
    const auto* merge = std::get_if<Merge>(&deed);
    if (merge != nullptr && merge->at.kind.plural == kind.plural) return merge->patch;
  }
  return std::nullopt;
}

// ---- namespaces ----------------------------------------------------------------------------

bool is_peer_space(const Node& object, PeerSpace::Use use) {
  const PeerSpace seen = see_peer_space(object);
  const std::string name(text_at(object, {"metadata", "name"}));
  const std::string of = liqo::peer_of_tenant_namespace(name);
  SPILLWAY_CHECK(seen.use != PeerSpace::Use::tenants || (!of.empty() && of == seen.peer),
                 "a namespace of somebody else's");
  return seen.use == use && !seen.peer.empty() && is_a(object, liqo::k_namespaces);
}

// Whatever it is like, one look makes it as the policy says, and the next one leaves it so. True:
// it is of that kind, and was changed.
bool is_offloaded(const Node& object, const liqo::Kind& kind) {
  const SpaceSight space = see_space(object);
  SpacesWish wish{k_buyer, {}, {}};
  wish.policy.namespaces = {"shop"};
  SpacesSight sight;
  sight.spaces["shop"] = space;
  if (const auto offloading = liqo::read_namespace_offloading(object)) {
    sight.spaces["shop"].labels.clear();
    sight.spaces["shop"].offloading = *offloading;
  }
  if (auto pod = see_waiting_pod(object)) {
    pod->space = "shop";
    sight.spaces["shop"].offloading = offloading_of(wish, "shop").value();
    sight.waiting.push_back(*pod);
  }
  const Plan plan = plan_spaces(wish, sight);
  const auto patch = made_for(plan, kind);
  if (!patch) return false;
  Node mended = object;
  model::merge(mended, *patch);
  if (kind.plural == liqo::k_pods.plural) {
    const auto pod = see_waiting_pod(mended);
    SPILLWAY_CHECK(!pod || tolerates_virtual_nodes(pod->tolerations), "a pod that still stays");
    return true;
  }
  const auto again = liqo::read_namespace_offloading(mended);
  SPILLWAY_CHECK(again.has_value(), "what was put right cannot be read");
  sight.spaces["shop"].offloading = *again;
  SPILLWAY_CHECK(!made_for(plan_spaces(wish, sight), kind), "what was put right is not right");
  return true;
}

// ---- guests --------------------------------------------------------------------------------

Node guests_namespace(const std::string& name) {
  Node made = model::object_node();
  model::put(model::ensure(made, {"metadata"}), "name", model::text_node(name));
  model::put(model::ensure(made, {"metadata", "labels"}), liqo::k_peer_label,
             model::text_node(k_buyer));
  return made;
}

GuestWish guest_wish() {
  GuestWish wish{k_buyer, std::string(64, 'a'), {}, {"spot"}};
  wish.units = {{k_unit, {}}};
  wish.units[0].grant.amounts = {{"cpu", 2000}, {"memory", 1 << 30}, {"pods", 7}};
  wish.units[0].grant.storage = {{"fast", true}};
  return wish;
}

// In two namespaces at once: what is dealt out among them is of both.
bool is_limit(const Node& object, const liqo::Kind& kind,
              std::optional<Node> GuestSpaceSight::*which) {
  std::vector<GuestSpaceSight> seen;
  for (const char* name : {"sw4-rome-a", "sw4-rome-b"}) {
    seen.push_back({guests_namespace(name)});
    seen.back().*which = object;
  }
  const GuestWish wish = guest_wish();
  const Plan plan = plan_guest_spaces(wish, seen, Instant{});
  const auto patch = made_for(plan, kind);
  if (patch) {
    seen.resize(1);
    if (const auto alone = made_for(plan_guest_spaces(wish, seen, Instant{}), kind)) {
      model::merge(*(seen[0].*which), *alone);
    }
    // Pods are dealt anew when they have settled.
    const Plan next = plan_guest_spaces(wish, seen, Instant{});
    SPILLWAY_CHECK(kind.plural == liqo::k_resource_quotas.plural || !made_for(next, kind),
                   "what was put right is not right");
  }
  return is_a(object, kind) && text_at(object, {"metadata", "name"}) == k_guests_name;
}

bool is_guest_space(const Node& object) {
  GuestSpaceSight seen{object, object, object, object};
  const GuestWish wish = guest_wish();
  const Plan plan = plan_guest_spaces(wish, {seen}, Instant{});
  if (plan.kept.empty()) return false;
  if (const auto patch = made_for(plan, liqo::k_namespaces)) {
    model::merge(seen.space, *patch);
    SPILLWAY_CHECK(!made_for(plan_guest_spaces(wish, {seen}, Instant{}), liqo::k_namespaces),
                   "what was put right is not right");
  }
  // Without its limits nothing starts there.
  seen.quota.reset();
  if (const auto patch = made_for(plan_guest_spaces(wish, {seen}, Instant{}), liqo::k_namespaces)) {
    model::merge(seen.space, *patch);
  }
  SPILLWAY_CHECK(text_at(seen.space, {"metadata", "labels", liqo::k_guard_label}).empty(),
                 "guests without limits");
  return true;
}

bool is_guest(const Node& object) {
  const GuestSight seen = see_guest(object);
  return seen.has_identity && !seen.creator.empty() && is_a(object, liqo::k_shadow_pods);
}

// ---- units ---------------------------------------------------------------------------------

// A dead provider's: closed by one look, as before when it is alive again.
bool is_unit_node(const Node& object) {
  const NodeSight seen = see_node(object);
  SPILLWAY_CHECK(!(seen.is_ready && seen.is_silent), "ready, and not heard of");
  for (const Mourning wanted : {Mourning::closed, Mourning::evicting, Mourning::none}) {
    auto taints = taints_for(seen.taints, wanted, k_now);
    if (!taints) continue;
    SPILLWAY_CHECK(is_closed(*taints) == (wanted != Mourning::none), "open, or closed for good");
    SPILLWAY_CHECK(!taints_for(*taints, wanted, k_now), "what was put right is not right");
  }
  return is_a(object, liqo::k_nodes) && seen.is_ready && !seen.provider_id.empty() &&
         !seen.taints.empty();
}

bool is_pod(const Node& object) {
  const auto pod = see_pod(object);
  if (!pod) return false;
  if (const auto wanted = tolerations_for(pod->tolerations)) {
    SPILLWAY_CHECK(!tolerations_for(*wanted), "what was put right is not right");
  }
  BoughtSight seen;
  seen.node = NodeSight{};
  seen.pods = {*pod};
  ProviderLife life{.life = Life::dead, .unheard = k_now};
  Plan plan;
  const bool holds = mourn(life, k_unit, minutes(5), seen, k_now, plan);
  SPILLWAY_CHECK(holds || !pod->has_identity, "work may run twice");
  SPILLWAY_CHECK(stopped_by(life, minutes(5), *pod) > k_now, "stopped before it is");
  return is_a(object, liqo::k_pods) && pod->has_identity && !pod->uid.empty() &&
         !pod->tolerations.empty();
}

bool is_no_pod(const Node& object) { return is_a(object, liqo::k_pods) && !see_pod(object); }

// ---- fences and accounts -------------------------------------------------------------------

bool is_lease(const Node& object) {
  const auto read = read_buyer_lease(object);
  check_refusal(read);
  SPILLWAY_CHECK(turns_in(model::to_json(object)) == (read ? read->turns : 0),
                 "a Lease that both sides read otherwise");
  if (!read) return false;
  FenceSight sight;
  note_lease(sight, *read, k_now);
  SPILLWAY_CHECK(last_heard(sight, seconds(15)) <= k_now, "heard of in the future");
  Node settled = object;
  model::merge(settled, settle_fence(k_buyer, *read).patch);
  const auto after = read_buyer_lease(settled);
  SPILLWAY_CHECK(after.has_value(), "what was written cannot be read");
  FenceSight then;
  note_lease(then, *after, k_now);
  SPILLWAY_CHECK(!is_unsettled(then), "what was settled is not");
  Node renewed = object;
  model::merge(renewed, renewal_patch(k_buyer, 7, k_now));
  const auto fresh = read_buyer_lease(renewed);
  SPILLWAY_CHECK(fresh && fresh->turns == 7 && fresh->renewed == k_now, "another renewal");
  Plan plan;
  keep_fence(k_buyer, sight, plan);
  note_no_lease(sight, true);
  keep_fence(k_buyer, sight, plan);
  return is_a(object, liqo::k_leases) && read->is_marked && read->turns > 0 && read->settled > 0 &&
         read->renewed > Instant{};
}

bool is_record(const Node& object) {
  const auto read = read_record(object);
  check_refusal(read);
  return read && is_a(object, liqo::k_config_maps) && read->units.contains(k_unit);
}

bool is_role_of_fence(const Node& object) { return judge_fence_role(object) == Right::right; }
bool is_binding_of_fence(const Node& object) {
  return judge_fence_binding(object, k_buyer) == Right::right;
}
bool is_role_of_account(const Node& object) {
  return judge_account_role(object, k_buyer) == Right::right;
}
bool is_binding_of_account(const Node& object) {
  return judge_account_binding(object, k_buyer) == Right::right;
}

// Somebody else's right by the buyer's name.
bool is_standing(const Node& object) {
  const Status status = liqo::check_has_no_standing(k_buyer, {object});
  check_refusal(status);
  return !status;
}

// ---- options, the guard, what leaves -------------------------------------------------------

bool is_template(const Node& object) {
  using By = liqo::Reflection::By;
  const liqo::Reflection listed{By::allow_list, By::allow_list, By::allow_list, By::allow_list,
                                false};
  for (const liqo::Leaving leaving : {liqo::Leaving::listed, liqo::Leaving::all}) {
    const Node made = liqo::options_template(object, "space", leaving);
    const bool is_listed = leaving == liqo::Leaving::listed;
    SPILLWAY_CHECK(liqo::reflection_of_template(made) == (is_listed ? listed : liqo::Reflection{}),
                   "a template that lets more leave");
    const Node other = liqo::options_template(model::object_node(), "space", leaving);
    for (const auto& [before, wanted] : {std::pair(object, made), {object, other}, {other, made}}) {
      Node seen = before;
      model::merge(seen, liqo::options_patch(seen, wanted));
      SPILLWAY_CHECK(liqo::options_patch(seen, wanted).items.empty(),
                     "what was put right is not right");
      SPILLWAY_CHECK(liqo::reflection_of_template(seen) == liqo::reflection_of_template(wanted),
                     "a template that lets more leave");
    }
  }
  return is_a(object, liqo::k_vk_templates) &&
         !model::items_at(object, {"spec", "extraArgs"}).empty();
}

// Judged as each part of the guard, which takes a while: not unless it says that it is one.
bool is_guard_object(const Node& object, const liqo::Kind& kind) {
  if (!is_a(object, kind)) return false;
  liqo::GuardSeen seen;
  for (const liqo::GuardObject& one : liqo::guard_objects()) {
    seen[liqo::guard_key(one.kind, one.name)] = object;
  }
  for (const liqo::Kind& one : {liqo::k_webhooks, liqo::k_early_webhooks}) {
    seen[liqo::guard_key(one, liqo::k_webhook_name)] = object;
  }
  const liqo::GuardStanding standing = liqo::judge_guard(seen);
  SPILLWAY_CHECK(standing.in_force == 0, "a policy that is its own binding");
  Node trusted = object;
  (void)liqo::set_authorities(trusted, "pem");
  SPILLWAY_CHECK(!liqo::set_authorities(trusted, "pem"), "what was put right is not right");
  const bool is_one_as_written = standing.changed.size() < liqo::guard_objects().size();
  return is_one_as_written || standing.webhook.in_force > 0;
}

// Told to whoever asks, for each kind that it may be of.
bool is_reflected(const Node& object) {
  const Destination to{k_buyer, "milan", liqo::Reflection{}, {"unit-0"}};
  const SpaceContents contents{"default", {object}, {object}, {object},
                               {object},  {object}, {object}};
  const auto rows = what_leaves(contents, to);
  return std::any_of(rows.begin(), rows.end(), [&](const LeavesRow& row) {
    return row.kind == "Token" && row.leaves && is_a(object, liqo::k_pods);
  });
}

// Labels that it was to have, and lost.
bool is_unlabelled(const Node& object) {
  const Node wanted = liqo::tenant_namespace(k_buyer);
  const agent::MissingLabels missing = agent::missing_labels(wanted, object);
  Node labelled = object;
  model::merge(labelled, missing.patch);
  SPILLWAY_CHECK(agent::missing_labels(wanted, labelled).names.empty(),
                 "what was put right is not right");
  return !missing.names.empty() && is_a(object, liqo::k_namespaces) &&
         text_at(object, {"metadata", "name"}) == liqo::tenant_namespace_name(k_buyer);
}

// ---- Secrets -------------------------------------------------------------------------------

bool is_kubeconfig(const Node& object) {
  const auto any = agent::access_in(object, "milan", {});
  check_refusal(any);
  const auto access = agent::access_in(object, "milan", {"https://milan:6443"});
  check_refusal(access);
  SPILLWAY_CHECK(!access || (access->server.host == "milan" && access->server.port == 6443),
                 "a kubeconfig for somebody else's server");
  SPILLWAY_CHECK(!any || (!any->plugin && any->token_file.empty()),
                 "a kubeconfig that reads or runs something");
  return access && access->identity;
}

bool is_liqo_home(const Node& object) {
  const auto pem = liqo::private_key_in(object);
  if (!pem) return false;
  const auto home = agent::LiqoHome::of(std::string(text_at(object, {"metadata", "name"})), *pem);
  check_refusal(home);
  return home && home->sign("nonce");
}

// Names that say what an object is.
bool is_unit_name(const Node& object) {
  const auto name = text_at(object, {"metadata", "name"});
  const auto contract = agent::contract_of_unit(name);
  SPILLWAY_CHECK(!contract || check_contract_id(contract->text), "a unit of no contract");
  (void)liqo::leaving_of_template(name);
  return contract.has_value();
}

constexpr fuzz::Look k_looks[] = {
    {"Namespace of a tenant",
     [](const Node& o) { return is_peer_space(o, PeerSpace::Use::tenants); }},
    {"Namespace of a tenant that was edited",
     [](const Node& o) { return is_peer_space(o, PeerSpace::Use::edited); }},
    {"Namespace of guests", [](const Node& o) { return is_peer_space(o, PeerSpace::Use::guests); }},
    {"Namespace that lost its labels", is_unlabelled},
    {"Namespace of guests with its limits", is_guest_space},
    {"pod that waits for a node", [](const Node& o) { return is_offloaded(o, liqo::k_pods); }},
    {"NamespaceOffloading of ours that was edited",
     [](const Node& o) { return is_offloaded(o, liqo::k_namespace_offloadings); }},
    {"ResourceQuota",
     [](const Node& o) { return is_limit(o, liqo::k_resource_quotas, &GuestSpaceSight::quota); }},
    {"LimitRange",
     [](const Node& o) { return is_limit(o, liqo::k_limit_ranges, &GuestSpaceSight::limits); }},
    {"NetworkPolicy",
     [](const Node& o) {
       return is_limit(o, liqo::k_network_policies, &GuestSpaceSight::network);
     }},
    {"ShadowPod with identity", is_guest},
    {"unit's Node", is_unit_node},
    {"pod with identity", is_pod},
    {"pod that does not count", is_no_pod},
    {"buyer's Lease", is_lease},
    {"record", is_record},
    {"fence's Role", is_role_of_fence},
    {"fence's RoleBinding", is_binding_of_fence},
    {"account's Role", is_role_of_account},
    {"account's RoleBinding", is_binding_of_account},
    {"RoleBinding for somebody of the buyer's name", is_standing},
    {"VkOptionsTemplate", is_template},
    {"ValidatingAdmissionPolicyBinding",
     [](const Node& o) { return is_guard_object(o, liqo::k_policy_bindings); }},
    {"ValidatingWebhookConfiguration",
     [](const Node& o) { return is_guard_object(o, liqo::k_webhooks); }},
    {"pod whose token leaves", is_reflected},
    {"Secret with a provider's kubeconfig", is_kubeconfig},
    {"Secret with Liqo's key", is_liqo_home},
    {"object with a unit's name", is_unit_name},
};
bool g_reached[std::size(k_looks)];

}  // namespace
}  // namespace spillway::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway::fabric;
  spillway::fuzz::look_at({reinterpret_cast<const char*>(data), size}, k_looks, g_reached);
  return 0;
}

extern "C" const char* spillway_unreached() {
  using namespace spillway::fabric;
  return spillway::fuzz::unreached(k_looks, g_reached);
}
