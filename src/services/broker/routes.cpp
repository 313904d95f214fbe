#include "services/broker/routes.h"

#include "services/broker/handlers.h"
#include "services/route_path.h"

namespace spillway::services {
namespace {

constexpr Access k_anyone{.anonymous = true};
constexpr Access k_probe{.anonymous = true, .probe = true};
constexpr Access k_member{
    .provider = Scope::own, .consumer = Scope::own, .operator_ = Scope::own, .viewer = Scope::own};
constexpr Access k_renewing{.expired = true,
                            .provider = Scope::own,
                            .consumer = Scope::own,
                            .operator_ = Scope::own,
                            .viewer = Scope::own};
constexpr Access k_seller{.provider = Scope::own};
constexpr Access k_seller_read{
    .provider = Scope::own, .operator_ = Scope::all, .viewer = Scope::all};
constexpr Access k_buyer{.consumer = Scope::own};
constexpr Access k_party_read{
    .provider = Scope::own, .consumer = Scope::own, .operator_ = Scope::all, .viewer = Scope::all};
constexpr Access k_party{.provider = Scope::own, .consumer = Scope::own};
constexpr Access k_operator{.operator_ = Scope::all};
constexpr Access k_overseer{.operator_ = Scope::all, .viewer = Scope::all};

constexpr std::array k_routes{
    Route{"GET", "/healthz", Subject::nothing, k_probe, handle_health},
    Route{"GET", "/readyz", Subject::nothing, k_probe, handle_ready},
    Route{"GET", "/metrics", Subject::nothing, k_overseer, handle_metrics},

    Route{"POST", "/v1/join", Subject::nothing, k_anyone, handle_join},
    Route{"POST", "/v1/certificates", Subject::nothing, k_renewing, handle_recertify},
    Route{"GET", "/v1/whoami", Subject::nothing, k_member, handle_whoami},

    Route{"GET", "/v1/pools", Subject::nothing, k_seller_read, handle_list_pools},
    Route{"GET", "/v1/pools/{cluster}/{name}", Subject::owned, k_seller_read, handle_get_pool},
    Route{"PUT", "/v1/pools/{cluster}/{name}", Subject::owned, k_seller, handle_put_pool},
    Route{"DELETE", "/v1/pools/{cluster}/{name}", Subject::owned, k_seller, handle_delete_pool},

    Route{"GET", "/v1/offers", Subject::nothing, k_seller_read, handle_list_offers},
    // A consumer's own are those that it may see: the handler looks.
    Route{"GET", "/v1/offers/{cluster}/{name}", Subject::contract, k_party_read, handle_get_offer},
    Route{"PUT", "/v1/offers/{cluster}/{name}", Subject::owned, k_seller, handle_put_offer},
    Route{"DELETE", "/v1/offers/{cluster}/{name}", Subject::owned, k_seller, handle_delete_offer},

    Route{"POST", "/v1/query", Subject::nothing, k_buyer, handle_query},
    Route{"POST", "/v1/holds", Subject::nothing, k_buyer, handle_hold},

    Route{"GET", "/v1/contracts", Subject::nothing, k_party_read, handle_list_contracts},
    Route{"GET", "/v1/contracts/{id}", Subject::contract, k_party_read, handle_get_contract},
    Route{"GET", "/v1/contracts/{id}/agreement", Subject::contract, k_party_read,
          handle_get_agreement},
    Route{"POST", "/v1/contracts/{id}/confirm", Subject::contract, k_buyer, handle_confirm},
    Route{"POST", "/v1/contracts/{id}/extend", Subject::contract, k_buyer, handle_extend},
    Route{"POST", "/v1/contracts/{id}/renew", Subject::contract, k_buyer, handle_renew},
    Route{"POST", "/v1/contracts/{id}/buy", Subject::contract, k_buyer, handle_buy},
    Route{"POST", "/v1/contracts/{id}/release", Subject::contract, k_buyer, handle_release},
    Route{"POST", "/v1/contracts/{id}/drained", Subject::contract, k_party, handle_drained},
    Route{"POST", "/v1/contracts/{id}/notice", Subject::contract, k_seller, handle_notice},
    Route{"POST", "/v1/contracts/{id}/usage", Subject::contract, k_seller, handle_usage},
    Route{"POST", "/v1/contracts/{id}/countersign", Subject::contract, k_seller,
          handle_countersign},

    // Not for overseers: what the parties tell each other is nobody else's business, sealed or not.
    Route{"GET", "/v1/contracts/{id}/messages", Subject::contract, k_party, handle_get_messages},
    Route{"POST", "/v1/contracts/{id}/messages", Subject::contract, k_party, handle_send_message},
    Route{"POST", "/v1/contracts/{id}/messages/taken", Subject::contract, k_party,
          handle_take_messages},

    Route{"GET", "/v1/invoices", Subject::nothing, k_party_read, handle_invoice},

    Route{"GET", "/v1/cards/{name}", Subject::cluster, k_party_read, handle_get_card},
    Route{"PUT", "/v1/cards/{name}", Subject::cluster, k_party, handle_put_card},

    Route{"GET", "/v1/events", Subject::nothing, k_party_read, handle_events},
    Route{"GET", "/v1/snapshot", Subject::nothing, k_party_read, handle_snapshot},
    Route{"GET", "/v1/audit", Subject::nothing, k_overseer, handle_audit},

    Route{"GET", "/v1/clusters", Subject::nothing, k_overseer, handle_list_clusters},
    Route{"GET", "/v1/clusters/{name}", Subject::cluster, k_party_read, handle_get_cluster},
    Route{"PUT", "/v1/clusters/{name}", Subject::cluster, k_operator, handle_put_cluster},

    Route{"GET", "/v1/tokens", Subject::nothing, k_operator, handle_list_tokens},
    Route{"POST", "/v1/tokens", Subject::nothing, k_operator, handle_make_token},
    Route{"DELETE", "/v1/tokens/{id}", Subject::other, k_operator, handle_cancel_token},

    Route{"GET", "/v1/identities", Subject::nothing, k_overseer, handle_list_identities},
    Route{"POST", "/v1/identities/{name}/revoke", Subject::other, k_operator, handle_revoke},
};

Scope scope_for(const Access& access, model::Role role) {
  switch (role) {
    case model::Role::provider:
      return access.provider;
    case model::Role::consumer:
      return access.consumer;
    case model::Role::operator_:
      return access.operator_;
    case model::Role::viewer:
      return access.viewer;
  }
  return Scope::none;
}

}  // namespace

std::span<const Route> all_routes() { return k_routes; }

Scope scope_of(const Access& access, const std::vector<model::Role>& roles) {
  Scope widest = Scope::none;
  for (const model::Role role : roles) widest = std::max(widest, scope_for(access, role));
  return widest;
}

std::string who_may(const Access& access) {
  std::string list;
  const auto add = [&list](Scope scope, std::string_view word) {
    if (scope == Scope::none) return;
    if (!list.empty()) list += " or ";
    list += word;
  };
  add(access.provider, "provider");
  add(access.consumer, "consumer");
  add(access.operator_, "operator");
  add(access.viewer, "viewer");
  return list;
}

Match match_route(std::string_view method, const net::Target& target) {
  Match match;
  for (const Route& route : k_routes) {
    if (!fits_path(route.path, target.segments, nullptr)) continue;
    if (route.method == method) {
      match.route = &route;
      fits_path(route.path, target.segments, &match.parameters);
      return match;
    }
    if (!match.allowed.empty()) match.allowed += ", ";
    match.allowed += route.method;
  }
  return match;
}

}  // namespace spillway::services
