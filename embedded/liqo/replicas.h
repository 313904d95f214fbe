// Replicas: slices of tenants, as their provider has them. A request with the right subject is
// signed at once, before anybody decides on resources; those of Liqo's own class are granted
// whatever they ask for.
#pragma once

#include "embedded/liqo/controller.h"
#include "fabric/liqo/slice.h"

namespace spillway::embedded::liqo {

class Replicas final : public Controller {
 public:
  explicit Replicas(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  Result<codec::AuthParams> authenticate(const Key& key, const codec::Slice& slice,
                                         const std::string& buyer) const;
  void decide(const Key& key, const codec::Slice& slice,
              const Result<codec::AuthParams>& answer) const;
};

}  // namespace spillway::embedded::liqo
