#include "services/fabric/liqo_home.h"

#include <utility>

#include "base/base64.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/names.h"
#include "model/tree.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

constexpr const char* k_id_map = "liqo-clusterid-configmap";
constexpr const char* k_id_key = "CLUSTER_ID";

Error as_missing(Error error, std::string_view what) {
  if (error.code != Code::not_found) return error;
  error.thing = fmt::format("{} in namespace {}", what, liqo::k_namespace);
  error.reason = "it is not there";
  error.next = "install Liqo in this cluster, or start without --fabric liqo";
  return error;
}

}  // namespace

Result<LiqoHome> LiqoHome::of(std::string id, std::string_view private_key_pem) {
  SPILLWAY_TRY(model::check_liqo_id("id", id));
  auto key = pki::Key::from_pem(private_key_pem);
  if (!key) return tl::unexpected(std::move(key).error());
  // Others sign with chance, and their requests would differ from one time to the next.
  if (auto text = pki::signing_key_text(key->public_key()); !text) {
    return fail(Code::invalid, "Liqo's key", "it is not an Ed25519 key",
                "let Liqo make its own: delete the Secret authentication-keys and restart it");
  }
  return LiqoHome(std::move(id), std::move(*key));
}

std::string LiqoHome::public_key() const { return pki::to_pem(key_.public_key()); }

Result<std::string> LiqoHome::control_plane_request() const {
  return pki::make_subject_request(key_, {std::string(liqo::k_control_plane_group), id_});
}

Result<std::string> LiqoHome::unit_request(std::string_view unit) const {
  return pki::make_subject_request(key_, {id_, unit_user_of(unit, id_)});
}

Result<std::string> LiqoHome::sign(std::string_view nonce) const {
  return pki::sign_message(key_, nonce);
}

Result<model::Fabric> LiqoHome::part_of(const model::Contract& contract,
                                        const model::Card& provider) const {
  if (provider.liqo.empty()) {
    return fail(
        Code::conflict, "contract " + contract.id.text,
        fmt::format("{} shows no Liqo id, so no node can be made of it", contract.provider.text),
        "buy from a provider whose agent runs with --fabric liqo");
  }
  const auto request = control_plane_request();
  if (!request) return tl::unexpected(request.error());
  model::LiqoPart part{
      id_, provider.liqo, liqo_key_text(key_.public_key()), pki::sha256_hex(*request), {}};
  for (const model::Unit& unit : contract.units) {
    const auto asked = unit_request(unit_name(contract.id, unit.number));
    if (!asked) return tl::unexpected(asked.error());
    part.unit_requests.push_back(pki::sha256_hex(*asked));
  }
  return model::Fabric{std::move(part)};
}

std::string liqo_key_text(const pki::PublicKey& key) { return to_base64(pki::to_pem(key)); }

std::string unit_user_of(std::string_view unit, std::string_view buyer) {
  return liqo::unit_user(unit, pki::sha256_hex(buyer));
}

void read_liqo_id(kube::Api& api, std::function<void(Result<std::string>)> then) {
  api.get(kube::k_config_maps, {std::string(liqo::k_namespace), k_id_map},
          [then = std::move(then)](const Result<kube::Object>& ids) {
            if (!ids) return then(tl::unexpected(as_missing(ids.error(), "Liqo's cluster id")));
            then(std::string(model::text_at(*ids, {"data", k_id_key})));
          });
}

void read_liqo_home(kube::Api& api, std::function<void(Result<LiqoHome>)> then) {
  read_liqo_id(api, [&api, then = std::move(then)](const Result<std::string>& id) {
    if (!id) return then(tl::unexpected(id.error()));
    api.get(kube::k_secrets, {std::string(liqo::k_namespace), std::string(liqo::k_keys_secret)},
            [id = *id, then](const Result<kube::Object>& keys) {
              if (!keys) return then(tl::unexpected(as_missing(keys.error(), "Liqo's key")));
              auto pem = liqo::private_key_in(*keys);
              if (!pem) return then(tl::unexpected(std::move(pem).error()));
              auto home = LiqoHome::of(id, *pem);
              then(std::move(home));
            });
  });
}

}  // namespace spillway::agent
