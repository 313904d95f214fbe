// VirtualNodes: each gets its virtual kubelet, and the map of namespaces at its provider. One that
// is deleted is drained first, by evictions; its Node goes before it does.
#pragma once

#include "embedded/liqo/controller.h"
#include "embedded/liqo/virtual_kubelets.h"

namespace spillway::embedded::liqo {

class VirtualNodes final : public Controller {
 public:
  VirtualNodes(const Setting& setting, VirtualKubelets& kubelets);

 private:
  void look_at(const Key& key) override;
  void begin(const Object& object);
  void end(const Object& object);
  bool drain(const Object& object);
  void make_map(const std::string& space, const std::string& provider) const;

  VirtualKubelets& kubelets_;
};

}  // namespace spillway::embedded::liqo
