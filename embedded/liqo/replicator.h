// Replicator: for each provider whose control plane lets us in, slices and namespace maps are held
// there as they are here.
#pragma once

#include <map>
#include <memory>

#include "embedded/liqo/controller.h"
#include "embedded/liqo/mirror.h"

namespace spillway::embedded::liqo {

class Replicator final : public Controller {
 public:
  explicit Replicator(const Setting& setting);
  ~Replicator() override;

 private:
  struct Link;
  void look_at(const Key& key) override;
  void close(const Key& key);
  void open(const Key& key, const std::string& provider, const std::string& kubeconfig);

  std::map<Key, std::unique_ptr<Link>> links_;  // by Secret
};

}  // namespace spillway::embedded::liqo
