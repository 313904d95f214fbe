#include "cli/guard_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/ask_cluster.h"
#include "fabric/liqo/guard_standing.h"
#include "fabric/liqo/standing.h"
#include "services/fabric/resource.h"

namespace spillway::cli {
namespace {

namespace liqo = fabric::liqo;

constexpr const char* k_install = "spillway fabric guard | kubectl apply -f -";
constexpr const char* k_install_webhook =
    "spillway fabric guard --webhook PLACE | kubectl apply -f -, with an agent that answers there "
    "(docs/fabric-rules.md)";

struct GuardSight {
  std::string liqo_version;  // empty: no Liqo
  bool can_enforce = true;   // the API server knows ValidatingAdmissionPolicies
  liqo::GuardSeen objects;
};

void look_at_kind(kube::Api& api, const liqo::Kind& kind, GuardSight& sight,
                  const kube::Then<void>& then) {
  const bool is_policy =
      kind.plural == liqo::k_policies.plural || kind.plural == liqo::k_policy_bindings.plural;
  const auto take = [&sight, kind](const kube::ListPage& page) {
    for (const kube::Object& one : page.items) {
      sight.objects[liqo::guard_key(kind, kube::name_in(one))] = one;
    }
  };
  const auto end = [&sight, then, is_policy](const Result<std::string>& answer) {
    if (answer) return then({});
    if (answer.error().code != Code::not_found) return then(tl::unexpected(answer.error()));
    if (is_policy) sight.can_enforce = false;
    then({});
  };
  api.list(agent::resource_of(kind), {}, take, end);
}

void look_for_liqo(kube::Api& api, GuardSight& sight, const kube::Then<void>& then) {
  const kube::Name name{std::string(liqo::k_namespace), "liqo-clusterid-configmap"};
  api.get(kube::k_config_maps, name, [&sight, then](const Result<kube::Object>& found) {
    if (!found && found.error().code == Code::not_found) return then({});
    if (!found) return then(tl::unexpected(found.error()));
    const auto version =
        model::text_at(*found, {"metadata", "labels", "app.kubernetes.io/version"});
    sight.liqo_version = version.empty() ? "of an unknown version" : std::string(version);
    then({});
  });
}

Result<GuardSight> see_guard(const std::string& kubeconfig, const std::string& context) {
  GuardSight sight;
  SPILLWAY_TRY(ask_cluster(kubeconfig, context, [&](kube::Api& api, const kube::Then<void>& done) {
    const auto after = [done](auto next) {
      return [done, next](const Status& status) { status ? next() : done(status); };
    };
    const auto early_webhooks = [&api, &sight, done] {
      look_at_kind(api, liqo::k_early_webhooks, sight, done);
    };
    const auto webhooks = [&api, &sight, after, early_webhooks] {
      look_at_kind(api, liqo::k_webhooks, sight, after(early_webhooks));
    };
    const auto bindings = [&api, &sight, after, webhooks] {
      look_at_kind(api, liqo::k_policy_bindings, sight, after(webhooks));
    };
    const auto policies = [&api, &sight, after, bindings] {
      look_at_kind(api, liqo::k_policies, sight, after(bindings));
    };
    look_for_liqo(api, sight, after(policies));
  }));
  return sight;
}

Result<std::string> judge(const GuardSight& sight) {
  if (sight.liqo_version.empty()) return "no Liqo here: nothing is lent by the fabric";
  const liqo::GuardStanding standing = liqo::judge_guard(sight.objects);
  const std::string liqo_text =
      fmt::format("Liqo {}{}", sight.liqo_version,
                  liqo::is_tried_liqo(sight.liqo_version) ? "" : ", which was not tried");
  if (standing.is_by_policies()) {
    return fmt::format("enforced by {} policies; {}", standing.policies, liqo_text);
  }
  if (standing.is_by_webhook()) {
    return fmt::format("enforced by a webhook, which an agent must answer; {}", liqo_text);
  }
  const std::string_view mode =
      enforcement_of(standing) == model::Enforcement::none ? "not enforced" : "partly enforced";
  if (standing.has_webhook) {
    return fail(Code::denied, "guard",
                fmt::format("{}: of the {} entries of the webhook {} {} as this version writes "
                            "them, with authorities",
                            mode, standing.webhook.entries, liqo::k_webhook_name,
                            standing.webhook.in_force == 0
                                ? "none are"
                                : fmt::format("only {} are", standing.webhook.in_force)),
                k_install_webhook);
  }
  if (!sight.can_enforce) {
    return fail(
        Code::unavailable, "guard",
        "not enforced: the API server has no ValidatingAdmissionPolicies, and no webhook of "
        "ours",
        k_install_webhook);
  }
  const auto& first = standing.missing.empty() ? standing.changed : standing.missing;
  return fail(Code::denied, "guard",
              fmt::format("{}: {} missing, {} not as this version writes them: {}", mode,
                          standing.missing.size(), standing.changed.size(), fmt::join(first, ", ")),
              k_install);
}

}  // namespace

Result<std::string> look_at_guard(const std::string& kubeconfig, const std::string& context) {
  const auto sight = see_guard(kubeconfig, context);
  if (!sight) return tl::unexpected(sight.error());
  return judge(*sight);
}

Status look_at_standing(const std::string& kubeconfig, const std::string& context,
                        const std::string& buyer) {
  constexpr const char* k_group = "rbac.authorization.k8s.io";
  const kube::Resource in_spaces{k_group, "v1", "rolebindings", true};
  const kube::Resource of_cluster{k_group, "v1", "clusterrolebindings", false};
  std::vector<model::Node> bindings;
  const auto take = [&bindings](const kube::ListPage& page) {
    bindings.insert(bindings.end(), page.items.begin(), page.items.end());
  };
  SPILLWAY_TRY(ask_cluster(kubeconfig, context, [&](kube::Api& api, const kube::Then<void>& done) {
    const auto end = [done](const Result<std::string>& answer) {
      answer ? done({}) : done(tl::unexpected(answer.error()));
    };
    api.list(in_spaces, {}, take, [&api, of_cluster, take, end](const Result<std::string>& answer) {
      answer ? api.list(of_cluster, {}, take, end) : end(answer);
    });
  }));
  return liqo::check_has_no_standing(buyer, bindings);
}

}  // namespace spillway::cli
