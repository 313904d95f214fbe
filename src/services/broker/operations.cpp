// Is it alive, is it ready, how is it doing.
#include "services/broker/body.h"
#include "services/broker/handlers.h"

namespace spillway::services {

void handle_health(Desk& desk, const std::shared_ptr<Call>& call) {
  answer(desk, *call, 200, wire::Health{"ok"});
}

Status readiness(const Desk& desk) {
  if (desk.draining) {
    return fail(Code::unavailable, "broker", "it is shutting down", "ask another broker");
  }
  if (const Status& trouble = loading_trouble(desk); !trouble) {
    Error error = trouble.error();
    error.code = Code::unavailable;
    return tl::unexpected(std::move(error));
  }
  if (!desk.directory.is_ready() || !desk.feed.is_ready()) {
    return fail(Code::unavailable, "broker", "it is loading the market", "try again in a second");
  }
  // The store is asked, for a broker that cannot read or write its market is not ready.
  return desk.book.health();
}

void handle_ready(Desk& desk, const std::shared_ptr<Call>& call) {
  if (const Status ready = readiness(desk); !ready) return refuse(desk, *call, ready.error());
  answer(desk, *call, 200, wire::Health{"ok"});
}

void handle_metrics(Desk& desk, const std::shared_ptr<Call>& call) {
  net::Response response;
  response.headers.push_back({"Content-Type", "text/plain; version=0.0.4"});
  response.body = desk.metrics.text();
  reply(desk, *call, std::move(response));
}

}  // namespace spillway::services
