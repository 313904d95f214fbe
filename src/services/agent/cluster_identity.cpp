#include "services/agent/cluster_identity.h"

#include <utility>

#include "pki/request.h"
#include "pki/token.h"
#include "services/wire/broker_client.h"

namespace spillway::agent {

struct ClusterIdentity::Joining {
  std::string url;
  pki::Secret text;
  pki::Token token;
  pki::Key key;
  Connect connect;
  Then then;
};

void ClusterIdentity::join(const std::string& url, const pki::Secret& token, const Connect& connect,
                           Then then) {
  auto parsed = pki::parse_token(token.view());
  if (!parsed) return then(tl::unexpected(std::move(parsed).error()));
  const auto known = secret_.data().find(k_key_file);
  const bool has_key = known != secret_.data().end();
  auto key =
      has_key ? pki::Key::from_pem(known->second) : Result<pki::Key>(pki::Key::generate_member());
  if (!key) return then(tl::unexpected(std::move(key).error()));
  const auto joining =
      std::make_shared<Joining>(Joining{url, pki::Secret(token.view()), std::move(*parsed),
                                        std::move(*key), connect, std::move(then)});
  if (has_key) return ask(joining);
  IdentityFiles files = secret_.data();
  files[k_key_file] = std::string(joining->key.to_pem().view());
  secret_.write(std::move(files), life_.guard([this, joining](const Status& written) {
    if (!written) return joining->then(tl::unexpected(written.error()));
    ask(joining);
  }));
}

void ClusterIdentity::ask(const std::shared_ptr<Joining>& joining) {
  const auto request = pki::make_request(joining->key, "joining");
  if (!request) return joining->then(tl::unexpected(request.error()));
  auto channel = joining->connect(joining->url, joining->token.authority);
  if (!channel) return joining->then(tl::unexpected(std::move(channel).error()));
  channel_ = std::move(*channel);
  wire::BrokerClient(*channel_).join(
      {std::string(joining->text.view()), *request},
      life_.guard([this, joining](const Result<wire::CertificateAnswer>& told) {
        if (!told) return joining->then(tl::unexpected(told.error()));
        on_answer(joining, *told);
      }));
}

void ClusterIdentity::on_answer(const std::shared_ptr<Joining>& joining,
                                const wire::CertificateAnswer& told) {
  Status status = check_first_answer(joining->key, told, joining->token.authority);
  IdentityFiles files = secret_.data();
  files[k_token_file] = pki::token_id(joining->token.secret);
  if (status) status = put_answer(files, joining->url, told);
  if (!status) return joining->then(tl::unexpected(std::move(status).error()));
  keep(files, joining->then);
}

void ClusterIdentity::renew(const std::string& broker, const wire::CertificateAnswer& told,
                            Then then) {
  IdentityFiles files = secret_.data();
  if (auto status = put_answer(files, broker, told); !status) {
    return then(tl::unexpected(std::move(status).error()));
  }
  keep(files, std::move(then));
}

void ClusterIdentity::keep(const IdentityFiles& files, Then then) {
  secret_.write(files, life_.guard([this, then = std::move(then)](const Status& written) {
    if (!written) return then(tl::unexpected(written.error()));
    then(load());
  }));
}

}  // namespace spillway::agent
