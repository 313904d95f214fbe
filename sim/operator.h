// The operator, and those who join: tokens are made, cancelled, used in time, too late and twice;
// identities are renewed, with another key or the same, revoked, and join again. The providers are
// among them: one that is revoked sells nothing until it is back.
#pragma once

#include <map>

#include "sim/party.h"

namespace spillway::sim {

class SimOperator : public Party {
 public:
  SimOperator(World& world, Network& network, std::vector<std::unique_ptr<SimBroker>>& brokers,
              Address at, const std::vector<ClusterId>& providers);

  void begin() override;

 private:
  // As the person knows it; on disk.
  struct Person {
    model::Roles roles;
    std::string key;  // empty: has not joined
    bool revoked = false;
  };

  void act_later();
  void act();
  void admit(const std::string& name);
  void join(const std::string& name, const std::string& token);
  void renew(const std::string& name);
  void revoke(const std::string& name);
  std::string fresh_key();
  std::string fresh_certificate();

  std::map<std::string, Person> people_;
  uint64_t numbers_ = 0;  // on disk: no token, key or certificate comes twice
};

}  // namespace spillway::sim
