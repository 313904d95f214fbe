// A certificate on its way to being signed. What is put into it has been checked before: here
// nothing can fail but memory. Only for this room's .cpp files.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "pki/openssl.h"

namespace spillway::pki {

class CertificateDraft {
 public:
  // With a random serial of 128 bits.
  CertificateDraft(EVP_PKEY* key, std::string_view common_name, Instant not_before,
                   Instant not_after);

  // Of the subject, before the common name.
  void set_organization(std::string_view name);

  // The issuer's name and key identifier; itself when it signs itself.
  void issued_by(X509* issuer);
  void issued_by_itself() { issued_by(draft_.get()); }

  // In the syntax of x509v3_config(5): for constants only.
  void extend(int nid, const char* value);

  void add_uri(std::string_view uri);
  void add_dns_name(std::string_view name);
  bool add_ip_address(const std::string& address);  // false: it is none

  OwnedCertificate sign(EVP_PKEY* signer);

 private:
  void add_name(int type, std::string_view text);

  OwnedCertificate draft_;
  X509* issuer_ = nullptr;
  OwnedNames names_;
};

}  // namespace spillway::pki
