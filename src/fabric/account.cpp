#include "fabric/account.h"

#include "base/base64.h"
#include "fabric/liqo/shape.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

using liqo::list_of;
using liqo::object_of;
using model::Node;
using model::text_node;

RightsAt at_home(std::string_view buyer) {
  return {liqo::tenant_namespace_name(buyer), k_account_name};
}

// Kubernetes cannot restrict what is created by name: the guard does.
Node rules_for(std::string_view buyer) {
  return list_of({rule_of(liqo::k_secrets, liqo::k_nonce_secret, {"get"}),
                  rule_of(liqo::k_tenants, {}, {"create"}),
                  rule_of(liqo::k_tenants, buyer, {"get"})});
}

Node subjects_for(std::string_view buyer) {
  return list_of({object_of({{"kind", text_node(liqo::k_service_accounts.kind)},
                             {"name", text_node(k_account_name)},
                             {"namespace", text_node(liqo::tenant_namespace_name(buyer))}})});
}

Merge note_request(std::string_view buyer, Node request) {
  Node annotations = object_of({{k_request_annotation, std::move(request)}});
  return {{liqo::k_namespaces, {}, liqo::tenant_namespace_name(buyer)},
          object_of({{"metadata", object_of({{"annotations", std::move(annotations)}})}})};
}

}  // namespace

Right judge_account_role(const Node& role, std::string_view buyer) {
  return judge_role(role, rules_for(buyer));
}

Right judge_account_binding(const Node& binding, std::string_view buyer) {
  return judge_binding(binding, k_account_name, subjects_for(buyer));
}

bool keep_account(const std::string& buyer, const std::string& request, const AccountSight& sight,
                  Plan& plan) {
  const RightsAt at = at_home(buyer);
  const std::string noted = to_base64(request);
  if (sight.request != noted) plan.deeds.emplace_back(note_request(buyer, text_node(noted)));
  if (sight.uid.empty()) {
    Node account = bare_object(liqo::k_service_accounts, at);
    model::put(account, "automountServiceAccountToken", model::boolean_node(false));
    plan.deeds.emplace_back(Create{at.place(liqo::k_service_accounts), std::move(account)});
  }
  keep_role(sight.role, at, rules_for(buyer), plan);
  keep_binding(sight.binding, at, subjects_for(buyer), plan);
  return sight.request == noted && !sight.uid.empty() && sight.role == Right::right &&
         sight.binding == Right::right;
}

void remove_account(const std::string& buyer, const AccountSight& sight, bool is_watched,
                    Plan& plan) {
  if (!sight.has_any()) return;
  const RightsAt at = at_home(buyer);
  const auto remove = [&](bool is_there, const liqo::Kind& kind, const std::string& uid) {
    if (is_there || !is_watched) plan.deeds.emplace_back(Remove{at.place(kind), uid});
  };
  remove(sight.binding != Right::absent, liqo::k_role_bindings, {});
  remove(sight.role != Right::absent, liqo::k_roles, {});
  remove(!sight.uid.empty(), liqo::k_service_accounts, sight.uid);
  // Last: it tells of the others.
  const bool is_last = sight.uid.empty() && !sight.has_rights();
  if (is_last && !sight.request.empty()) plan.deeds.emplace_back(note_request(buyer, Node{}));
}

std::string write_kubeconfig(const KubeconfigParts& parts) {
  const Node name = text_node("provider");
  Node cluster = object_of({{"server", text_node(parts.server)},
                            {"certificate-authority-data", text_node(to_base64(parts.authority))}});
  Node context =
      object_of({{"cluster", name}, {"user", name}, {"namespace", text_node(parts.space)}});
  Node user = object_of({{"token", text_node(parts.token)}});
  const auto entry = [&name](std::string_view noun, Node what) {
    return list_of({object_of({{"name", name}, {noun, std::move(what)}})});
  };
  return model::to_json(object_of({{"apiVersion", text_node("v1")},
                                   {"kind", text_node("Config")},
                                   {"current-context", name},
                                   {"clusters", entry("cluster", std::move(cluster))},
                                   {"contexts", entry("context", std::move(context))},
                                   {"users", entry("user", std::move(user))}}));
}

}  // namespace spillway::fabric
