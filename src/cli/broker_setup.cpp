#include "cli/broker_setup.h"

#include <filesystem>

#include "cli/book_runner.h"
#include "cli/broker_settings.h"
#include "cli/broker_words.h"
#include "cli/when.h"
#include "pki/authority_folder.h"
#include "pki/private_file.h"
#include "pki/request.h"
#include "services/agent/credentials.h"
#include "services/broker/broker.h"

namespace spillway::cli {
namespace {

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string authority_in(const std::string& data) {
  return fmt::format("{}/{}", data, services::k_authority_folder);
}

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
  if (!is_there(data + "/" + k_config_file) || !is_there(authority_in(data)) ||
      !agent::has_joined(data + "/operator")) {
    return {};
  }
  return fail(Code::conflict, data, "a broker is set up here already",
              fmt::format("run it: spillway broker --data {}", data));
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

// Through the book like everyone else, so that the log begins with who the first operator was. Who
// was killed in between joins once more, with the same key.
Result<model::Identity> register_operator(const BrokerSetup& setup,
                                          services::AuthorityIssuer& issuer, const pki::Key& key) {
  const auto request = pki::make_request(key, setup.operator_name);
  if (!request) return tl::unexpected(request.error());
  const auto issued = issuer.issue(*request, setup.operator_name, now());
  if (!issued) return tl::unexpected(issued.error());
  const auto token = issuer.make_token();
  if (!token) return tl::unexpected(token.error());
  auto book = BookRunner::open(fmt::format("{}/{}", setup.data, services::k_market_file));
  if (!book) return tl::unexpected(book.error());
  const market::Origin origin{setup.operator_name, "broker-init"};
  const auto made = (*book)->ask(
      market::MakeToken{token->id, setup.operator_name, {model::Role::operator_}, {}, hours(1)},
      origin);
  if (!made) return tl::unexpected(made.error());
  auto joined = (*book)->ask(
      market::Join{token->id, issued->key, issued->certificate, issued->not_after}, origin);
  if (!joined) return tl::unexpected(joined.error());
  return std::move(*joined->identity);
}

Status make_operator(const BrokerSetup& setup, const std::string& url, const std::string& dir) {
  if (agent::has_joined(dir)) return {};
  auto issuer = services::AuthorityIssuer::load(authority_in(setup.data));
  if (!issuer) return tl::unexpected(issuer.error());
  SPILLWAY_TRY(pki::make_private_folder(dir));
  const auto key = agent::keep_key(dir);
  if (!key) return tl::unexpected(key.error());
  const auto identity = register_operator(setup, *issuer, *key);
  if (!identity) return tl::unexpected(identity.error());
  wire::CertificateAnswer told;
  told.federation = issuer->federation();
  told.name = identity->name;
  told.roles = identity->roles;
  told.certificate = identity->certificate;
  told.authorities = issuer->authorities();
  told.not_after = identity->not_after;
  told.renew_at = identity->not_after - (services::k_certificate_life - services::k_renew_after);
  return agent::save_credentials(dir, url, told);
}

}  // namespace

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

  BrokerSetupDone done{url_text(config.names.front(), at->port), setup.data + "/operator"};
  SPILLWAY_TRY(make_data_folder(setup.data));
  SPILLWAY_TRY(make_authority(setup));
  SPILLWAY_TRY(make_operator(setup, done.url, done.operator_dir));
  const std::string file = setup.data + "/" + k_config_file;
  if (!is_there(file)) SPILLWAY_TRY(pki::write_private(file, services::config_to_yaml(config)));
  return done;
}

}  // namespace spillway::cli
