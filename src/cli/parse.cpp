#include "cli/parse.h"

#include <algorithm>

#include "base/money.h"
#include "base/quantity.h"
#include "base/text.h"

namespace spillway::cli {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return parts;
}

Error of_option(std::string_view option, Error error) {
  error.thing = std::string(option);
  return error;
}

Result<model::Roles> parse_roles(std::string_view text) {
  model::Roles roles;
  for (const std::string& word : split(text, ',')) {
    if (word == "provider") {
      roles.push_back(model::Role::provider);
    } else if (word == "consumer") {
      roles.push_back(model::Role::consumer);
    } else {
      return fail(Code::invalid, "--roles", in_quotes(word) + " is no role of a cluster",
                  "use provider, consumer or provider,consumer");
    }
  }
  std::sort(roles.begin(), roles.end());
  roles.erase(std::unique(roles.begin(), roles.end()), roles.end());
  if (roles.empty()) {
    return fail(Code::invalid, "--roles", "none is named",
                "use provider, consumer or provider,consumer");
  }
  return roles;
}

Result<model::Labels> parse_labels(std::string_view text) {
  model::Labels labels;
  for (const std::string& pair : split(text, ',')) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Code::invalid, "--labels", in_quotes(pair) + " is no label",
                  "write key=value, with commas between several");
    }
    labels.push_back({pair.substr(0, equals), pair.substr(equals + 1)});
  }
  std::sort(labels.begin(), labels.end(),
            [](const model::Label& a, const model::Label& b) { return a.key < b.key; });
  if (auto status = validate(labels); !status) {
    return tl::unexpected(of_option("--labels", status.error()));
  }
  return labels;
}

Result<model::Count> parse_count(std::string_view option, std::string_view text) {
  const size_t equals = text.find('=');
  model::Count count{std::string(text.substr(0, equals)), 1};
  if (equals != std::string_view::npos) {
    const auto amount = parse_quantity(text.substr(equals + 1), QuantityStep::whole);
    if (!amount) return tl::unexpected(of_option(option, amount.error()));
    count.amount = *amount;
  }
  if (count.name.empty() || count.amount < 0) {
    return fail(Code::invalid, std::string(option), in_quotes(text) + " is no name and number",
                "write it as nvidia-a100=2");
  }
  return count;
}

void put_count(model::Counts& counts, const model::Count& count) {
  const auto place = std::lower_bound(
      counts.begin(), counts.end(), count.name,
      [](const model::Count& c, const std::string& name) { return c.name < name; });
  if (place != counts.end() && place->name == count.name) {
    *place = count;
  } else {
    counts.insert(place, count);
  }
}

Result<model::Place> parse_place(std::string_view text) {
  constexpr int64_t k_micro = 1'000'000;
  const size_t comma = text.find(',');
  const auto latitude = parse_micros(text.substr(0, comma));
  const auto longitude =
      parse_micros(comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1));
  if (!latitude || !longitude || *latitude < -90 * k_micro || *latitude > 90 * k_micro ||
      *longitude < -180 * k_micro || *longitude > 180 * k_micro) {
    return fail(Code::invalid, "--near", in_quotes(text) + " is no place on the globe",
                "write latitude,longitude in degrees, such as 45.46,9.19");
  }
  model::Place place;
  place.latitude_microdegrees = static_cast<int32_t>(*latitude);
  place.longitude_microdegrees = static_cast<int32_t>(*longitude);
  return place;
}

Result<std::optional<int64_t>> parse_cap(std::string_view option, std::string_view text,
                                         bool is_cpu) {
  if (text == "none") return std::optional<int64_t>();
  const auto amount = parse_quantity(text, is_cpu ? QuantityStep::milli : QuantityStep::whole);
  if (!amount) return tl::unexpected(of_option(option, amount.error()));
  return std::optional<int64_t>(*amount);
}

}  // namespace spillway::cli
