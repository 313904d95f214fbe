// The federation's authority, as the broker uses it. The folder may change while the broker runs
// (rotation): reload() takes over what is there.
#pragma once

#include <string>

#include "net/tls.h"
#include "pki/authority_folder.h"
#include "services/broker/issuer.h"

namespace spillway::services {

class AuthorityIssuer : public Issuer {
 public:
  static Result<AuthorityIssuer> load(const std::string& folder);

  const std::string& federation() const override { return federation_; }
  std::string authorities() const override { return authority_.bundle(); }
  Result<Issued> issue(const std::string& request_pem, const std::string& name,
                       Instant now) override;
  Result<NewToken> make_token() override;
  Result<std::string> token_id(const std::string& text) override;

  Result<bool> reload();  // true: something changed
  pki::AuthorityStatus status() const { return authority_.status(); }

  // A fresh key and certificate for the broker's own side of TLS.
  Result<net::TlsIdentity> server_identity(const pki::ServerNames& names, Instant now) const;

 private:
  AuthorityIssuer(std::string folder, pki::AuthorityFolder authority);

  std::string folder_;
  pki::AuthorityFolder authority_;
  std::string federation_;
};

// DNS names and IP addresses, told apart.
pki::ServerNames server_names(const std::vector<std::string>& names);

// The broker's own certificate: it makes another one itself, long before.
inline constexpr Duration k_server_certificate_life = hours(7 * 24);

}  // namespace spillway::services
