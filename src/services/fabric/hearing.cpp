#include "services/fabric/hearing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/text.h"
#include "fabric/liqo/names.h"
#include "fabric/network.h"
#include "model/tree.h"
#include "pki/certificate.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"
#include "services/fabric/liqo_home.h"

namespace spillway::agent {
namespace {

// Far above what Liqo writes.
constexpr size_t k_longest_nonce = 512;
constexpr size_t k_longest_pem = size_t{16} << 10;
constexpr size_t k_longest_kubeconfig = size_t{32} << 10;
constexpr size_t k_longest_url = 1024;
constexpr size_t k_longest_space = 63;

tl::unexpected<Error> refuse_talk(std::string thing, std::string reason, std::string next) {
  return fail(Code::denied, std::move(thing), std::move(reason), std::move(next));
}

Status check_signature(const fabric::Proof& proof, const pki::PublicKey& key) {
  SPILLWAY_TRY(check_nonce(proof.nonce));
  const auto signature = from_base64(proof.signature);
  if (!signature) return refuse_talk("signature", "it is no base64", "sign the nonce");
  return pki::verify_message(key, proof.nonce, *signature);
}

Status check_proof(const fabric::Proof& proof, const model::LiqoPart& part,
                   const pki::PublicKey& key) {
  const auto shown = pki::read_public_key(proof.public_key);
  if (!shown) return tl::unexpected(shown.error());
  if (shown->fingerprint() != key.fingerprint()) {
    return refuse_talk("control plane of " + part.buyer,
                       "it shows another key than the contract names", "hold anew with that key");
  }
  if (proof.is_signed()) SPILLWAY_TRY(check_signature(proof, key));
  return pki::check_subject_request(
      proof.request, {std::string(fabric::liqo::k_control_plane_group), part.buyer}, key);
}

// A "*" stands for anything only at the end, and never for the end of the host's name: a name that
// goes on is somebody else's.
bool names_whole_host(std::string_view pattern) {
  constexpr std::string_view k_scheme = "https://";
  if (!pattern.starts_with(k_scheme)) return false;
  std::string_view rest = pattern.substr(k_scheme.size());
  if (rest.starts_with('[')) {  // the colons of an IPv6 address end no name
    rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
    return rest.starts_with(':') || rest.starts_with('/');
  }
  return rest.find_first_of(":/") != std::string_view::npos;
}

bool is_allowed(std::string_view url, const AllowedServers& allowed) {
  return std::any_of(allowed.begin(), allowed.end(), [url](std::string_view one) {
    if (!one.ends_with('*')) return url == one;
    one.remove_suffix(1);
    if (!names_whole_host(one) || !url.starts_with(one)) return false;
    const std::string_view rest = url.substr(one.size());  // digits of another port are none
    return rest.empty() || one.ends_with('/') || one.ends_with(':') || rest.starts_with('/');
  });
}

Status check_server(const std::string& what, const std::string& url,
                    const AllowedServers& allowed) {
  const bool is_https = url.starts_with("https://") && url.size() <= k_longest_url &&
                        is_printable(url) && url.find_first_of(" @?#\"'") == std::string::npos;
  if (!is_https)
    return refuse_talk(what, in_quotes(url.substr(0, 80)) + " is no https URL",
                       "say the URL of the API server, https:// and all");
  if (allowed.empty() || is_allowed(url, allowed)) return {};
  return refuse_talk(what, in_quotes(url) + " is not among the API servers that may be called",
                     "add it to --fabric-api-server, or buy elsewhere");
}

Status check_access(const fabric::IdentityTalk& talk, const AllowedServers& allowed,
                    const std::string& own_proxy) {
  SPILLWAY_TRY(check_way(talk.access, allowed, own_proxy));
  for (const std::string* pem : {&talk.access.authority, &talk.access.certificate}) {
    if (!pem->empty() && pem->size() <= k_longest_pem) continue;
    return refuse_talk("identity", fmt::format("{} bytes are no certificate", pem->size()), "");
  }
  const auto authority = pki::split_bundle(talk.access.authority);
  if (!authority) return tl::unexpected(authority.error());
  const auto certificate = pki::split_bundle(talk.access.certificate);
  return certificate ? Status{} : tl::unexpected(certificate.error());
}

}  // namespace

Status check_allowed(const AllowedServers& allowed) {
  for (const std::string& one : allowed) {
    const bool has_star = one.find('*') != std::string::npos;
    const bool is_fine = !has_star || (one.find('*') + 1 == one.size() && names_whole_host(one));
    if (is_fine) continue;
    return fail(Code::invalid, in_quotes(one.substr(0, 80)),
                "its * would stand for a part of the host's name",
                "write the * at the end, after the port: https://api.example:6443*");
  }
  return {};
}

Status check_way(const fabric::liqo::AuthParams& access, const AllowedServers& allowed,
                 const std::string& own_proxy) {
  SPILLWAY_TRY(check_server("api_server", access.api_server, allowed));
  if (access.proxy.empty() || access.proxy == own_proxy) return {};
  return check_server("proxy", access.proxy, allowed);
}

Status check_api_server(const std::string& url, const AllowedServers& allowed) {
  return check_server("api_server", url, allowed);
}

Result<fabric::RequestTalk> hear_request(std::string_view body, const Heard& on) {
  auto talk = fabric::read_request_talk(body);
  if (!talk) return talk;
  SPILLWAY_TRY(fabric::check_request(*talk, on.part, on.units, pki::sha256_hex));
  const auto text = from_base64(on.part.buyer_key);
  if (!text) return refuse_talk("buyer_key", "it is no base64", "hold anew, with Liqo's key");
  const auto key = pki::read_public_key(*text);
  if (!key) return tl::unexpected(key.error());
  for (const auto& [unit, request] : talk->units) {
    SPILLWAY_TRY(pki::check_subject_request(
        request, {on.part.buyer, unit_user_of(unit, on.part.buyer)}, *key));
  }
  if (talk->proof) SPILLWAY_TRY(check_proof(*talk->proof, on.part, *key));
  return talk;
}

Status check_nonce(std::string_view nonce) {
  if (!nonce.empty() && nonce.size() <= k_longest_nonce && is_printable(nonce)) return {};
  return refuse_talk("nonce", fmt::format("{} bytes are no nonce of Liqo's", nonce.size()),
                     "the provider sends what its Liqo made");
}

Result<fabric::NonceTalk> hear_nonce(std::string_view body) {
  auto talk = fabric::read_nonce_talk(body);
  if (!talk) return talk;
  SPILLWAY_TRY(check_nonce(talk->nonce));
  return talk;
}

// A URL may be written with its port or, when that is the usual one, without.
Status check_dialled(const kube::Access& access, const AllowedServers& allowed) {
  const net::Url& server = access.server;
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + server.host + "]" : server.host;
  if (server.port == 443 && check_api_server("https://" + host + access.prefix, allowed)) return {};
  return check_api_server(fmt::format("https://{}:{}{}", host, server.port, access.prefix),
                          allowed);
}

Result<kube::Access> access_in(const model::Node& secret, const std::string& provider,
                               const AllowedServers& allowed) {
  const auto text = from_base64(model::text_at(secret, {"data", "kubeconfig"}));
  if (!text || text->empty()) {
    return fail(Code::unavailable, "provider " + provider, "Liqo has no way to it yet", "wait");
  }
  auto access = kube::read_wire_kubeconfig(*text);
  if (!access) return access;
  SPILLWAY_TRY(check_dialled(*access, allowed));
  return access;
}

Result<HeardKubeconfig> hear_kubeconfig(std::string_view body, const Heard& on,
                                        const AllowedServers& allowed) {
  const auto talk = fabric::read_kubeconfig_talk(body);
  if (!talk) return tl::unexpected(talk.error());
  if (talk->kubeconfig.size() > k_longest_kubeconfig) {
    return refuse_talk("kubeconfig", fmt::format("{} bytes are too many", talk->kubeconfig.size()),
                       "");
  }
  auto access = kube::read_wire_kubeconfig(talk->kubeconfig);
  if (!access) return tl::unexpected(std::move(access).error());
  SPILLWAY_TRY(check_dialled(*access, allowed));
  const auto authority = pki::split_bundle(access->authorities_pem);
  if (!authority) return tl::unexpected(authority.error());
  if (access->token.empty() || access->identity) {
    return refuse_talk("kubeconfig", "it is not for a token", "send one with a token, and no key");
  }
  if (access->space != fabric::liqo::tenant_namespace_name(on.part.buyer)) {
    return refuse_talk("kubeconfig", "it is for another namespace than this buyer's",
                       "send one for the buyer's tenant namespace");
  }
  return HeardKubeconfig{std::move(*access), talk->expires};
}

Result<fabric::IdentityTalk> hear_identity(std::string_view body, const Heard& on,
                                           const AllowedServers& allowed,
                                           const std::string& own_proxy) {
  auto talk = fabric::read_identity_talk(body);
  if (!talk) return talk;
  SPILLWAY_TRY(check_access(*talk, allowed, own_proxy));
  const bool is_name = check_cluster_id(talk->space).has_value();
  if (!is_name || talk->space.size() > k_longest_space) {
    return refuse_talk("identity", in_quotes(talk->space.substr(0, 80)) + " is no namespace", "");
  }
  for (const std::string& unit : talk->units) {
    if (std::find(on.units.begin(), on.units.end(), unit) != on.units.end()) continue;
    return refuse_talk("identity", in_quotes(unit.substr(0, 80)) + " is no unit of the contract",
                       "the provider names units of the contract that it writes on");
  }
  std::sort(talk->units.begin(), talk->units.end());
  talk->units.erase(std::unique(talk->units.begin(), talk->units.end()), talk->units.end());
  return talk;
}

Result<fabric::NetworkTalk> hear_network(std::string_view body) {
  auto talk = fabric::read_network_talk(body);
  if (!talk) return talk;
  SPILLWAY_TRY(fabric::check_network(*talk));
  return talk;
}

}  // namespace spillway::agent
