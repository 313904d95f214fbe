// Copies: objects of one kind in offloaded namespaces, as the providers have them: those that the
// list lets leave, by which the leading virtual kubelet of each provider goes. What may no longer
// leave is taken back.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "embedded/liqo/controller.h"
#include "embedded/liqo/remote.h"
#include "embedded/liqo/virtual_kubelets.h"
#include "host/backoff.h"

namespace spillway::embedded::liqo {

class Copies final : public Controller {
 public:
  // `listed`: the kind in the virtual kubelet's arguments, "secret".
  Copies(const Setting& setting, const VirtualKubelets& kubelets, const codec::Kind& kind,
         std::string listed);

 private:
  // What a provider was told of an object last.
  struct Sent {
    std::string version;  // that it has; empty: none
    bool is_busy = false;
    host::Backoff backoff = {};
  };
  using To = std::pair<std::string, Key>;  // a provider, an object here

  void look_at(const Key& key) override;
  void look_at_all();
  void settle(const Object& map, const Key& key, const ObjectPtr& local);
  ObjectPtr leader_of(const std::string& provider) const;
  Remote* remote_of(const std::string& node);
  void send(Remote& remote, const To& to, const Object& local, const std::string& twin);
  void take_back(Remote& remote, const To& to, const std::string& twin);
  template <class Answer>
  auto answered(const To& to, std::string version);

  const VirtualKubelets& kubelets_;
  const codec::Kind& kind_;
  std::string listed_;
  std::map<std::string, std::unique_ptr<Remote>> remotes_;  // by node
  std::map<To, Sent> sent_;
};

}  // namespace spillway::embedded::liqo
