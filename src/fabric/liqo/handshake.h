// The objects of a peering's handshake, in the order in which they come:
//
//   provider: Nonce, which Liqo fills       buyer: SignedNonce, whose signature Liqo adds
//   provider: Tenant, from the buyer's key, request and signature; Liqo answers with AuthParams
//   buyer: Identity, from these; Liqo makes an IdentitySecret of it, and replication begins
//
// A read function takes what an API server says; to_object is what one is asked to have.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

// Of the Secret with the key pair that a cluster is known by in Liqo. PEM, not kept in a struct:
// whoever asks for it wipes it.
Result<std::string> private_key_in(const model::Node& keys);

// A Secret at the provider.
struct Nonce {
  static constexpr const Kind& k_kind = k_secrets;
  Meta meta;
  std::string nonce;  // text, as it is signed; empty: Liqo has not filled it
  bool operator==(const Nonce&) const = default;
};
Nonce new_nonce(std::string_view buyer);
Result<Nonce> read_nonce(const model::Node& object);
model::Node to_object(const Nonce& nonce);

// A Secret at the buyer.
struct SignedNonce {
  static constexpr const Kind& k_kind = k_secrets;
  Meta meta;
  std::string nonce;
  std::string signature;  // 64 bytes by Ed25519; empty: Liqo has not signed
  bool operator==(const SignedNonce&) const = default;
};
SignedNonce new_signed_nonce(std::string_view provider, std::string_view nonce);
Result<SignedNonce> read_signed_nonce(const model::Node& object);
model::Node to_object(const SignedNonce& nonce);

// Cordoned: what it has stays, nothing more. Drained: everything of it goes.
enum class TenantCondition { active, cordoned, drained };
// Only the first is safe with strangers: the other believes any credential.
enum class TenantPolicy { keys_exchange, tolerate_no_handshake };

struct Tenant {
  static constexpr const Kind& k_kind = k_tenants;
  Meta meta;
  std::string buyer;  // its cluster id
  TenantPolicy policy = TenantPolicy::keys_exchange;
  TenantCondition condition = TenantCondition::active;
  std::string public_key;  // PEM; before Liqo 1.0.2 the 32 bytes
  std::string request;     // PEM: of the control plane
  std::string signature;   // of the nonce
  std::string proxy;
  std::string space;                 // status: the tenant namespace
  std::optional<AuthParams> answer;  // status: Liqo has accepted it
  bool operator==(const Tenant&) const = default;
};
struct TenantProof {
  std::string public_key;
  std::string request;
  std::string signature;
};
Tenant new_tenant(std::string_view buyer, TenantProof proof);
Result<Tenant> read_tenant(const model::Node& object);
model::Node to_object(const Tenant& tenant);
model::Node proxy_patch(std::string_view url);  // Liqo writes it into what it answers; empty: none

enum class IdentityType { control_plane, slice };

// At the buyer. That of the control plane is ours to make, those of slices are Liqo's.
struct Identity {
  static constexpr const Kind& k_kind = k_identities;
  Meta meta;
  std::string provider;
  IdentityType type = IdentityType::control_plane;
  AuthParams access;
  std::string space;              // at the provider; empty for slices
  std::string kubeconfig_secret;  // status: where Liqo has put what it made of this
  bool operator==(const Identity&) const = default;
};
// `answer` and `space` are those of the Tenant.
Identity new_identity(std::string_view provider, const AuthParams& answer, std::string_view space);
Result<Identity> read_identity(const model::Node& object);
model::Node to_object(const Identity& identity);

// The Renew that Liqo makes of a control plane's Identity, or that Identity's Secret: nothing but
// that it is there, and what it waits for. The kubeconfig in the Secret has a private key inside:
// it is read by who uses it, from the object itself.
Result<Meta> read_remnant(const model::Node& object, const Kind& kind);

// The namespace of a peer, on either side.
model::Node tenant_namespace(std::string_view peer);

}  // namespace spillway::fabric::liqo
