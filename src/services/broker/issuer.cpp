#include "services/broker/issuer.h"

namespace spillway::services {

wire::CertificateAnswer answer_of(const Issuer& issuer, const model::Identity& identity) {
  wire::CertificateAnswer told;
  told.federation = issuer.federation();
  told.name = identity.name;
  told.roles = identity.roles;
  told.certificate = identity.certificate;
  told.authorities = issuer.authorities();
  told.not_after = identity.not_after;
  told.renew_at = identity.not_after - (k_certificate_life - k_renew_after);
  return told;
}

}  // namespace spillway::services
