// Every route, who may call it, and on whose things: the one table of authorisation. What is not
// listed is denied. tests/integration/broker/authorisation_test.cpp is generated from it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/identity.h"
#include "net/message.h"

namespace spillway::services {

struct Call;
struct Desk;

// Whose things a role may reach by a route.
enum class Scope {
  none,  // it may not call it
  own,   // what belongs to the caller; all else looks as if it did not exist
  all,
};

struct Access {
  bool anonymous = false;  // no certificate is needed, and none is looked at
  bool probe = false;      // never limited: whoever fills the rate must not make us look dead
  bool expired = false;    // a certificate that has expired will do (k_renewable)
  Scope provider = Scope::none;
  Scope consumer = Scope::none;
  Scope operator_ = Scope::none;
  Scope viewer = Scope::none;
};

// What the first parameters of a path name.
enum class Subject {
  nothing,
  owned,     // {cluster}/{name}: a pool or an offer, owned by the cluster in its path
  cluster,   // {name}: a cluster, owned by itself
  contract,  // {id}: owned by its parties; the handler, or the book, looks
  other,     // {id}: a token or an identity: only for scope all
};

using Handle = void (*)(Desk& desk, const std::shared_ptr<Call>& call);

struct Route {
  std::string_view method;
  std::string_view path;  // "/v1/pools/{cluster}/{name}"
  Subject subject;
  Access access;
  Handle handle;
};

std::span<const Route> all_routes();

// The widest scope that the roles give.
Scope scope_of(const Access& access, const std::vector<model::Role>& roles);
// "provider or operator": for the refusal.
std::string who_may(const Access& access);

struct Match {
  const Route* route = nullptr;  // null: none has this path and method
  std::vector<std::string> parameters;
  std::string allowed;  // methods of this path, for 405; empty: there is no such path
};
Match match_route(std::string_view method, const net::Target& target);

}  // namespace spillway::services
