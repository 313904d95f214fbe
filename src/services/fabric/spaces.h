// Spaces: hosts the mind of fabric/spaces.h: watches the cluster's namespaces, what is offloaded of
// them and, while the policy lets any of them leave, pods that wait for a node; does what follows.
// Apart from peers and contracts: namespaces are ready before anything is bought.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/spaces.h"
#include "host/alarm.h"
#include "host/lifeline.h"
#include "kube/watch.h"
#include "services/fabric/doings.h"
#include "services/fabric/edits.h"
#include "services/fabric/makings.h"
#include "services/fabric/tellings.h"
#include "services/log.h"

namespace spillway::agent {

class Spaces {
 public:
  static constexpr Duration k_gather = milliseconds(2);  // changes seldom come alone

  Spaces(kube::Api& api, services::Log& log, Tellings& tellings, int& in_flight,
         std::string own_space);

  void start();
  void know_self(const std::string& id);  // to Liqo; nothing is decided before
  void set_policy(fabric::OffloadPolicy policy);
  void set_holding(bool is_holding);  // false: nothing is decided on

 private:
  using Put = std::function<void(const kube::Object&)>;
  using Gone = std::function<void(const kube::Name&)>;

  std::unique_ptr<kube::Watch> watch(const kube::Resource& resource, kube::Wanted wanted, Put put,
                                     Gone gone);
  void put_space(const kube::Object& object);
  void put_offloading(const kube::Object& object);
  void put_pod(const kube::Object& object);
  void follow_pods();
  bool is_known() const;
  void changed();
  void step();
  void tell(const std::vector<fabric::Trouble>& troubles);
  void tell_pod(const fabric::Place& at);
  void tell_made(const fabric::Place& at);

  kube::Api& api_;
  services::Log& log_;
  Tellings& tellings_;
  fabric::SpacesWish wish_;
  std::map<std::string, fabric::SpaceSight> spaces_;  // without what is offloaded of them
  // By namespace; none: it cannot be read.
  std::map<std::string, std::optional<fabric::liqo::NamespaceOffloading>> offloaded_;
  std::map<kube::Name, fabric::WaitingPod> waiting_;
  std::unique_ptr<kube::Watch> namespaces_;
  std::unique_ptr<kube::Watch> offloadings_;
  std::unique_ptr<kube::Watch> pods_;  // none: nothing may leave
  std::set<std::string> told_;         // namespaces with troubles
  std::optional<Error> trouble_;
  bool is_holding_ = true;
  Doings doings_;
  Makings makings_;
  Edits edits_;
  host::Alarm alarm_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
