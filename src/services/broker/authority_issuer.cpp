#include "services/broker/authority_issuer.h"

#include <arpa/inet.h>

#include "pki/request.h"
#include "pki/token.h"

namespace spillway::services {

pki::ServerNames server_names(const std::vector<std::string>& names) {
  pki::ServerNames told_apart;
  for (const std::string& name : names) {
    in6_addr any{};
    const bool is_address =
        inet_pton(AF_INET, name.c_str(), &any) == 1 || inet_pton(AF_INET6, name.c_str(), &any) == 1;
    (is_address ? told_apart.ip_addresses : told_apart.dns_names).push_back(name);
  }
  return told_apart;
}

AuthorityIssuer::AuthorityIssuer(std::string folder, pki::AuthorityFolder authority)
    : folder_(std::move(folder)),
      authority_(std::move(authority)),
      federation_(authority_.signer().federation()) {}

Result<AuthorityIssuer> AuthorityIssuer::load(const std::string& folder) {
  auto authority = pki::AuthorityFolder::load(folder);
  if (!authority) return tl::unexpected(authority.error());
  return AuthorityIssuer(folder, std::move(*authority));
}

Result<bool> AuthorityIssuer::reload() {
  auto authority = pki::AuthorityFolder::load(folder_);
  if (!authority) return tl::unexpected(authority.error());
  if (authority->status() == authority_.status()) return false;
  authority_ = std::move(*authority);
  return true;
}

Result<Issued> AuthorityIssuer::issue(const std::string& request_pem, const std::string& name,
                                      Instant now) {
  const auto request = pki::read_request(request_pem);
  if (!request) return tl::unexpected(request.error());
  const Instant not_after{(now + k_certificate_life).ms / 1000 * 1000};  // X.509 has no fractions
  auto certificate = authority_.signer().issue_member(request->key, name, now, not_after);
  if (!certificate) return tl::unexpected(certificate.error());
  return Issued{std::move(*certificate), request->fingerprint, not_after};
}

Result<NewToken> AuthorityIssuer::make_token() {
  const pki::Token token = pki::make_token(authority_.signer().fingerprint());
  return NewToken{std::string(pki::to_text(token).view()), pki::token_id(token.secret)};
}

Result<std::string> AuthorityIssuer::token_id(const std::string& text) {
  const auto token = pki::parse_token(text);
  if (!token) return tl::unexpected(token.error());
  return pki::token_id(token->secret);
}

Result<net::TlsIdentity> AuthorityIssuer::server_identity(const pki::ServerNames& names,
                                                          Instant now) const {
  const pki::Key key = pki::Key::generate();
  const auto certificate = authority_.signer().issue_server(key.public_key(), names, now,
                                                            now + k_server_certificate_life);
  if (!certificate) return tl::unexpected(certificate.error());
  // With the authority itself: who joins knows it by its fingerprint only.
  return net::TlsIdentity{*certificate + authority_.signer().certificate_pem(),
                          std::string(key.to_pem().view())};
}

}  // namespace spillway::services
