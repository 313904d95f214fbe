// Nonces: a provider's are filled, a buyer's are signed.
#pragma once

#include "embedded/liqo/controller.h"

namespace spillway::embedded::liqo {

class Nonces final : public Controller {
 public:
  explicit Nonces(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void fill(const Key& key) const;
  void sign(const Key& key, const std::string& nonce) const;
};

}  // namespace spillway::embedded::liqo
