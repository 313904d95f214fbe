#include "cli/broker_settings.h"

#include <filesystem>

#include "base/text.h"
#include "cli/files.h"

namespace spillway::cli {
namespace {

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

std::string data_folder(const std::string& given, const Environment& environment) {
  if (!given.empty()) return given;
  const char* variable = environment("SPILLWAY_BROKER_DATA");
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
