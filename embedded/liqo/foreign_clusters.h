// ForeignClusters: what this cluster's Liqo thinks of each peer: its role, how its parts are, and
// whether its API server answers. They come with the first object of a peer, and never go.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "embedded/liqo/controller.h"
#include "embedded/liqo/remote.h"

namespace spillway::embedded::liqo {

// Somebody has said that it will not come back, and its API server does not answer.
bool is_peer_given_up(const Setting& setting, const std::string& peer);

class ForeignClusters final : public Controller {
 public:
  explicit ForeignClusters(const Setting& setting);

 private:
  struct Checking {
    std::unique_ptr<Remote> remote;
    bool is_scheduled = false;
  };
  void look_at(const Key& key) override;
  void write(const std::string& peer) const;
  void watch_over(const std::string& peer);
  void check(const std::string& peer);
  void say(const std::string& peer, bool is_alive) const;

  std::map<std::string, Checking> checks_;  // by peer
};

}  // namespace spillway::embedded::liqo
