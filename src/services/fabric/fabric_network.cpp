// The network between this cluster and a peer, whichever of the two buys: experimental.
#include <algorithm>

#include "services/agent/never.h"
#include "services/fabric/fabric.h"

namespace spillway::agent {

// Before the two sides of the peering are looked at: some of what they want waits for it.
Instant Fabric::connect(const std::string& peer) {
  if (!networks_.is_known()) return k_never;
  fabric::NetworkWish wish;
  wish.self = self_->id();
  wish.peer = peer;
  for (const auto& [id, kept] : state().contracts) {
    const model::Contract* row = contract(id);
    if (row == nullptr || peer_of(*row, kept.part) != peer) continue;
    (is_bought(*row) ? wish.is_buying : wish.is_selling) = true;
    if (!wish.contract && dealings_.part(id) != nullptr) wish.contract = id;
  }
  wish.is_wanted = networks_.is_on() && (wish.is_buying || wish.is_selling);
  const Instant until = kept_until(peer);
  wish.is_kept = networks_.is_on() && until > now();
  const bool is_known =
      wish.is_wanted || !(is_waiting_for(peer, Role::buyer) || is_waiting_for(peer, Role::seller));
  if (!is_known) return k_never;
  auto& memories = state().networks;
  if (wish.is_wanted && memories.try_emplace(peer).second) dealings_.touch();
  const auto memory = memories.find(peer);
  if (memory == memories.end() && networks_.is_over(peer)) return k_never;
  if (memory != memories.end()) wish.heard = memory->second.heard;
  networks_.fill(wish);
  const Instant next = networks_.work(wish, sights_.buyer(peer).has_space);
  if (wish.is_wanted || !networks_.is_over(peer)) {
    return wish.is_kept ? std::min(next, until) : next;
  }
  if (wish.is_kept) return until;
  networks_.forget(peer);
  if (memories.erase(peer) > 0) dealings_.touch();
  return k_never;
}

// What is warm stays connected; what is dead and unwanted does not.
Instant Fabric::kept_until(const std::string& peer) const {
  const FabricState& known = dealings_.state();
  Instant until = {};
  for (const auto* memories : {&known.bought_from, &known.sold_to}) {
    const auto found = memories->find(peer);
    if (found == memories->end() || found->second.dead) continue;
    until = std::max(until, warm_until(found->second));
  }
  return until;
}

// As the buyer says that it comes, if it does so by our proxy.
std::optional<std::string> Fabric::proxy_for(const std::string& buyer) {
  const auto memory = state().networks.find(buyer);
  const bool has_word = memory != state().networks.end() && memory->second.heard;
  if (!networks_.is_on() || !has_word) return std::nullopt;
  return memory->second.heard->own.in_band;
}

// Guests speak with their buyer's pods, once there is a way.
void Fabric::open_ranges(const std::string& buyer, fabric::GuestWish& guests) {
  const fabric::NetworkSight& seen = networks_.sight(buyer);
  if (!networks_.is_on() || !seen.configuration || !seen.configuration->is_settled()) return;
  const auto all = [](const fabric::liqo::Ranges& ranges) {
    std::vector<std::string> both = ranges.pods;
    both.insert(both.end(), ranges.external.begin(), ranges.external.end());
    return both;
  };
  guests.ranges_there = all(seen.configuration->peer);
  guests.ranges_here = all(seen.configuration->peer_here);
}

// From either side. Where networks are not connected it is passed over, as by an older agent.
void Fabric::hear_of_network(const Received& message) {
  adopt();
  const model::Contract* row = contract(message.contract);
  const auto kept = state().contracts.find(message.contract);
  if (row == nullptr || kept == state().contracts.end()) {
    return refuse(message, {Code::denied, "contract " + message.contract.text,
                            "it is none that the fabric makes real", "say nothing of it"});
  }
  auto talk = hear_network(message.body);
  if (!talk) return refuse(message, talk.error());
  if (!networks_.is_on()) return;
  const std::string peer = peer_of(*row, kept->second.part);
  if (talk->is_asking) networks_.owe_answer(peer);
  state().networks[peer].heard = std::move(*talk);
  look_now(peer);
}

}  // namespace spillway::agent
