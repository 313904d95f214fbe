// LiqoHome: who this cluster is to Liqo. Its id and its key pair are Liqo's own; with them it asks
// for certificates and signs nonces as Liqo would, so that the buyer's side of a contract can say
// beforehand what it will ask for.
//
// Ed25519 signs without chance: the request for a unit is the same however often it is made, and so
// is its hash in the contract.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api.h"
#include "model/agreement.h"
#include "model/card.h"
#include "pki/key.h"

namespace spillway::agent {

class LiqoHome {
 public:
  static Result<LiqoHome> of(std::string id, std::string_view private_key_pem);

  const std::string& id() const { return id_; }
  std::string public_key() const;  // PEM
  // PEM; for the control plane, and for a unit of that name.
  Result<std::string> control_plane_request() const;
  Result<std::string> unit_request(std::string_view unit) const;
  Result<std::string> sign(std::string_view nonce) const;  // 64 bytes

  // What binds a contract with that provider to these. Conflict: the provider has no Liqo id.
  Result<model::Fabric> part_of(const model::Contract& contract, const model::Card& provider) const;

 private:
  LiqoHome(std::string id, pki::Key key) : id_(std::move(id)), key_(std::move(key)) {}

  std::string id_;
  pki::Key key_;
};

// How a contract names the key: the base64 of its PEM, as a Tenant has it.
std::string liqo_key_text(const pki::PublicKey& key);
// "sw-…-0" of rome → the user that its certificate is for.
std::string unit_user_of(std::string_view unit, std::string_view buyer);

// From the objects that Liqo keeps in its own namespace. Not found: there is no Liqo here.
void read_liqo_id(kube::Api& api, std::function<void(Result<std::string>)> then);
void read_liqo_home(kube::Api& api, std::function<void(Result<LiqoHome>)> then);

}  // namespace spillway::agent
