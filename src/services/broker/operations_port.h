// A port without TLS for probes and Prometheus on the same machine or pod network: health,
// readiness and metrics, nothing else, and off unless it is asked for.
#pragma once

#include "net/exchange.h"
#include "services/broker/desk.h"

namespace spillway::services {

class OperationsPort : public net::Handler {
 public:
  explicit OperationsPort(Desk& desk) : desk_(desk) {}
  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override;
  net::Response refuse(int status, std::string_view reason) override;

 private:
  Desk& desk_;
};

}  // namespace spillway::services
