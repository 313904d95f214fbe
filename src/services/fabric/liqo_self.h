// LiqoSelf: what the fabric needs of this cluster's own Liqo: who it is, and what only its key can
// make. The key stays where it is: whoever implements this reads it, uses it and wipes it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace spillway::agent {

class LiqoSelf {
 public:
  template <class T>
  using Then = std::function<void(Result<T>)>;

  virtual ~LiqoSelf() = default;
  virtual std::string id() const = 0;          // empty: not known yet
  virtual std::string public_key() const = 0;  // PEM; empty: not known yet

  // Requests as a provider signs them, PEM: the same each time, for contracts have their hashes.
  virtual void request_control_plane(Then<std::string> then) = 0;
  using Requests = std::map<std::string, std::string>;  // by unit
  virtual void request_units(const std::vector<std::string>& units, Then<Requests> then) = 0;
  // Ed25519, 64 bytes: that this control plane is the one whose public key that is.
  virtual void sign_nonce(const std::string& nonce, Then<std::string> then) = 0;
};

}  // namespace spillway::agent
