// Api: the broker as its callers see it. Request in; then, in this order: a route, an identity, a
// rate, a role, whose thing it is; then the handler. Pure of sockets, so that the simulator runs
// the very same.
#pragma once

#include <memory>
#include <string>

#include "services/broker/desk.h"
#include "services/broker/rate_limit.h"

namespace spillway::services {

struct ApiLimits {
  Rate member{1000, 2000};  // of one identity
  Rate stranger{10, 40};    // of one address without one
};

class Api : public net::Handler {
 public:
  Api(Desk& desk, ApiLimits limits);

  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override;
  net::Response refuse(int status, std::string_view reason) override;

 private:
  bool find_route(Call& call);
  bool identify(Call& call, const net::PeerCertificate* certificate);
  bool authorise(Call& call);
  bool within_rate(Call& call);
  std::string make_request_id();

  Desk& desk_;
  RateLimit members_;
  RateLimit strangers_;
  uint64_t id_high_;
  uint64_t ids_ = 0;
};

// Whether a certificate is good at this moment, for what: the one place that judges it. An error
// is the reason why not.
Result<Caller> judge_certificate(const net::PeerCertificate& certificate,
                                 const std::string& federation, const host::Directory& directory,
                                 Instant now, bool may_be_expired);

}  // namespace spillway::services
