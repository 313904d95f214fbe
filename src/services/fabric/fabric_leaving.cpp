// What may leave to a provider beside pods, by the owner's policy and by whom its operator has
// pinned.
#include <utility>

#include "services/fabric/fabric.h"

namespace spillway::agent {

using fabric::liqo::Leaving;

// Everything only where every contract with that Liqo cluster is with somebody trusted: a member
// may sign for any Liqo id, also for that of another.
Leaving Fabric::leaving_to(const std::string& peer) {
  bool is_known = false;
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr || !is_bought(*row) || kept.part.provider != peer) continue;
    is_known = true;
    const bool is_pinned = pinned_ && pinned_->contains(row->provider);
    if (!is_trusted(options_.offload, row->provider, is_pinned)) return Leaving::listed;
  }
  return is_known ? Leaving::all : Leaving::listed;
}

// Whoever pins does so in another process: they are read whenever contracts change.
void Fabric::read_pins() {
  if (!options_.offload.trusted.pinned) {
    pinned_.emplace();
    return;
  }
  dealings_.read_pins(life_.guard([this](const Result<std::set<ClusterId>>& pinned) {
    if (!pinned) {
      log_.write(services::Level::warning, "pins cannot be read: nobody is trusted by them",
                 {{"why", pinned.error().message()}});
    }
    const std::set<ClusterId> now = pinned.value_or(std::set<ClusterId>());
    if (std::exchange(pinned_, now) != now) templates_changed();
  }));
}

void Fabric::set_offload(fabric::OffloadPolicy policy) {
  spaces_.set_policy(policy);
  if (policy.trusted != options_.offload.trusted) pinned_.reset();
  options_.offload = std::move(policy);
  contracts_changed();
}

void Fabric::templates_changed() {
  for (const auto& [peer, memory] : state().bought_from) change(peer);
}

}  // namespace spillway::agent
