// Identity: who somebody is in the federation, and what they may do. A name, a key that proves it,
// and the newest certificate that says so. Roles stand here and not in the certificate, so that a
// change of them holds at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace spillway::model {

enum class Role { provider, consumer, operator_, viewer };
std::string_view to_text(Role role);

// Sorted, each once, not empty. A cluster sells, buys or both; the operator and a viewer are
// nothing else beside it.
using Roles = std::vector<Role>;
Status validate(const Roles& roles);
bool has(const Roles& roles, Role role);
bool is_cluster(const Roles& roles);      // sells or buys: it has an account
std::string to_text(const Roles& roles);  // "provider, consumer"

struct Identity {
  std::string name;  // as a cluster id; unique among all identities
  Roles roles;
  std::string key;          // fingerprint of the public key: 64 hexadecimal digits, lower case
  std::string certificate;  // PEM, the newest
  Instant not_after;        // of it
  Instant since;            // when it joined
  std::optional<Instant> revoked;

  bool has(Role role) const { return model::has(roles, role); }
  bool operator==(const Identity&) const = default;
};

Status validate(const Identity& identity);
Status check_key_fingerprint(std::string_view path, std::string_view text);
Status check_certificate(std::string_view path, std::string_view pem);

}  // namespace spillway::model
