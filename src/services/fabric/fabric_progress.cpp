// How far everything is, for whoever shows it to people; and the two things that they may ask for.
#include <utility>

#include "services/fabric/fabric.h"

namespace spillway::agent {

PeerProgress Fabric::progress_of(const PeerRole& peer, const Side& with) {
  return {peer.first,   peer.second == Role::buyer, with.is_open, false, with.life, with.units,
          with.troubles};
}

std::vector<PeerProgress> Fabric::progress() const {
  std::vector<PeerProgress> all;
  for (const auto& [peer, with] : sides_) all.push_back(progress_of(peer, *with));
  return all;
}

void Fabric::forget_side(const std::string& peer, Role role) {
  sides_.erase({peer, role});
  PeerProgress over{peer, role == Role::buyer};
  over.is_over = true;
  looked_(over);
}

void Fabric::end_unit(const std::string& unit, std::function<void(Status)> then) {
  const auto of = contract_of_unit(unit);
  const model::Contract* row = of ? contract(*of) : nullptr;
  const auto kept = of ? state().contracts.find(*of) : state().contracts.end();
  if (row == nullptr || kept == state().contracts.end()) {
    return then(fail(Code::not_found, "unit " + unit, "no contract that lives has it",
                     "there is nothing to end: what is left of it goes by itself"));
  }
  if (!is_bought(*row)) {
    return then(fail(Code::conflict, "unit " + unit, "it was sold: its buyer ends it",
                     "give notice of the contract"));
  }
  kept->second.ending.emplace(unit, now());
  save_then_look(*of);
  dealings_.flush(life_.guard([then = std::move(then)] { then({}); }));
}

void Fabric::close_peering(const std::string& peer, bool is_bought) {
  auto& peers = is_bought ? state().bought_from : state().sold_to;
  const auto found = peers.find(peer);
  if (found == peers.end() || !found->second.idle_since) return;
  found->second.idle_since = k_first_instant;
  dealings_.touch();
  change(peer);
}

}  // namespace spillway::agent
