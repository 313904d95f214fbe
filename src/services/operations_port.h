// A port without TLS for probes and Prometheus on the same machine or pod network: health,
// readiness and metrics, nothing else, and off unless it is asked for. Broker and agent have one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "net/exchange.h"
#include "net/server.h"

namespace spillway::services {

struct Operations {
  std::function<Status()> ready;
  std::function<std::string()> metrics;  // in the text format of Prometheus
};

class OperationsPort : public net::Handler {
 public:
  explicit OperationsPort(Operations operations) : operations_(std::move(operations)) {}

  Status listen(net::Poll& poll, const std::string& at);  // "127.0.0.1:9090"
  uint16_t port() const { return server_->port(); }       // after listen()

  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override;
  net::Response refuse(int status, std::string_view reason) override;

 private:
  net::Response answer(const net::Request& request) const;

  Operations operations_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace spillway::services
