// VirtualKubelets: one for each VirtualNode. It starts a moment after it, adopts the Node that is
// there or makes one, holds it as the VirtualNode says, and beats for it while the provider's API
// server answers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "embedded/liqo/controller.h"
#include "embedded/liqo/remote.h"

namespace spillway::embedded::liqo {

class VirtualKubelets final : public Controller {
 public:
  explicit VirtualKubelets(const Setting& setting);

  void stop(const Key& virtual_node) { running_.erase(virtual_node); }
  // Of a node, while its virtual kubelet runs; empty: none does.
  std::string kubeconfig_of(const std::string& node) const;

 private:
  struct Kubelet {
    std::string uid;  // of the VirtualNode
    bool is_started = false;
    bool is_beating = false;
    bool is_silent = false;  // its provider did not answer: it says nothing of its node
    std::unique_ptr<Remote> remote;
    std::vector<std::string> labels = {};  // of the VirtualNode, as they were put on the node last
  };
  void look_at(const Key& key) override;
  void start_later(const Object& object);
  bool connect(const Object& object, Kubelet& kubelet);
  void write_node(const Object& object, Kubelet& kubelet) const;
  void make_lease(const Key& key, const std::string& holder) const;
  void beat(const Key& key, const std::string& uid);
  void renew(const Key& key);

  std::map<Key, Kubelet> running_;
};

}  // namespace spillway::embedded::liqo
