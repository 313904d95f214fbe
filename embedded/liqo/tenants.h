// Tenants: who has signed this cluster's nonce is let in: a certificate for its request, and the
// rights of a tenant in its namespace. Of a wrong signature nothing is said, as by Liqo.
#pragma once

#include "embedded/liqo/controller.h"
#include "fabric/liqo/handshake.h"

namespace spillway::embedded::liqo {

class Tenants final : public Controller {
 public:
  explicit Tenants(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void answer(const Key& key, const codec::Tenant& tenant) const;
  void bind(const Key& key, const codec::Tenant& tenant) const;
  void unbind(const Key& key) const;
  void cordon(const Key& key, bool is_cordoned) const;
  void drain(const Key& key) const;
};

}  // namespace spillway::embedded::liqo
