#include "services/broker/operations_port.h"

#include "services/broker/problem.h"

namespace spillway::services {

void OperationsPort::handle(net::Request request, const net::Peer& peer,
                            std::shared_ptr<net::Exchange> exchange) {
  const auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->exchange = std::move(exchange);
  call->address = peer.address;
  call->began = desk_.loop.now();
  call->id = "operations";
  call->scope = Scope::all;
  if (net::parse_target(call->request.target, call->target)) {
    call->route = match_route(call->request.method, call->target).route;
  }
  const bool known = call->route != nullptr && !call->route->path.starts_with("/v1/");
  if (known) return call->route->handle(desk_, call);
  call->route = nullptr;
  services::refuse(desk_, *call,
                   {Code::not_found, "route", "this port has health, readiness and metrics only",
                    "use the other port, with a certificate"});
}

net::Response OperationsPort::refuse(int status, std::string_view reason) {
  return problem(status, "malformed",
                 {Code::invalid, "request", std::string(reason), "see docs/broker.md"});
}

}  // namespace spillway::services
