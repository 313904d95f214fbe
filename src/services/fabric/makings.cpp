#include "services/fabric/makings.h"

namespace spillway::agent {

void Makings::is_removed(const fabric::Place& at) {
  const Entry gone = entry(at);
  if (at.kind.plural != fabric::liqo::k_slices.plural) {
    all_.erase(gone);
  } else {
    std::erase_if(all_, [&](const Entry& one) { return one.name == gone.name; });
  }
}

void Makings::space_is_gone(const std::string& space) {
  std::erase_if(all_, [gone = hash(space)](const Entry& one) { return one.space == gone; });
}

fabric::Trouble Makings::trouble(const fabric::Place& at) {
  const bool is_of_unit = at.kind.plural == fabric::liqo::k_slices.plural ||
                          at.kind.plural == fabric::liqo::k_virtual_nodes.plural ||
                          at.kind.plural == fabric::liqo::k_nodes.plural;
  return {to_text(at), "somebody removed it",
          is_of_unit ? "it is made again; to end a unit, release it" : "it is made again"};
}

}  // namespace spillway::agent
