// Renews: at the buyer one of each control plane's identity, made beside it and copied to the
// provider for as long as the identity lives; the provider writes the tenant's certificate into
// the copy, and so it would come to the identity when it is a new one.
#pragma once

#include "embedded/liqo/controller.h"

namespace spillway::embedded::liqo {

class Renews final : public Controller {
 public:
  explicit Renews(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void keep(const Key& identity) const;
  void answer(const Object& copy) const;
  void take(const Object& renew) const;
};

}  // namespace spillway::embedded::liqo
