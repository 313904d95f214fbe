// The socket of a cluster, its certificates, and who is let in.
#include <fmt/format.h>

#include "base/base64.h"
#include "embedded/cluster_parts.h"
#include "embedded/document.h"
#include "net/client.h"
#include "pki/key.h"

namespace spillway::embedded {
namespace {

constexpr Duration k_certificates_last = hours(24 * 365);

net::ServerOptions with_limits(net::ServerOptions options) {
  options.limits.body_bytes = size_t{3} << 20;
  // Callers with a token show no certificate, and are no strangers here.
  options.limits.stranger_body_bytes = options.limits.body_bytes;
  options.limits.stranger_idle = options.limits.idle;
  return options;
}

bool is_reachable_at(const std::string& address) { return address != "0.0.0.0" && address != "::"; }

Result<net::TlsIdentity> identity_for(const pki::Authority& authority, const std::string& address,
                                      Instant from, Instant until) {
  pki::ServerNames names{{"localhost", "kubernetes", "kubernetes.default.svc"}, {"127.0.0.1"}};
  if (address != "127.0.0.1" && is_reachable_at(address)) names.ip_addresses.push_back(address);
  const pki::Key key = pki::Key::generate();
  auto certificate = authority.issue_server(key.public_key(), names, from, until);
  if (!certificate) return tl::unexpected(certificate.error());
  return net::TlsIdentity{std::move(*certificate), std::string(key.to_pem().view())};
}

// How this cluster's Liqo reaches other clusters.
Dial dial_by(net::Poll& poll) {
  return [&poll](const kube::Access& access) -> Result<std::unique_ptr<net::Channel>> {
    net::ClientOptions options;
    options.host = access.server.host;
    options.port = access.server.port;
    options.server_name = access.server_name;
    options.authorities_pem = access.authorities_pem;
    options.identity = access.identity;
    auto client = net::Client::create(poll, std::move(options));
    if (!client) return tl::unexpected(client.error());
    return std::unique_ptr<net::Channel>(std::move(*client));
  };
}

}  // namespace

Status Cluster::listen(net::Poll& poll, net::ServerOptions options) {
  const Instant now = parts_->loop.now();
  SPILLWAY_TRY(parts_->need_authority(options_.name));
  const pki::Authority& authority = *parts_->authority;
  serving_ = std::make_unique<Serving>();
  serving_->authority_pem = authority.certificate_pem();
  serving_->options = with_limits(std::move(options));
  const auto identity =
      identity_for(authority, serving_->options.address, now, now + k_certificates_last);
  if (!identity) return tl::unexpected(identity.error());
  auto server =
      net::Server::listen(poll, serving_->options, *identity, serving_->authority_pem, parts_->api);
  if (!server) return tl::unexpected(server.error());
  serving_->server = std::move(*server);
  cut_by_server();
  if (parts_->liqo != nullptr) parts_->liqo->listens_at(url(), dial_by(poll));
  return {};
}

Status Cluster::listen_plain(net::Poll& poll, net::ServerOptions options) {
  serving_ = std::make_unique<Serving>();
  serving_->options = with_limits(std::move(options));
  auto server = net::Server::listen_plain(poll, serving_->options, parts_->api);
  if (!server) return tl::unexpected(server.error());
  serving_->server = std::move(*server);
  cut_by_server();
  return {};
}

// Not from within the request: the connection is still in use there.
void Cluster::cut_by_server() {
  on_cut([this](const std::string& address, std::shared_ptr<net::Exchange> exchange) {
    parts_->loop.post(parts_->lifeline.guard([this, address, held = std::move(exchange)] {
      serving_->server->cut([&](const net::Peer& peer) { return peer.address == address; });
    }));
  });
}

uint16_t Cluster::port() const { return serving_->server->port(); }

const std::string& Cluster::authority_pem() const { return parts_->authority->certificate_pem(); }

Result<Credentials> Cluster::issue(std::string_view user, std::vector<std::string> groups) {
  const Instant now = parts_->loop.now();
  const pki::Key key = pki::Key::generate();
  // Users of Kubernetes have colons in their names, which ours may not: who somebody is, is told by
  // the key.
  auto certificate =
      parts_->authority->issue_member(key.public_key(), "client", now, now + k_certificates_last);
  if (!certificate) return tl::unexpected(certificate.error());
  admit_key(key.fingerprint(), std::string(user), std::move(groups));
  return Credentials{std::move(*certificate), std::string(key.to_pem().view())};
}

void Cluster::admit_key(const std::string& key, std::string user, std::vector<std::string> groups) {
  parts_->access.add_key(key, {std::move(user), std::move(groups)});
}

std::string Cluster::issue_token(std::string user, std::vector<std::string> groups) {
  std::string token = new_suffix(parts_->objects.random, 32);
  parts_->access.add_token(token, {std::move(user), std::move(groups)});
  return token;
}

std::string Cluster::service_account_token(std::string_view space, std::string_view name) {
  User account = service_account(space, name);
  return issue_token(std::move(account.name), std::move(account.groups));
}

std::string Cluster::url() const {
  const std::string& address = serving_->options.address;
  std::string host = is_reachable_at(address) ? address : "127.0.0.1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("https://{}:{}", host, port());
}

Result<std::string> Cluster::kubeconfig() {
  const auto admin = issue("admin", {"system:masters"});
  if (!admin) return tl::unexpected(admin.error());
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters:\n"
      "- name: {0}\n"
      "  cluster:\n"
      "    server: {1}\n"
      "    certificate-authority-data: {2}\n"
      "users:\n"
      "- name: admin\n"
      "  user:\n"
      "    client-certificate-data: {3}\n"
      "    client-key-data: {4}\n"
      "contexts:\n"
      "- name: {0}\n"
      "  context:\n"
      "    cluster: {0}\n"
      "    user: admin\n"
      "current-context: {0}\n",
      options_.name, url(), to_base64(authority_pem()), to_base64(admin->certificate_pem),
      to_base64(admin->key_pem));
}

Status Cluster::present(Instant from, Instant until) {
  const auto identity = identity_for(*parts_->authority, serving_->options.address, from, until);
  if (!identity) return tl::unexpected(identity.error());
  return serving_->server->set_tls(*identity, serving_->authority_pem);
}

Status Cluster::expire_certificate() {
  const Instant now = parts_->loop.now();
  return present(now - hours(48), now - hours(24));
}

Status Cluster::renew_certificate() {
  const Instant now = parts_->loop.now();
  return present(now, now + k_certificates_last);
}

}  // namespace spillway::embedded
