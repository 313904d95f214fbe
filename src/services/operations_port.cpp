#include "services/operations_port.h"

#include "services/host_port.h"
#include "services/problem.h"

namespace spillway::services {
namespace {

constexpr size_t k_most_connections = 64;

net::Response good() { return {200, {{"Content-Type", "application/json"}}, R"({"status":"ok"})"}; }

}  // namespace

Status OperationsPort::listen(net::Poll& poll, const std::string& at) {
  const auto local = parse_host_port(at, "operations");
  if (!local) return tl::unexpected(local.error());
  net::ServerOptions options;
  options.address = local->host;
  options.port = local->port;
  options.limits.connections = k_most_connections;
  auto server = net::Server::listen_plain(poll, options, *this);
  if (!server) return tl::unexpected(std::move(server).error());
  server_ = std::move(*server);
  return {};
}

net::Response OperationsPort::answer(const net::Request& request) const {
  net::Target target;
  const bool is_read = request.method == "GET" && net::parse_target(request.target, target) &&
                       target.segments.size() == 1;
  const std::string wanted = is_read ? target.segments[0] : std::string();
  if (wanted == "healthz") return good();
  if (wanted == "readyz") {
    const Status ready = operations_.ready();
    return ready ? good() : problem(ready.error());
  }
  if (wanted == "metrics") {
    return {200, {{"Content-Type", "text/plain; version=0.0.4"}}, operations_.metrics()};
  }
  return problem({Code::not_found, "route", "this port has health, readiness and metrics only",
                  "use GET /healthz, /readyz or /metrics"});
}

void OperationsPort::handle(net::Request request, const net::Peer& /*peer*/,
                            std::shared_ptr<net::Exchange> exchange) {
  exchange->respond(answer(request));
}

net::Response OperationsPort::refuse(int status, std::string_view reason) {
  return problem(status, "malformed",
                 {Code::invalid, "request", std::string(reason), "see docs/broker.md"});
}

}  // namespace spillway::services
