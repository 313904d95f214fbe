// Is it alive, is it ready, how is it doing.
#include "services/broker/body.h"
#include "services/broker/handlers.h"

namespace spillway::services {

void handle_health(Desk& desk, const std::shared_ptr<Call>& call) {
  answer(desk, *call, 200, wire::Health{"ok"});
}

void handle_ready(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto not_ready = [&](std::string reason, std::string next) {
    refuse(desk, *call, {Code::unavailable, "broker", std::move(reason), std::move(next)});
  };
  if (desk.draining) return not_ready("it is shutting down", "ask another broker");
  if (const Status& trouble = loading_trouble(desk); !trouble) {
    Error error = trouble.error();
    error.code = Code::unavailable;
    return refuse(desk, *call, error);
  }
  if (!desk.directory.is_ready() || !desk.feed.is_ready()) {
    return not_ready("it is loading the market", "try again in a second");
  }
  // The store is asked, for a broker that cannot read or write its market is not ready.
  const auto status = desk.book.health();
  if (!status) return refuse(desk, *call, status.error());
  answer(desk, *call, 200, wire::Health{"ok"});
}

void handle_metrics(Desk& desk, const std::shared_ptr<Call>& call) {
  net::Response response;
  response.headers.push_back({"Content-Type", "text/plain; version=0.0.4"});
  response.body = desk.metrics.text();
  reply(desk, *call, std::move(response));
}

}  // namespace spillway::services
