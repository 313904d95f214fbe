// FabricWork: the work of a buyer's cluster in a namespace that may leave. Some of it has an
// identity: like a StatefulSet's controller, this one begins such a pod again only when its API
// object is gone. The rest comes and goes.
#pragma once

#include <map>
#include <string>

#include "embedded/cluster.h"
#include "sim/world.h"

namespace spillway::sim {

class FabricWork {
 public:
  static constexpr const char* k_space = "work";
  static constexpr int k_identities = 2;
  static std::string identity(int number);  // the name of such a pod
  static bool has_identity(const std::string& pod);

  FabricWork(Process& process, embedded::Cluster& cluster);

  void begin();
  void end();  // nothing is begun any more, and everything is told to go

  // Pods with identity that were begun again.
  uint64_t begun() const { return begun_; }

 private:
  void look_later();
  void look();
  bool is_room_for_sale() const;  // some node of what was bought takes pods
  void keep(const std::string& name);
  void make(const std::string& name);
  void remove(const embedded::Key& key);

  Process& process_;
  World& world_;
  embedded::Cluster& cluster_;
  const embedded::Kind& pods_;
  bool is_over_ = false;
  int wanted_ = 1;                          // of the rest
  std::map<std::string, Instant> waiting_;  // pods without a node
  uint64_t begun_ = 0;
};

}  // namespace spillway::sim
