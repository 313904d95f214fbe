#include "services/broker/config.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "model/codec.h"
#include "model/validation.h"
#include "services/host_port.h"

namespace spillway::services {

template <class Fields>
void fields(Fields& f, BrokerConfig& c) {
  const BrokerConfig d;
  f.with_default("listen", c.listen, d.listen);
  f.with_default("names", c.names, d.names);
  f.with_default("operations", c.operations);
  f.with_default("log", c.log, d.log);
  f.with_default("keep_events", c.keep_events, d.keep_events);
  f.with_default("drain", c.drain, d.drain);
  f.with_default("ending_notices", c.ending_notices, d.ending_notices);
  f.with_default("member_rate", c.member_rate, d.member_rate);
  f.with_default("member_burst", c.member_burst, d.member_burst);
  f.with_default("stranger_rate", c.stranger_rate, d.stranger_rate);
  f.with_default("stranger_burst", c.stranger_burst, d.stranger_burst);
  f.with_default("connections", c.connections, d.connections);
  f.with_default("connections_per_address", c.connections_per_address, d.connections_per_address);
  f.with_default("body_bytes", c.body_bytes, d.body_bytes);
  f.with_default("pools", c.pools, d.pools);
  f.with_default("offers", c.offers, d.offers);
  f.with_default("streams", c.streams, d.streams);
}

namespace {

// Sets one field from text, as flags and environment variables give it.
class Setter {
 public:
  Setter(std::string_view name, std::string_view value) : name_(name), value_(value) {}

  template <class T>
  void with_default(std::string_view name, T& field, const T& = {}) {
    if (name != name_) return;
    found_ = true;
    status_ = set(field);
  }
  int version() const { return 1; }
  bool found() const { return found_; }
  const Status& status() const { return status_; }

 private:
  Status set(std::string& field) {
    field = value_;
    return {};
  }
  Status set(int64_t& field) {
    const char* end = value_.data() + value_.size();
    const auto [stop, error] = std::from_chars(value_.data(), end, field);
    if (error == std::errc{} && stop == end) return {};
    return fail(Code::invalid, std::string(name_), "it is not a whole number", "write one");
  }
  Status set(Duration& field) {
    auto parsed = parse_duration(value_);
    if (!parsed) return tl::unexpected(parsed.error());
    field = *parsed;
    return {};
  }
  Status set(std::vector<std::string>& field) {  // with commas between
    field.clear();
    std::string_view rest = value_;
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(','));
      field.emplace_back(item);
      rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    }
    return {};
  }

  std::string_view name_;
  std::string_view value_;
  bool found_ = false;
  Status status_;
};

}  // namespace

namespace {

constexpr size_t k_most_endings = 8;

Result<market::EndingDistance> parse_distance(const std::string& text) {
  market::EndingDistance distance;
  if (text.ends_with('%')) {
    const char* end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data(), end, distance.percent);
    if (error == std::errc{} && stop == end && distance.percent > 0 && distance.percent < 100) {
      return distance;
    }
  } else if (const auto time = parse_duration(text); time && time->ms > 0) {
    distance.time = *time;
    return distance;
  }
  return fail(Code::invalid, "ending_notices",
              in_quotes(text) + " is neither a part of a lease nor a time",
              "write whole parts from 1% to 99%, or times: [25%, 10m]");
}

}  // namespace

Result<std::vector<market::EndingDistance>> ending_distances(const BrokerConfig& config) {
  if (config.ending_notices.size() > k_most_endings) {
    return fail(Code::invalid, "ending_notices",
                fmt::format("{} are more than {}", config.ending_notices.size(), k_most_endings),
                "name fewer");
  }
  std::vector<market::EndingDistance> distances;
  for (const std::string& text : config.ending_notices) {
    auto distance = parse_distance(text);
    if (!distance) return tl::unexpected(std::move(distance).error());
    distances.push_back(*distance);
  }
  return distances;
}

std::string environment_name(std::string_view field) {
  std::string name(k_environment_prefix);
  for (const char c : field) name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

std::vector<std::string_view> setting_names() { return model::names_of<BrokerConfig>(1); }

Status apply_setting(BrokerConfig& config, std::string_view name, std::string_view value) {
  Setter setter(name, value);
  fields(setter, config);
  if (setter.found()) return setter.status();
  std::string known;
  for (const std::string_view word : setting_names()) {
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return fail(Code::invalid, fmt::format("setting {}", name), "there is no such setting",
              fmt::format("use one of {}", known));
}

Status apply_environment(BrokerConfig& config, const std::function<const char*(const char*)>& get) {
  for (const std::string_view name : setting_names()) {
    const std::string variable = environment_name(name);
    const char* value = get(variable.c_str());
    if (value == nullptr) continue;
    if (auto status = apply_setting(config, name, value); !status) {
      Error error = status.error();
      error.thing = variable;
      return tl::unexpected(std::move(error));
    }
  }
  return {};
}

Status validate(const BrokerConfig& config) {
  SPILLWAY_TRY(parse_host_port(config.listen, "listen").map([](const HostPort&) {}));
  if (!config.operations.empty()) {
    SPILLWAY_TRY(parse_host_port(config.operations, "operations").map([](const HostPort&) {}));
  }
  if (config.names.empty()) {
    return model::refuse("names", "a certificate needs at least one name");
  }
  if (to_text(level_from(config.log)) != config.log) {
    return model::refuse("log", "it is none of debug, info, warning, error");
  }
  SPILLWAY_TRY(model::check_range("keep_events", config.keep_events, minutes(1), hours(87'600)));
  SPILLWAY_TRY(model::check_range("drain", config.drain, seconds(0), minutes(10)));
  SPILLWAY_TRY(ending_distances(config).map([](const auto&) {}));
  SPILLWAY_TRY(model::check_range("member_rate", config.member_rate, 0, 1'000'000));
  SPILLWAY_TRY(model::check_range("member_burst", config.member_burst, 1, 1'000'000));
  SPILLWAY_TRY(model::check_range("stranger_rate", config.stranger_rate, 0, 1'000'000));
  SPILLWAY_TRY(model::check_range("stranger_burst", config.stranger_burst, 1, 1'000'000));
  SPILLWAY_TRY(model::check_range("connections", config.connections, 1, 1'000'000));
  SPILLWAY_TRY(
      model::check_range("connections_per_address", config.connections_per_address, 1, 1'000'000));
  SPILLWAY_TRY(model::check_range("body_bytes", config.body_bytes, 1024, 4 << 20));
  SPILLWAY_TRY(model::check_range("pools", config.pools, 1, 1'000'000));
  SPILLWAY_TRY(model::check_range("offers", config.offers, 1, 1'000'000));
  return model::check_range("streams", config.streams, 1, 1'000'000);
}

Result<BrokerConfig> config_from_yaml(const std::string& text, const std::string& source) {
  return model::read_yaml<BrokerConfig>(
      text, model::Heading{.what = source, .pointing = model::Pointing::line});
}

// JSON is YAML too; one line each for people.
std::string config_to_yaml(const BrokerConfig& config) {
  std::string yaml =
      "# A broker of Spillway. Every setting may also be given as a flag or as a variable:\n"
      "#   --set listen=0.0.0.0:7443    SPILLWAY_BROKER_LISTEN=0.0.0.0:7443\n"
      "# A flag counts before a variable, a variable before this file.\n"
      "version: 1\n";
  yaml += fmt::format("listen: \"{}\"\n", config.listen);
  yaml += "names: [";
  for (size_t i = 0; i < config.names.size(); ++i) {
    yaml += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", config.names[i]);
  }
  return yaml + "]\n";
}

}  // namespace spillway::services
