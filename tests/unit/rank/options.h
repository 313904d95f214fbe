// Options for tests: plain ones about which everything is known and good.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "rank/recommend.h"
#include "unit/rank/market.h"

namespace spillway::rank {

// Offers need an address for as long as the options that point to them.
class Options {
 public:
  // 0.4 EUR/h, 10 W at 100 g/kWh, 20 ms away, no failure, heard of now.
  Option& add(const std::string& id) {
    model::Offer& offer = offers_.emplace_back(make_offer(id));
    offer.energy = make_energy(100, 10'000);
    Option& option = all.emplace_back();
    option.offer = &offer;
    option.round_trip = RoundTrip{20'000, k_now};
    option.failures = Failures{0, k_now};
    option.heard = k_now;
    return option;
  }
  model::Offer& offer(const std::string& id) {
    for (model::Offer& each : offers_) {
      if (each.id.text == id) return each;
    }
    broken_invariant("a test asks for an offer that it did not add", __FILE__, __LINE__);
  }

  std::vector<Option> all;

 private:
  std::list<model::Offer> offers_;
};

inline std::vector<std::string> order_of(const Recommendation& told) {
  std::vector<std::string> ids;
  for (const Choice& choice : told.choices) ids.push_back(choice.offer.text);
  return ids;
}

inline Policy policy_with(std::vector<Tier> tiers) {
  Policy policy;
  policy.standard.tiers = std::move(tiers);
  return policy;
}

}  // namespace spillway::rank
