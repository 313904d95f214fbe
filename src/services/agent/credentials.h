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

#include <functional>
#include <map>
#include <string>
#include <utility>

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

inline constexpr const char* k_key_file = "key.pem";
inline constexpr const char* k_certificate_file = "certificate.pem";
inline constexpr const char* k_authorities_file = "authorities.pem";
inline constexpr const char* k_member_file = "member.json";
inline constexpr const char* k_token_file = "joined_with";

// The files of an identity by their names, wherever they are kept.
using IdentityFiles = std::map<std::string, std::string>;
bool has_joined(const IdentityFiles& files);
Result<Credentials> credentials_in(const IdentityFiles& files, const std::string& source);
// What an answer of the broker changes of them.
Status put_answer(IdentityFiles& files, const std::string& broker,
                  const wire::CertificateAnswer& told);

// An agent is for a cluster: the broker would let anybody connect, and it would wait for ever for
// something to do.
Status check_is_cluster(const Credentials& credentials, const std::string& source);

bool has_joined(const std::string& folder);
Result<Credentials> load_credentials(const std::string& folder);

// The key in the folder, or a new one that is on the disk before anyone hears of it.
Result<pki::Key> keep_key(const std::string& folder);
// Another key: what else is in the folder is of no use until it is saved anew.
Status replace_key(const std::string& folder, const pki::Key& key);

// Whether an answer is for that key, and signed by whom it tells us to believe.
Status check_answer(const pki::Key& key, const wire::CertificateAnswer& told);
// Of one who joins: also that the authority is among them which the token vouches for.
Status check_first_answer(const pki::Key& key, const wire::CertificateAnswer& told,
                          const std::string& pinned_authority);

Status save_credentials(const std::string& folder, const std::string& broker,
                        const wire::CertificateAnswer& told);

// Where the identity of a running agent is kept.
class IdentityStore {
 public:
  virtual ~IdentityStore() = default;
  // Keeps a renewed certificate, and calls with what is kept by then.
  virtual void renew(const std::string& broker, const wire::CertificateAnswer& told,
                     std::function<void(Result<Credentials>)> then) = 0;
};

class FolderIdentity final : public IdentityStore {
 public:
  explicit FolderIdentity(std::string folder) : folder_(std::move(folder)) {}
  void renew(const std::string& broker, const wire::CertificateAnswer& told,
             std::function<void(Result<Credentials>)> then) override {
    if (auto status = save_credentials(folder_, broker, told); !status) {
      return then(tl::unexpected(std::move(status).error()));
    }
    then(load_credentials(folder_));
  }

 private:
  std::string folder_;
};

}  // namespace spillway::agent
