// Labels of a unit's node, by which others than its maker know it.
#pragma once

namespace spillway::model {

inline constexpr const char* k_provider_label = "spillway.dev/provider";
inline constexpr const char* k_offer_label = "spillway.dev/offer";  // without the provider

}  // namespace spillway::model
