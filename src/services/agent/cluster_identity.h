// ClusterIdentity: the files that spillway join makes, in a Secret of the cluster. When there are
// none yet, it joins with a token. A new certificate is in the Secret before it is used, and so is
// the key before anybody hears of it: whoever is killed in between asks again with the same key,
// and the broker answers the same token again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/lifeline.h"
#include "net/channel.h"
#include "pki/secret.h"
#include "services/agent/credentials.h"
#include "services/agent/held_secret.h"

namespace spillway::agent {

class ClusterIdentity final : public IdentityStore {
 public:
  using Then = std::function<void(Result<Credentials>)>;
  // To the broker at that URL, if it shows an authority with that fingerprint.
  using Connect = std::function<Result<std::unique_ptr<net::Channel>>(
      const std::string& url, const std::string& pinned_authority)>;

  explicit ClusterIdentity(HeldSecret& secret) : secret_(secret) {}

  // Once the Secret is claimed.
  bool is_there() const { return has_joined(secret_.data()); }
  Result<Credentials> load() const { return credentials_in(secret_.data(), secret_.text()); }
  void join(const std::string& url, const pki::Secret& token, const Connect& connect, Then then);

  void renew(const std::string& broker, const wire::CertificateAnswer& told, Then then) override;

 private:
  struct Joining;
  void ask(const std::shared_ptr<Joining>& joining);
  void on_answer(const std::shared_ptr<Joining>& joining, const wire::CertificateAnswer& told);
  void keep(const IdentityFiles& files, Then then);

  HeldSecret& secret_;
  std::unique_ptr<net::Channel> channel_;  // of the last try to join
  host::Lifeline life_;
};

}  // namespace spillway::agent
