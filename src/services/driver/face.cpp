#include "services/driver/face.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "services/driver/orders.h"
#include "services/json_body.h"
#include "services/problem.h"
#include "services/route_path.h"

namespace spillway::driver {
namespace {

using services::json_response;
using services::problem;

std::string host_of(std::string_view address) {
  return std::string(address.substr(0, address.rfind(':')));
}

Error missing(std::string_view noun, const std::string& name) {
  return {Code::not_found, fmt::format("{} {}", noun, name),
          "it does not exist, or is not yours to see", "look at what you have with a list"};
}

std::string name_of(const UnitDocument& unit) { return unit.unit; }
std::string name_of(const PeeringDocument& peering) { return peering.name(); }

// A number in a target or a header; none: there is none, or it is no such number.
std::optional<int64_t> number_in(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool is_good = error == std::errc{} && stop == end && number >= 0;
  return is_good ? std::optional(number) : std::nullopt;
}

std::string asked_for(const net::Target& target, std::string_view name) {
  const std::string* text = target.parameter(name);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

Face::Face(host::Loop& loop, Desk& desk, Callers callers, services::Log& log,
           services::Metrics& metrics, FaceLimits limits)
    : loop_(loop),
      desk_(desk),
      callers_(std::move(callers)),
      log_(log),
      metrics_(metrics),
      limits_(limits),
      known_(limits.caller),
      strangers_(limits.stranger) {}

void Face::set_callers(Callers callers) {
  callers_ = std::move(callers);
  desk_.events().close_all();
}

const std::vector<Face::Route>& Face::routes() {
  static const std::vector<Route> k_routes{
      {"GET", "/v1/units", &Face::list_units},
      {"GET", "/v1/units/{unit}", &Face::get_unit},
      {"PUT", "/v1/units/{unit}", &Face::put_unit},
      {"DELETE", "/v1/units/{unit}", &Face::delete_unit},
      {"GET", "/v1/peerings", &Face::list_peerings},
      {"GET", "/v1/peerings/{consumer}/{provider}", &Face::get_peering},
      {"PUT", "/v1/peerings/{consumer}/{provider}", &Face::put_peering},
      {"DELETE", "/v1/peerings/{consumer}/{provider}", &Face::delete_peering},
      {"GET", "/v1/events", &Face::get_events},
  };
  return k_routes;
}

void Face::handle(net::Request request, const net::Peer& peer,
                  std::shared_ptr<net::Exchange> exchange) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->exchange = std::move(exchange);
  call->address = peer.address;
  const Route* route = find_route(*call);
  if (route == nullptr || !identify(*call, peer.certificate.get()) || !within_rate(*call, true)) {
    return;
  }
  (this->*(route->handle))(call);
}

const Face::Route* Face::find_route(Call& call) {
  const bool is_readable = net::parse_target(call.request.target, call.target);
  std::string allowed;
  for (const Route& route : routes()) {
    if (!is_readable || !services::fits_path(route.path, call.target.segments, nullptr)) continue;
    if (route.method == call.request.method) {
      services::fits_path(route.path, call.target.segments, &call.parameters);
      return &route;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  if (!within_rate(call, false)) return nullptr;
  if (!is_readable) {
    reply(call, problem(400, "malformed",
                        {Code::invalid, "target", "it is not a path that HTTP knows",
                         "see api/driver.yaml for the routes"}));
  } else if (allowed.empty()) {
    refuse_with(call, {Code::not_found, "route", "there is no such route",
                       "see api/driver.yaml for the routes"});
  } else {
    net::Response response = problem(405, "method",
                                     {Code::invalid, "method", "this route does not take it",
                                      fmt::format("use one of {}", allowed)});
    response.headers.push_back({"Allow", allowed});
    reply(call, std::move(response));
  }
  return nullptr;
}

bool Face::identify(Call& call, const net::PeerCertificate* certificate) {
  const auto unknown = [&](const Error& error) {
    if (within_rate(call, false)) reply(call, problem(401, "unidentified", error));
    return false;
  };
  if (certificate == nullptr) {
    return unknown({Code::denied, "you", "no client certificate was shown",
                    "ask whoever runs the driver for one: `spillway driver caller`"});
  }
  const Instant now = loop_.now();
  if (now < certificate->not_before || now >= certificate->not_after) {
    return unknown({Code::denied, "your certificate", "it is not valid at this time",
                    "compare clocks, or ask for another one"});
  }
  const Rights* rights = callers_.find(*certificate);
  if (rights == nullptr) {
    return unknown(
        {Code::denied, certificate->uri.empty() ? "your certificate" : "caller " + certificate->uri,
         "it is not among the driver's callers", "ask whoever runs the driver to list it"});
  }
  call.rights = *rights;
  call.not_after = certificate->not_after;
  return true;
}

bool Face::within_rate(Call& call, bool is_known) {
  const bool is_within = is_known ? known_.take(call.rights.name, loop_.now())
                                  : strangers_.take(host_of(call.address), loop_.now());
  if (is_within) return true;
  net::Response response =
      problem(429, "rate",
              {Code::over_quota, is_known ? call.rights.name : "address",
               "too many requests in a short time", "wait a second, then go on"});
  response.headers.push_back({"Retry-After", "1"});
  reply(call, std::move(response));
  return false;
}

void Face::reply(Call& call, net::Response response) {
  metrics_
      .counter("spillway_driver_requests_total", "Answered, by status",
               {{"status", fmt::format("{}", response.status)}})
      .add();
  const bool is_read = call.request.method == "GET" && response.status < 400;
  const auto level = is_read ? services::Level::debug : services::Level::info;
  if (log_.takes(level)) {
    log_.write(level, "request",
               {{"by", call.rights.name},
                {"from", call.address},
                {"method", call.request.method},
                {"target", call.request.target},
                {"status", fmt::format("{}", response.status)}});
  }
  call.exchange->respond(std::move(response));
}

void Face::refuse_with(Call& call, const Error& error) { reply(call, problem(error)); }

net::Response Face::refuse(int status, std::string_view reason) {
  const std::string_view code = status == 413   ? "too-large"
                                : status == 431 ? "header-too-large"
                                : status == 408 ? "too-slow"
                                : status == 500 ? "internal"
                                : status == 503 ? "unavailable"
                                                : "malformed";
  return problem(status, code,
                 {Code::invalid, "request", std::string(reason), "see docs/driver.md for limits"});
}

bool Face::may_order(Call& call, const std::string& consumer, const std::string& provider) {
  if (call.rights.may_order(consumer, provider)) return true;
  refuse_with(call, {Code::denied, fmt::format("{} of {}", consumer, provider),
                     fmt::format("{} may not order for these two", call.rights.name),
                     "ask whoever runs the driver to list them for you"});
  return false;
}

// ---- units ---------------------------------------------------------------------------------

// Those that the caller may see, page by page: ?after=, ?limit=, ?consumer=, ?provider=.
template <class Page, class Row>
void Face::list(Call& call, std::vector<Row> (Desk::*rows)(const Which&) const,
                std::vector<Row> Page::*into) {
  size_t limit = 100;
  if (const std::string* text = call.target.parameter("limit")) {
    const auto number = number_in(*text);
    if (!number || *number < 1 || std::cmp_greater(*number, limits_.page)) {
      return refuse_with(call, {Code::invalid, "limit",
                                fmt::format("it is not a number from 1 to {}", limits_.page),
                                "ask for less and follow `next`"});
    }
    limit = static_cast<size_t>(*number);
  }
  const std::string only_consumer = asked_for(call.target, "consumer");
  const std::string only_provider = asked_for(call.target, "provider");
  Which which{asked_for(call.target, "after"), limit + 1};  // one more: whether there are any
  which.is_wanted = [&](const std::string& consumer, const std::string& provider) {
    return call.rights.may_see(consumer, provider) &&
           (only_consumer.empty() || consumer == only_consumer) &&
           (only_provider.empty() || provider == only_provider);
  };
  Page page;
  std::vector<Row>& listed = page.*into;
  listed = (desk_.*rows)(which);
  if (listed.size() > limit) {
    listed.pop_back();
    page.next = name_of(listed.back());
  }
  reply(call, json_response(200, model::write_json(page)));
}

void Face::list_units(const CallPtr& call) { list(*call, &Desk::units, &UnitPage::units); }

void Face::get_unit(const CallPtr& call) {
  const std::string& name = call->parameters[0];
  const auto unit = desk_.unit(name);
  if (!unit || !call->rights.may_see(unit->order.consumer, unit->order.provider)) {
    return refuse_with(*call, missing("unit", name));
  }
  reply(*call, json_response(200, model::write_json(*unit)));
}

// 202 for as long as there is something to wait for.
void Face::answer_unit(const CallPtr& call, const Result<UnitDocument>& unit) {
  if (!unit) return refuse_with(*call, unit.error());
  reply(*call, json_response(unit->is_settled() ? 200 : 202, model::write_json(*unit)));
}

void Face::put_unit(const CallPtr& call) {
  const std::string& name = call->parameters[0];
  if (const auto parsed = parse_unit(name); !parsed) return refuse_with(*call, parsed.error());
  auto order = services::json_body<UnitOrder>(call->request, "order");
  if (!order) return reply(*call, std::move(order.error()));
  if (!may_order(*call, order->consumer, order->provider)) return;
  const auto known = desk_.unit(name);
  if (known && !call->rights.may_see(known->order.consumer, known->order.provider)) {
    return refuse_with(
        *call, {Code::conflict, "unit " + name, "the name is in use", "order one of another name"});
  }
  const MaySee may_see = [&rights = call->rights](const auto& consumer, const auto& provider) {
    return rights.may_see(consumer, provider);
  };
  desk_.order(name, *order, may_see, life_.guard([this, call](const Result<UnitDocument>& unit) {
    answer_unit(call, unit);
  }));
}

void Face::delete_unit(const CallPtr& call) {
  const std::string& name = call->parameters[0];
  if (!call->request.body.empty()) {
    return refuse_with(*call, {Code::invalid, "body", "this takes none", "leave it out"});
  }
  const auto known = desk_.unit(name);
  if (!known && desk_.is_forgotten(name)) return refuse_with(*call, ended(name));
  if (!known || !call->rights.may_see(known->order.consumer, known->order.provider)) {
    return refuse_with(*call, missing("unit", name));
  }
  if (!may_order(*call, known->order.consumer, known->order.provider)) return;
  desk_.end(name, life_.guard(
                      [this, call](const Result<UnitDocument>& unit) { answer_unit(call, unit); }));
}

// ---- peerings ------------------------------------------------------------------------------

void Face::list_peerings(const CallPtr& call) {
  list(*call, &Desk::peerings, &PeeringPage::peerings);
}

void Face::get_peering(const CallPtr& call) {
  const std::string& consumer = call->parameters[0];
  const std::string& provider = call->parameters[1];
  const auto peering = desk_.peering(consumer, provider);
  if (!peering || !call->rights.may_see(consumer, provider)) {
    return refuse_with(*call, missing("peering", consumer + "/" + provider));
  }
  reply(*call, json_response(200, model::write_json(*peering)));
}

void Face::put_peering(const CallPtr& call) {
  const std::string& consumer = call->parameters[0];
  const std::string& provider = call->parameters[1];
  auto order = services::json_body<PeeringOrder>(call->request, "order");
  if (!order) return reply(*call, std::move(order.error()));
  if (!may_order(*call, consumer, provider)) return;
  if (consumer == provider) {
    return refuse_with(
        *call, {Code::invalid, "provider", "it is the consumer itself", "name two clusters"});
  }
  desk_.keep(consumer, provider, *order,
             life_.guard([this, call](const Result<PeeringDocument>& peering) {
               if (!peering) return refuse_with(*call, peering.error());
               reply(*call, json_response(peering->open ? 200 : 202, model::write_json(*peering)));
             }));
}

void Face::delete_peering(const CallPtr& call) {
  const std::string& consumer = call->parameters[0];
  const std::string& provider = call->parameters[1];
  if (!call->rights.may_see(consumer, provider)) {
    return refuse_with(*call, missing("peering", consumer + "/" + provider));
  }
  if (!may_order(*call, consumer, provider)) return;
  desk_.close(consumer, provider, life_.guard([this, call](const Result<PeeringDocument>& peering) {
    if (!peering) return refuse_with(*call, peering.error());
    reply(*call, json_response(202, model::write_json(*peering)));
  }));
}

// ---- events --------------------------------------------------------------------------------

// Last-Event-ID is what comes back; ?after= is for everyone else. Without either: from now on.
void Face::get_events(const CallPtr& call) {
  EventWindow& events = desk_.events();
  const std::string* text = net::find_header(call->request.headers, "Last-Event-ID");
  if (text == nullptr) text = call->target.parameter("after");
  int64_t after = events.last();
  if (text != nullptr) {
    const auto number = number_in(*text);
    if (!number) {
      return refuse_with(*call, {Code::invalid, "after", "it is not the number of an event",
                                 "send the last id that you saw, or 0 for all that is kept"});
    }
    after = *number == 0 ? events.first_good() : *number;
  }
  if (after < events.first_good() || after > events.last()) {
    return refuse_with(*call, {Code::gone, fmt::format("event {}", after),
                               "what came after it is not kept any more",
                               "read /v1/units, then follow without it"});
  }
  if (events.streams_of(call->rights.name) >= limits_.streams) {
    return refuse_with(*call,
                       {Code::over_quota, call->rights.name,
                        fmt::format("it has {} streams open", limits_.streams), "close one first"});
  }
  net::Response head;
  head.headers = {{"Content-Type", "text/event-stream"},
                  {"Cache-Control", "no-store"},
                  {"X-Accel-Buffering", "no"}};
  auto stream = call->exchange->stream(std::move(head));
  if (!stream) return;
  events.follow({call->rights.name,
                 [rights = call->rights](const Event& event) {
                   return rights.may_see(event.consumer, event.provider);
                 },
                 call->not_after},
                std::move(stream), after);
}

}  // namespace spillway::driver
