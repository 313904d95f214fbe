#include "cli/broker_setup.h"

#include <filesystem>

#include "cli/broker_settings.h"
#include "cli/broker_words.h"
#include "cli/files.h"
#include "cli/operator_identity.h"
#include "cli/when.h"
#include "pki/authority_folder.h"
#include "pki/private_file.h"
#include "pki/request.h"
#include "services/agent/credentials.h"
#include "services/broker/broker.h"
#include "services/host_port.h"

namespace spillway::cli {
namespace {

Status make_data_folder(const std::string& data) {
  std::error_code error;
  const auto parent = std::filesystem::absolute(data, error).lexically_normal().parent_path();
  if (!error) std::filesystem::create_directories(parent, error);
  if (error) {
    return fail(Code::denied, parent.string(), "it cannot be made: " + error.message(),
                "name another folder with --data, or make it as root");
  }
  return pki::make_private_folder(data);
}

Status refuse_if_complete(const std::string& data) {
  if (!is_set_up(data)) return {};
  return fail(Code::conflict, data, "a broker is set up here already",
              fmt::format("run it: spillway broker --data {0}; for another operator: spillway "
                          "broker operator --data {0}",
                          data));
}

// There or made, and of this federation.
Status make_authority(const BrokerSetup& setup) {
  const std::string folder = authority_in(setup.data);
  auto authority = pki::AuthorityFolder::load(folder);
  if (!authority && authority.error().code == Code::not_found) {
    authority = pki::AuthorityFolder::create(folder, setup.federation, now());
  }
  if (!authority) return tl::unexpected(authority.error());
  if (authority->signer().federation() == setup.federation) return {};
  return fail(Code::conflict, folder, "it is the authority of " + authority->signer().federation(),
              "name that federation, or another folder with --data");
}

// Who was killed in between joins once more, with the same key.
Status make_operator(const BrokerSetup& setup, const std::string& url, const std::string& dir) {
  if (agent::has_joined(dir)) return {};
  SPILLWAY_TRY(pki::make_private_folder(dir));
  const auto key = agent::keep_key(dir);
  if (!key) return tl::unexpected(key.error());
  const auto told = enrol_operator({setup.data, setup.operator_name, "broker-init"}, *key);
  if (!told) return tl::unexpected(told.error());
  return agent::save_credentials(dir, url, *told);
}

}  // namespace

bool is_set_up(const std::string& data) {
  return is_there(data + "/" + k_config_file) && is_there(authority_in(data)) &&
         agent::has_joined(operator_in(data));
}

Result<BrokerSetupDone> set_up_broker(const BrokerSetup& setup) {
  SPILLWAY_TRY(pki::check_federation(setup.federation));
  SPILLWAY_TRY(pki::check_member_name(setup.operator_name));
  services::BrokerConfig config;
  config.listen = setup.listen;
  if (!setup.names.empty()) config.names = setup.names;
  config.data = setup.data;
  SPILLWAY_TRY(validate(config));
  const auto at = services::parse_host_port(setup.listen, "--listen");
  if (!at) return tl::unexpected(at.error());
  SPILLWAY_TRY(refuse_if_complete(setup.data));

  BrokerSetupDone done{url_text(config.names.front(), at->port), operator_in(setup.data)};
  SPILLWAY_TRY(make_data_folder(setup.data));
  SPILLWAY_TRY(make_authority(setup));
  SPILLWAY_TRY(make_operator(setup, done.url, done.operator_dir));
  const std::string file = setup.data + "/" + k_config_file;
  if (!is_there(file)) SPILLWAY_TRY(pki::write_private(file, services::config_to_yaml(config)));
  return done;
}

}  // namespace spillway::cli
