// What is there of each peering, and what somebody else has removed or edited of it.
#include <utility>

#include "fabric/present.h"
#include "services/fabric/fabric.h"

namespace spillway::agent {

// What was there before this process looked is missed as well. Of what is kept as it was made the
// plan tells, some of it only when others are seen, too; the rest is in the sights.
void Fabric::note_present(const std::string& peer, Role role, const fabric::Plan& plan) {
  Side& with = side(peer, role);
  with.makings.are_there(plan.kept);
  if (std::exchange(with.has_begun, true)) return;
  for (const fabric::Place& at : role == Role::buyer ? present(peer, sights_.buyer(peer))
                                                     : present(peer, sights_.seller(peer))) {
    with.makings.is_there(at);
  }
}

void Fabric::note_made(const std::string& peer, Role role, const fabric::Place& at) {
  if (!side(peer, role).makings.is_made_again(at)) return;
  tellings_.tell_once(fabric::liqo::tenant_namespace_name(peer), Makings::trouble(at));
}

void Fabric::note_labelled(const std::string& peer, const fabric::Place& at,
                           const std::string& labels) {
  tellings_.tell_once(
      fabric::liqo::tenant_namespace_name(peer),
      {to_text(at), "somebody edited labels that it is known by: " + labels, "they are put right"});
}

// With all that is in it.
void Fabric::space_is_gone(const std::string& peer, const std::string& space) {
  const auto found = sides_.find({peer, Role::seller});
  if (found != sides_.end()) found->second->makings.space_is_gone(space);
}

void Fabric::note_removed(const std::string& peer, Role role, const fabric::Place& at) {
  if (at.kind.plural == fabric::liqo::k_leases.plural) sights_.lease_is_gone(peer, at.name);
  side(peer, role).makings.is_removed(at);
}

}  // namespace spillway::agent
