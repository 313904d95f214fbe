// Guests: the pods of this cluster on virtual nodes. Each lives at the provider, as a ShadowPod in
// the twin of its namespace, made under the identity of its unit; how it is doing comes back, and
// it goes here when it is gone there.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "embedded/liqo/controller.h"
#include "embedded/liqo/remote.h"
#include "embedded/liqo/virtual_kubelets.h"
#include "host/backoff.h"

namespace spillway::embedded::liqo {

class Guests final : public Controller {
 public:
  Guests(const Setting& setting, const VirtualKubelets& kubelets);
  ~Guests() override;

 private:
  struct Twin;  // one namespace there
  struct Link;  // one unit's way to its provider

  void look_at(const Key& key) override;
  void close_left();
  Twin* twin_for(const Object& pod, const std::string& node);
  std::string twin_name(const std::string& node, const std::string& space) const;
  void keep(const Object& pod, const std::string& node, Twin& twin);
  bool end_orphan(const Key& key, const ObjectPtr& pod);
  void remove(const Key& key, const std::string& node, const Twin& twin);
  bool is_there(const Key& key, const std::string& node) const;  // as was heard last
  void end(const Object& pod, Twin* twin);
  void make(const Object& pod, const std::string& node, Twin& twin);
  void ask_about(const Key& pod, const std::string& node);
  void take_status(const Object& pod, const model::Node& theirs) const;

  const VirtualKubelets& kubelets_;
  std::map<std::string, std::unique_ptr<Link>> links_;  // by node
  std::set<Key> busy_;
  std::map<Key, host::Backoff> waits_;
};

}  // namespace spillway::embedded::liqo
