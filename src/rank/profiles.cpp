#include "rank/profiles.h"

#include "base/text.h"

namespace spillway::rank {
namespace {

constexpr std::array<std::string_view, k_profiles.size()> k_profile_names = {
    "cheapest", "greenest", "closest", "safest", "balanced"};

// A tonne of CO2e at 100; a hundred milliseconds for an hour at a cent; a failure at five, about
// what ten minutes of a large unit come to; a minute of silence at half a cent.
constexpr Tier k_everything = {.step = 0,
                               .money_permille = 1000,
                               .carbon_kg = 100'000,
                               .round_trip_ms = 100,
                               .failure = 50'000,
                               .silence_minute = 5'000};

}  // namespace

std::string_view to_text(Profile profile) { return k_profile_names[static_cast<size_t>(profile)]; }

Result<Profile> parse_profile(std::string_view name) {
  for (const Profile profile : k_profiles) {
    if (to_text(profile) == name) return profile;
  }
  const std::string_view meant = nearest(name, k_profile_names);
  return fail(Code::invalid, "profile", "there is no profile " + in_quotes(name),
              meant.empty() ? "use cheapest, greenest, closest, safest or balanced"
                            : fmt::format("did you mean {}?", meant));
}

std::vector<Tier> tiers_of(Profile profile) {
  switch (profile) {
    case Profile::cheapest:  // to a tenth of a cent
      return {{.step = 1'000, .money_permille = 1000}, k_everything};
    case Profile::greenest:  // to ten milligrams: ten watts at one more gram a kWh
      return {{.step = 10, .carbon_kg = 1'000'000}, k_everything};
    case Profile::closest:  // to a millisecond
      return {{.step = 1'000, .round_trip_ms = 1'000}, k_everything};
    case Profile::safest:  // to a tenth of a failure; ten minutes of silence are one
      return {{.step = 100'000, .failure = 1'000'000, .silence_minute = 100'000}, k_everything};
    case Profile::balanced:
      return {k_everything};
  }
  broken_invariant("a profile without tiers", __FILE__, __LINE__);
}

Policy policy_of(Profile profile, Currency currency) {
  Policy policy;
  policy.currency = currency;
  policy.standard.tiers = tiers_of(profile);
  return policy;
}

}  // namespace spillway::rank
