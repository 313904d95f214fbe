// FenceLimits: when a provider may run what runs elsewhere, because somebody has deleted the Lease
// by which it knows how long its buyer is silent. While its agent lives that gives nobody more
// time; if both are gone at once, nobody knows any more, and the fence time begins anew.
// docs/fabric.md states that limit, so law 6 does not blame it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "sim/fabric_party.h"

namespace spillway::sim {

class FenceLimits {
 public:
  explicit FenceLimits(World& world) : world_(world) {}

  void look(FabricParty& provider, const FabricParty& buyer);  // once a second
  bool excuses(const FabricParty& provider, const FabricParty& buyer) const;

 private:
  World& world_;
  std::map<std::pair<std::string, std::string>, Instant> seen_;  // provider and buyer: when last
  std::map<std::pair<std::string, std::string>, Instant> anew_;  // until when
};

}  // namespace spillway::sim
