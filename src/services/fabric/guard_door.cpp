#include "services/fabric/guard_door.h"

#include <utility>

#include "fabric/liqo/guard_webhook.h"
#include "fabric/record.h"
#include "model/json.h"
#include "model/tree.h"
#include "services/json_body.h"
#include "services/problem.h"

namespace spillway::agent {

namespace liqo = fabric::liqo;
using services::Level;

struct GuardDoor::Asked {
  liqo::Review review;
  std::shared_ptr<net::Exchange> exchange;
  liqo::ReviewNeeds needs = {};
  kube::Object space = {};
  kube::Object record = {};
  bool has_record = false;
  size_t values = 0;
};

size_t values_in(std::string_view json) {
  size_t values = 1;
  bool is_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_string) {
      if (c == '\\') ++i;
      if (c == '"') is_string = false;
      continue;
    }
    if (c == '"') is_string = true;
    if (c == ',' || c == '[' || c == '{') ++values;
  }
  return values;
}

GuardDoor::GuardDoor(kube::Api& api, services::Log& log, services::Metrics& metrics)
    : api_(api),
      log_(log),
      passed_(metrics.counter("spillway_guard_passed_total", "Reviews of writes that may pass")),
      refused_(metrics.counter("spillway_guard_refused_total", "Reviews of writes against a rule")),
      failed_(metrics.counter("spillway_guard_failed_total",
                              "Reviews that could not be judged, and so were refused")) {}

net::ServerLimits GuardDoor::limits() {
  net::ServerLimits limits;
  limits.connections = 256;
  limits.body_bytes = k_most_bytes;
  limits.stranger_body_bytes = k_most_bytes;  // an API server shows no certificate
  limits.bodies_bytes = 4 * k_most_bytes;
  limits.body = seconds(10);
  // Longer than an API server leaves a connection idle: else its next review could meet our end.
  limits.idle = minutes(5);
  limits.stranger_idle = minutes(5);
  return limits;
}

void GuardDoor::handle(net::Request request, const net::Peer& /*peer*/,
                       std::shared_ptr<net::Exchange> exchange) {
  const auto refuse_all = [&exchange, this](const Error& why) {
    failed_.add();
    exchange->respond(services::problem(why));
  };
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  if (request.method != "POST" || path != liqo::k_webhook_path) {
    return exchange->respond(services::problem(
        {Code::not_found, "route", "this port judges what API servers ask", "use POST /guard"}));
  }
  const size_t values = values_in(request.body);
  if (values > k_most_values) {
    return refuse_all(
        {Code::invalid, "review", "there is too much in it to be judged", "write smaller objects"});
  }
  if (waiting_values_ + values > k_most_waiting_values) {
    return refuse_all(
        {Code::unavailable, "review", "too many others wait to be judged", "try again"});
  }
  auto document =
      model::parse_json(request.body, "review", k_most_bytes, model::k_max_foreign_depth);
  if (!document) return refuse_all(document.error());
  auto review = liqo::read_review(std::move(*document));
  if (!review) return refuse_all(review.error());
  const auto asked = std::make_shared<Asked>(Asked{std::move(*review), std::move(exchange)});
  asked->needs = guard_.needs(asked->review);
  asked->values = values;
  waiting_values_ += values;
  look_up_space(asked);
}

void GuardDoor::look_up_space(const std::shared_ptr<Asked>& asked) {
  if (!asked->needs.space) return judge(*asked);
  const kube::Name name{"", std::string(asked->review.space())};
  api_.get(kube::k_namespaces, name, life_.guard([this, asked](Result<kube::Object> found) {
    if (!found) return give_up(*asked, found.error());
    asked->space = std::move(*found);
    look_up_record(asked);
  }));
}

void GuardDoor::look_up_record(const std::shared_ptr<Asked>& asked) {
  if (!asked->needs.record) return judge(*asked);
  const kube::Name name{std::string(asked->review.space()), std::string(fabric::k_record_name)};
  api_.get(kube::k_config_maps, name, life_.guard([this, asked](Result<kube::Object> found) {
    asked->has_record = found.has_value();
    if (!found && found.error().code != Code::not_found) return give_up(*asked, found.error());
    if (found) asked->record = std::move(*found);
    judge(*asked);
  }));
}

void GuardDoor::judge(const Asked& asked) {
  waiting_values_ -= asked.values;
  const auto refusal = guard_.judge(asked.review, {asked.needs.space ? &asked.space : nullptr,
                                                   asked.has_record ? &asked.record : nullptr});
  (refusal ? refused_ : passed_).add();
  if (refusal && log_.takes(Level::debug)) {
    log_.write(Level::debug, "refused by the guard",
               {{"policy", refusal->policy}, {"why", refusal->message}});
  }
  asked.exchange->respond(services::json_response(
      200, model::to_json(liqo::review_answer(asked.review.uid(), refusal))));
}

void GuardDoor::give_up(const Asked& asked, const Error& why) {
  waiting_values_ -= asked.values;
  failed_.add();
  tell(why);
  asked.exchange->respond(
      services::json_response(200, model::to_json(liqo::review_failure(asked.review.uid()))));
}

// Whoever asks chooses what is looked up, and so what cannot be.
void GuardDoor::tell(const Error& why) {
  const Instant now = api_.loop().now();
  if (told_ && now - *told_ < k_quiet) return;
  told_ = now;
  log_.write(Level::warning, "the guard cannot look up what it needs, and refuses",
             {{"why", why.message()}});
}

net::Response GuardDoor::refuse(int status, std::string_view reason) {
  return services::problem(
      status, "malformed",
      {Code::invalid, "request", std::string(reason), "see docs/fabric-rules.md"});
}

}  // namespace spillway::agent
