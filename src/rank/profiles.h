// Profiles: tiers by name, for who does not want to weigh things one by one.
//
// Assumptions
//   - worths are in whatever currency the policy has: they are meant for euros and dollars, and
//     for a currency of another size tiers should be written out.
// Algorithm
//   The first tier of each is what its name says, in steps below which nobody minds; the second is
//   all the rest. `balanced` has one tier, in which everything has its price.
// Ties
//   None here.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "rank/policy.h"

namespace spillway::rank {

inline constexpr std::array<Profile, 5> k_profiles = {
    Profile::cheapest, Profile::greenest, Profile::closest, Profile::safest, Profile::balanced};

std::string_view to_text(Profile profile);
Result<Profile> parse_profile(std::string_view name);  // an error names the nearest

std::vector<Tier> tiers_of(Profile profile);
// All that the name stands for, with its tiers written out: print it with to_yaml.
Policy policy_of(Profile profile, Currency currency = {});

}  // namespace spillway::rank
