// Access: who calls, and whether they may. Callers show a client certificate or a bearer token;
// what they may do is in the Role, ClusterRole and binding objects of the cluster itself, as with
// RBAC.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "embedded/ask.h"
#include "embedded/registry.h"
#include "embedded/table.h"

namespace spillway::embedded {

class Access {
 public:
  Access(const Registry& registry, Table& table);
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  void add_token(const std::string& token, User user, Instant until = k_last_instant);
  // `key`: SHA-256 of the public key, as net::PeerCertificate has it.
  void add_key(const std::string& key, User user);
  // One certificate, by its serial, where the same key has several: as Liqo's tenants have.
  void add_certificate(const std::string& serial, User user);
  // From now on who shows nothing is this one: for servers without TLS, and the simulator.
  void admit_strangers(User user) { stranger_ = std::move(user); }

  // None: 401.
  std::optional<User> who(const net::Request& request, const net::Peer& peer, Instant now) const;
  Done check(const Ask& ask) const;

 private:
  struct Rule {
    std::vector<std::string> verbs, groups, resources, names, paths;
  };
  struct Grant {          // of one binding, to one subject
    std::string subject;  // "User x", "Group y"
    std::string space;    // empty: everywhere
    std::vector<Rule> rules;
  };
  void compile() const;
  void compile_bindings(const Kind& bindings) const;
  std::vector<Rule> rules_of(const model::Node& reference, const std::string& space) const;
  static bool allows(const Rule& rule, const Ask& ask);
  bool holds(const Grant& grant, const Ask& ask) const;

  const Registry& registry_;
  Table& table_;
  struct Token {
    User user;
    Instant until;
  };

  std::map<std::string, Token> tokens_;
  std::map<std::string, User> keys_;
  std::map<std::string, User> certificates_;
  std::optional<User> stranger_;
  mutable std::vector<Grant> grants_;
  mutable bool is_compiled_ = false;
};

// As RBAC and tokens know it.
User service_account(std::string_view space, std::string_view name);

}  // namespace spillway::embedded
