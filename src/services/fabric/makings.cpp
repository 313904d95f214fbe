#include "services/fabric/makings.h"

namespace spillway::agent {

void Makings::are_there(const std::vector<fabric::Kept>& kept) {
  for (const fabric::Kept& one : kept) {
    if (one.is_right) is_there(one.at);
  }
}

void Makings::is_removed(const fabric::Place& at) {
  const Entry gone = entry(at);
  all_.erase(gone);
  const bool is_slice = at.kind.plural == fabric::liqo::k_slices.plural;
  const bool is_virtual_node = at.kind.plural == fabric::liqo::k_virtual_nodes.plural;
  if (!is_slice && !is_virtual_node) return;
  std::erase_if(all_, [&](const Entry& one) {
    return one.name == gone.name && (is_slice || one.kind == fabric::liqo::k_nodes.plural);
  });
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
