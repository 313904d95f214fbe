// ShadowPods: guests as their provider has them. Of each a pod is made, and made again when it is
// lost; how it is doing is told back. What a unit's guests ask for stays within its Quota.
#pragma once

#include <string>

#include "embedded/liqo/controller.h"

namespace spillway::embedded::liqo {

// Denied: that user has no quota, is cordoned, or would have more than it is granted. Requests are
// summed; how many guests there are is not counted, as by Liqo.
Status check_guest(const Setting& setting, const std::string& user, const model::Node& shadow);

class ShadowPods final : public Controller {
 public:
  explicit ShadowPods(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void make_pod(const Object& shadow) const;
};

}  // namespace spillway::embedded::liqo
