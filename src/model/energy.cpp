#include "model/energy.h"

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

constexpr size_t k_forecast_hours = 24;

Status check_mix(const std::vector<MixShare>& mix) {
  SPILLWAY_TRY(check_size("mix", mix.size(), k_max_names));
  int64_t sum = 0;
  for (size_t i = 0; i < mix.size(); ++i) {
    const MixShare& share = mix[i];
    if (share.source.empty() || !is_label_value(share.source)) {
      return refuse("mix", in_quotes(share.source) + " is no name of a source",
                    "write it as a label value, such as solar");
    }
    for (size_t j = 0; j < i; ++j) {
      if (mix[j].source == share.source) {
        return refuse("mix", in_quotes(share.source) + " is there twice", "add the two up");
      }
    }
    if (share.permille < 0 || share.permille > 1000) {
      return refuse("mix." + share.source, "the share is out of range", "use 0% to 100%");
    }
    sum += share.permille;
  }
  if (!mix.empty() && sum != 1000) {
    return refuse(
        "mix",
        "the shares sum to " + std::to_string(sum / 10) + "." + std::to_string(sum % 10) + "%",
        "let them sum to 100%");
  }
  return {};
}

}  // namespace

int32_t carbon_at(const Energy& energy, Instant when) {
  constexpr int64_t k_ms_per_hour = 3'600'000;
  if (when < energy.provenance.as_of) return energy.carbon_now;
  const int64_t hour = (when - energy.provenance.as_of).ms / k_ms_per_hour;
  const auto index = static_cast<uint64_t>(hour);
  return index < energy.carbon_forecast.size() ? energy.carbon_forecast[index] : energy.carbon_now;
}

Status validate(const Energy& energy) {
  SPILLWAY_TRY(check_range("carbon_now", energy.carbon_now, 0, k_max_carbon));
  const size_t hours_given = energy.carbon_forecast.size();
  if (hours_given != 0 && hours_given != k_forecast_hours) {
    return refuse("carbon_forecast", "it has " + std::to_string(hours_given) + " hours",
                  "give 24, or none");
  }
  for (size_t i = 0; i < hours_given; ++i) {
    SPILLWAY_TRY(
        under("carbon_forecast", i, check_range("", energy.carbon_forecast[i], 0, k_max_carbon)));
  }
  SPILLWAY_TRY(check_mix(energy.mix));
  if (energy.unit_milliwatts) {
    SPILLWAY_TRY(check_range("unit_milliwatts", *energy.unit_milliwatts, 0, k_max_milliwatts));
  }
  if (energy.provenance.source.empty()) {
    return refuse("provenance.source", "nobody is named who says so",
                  "name the source of the numbers, such as datasheet");
  }
  SPILLWAY_TRY(check_text("provenance.source", energy.provenance.source));
  return check_time("provenance.as_of", energy.provenance.as_of);
}

}  // namespace spillway::model
