// The operator, and those who only belong: tokens are made, cancelled, used in time, too late and
// twice; identities are renewed, revoked, and join again. Providers and buyers are among them: who
// is revoked sells and buys nothing until it is back.
#pragma once

#include <vector>

#include "sim/party.h"

namespace spillway::sim {

// A member without any business: asks who it is, renews, and follows what it may hear.
class SimMember : public Party {
 public:
  using Party::Party;

 private:
  void begin() override;
  void act_later();
};

class SimOperator : public Party {
 public:
  SimOperator(Surroundings& around, Address at, std::vector<Party*> members,
              std::vector<model::Cluster> clusters);

  // Its key, with which the first broker is set up, and the certificate that it got by that.
  const SimKey& key() const { return own_key_; }
  void take_office();

 private:
  void begin() override;
  void act_later();
  void act();
  void put_clusters();
  void admit(Party& member);
  void misuse(const std::string& token, Duration ttl);
  void revoke(Party& member);
  void readmit();

  std::vector<Party*> members_;
  std::vector<model::Cluster> clusters_;
  SimKey own_key_;
  bool clusters_put_ = false;  // on disk
};

}  // namespace spillway::sim
