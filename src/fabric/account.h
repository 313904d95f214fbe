// Account: the paper's way of peering, by option. A provider lets a buyer make its Tenant itself,
// with a kubeconfig that lives for minutes. It is of a ServiceAccount in the buyer's tenant
// namespace that may read the nonce, make Tenants and read its own, and nothing else. That the one
// Tenant is the one that the contract speaks of is for the guard to see (fabric/liqo/guard.h): the
// request that was heard and checked is written on the namespace first, where the buyer cannot
// write, and a Tenant with another is refused. Without the guard nobody gets a kubeconfig.
//
// It all goes when Liqo has answered the Tenant, when the token has expired, or with the contract.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fabric/rights.h"
#include "fabric/talk.h"

namespace spillway::fabric {

inline constexpr std::string_view k_account_name = "spillway-handshake";  // of all three objects
// On the tenant namespace: the request that a Tenant of the account must have, as it has it (base64
// of the PEM). The guard reads it; and it tells that there may be an account.
inline constexpr std::string_view k_request_annotation = "spillway.dev/control-plane-request";

struct AccountSight {
  std::string uid = {};  // of the ServiceAccount; empty: there is none
  Right role = Right::absent;
  Right binding = Right::absent;
  std::string request = {};  // of the annotation

  bool has_rights() const { return role != Right::absent || binding != Right::absent; }
  bool has_any() const { return !uid.empty() || has_rights() || !request.empty(); }
  bool operator==(const AccountSight&) const = default;
};
Right judge_account_role(const model::Node& role, std::string_view buyer);
Right judge_account_binding(const model::Node& binding, std::string_view buyer);

// The objects, where they are missing or altered. True: they are all there.
bool keep_account(const std::string& buyer, const std::string& request, const AccountSight& sight,
                  Plan& plan);
// `is_watched`: what is not seen is not there. Else all of it may be, where the annotation is.
void remove_account(const std::string& buyer, const AccountSight& sight, bool is_watched,
                    Plan& plan);

enum class Handing {
  off,
  unguarded,  // wanted, but nothing would hold a buyer to its word
  on,
};
struct Issued {
  std::string account;  // uid: of another one it is worth nothing
  KubeconfigTalk talk;
};
struct HandOut {
  Handing handing = Handing::off;
  std::optional<Issued> issued = {};  // the last; as long as it was not asked for another
  bool is_refused = false;            // no token can be had, now or lately: the relay serves
  // The Tenant that is there has signed the nonce that is there: minds do not look at signatures.
  bool is_tenant_signed = false;
};

struct KubeconfigParts {
  std::string_view server;     // URL
  std::string_view authority;  // PEM
  std::string_view token;
  std::string_view space;
};
std::string write_kubeconfig(const KubeconfigParts& parts);

}  // namespace spillway::fabric
