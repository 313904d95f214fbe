// Issuer: who makes certificates and tokens for the broker. The federation's authority stands
// behind it in a service; the simulator has one of its own, for it has no use for cryptography.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "services/wire/bodies.h"

namespace spillway::services {

struct Issued {
  std::string certificate;  // PEM
  std::string key;          // SHA-256 of the public key, hex
  Instant not_after;
};

struct NewToken {
  std::string text;  // for the person who joins
  std::string id;    // for the book
};

class Issuer {
 public:
  virtual ~Issuer() = default;
  virtual const std::string& federation() const = 0;
  virtual std::string authorities() const = 0;  // PEM: what members must trust
  // Of the request only the public key is used.
  virtual Result<Issued> issue(const std::string& request_pem, const std::string& name,
                               Instant now) = 0;
  virtual Result<NewToken> make_token() = 0;
  // The id under which the book knows a token; refuses what cannot be one.
  virtual Result<std::string> token_id(const std::string& text) = 0;
};

// A certificate lives this long, is renewed after two thirds of it, and may renew itself this long
// after it has expired.
inline constexpr Duration k_certificate_life = hours(24);
inline constexpr Duration k_renew_after = hours(16);
inline constexpr Duration k_renewable = hours(30 * 24);

// What a member is told that has a certificate.
wire::CertificateAnswer answer_of(const Issuer& issuer, const model::Identity& identity);

}  // namespace spillway::services
