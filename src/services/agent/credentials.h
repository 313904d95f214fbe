// The folder of an identity: who somebody is, and what proves it.
//
//   key.pem          made here, never leaves
//   certificate.pem  what the broker made of it, renewed all the time
//   authorities.pem  whom we believe
//   member.json      the broker's address, the federation, the name and the roles; written last
//   joined_with      the id of the token, kept by spillway join
//
// Each file is replaced as a whole. Certificates are for the same key, so any mix of an old and a
// new file is good.
#pragma once

#include <string>

#include "model/identity.h"
#include "net/tls.h"
#include "pki/key.h"
#include "services/wire/bodies.h"

namespace spillway::agent {

struct Credentials {
  std::string broker;  // its URL
  std::string federation;
  std::string name;
  model::Roles roles;
  std::string authorities_pem;
  net::TlsIdentity tls;
  Instant not_before;  // of the certificate
  Instant not_after;
};

bool has_joined(const std::string& folder);
Result<Credentials> load_credentials(const std::string& folder);

// The key in the folder, or a new one that is on the disk before anyone hears of it.
Result<pki::Key> keep_key(const std::string& folder);
// Another key: what else is in the folder is of no use until it is saved anew.
Status replace_key(const std::string& folder, const pki::Key& key);

// Whether an answer is for that key, and signed by whom it tells us to believe.
Status check_answer(const pki::Key& key, const wire::CertificateAnswer& told);

Status save_credentials(const std::string& folder, const std::string& broker,
                        const wire::CertificateAnswer& told);

}  // namespace spillway::agent
