// Templates: VkOptionsTemplates of the cluster, by watching them: Liqo's own, from which ours are
// made, and ours (fabric/liqo/vk_options.h). Apart from the other sights: where they cannot be seen
// nothing ends, but no node is made either, for nobody could say what would leave through it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fabric/buyer.h"
#include "fabric/liqo/vk_options.h"
#include "kube/watch.h"
#include "services/log.h"

namespace spillway::agent {

class Templates {
 public:
  struct Calls {
    std::function<void(const std::string& peer)> changed;  // one of ours, for that provider
    std::function<void()> all_changed;                     // what all are made of, or what is seen
  };
  // `base`: of the operator's, in Liqo's namespace; empty: Liqo's own.
  Templates(kube::Api& api, services::Log& log, std::string base, Calls calls);

  void start() { watch_.start(); }

  bool has_any(const std::string& peer) const;
  // False as well where they cannot be seen: who forgets a provider then would leave its template.
  bool is_clear(const std::string& peer) const { return watch_.is_synced() && !has_any(peer); }

  // What is to be done for the virtual nodes of that provider, which go by `leaving`. No
  // VirtualNode is made before the template is there and right; it goes with the last of them, and
  // until then is made again: without it nobody can change a VirtualNode, nor Liqo end one.
  void keep(const std::string& peer, fabric::liqo::Leaving leaving, bool is_wanted,
            const fabric::BuyerSight& sight, fabric::Plan& plan) const;

 private:
  void tell(const kube::Name& name) const;
  const model::Node* find(const std::string& space, std::string_view name) const;
  bool settle(const std::string& space, fabric::liqo::Leaving leaving, fabric::Plan& plan) const;

  services::Log& log_;
  std::string base_;
  Calls calls_;
  std::map<kube::Name, model::Node> all_;
  std::optional<Error> trouble_;
  kube::Watch watch_;
};

}  // namespace spillway::agent
