#include "cli/broker_settings.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "cli/files.h"

namespace spillway::cli {
namespace {

constexpr std::string_view k_prefix = services::k_environment_prefix;
constexpr std::string_view k_data = "data";  // not a setting of the file: it is where the file is

std::vector<std::string> variable_names() {
  std::vector<std::string> names{services::environment_name(k_data)};
  for (const std::string_view setting : services::setting_names()) {
    names.push_back(services::environment_name(setting));
  }
  return names;
}

// Kubernetes tells every pod of a service "spillway-broker" where it is, in variables such as
// SPILLWAY_BROKER_SERVICE_HOST, …_PORT=tcp://10.0.0.1:7443 and …_PORT_7443_TCP_ADDR.
bool is_of_kubernetes(std::string_view name, std::string_view value) {
  if (name.find("_SERVICE_HOST") != std::string_view::npos) return true;
  if (name.find("_SERVICE_PORT") != std::string_view::npos) return true;
  constexpr std::string_view k_port = "_PORT";
  if (name.ends_with(k_port)) return value.find("://") != std::string_view::npos;
  const size_t at = name.find("_PORT_");
  if (at == std::string_view::npos) return false;
  const std::string_view number = name.substr(at + k_port.size() + 1);
  return !number.empty() && number.front() >= '0' && number.front() <= '9';
}

Status check_variable(std::string_view name, std::string_view value) {
  if (!name.starts_with(k_prefix)) return {};
  const std::vector<std::string> known = variable_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  if (is_of_kubernetes(name, value)) return {};
  // What all have in common would make every two of them seem near.
  std::vector<std::string_view> words(known.begin(), known.end());
  for (std::string_view& word : words) word.remove_prefix(k_prefix.size());
  const std::string_view meant = nearest(name.substr(k_prefix.size()), words);
  return fail(Code::invalid, std::string(name), "there is no such setting",
              meant.empty() ? fmt::format("unset it, or use {} and one of {}", k_prefix,
                                          fmt::join(words, ", "))
                            : fmt::format("did you mean {}{}?", k_prefix, meant));
}

Status apply_flags(services::BrokerConfig& config, const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    const size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Code::invalid, "--set", in_quotes(set) + " is no setting",
                  "write it as listen=0.0.0.0:7443");
    }
    SPILLWAY_TRY(services::apply_setting(config, std::string_view(set).substr(0, equals),
                                         std::string_view(set).substr(equals + 1)));
  }
  return {};
}

}  // namespace

Status check_variables(const char* const* variables) {
  for (; *variables != nullptr; ++variables) {
    const std::string_view variable = *variables;
    const std::string_view name = variable.substr(0, variable.find('='));
    const std::string_view value = variable.substr(std::min(name.size() + 1, variable.size()));
    SPILLWAY_TRY(check_variable(name, value));
  }
  return {};
}

std::string data_folder(const std::string& given, const Environment& environment) {
  if (!given.empty()) return given;
  const char* variable = environment(services::environment_name(k_data).c_str());
  if (variable != nullptr && *variable != '\0') return variable;
  return "/var/lib/spillway/broker";
}

Result<services::BrokerConfig> read_settings(const BrokerFlags& flags,
                                             const Environment& environment) {
  const std::string data = data_folder(flags.data, environment);
  services::BrokerConfig config;
  std::string file = flags.config;
  if (file.empty()) {
    file = data + "/" + k_config_file;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) file.clear();
  }
  if (!file.empty()) {
    const auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    auto read = services::config_from_yaml(*text, file);
    if (!read) return tl::unexpected(read.error());
    config = std::move(*read);
  }
  config.data = data;
  SPILLWAY_TRY(services::apply_environment(config, environment));
  SPILLWAY_TRY(apply_flags(config, flags.sets));
  SPILLWAY_TRY(validate(config));
  return config;
}

}  // namespace spillway::cli
