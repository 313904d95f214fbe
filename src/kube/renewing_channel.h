// RenewingChannel: a Client whose authorities and identity come from files that somebody else
// replaces (a certificate that lives a day, an authority that is rotated).
//
// Before a request the files are looked at, at most every k_keep, and at once after the server
// refused us or we the server. What changed holds for the next connection. Files that cannot be
// read, or that do not fit together because only one has been replaced by now, change nothing: what
// was good stays in use until they are good again.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/lifeline.h"
#include "host/loop.h"
#include "kube/access.h"
#include "net/client.h"

namespace spillway::kube {

class RenewingChannel final : public net::Channel {
 public:
  static constexpr Duration k_keep = seconds(10);  // as for tokens

  // `authorities_pem` and `identity`: what the client was made with.
  RenewingChannel(host::Loop& loop, std::unique_ptr<net::Client> client, AccessFiles files,
                  std::string authorities_pem, std::optional<net::TlsIdentity> identity);

  void send(net::Request request, net::OnResponse then) override;
  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override;

 private:
  void look();
  void renew_authorities();
  void renew_identity();
  bool has_files() const {
    return !files_.authorities.empty() || !files_.certificate.empty() || !files_.key.empty();
  }

  host::Loop& loop_;
  std::unique_ptr<net::Client> client_;
  AccessFiles files_;
  std::string authorities_pem_;
  std::optional<net::TlsIdentity> identity_;
  std::optional<Instant> looked_at_;
  host::Lifeline life_;
};

}  // namespace spillway::kube
