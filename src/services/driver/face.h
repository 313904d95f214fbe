// Face: a driver as its callers see it. Request in; then, in this order: a route, an identity, a
// rate, whose clusters they are; then the desk. What is not listed is denied, and what a caller may
// not see looks as if it did not exist. Pure of sockets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/lifeline.h"
#include "host/loop.h"
#include "net/exchange.h"
#include "services/broker/rate_limit.h"
#include "services/driver/callers.h"
#include "services/driver/desk.h"
#include "services/log.h"
#include "services/metrics.h"

namespace spillway::driver {

struct FaceLimits {
  services::Rate caller{200, 400};
  services::Rate stranger{10, 40};  // of one address
  size_t streams = 16;              // of events, of one caller
  size_t page = 1000;               // rows in one answer
};

class Face final : public net::Handler {
 public:
  Face(host::Loop& loop, Desk& desk, Callers callers, services::Log& log,
       services::Metrics& metrics, FaceLimits limits = {});

  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override;
  net::Response refuse(int status, std::string_view reason) override;
  // All streams end: each has the rights with which it began. Who still may comes back.
  void set_callers(Callers callers);

 private:
  struct Call {
    net::Request request;
    net::Target target;
    std::vector<std::string> parameters;
    std::string address;
    Rights rights;
    Instant not_after;  // of the certificate
    std::shared_ptr<net::Exchange> exchange;
  };
  using CallPtr = std::shared_ptr<Call>;
  struct Route {
    std::string_view method;
    std::string_view path;
    void (Face::*handle)(const CallPtr& call);
  };
  static const std::vector<Route>& routes();

  const Route* find_route(Call& call);
  bool identify(Call& call, const net::PeerCertificate* certificate);
  bool within_rate(Call& call, bool is_known);

  void list_units(const CallPtr& call);
  void get_unit(const CallPtr& call);
  void put_unit(const CallPtr& call);
  void delete_unit(const CallPtr& call);
  void list_peerings(const CallPtr& call);
  void get_peering(const CallPtr& call);
  void put_peering(const CallPtr& call);
  void delete_peering(const CallPtr& call);
  void get_events(const CallPtr& call);

  template <class Page, class Row>
  void list(Call& call, std::vector<Row> (Desk::*rows)(const Which&) const,
            std::vector<Row> Page::*into);
  bool may_order(Call& call, const std::string& consumer, const std::string& provider);
  void answer_unit(const CallPtr& call, const Result<UnitDocument>& unit);
  void reply(Call& call, net::Response response);
  void refuse_with(Call& call, const Error& error);

  host::Loop& loop_;
  Desk& desk_;
  Callers callers_;
  services::Log& log_;
  services::Metrics& metrics_;
  FaceLimits limits_;
  services::RateLimit known_;
  services::RateLimit strangers_;
  host::Lifeline life_;
};

}  // namespace spillway::driver
