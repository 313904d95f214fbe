// PlayedNodes: a back end whose nodes are objects of the consumer's cluster that somebody plays:
// kwok on a real cluster, the embedded cluster's own kubelets on an embedded one. Nothing runs on
// them. They have the labels, taint, capacity and provider id that a virtual node would have, so
// that everything around them can be tried out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kube/watch.h"
#include "services/autoscaler/node_document.h"
#include "services/autoscaler/node_maker.h"
#include "services/log.h"

namespace spillway::autoscaler {

struct Player {
  std::string name;   // of the back end
  Annotation claims;  // the nodes that it plays
};
// "kwok" or "embedded".
Result<Player> find_player(std::string_view name);

class PlayedNodes final : public NodeMaker {
 public:
  // `owner` is written on every node: two autoscalers may share a cluster, for two federations.
  PlayedNodes(kube::Api& api, services::Log& log, Player player, std::string owner);

  void start(std::function<void()> changed) override;
  NodeSight look(const std::string& name) const override;
  std::vector<std::string> names() const override;
  void make(const demand::NodeImage& image, Then then) override;
  void remove(const std::string& name, Then then) override;

 private:
  void on_put(const kube::Object& node);
  void check_is_ours(const demand::NodeImage& image, const Then& then);

  kube::Api& api_;
  services::Log& log_;
  Player player_;
  std::string owner_;
  std::function<void()> changed_;
  std::map<std::string, bool> ready_;  // of ours: whether they are
  kube::Watch watch_;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
