// Certificates and tokens without cryptography, but for the keys themselves: a certificate is a
// text that says what it is, a certificate request names a key, and a token's id is a part of its
// text. The network of the simulation vouches for who has which key.
#pragma once

#include <memory>
#include <string>

#include "host/random.h"
#include "net/exchange.h"
#include "pki/key.h"
#include "services/broker/issuer.h"

namespace spillway::sim {

class SimIssuer : public services::Issuer {
 public:
  explicit SimIssuer(host::Random& random) : random_(random) {}

  const std::string& federation() const override;
  std::string authorities() const override;
  Result<services::Issued> issue(const std::string& request, const std::string& name,
                                 Instant now) override;
  Result<services::NewToken> make_token() override;
  Result<std::string> token_id(const std::string& text) override;

 private:
  host::Random& random_;
};

// A key that signs in earnest: what members sign is verified by those who ship. The fingerprint
// stands for it everywhere else.
struct SimKey {
  pki::Key key;
  std::string fingerprint;
};
SimKey make_key(host::Random& random);
std::string request_for(const std::string& key);
std::string key_in(const std::string& request);    // empty: it is no request
std::string token_id_in(const std::string& text);  // empty: it is no token
// As the TLS layer would read it; null: it is no certificate of ours.
std::shared_ptr<const net::PeerCertificate> read_certificate(const std::string& text);

}  // namespace spillway::sim
