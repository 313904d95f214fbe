// Whether providers live, and what has to be written down before anything follows from their death
// (fabric/death.h).
#include <algorithm>
#include <limits>
#include <utility>

#include "fabric/mourning.h"
#include "services/agent/never.h"
#include "services/fabric/fabric.h"

namespace spillway::agent {

using fabric::Life;

// It can be asked from when Liqo has an identity of it, and until nothing is left of that: who has
// lost the identity to somebody's hand is there all the same, and must not be taken for gone.
void Fabric::watch_over(const std::string& peer, const PeerMemory& memory,
                        const fabric::BuyerSight& sight) {
  const bool has_way = sight.identity || (sight.access && memory.identity);
  if (!has_way || is_others_peering(sight)) return pulses_.forget(peer);
  const std::string& space = memory.identity ? memory.identity->space : sight.identity->space;
  pulses_.follow(peer, self_->id(), space);
}

fabric::ProviderLife Fabric::life_of(const std::string& peer, PeerMemory& memory,
                                     const fabric::BuyerSight& sight) {
  const Instant time = now();
  if (!sight.foreign || sight.foreign->is_reachable()) {
    errors_.erase(peer);
  } else {
    errors_.try_emplace(peer, time);
  }
  fabric::Signs signs = pulses_.signs(peer);
  const auto error = errors_.find(peer);
  if (error != errors_.end()) signs.error = error->second;
  const Life life = judge(signs, memory.dead.has_value(), options_.doubt, time);
  note_life(peer, memory, life);
  return {.life = life,
          .unheard = memory.unheard.value_or(time),
          .fence = memory.fence,
          .margin = options_.skew + options_.skew,
          .is_given_up = memory.is_given_up && !giving_up_.contains(peer)};
}

void Fabric::note_life(const std::string& peer, PeerMemory& memory, Life life) {
  const bool was_dead = memory.dead.has_value();
  const bool is_known = life == Life::dead || life == Life::alive;
  if (!is_known || was_dead == (life == Life::dead)) return;
  memory.dead = was_dead ? std::nullopt : std::optional(now());
  dealings_.touch();
  log_.write(services::Level::warning, was_dead ? "a provider is back" : "a provider is dead",
             {{"provider", peer}});
}

// What a unit's provider must have stopped begins elsewhere: it is written down first, for the
// provider is to know of it when it is back, whoever runs here then. When there is more to see.
Instant Fabric::give_up(const std::string& peer, PeerMemory& memory, fabric::BuyerWish& wish) {
  std::optional<Duration> shortest;
  Duration longest = memory.fence;
  for (const fabric::Purchase& purchase : wish.purchases) {
    for (const fabric::BoughtUnit& unit : purchase.units) {
      shortest = std::min(shortest.value_or(unit.fence), unit.fence);
      longest = std::max(longest, unit.fence);
    }
  }
  if (std::exchange(memory.fence, longest) != longest) dealings_.touch();
  wish.life.fence = longest;
  Instant next = k_never;
  if (wish.life.life == Life::doubted) {
    fabric::Signs signs = pulses_.signs(peer);
    if (errors_.contains(peer)) signs.error = errors_.at(peer);
    next = judged_again(signs, options_.doubt).value_or(k_never);
  }
  if (wish.life.life != Life::dead || memory.is_given_up) return next;
  const Instant over = fence_over(wish.life, shortest.value_or(longest));
  if (over > now()) return over;
  memory.is_given_up = true;
  giving_up_.insert(peer);
  dealings_.touch();
  dealings_.flush(life_.guard([this, peer] {
    giving_up_.erase(peer);
    change(peer);
  }));
  return k_never;
}

void Fabric::provider_silenced(const std::string& peer, Instant unheard) {
  const auto memory = state().bought_from.find(peer);
  if (memory == state().bought_from.end()) return;
  if (!memory->second.unheard) {
    memory->second.unheard = unheard;
    dealings_.touch();
  }
  change(peer);
}

void Fabric::provider_answered(const std::string& peer, int64_t turns) {
  constexpr int64_t k_most_turns = std::numeric_limits<int32_t>::max() - 1;  // the API's own bound
  const auto found = state().bought_from.find(peer);
  if (found == state().bought_from.end()) return;
  PeerMemory& memory = found->second;
  const int64_t ours = std::min(std::max(memory.turns, turns), k_most_turns);
  const int64_t next = ours + (memory.is_given_up ? 1 : 0);
  const bool is_same = !memory.unheard && !memory.is_given_up && memory.turns == next;
  memory.unheard.reset();
  memory.is_given_up = false;
  memory.turns = next;
  change(peer);
  if (is_same) return pulses_.renew(peer, next);
  dealings_.touch();
  dealings_.flush(life_.guard([this, peer, next] { pulses_.renew(peer, next); }));
}

void Fabric::tell_of_refusal(const std::string& peer, fabric::Plan& plan) const {
  const auto why = pulses_.refusal(peer);
  if (!why) return;
  plan.troubles.push_back({"provider " + peer,
                           "our Lease there cannot be renewed: " + why->message(),
                           "its agent makes Lease and rights; work with identity may be stopped "
                           "there until it does"});
}

}  // namespace spillway::agent
