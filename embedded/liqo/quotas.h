// Quotas: of a slice whose resources are accepted, with what it is granted. A later denial changes
// nothing in it; being cordoned does.
#pragma once

#include "embedded/liqo/controller.h"

namespace spillway::embedded::liqo {

class Quotas final : public Controller {
 public:
  explicit Quotas(const Setting& setting);

 private:
  void look_at(const Key& key) override;
};

}  // namespace spillway::embedded::liqo
