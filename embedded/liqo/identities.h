// Identities: of each a Secret is made, with a kubeconfig in which the cluster's key is.
#pragma once

#include "embedded/liqo/controller.h"
#include "fabric/liqo/handshake.h"

namespace spillway::embedded::liqo {

class Identities final : public Controller {
 public:
  explicit Identities(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void make_secret(const Object& object, const codec::Identity& identity) const;
  void renew_secret(const Key& secret, const codec::Identity& identity) const;
  void put_kubeconfig(const codec::Identity& identity, model::Node& secret) const;
};

}  // namespace spillway::embedded::liqo
