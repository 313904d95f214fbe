// The paper's way of peering (fabric/account.h): what is done with a kubeconfig that was sent.
#include <utility>

#include "base/base64.h"
#include "services/fabric/fabric.h"

namespace spillway::agent {

void Fabric::set_guarded(bool is_guarded) {
  if (handouts_.set_guarded(is_guarded)) contracts_changed();
}

// Neither written down nor told to anybody.
void Fabric::hear_of_kubeconfig(const Received& message) {
  FabricContract* kept = heard_on(message, true);
  if (kept == nullptr) return;
  if (!options_.handshake.asks) {
    return refuse(message, {Code::denied, "kubeconfig", "nobody has asked for one", ""});
  }
  const std::string& provider = kept->part.provider;
  if (disappointing_.contains(provider)) {
    refuse(message, {Code::denied, "kubeconfig", "an earlier one of this provider came to nothing",
                     "peer over the relay"});
    return fall_back(message.contract);
  }
  const auto heard = hear_kubeconfig(message.body, {kept->part, {}}, options_.api_servers);
  if (!heard) {
    refuse(message, heard.error());
    disappointing_.insert(provider);
    return fall_back(message.contract);
  }
  if (!self_) return;
  visits_.go({provider, message.contract, self_->id(), heard->expires}, heard->access);
}

// Over the relay, as with a provider that hands out none.
void Fabric::fall_back(const ContractId& id) {
  const auto offered = offered_.find(id);
  const auto kept = state().contracts.find(id);
  if (offered == offered_.end() || kept == state().contracts.end()) return;
  kept->second.nonce = std::exchange(offered->second, {});
  offered_.erase(offered);
  look_now(kept->second.part.provider);
}

Result<model::Node> Fabric::own_tenant(const std::string& nonce) const {
  SPILLWAY_TRY(check_nonce(nonce));
  const auto request = self_->control_plane_request();
  if (!request) return tl::unexpected(request.error());
  const auto signature = self_->sign(nonce);
  if (!signature) return tl::unexpected(signature.error());
  return to_object(
      fabric::liqo::new_tenant(self_->id(), {self_->public_key(), *request, *signature}));
}

// As if the provider had said it; which units are written down it has still to say.
void Fabric::visit_answered(const Visits::Order& order, const fabric::liqo::Tenant& tenant) {
  const auto kept = state().contracts.find(order.contract);
  // Through a network between both it is reached by a proxy, of which the provider tells.
  if (kept == state().contracts.end() || options_.network.is_in_band) return;
  if (state().bought_from[order.provider].identity) return;
  const fabric::IdentityTalk seen{*tenant.answer, tenant.space, {}};
  auto talk = hear_identity(to_body(seen), {kept->second.part, {}}, options_.api_servers);
  if (!talk) return visit_failed(order, talk.error());
  take_identity(kept->first, kept->second,
                kept->second.recorded.value_or(std::vector<std::string>()), std::move(*talk));
}

void Fabric::visit_failed(const Visits::Order& order, const Error& why) {
  const auto known = state().bought_from.find(order.provider);
  if (known == state().bought_from.end()) return;
  // It was said once more, and came when all was done.
  if (known->second.identity && why.code == Code::denied) return;
  disappointing_.insert(order.provider);
  tellings_.tell_once(fabric::liqo::tenant_namespace_name(order.provider),
                      {"provider " + order.provider,
                       "the kubeconfig that it sent came to nothing: " + why.message(),
                       "peering goes on over the relay"});
  fall_back(order.contract);
}

}  // namespace spillway::agent
