#include "services/broker/api.h"

#include "market/mutants.h"
#include "pki/names.h"
#include "services/problem.h"

namespace spillway::services {
namespace {

std::string_view host_of(std::string_view address) { return address.substr(0, address.rfind(':')); }

constexpr std::string_view k_join_again =
    "ask an operator for a token and run `spillway join` again";

}  // namespace

Result<Caller> judge_certificate(const net::PeerCertificate& certificate,
                                 const std::string& federation, const host::Directory& directory,
                                 Instant now, bool may_be_expired) {
  const auto member = pki::parse_member_uri(certificate.uri);
  if (!member || member->federation != federation) {
    return fail(Code::denied, "your certificate", "it names no identity of this federation",
                std::string(k_join_again));
  }
  const std::string& name = member->name;
  const auto identity = directory.find(name);
  if (identity == nullptr || identity->key != certificate.key) {
    return fail(Code::denied, fmt::format("identity {}", name),
                "its certificate was replaced, or it never joined", std::string(k_join_again));
  }
  if (identity->revoked && !market::mutant(market::Mutant::admit_revoked)) {
    return fail(Code::denied, fmt::format("identity {}", name), "it was revoked",
                std::string(k_join_again));
  }
  if (now < certificate.not_before) {
    return fail(Code::denied, fmt::format("identity {}", name), "its certificate is not valid yet",
                "compare your clock with the broker's");
  }
  const Instant last = may_be_expired ? certificate.not_after + k_renewable : certificate.not_after;
  if (now >= last) {
    return fail(Code::denied, fmt::format("identity {}", name),
                fmt::format("its certificate expired at {}", to_text(certificate.not_after)),
                may_be_expired ? std::string(k_join_again)
                               : "renew it: a running agent does, else `spillway renew`");
  }
  return Caller{name, identity->roles, certificate.not_after, certificate.key};
}

Api::Api(Desk& desk, ApiLimits limits)
    : desk_(desk),
      members_(limits.member),
      strangers_(limits.stranger),
      id_high_(desk.random.next()) {}

// Unique, short, and telling nothing: the broker's start, and a number.
std::string Api::make_request_id() { return fmt::format("{:08x}-{:x}", id_high_ >> 32U, ++ids_); }

void Api::handle(net::Request request, const net::Peer& peer,
                 std::shared_ptr<net::Exchange> exchange) {
  const auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->exchange = std::move(exchange);
  call->address = peer.address;
  call->id = make_request_id();
  call->began = desk_.loop.now();
  if (!find_route(*call) || !identify(*call, peer.certificate.get()) || !within_rate(*call) ||
      !authorise(*call)) {
    return;
  }
  call->route->handle(desk_, call);
}

bool Api::find_route(Call& call) {
  const bool readable = net::parse_target(call.request.target, call.target);
  Match match = readable ? match_route(call.request.method, call.target) : Match{};
  if (match.route != nullptr) {
    call.route = match.route;
    call.parameters = std::move(match.parameters);
    return true;
  }
  // Whoever asks for what is not there counts as a stranger, member or not.
  if (!within_rate(call)) return false;
  if (!readable) {
    reply(desk_, call,
          problem(400, "malformed",
                  {Code::invalid, "target", "it is not a path that HTTP knows",
                   "see api/openapi.yaml for the routes"}));
    return false;
  }
  if (match.allowed.empty()) {
    services::refuse(desk_, call,
                     {Code::not_found, "route", "there is no such route",
                      "see api/openapi.yaml for the routes"});
    return false;
  }
  net::Response response = problem(405, "method",
                                   {Code::invalid, "method", "this route does not take it",
                                    fmt::format("use one of {}", match.allowed)});
  response.headers.push_back({"Allow", match.allowed});
  reply(desk_, call, std::move(response));
  return false;
}

bool Api::identify(Call& call, const net::PeerCertificate* certificate) {
  if (call.route->access.anonymous) return true;
  if (!desk_.directory.is_ready()) {
    services::refuse(desk_, call,
                     {Code::unavailable, "broker",
                      "it is starting and does not know its members yet", "try again in a second"});
    return false;
  }
  const auto unknown = [&](const Error& error) {
    // Guessing costs as much as any other stranger's request.
    if (within_rate(call)) reply(desk_, call, problem(401, "unidentified", error));
    return false;
  };
  if (certificate == nullptr) {
    return unknown({Code::denied, "you", "no client certificate was shown",
                    "join the federation first: `spillway join`"});
  }
  auto caller = judge_certificate(*certificate, desk_.issuer.federation(), desk_.directory,
                                  call.began, call.route->access.expired);
  if (!caller) return unknown(caller.error());
  call.caller = std::move(*caller);
  return true;
}

bool Api::within_rate(Call& call) {
  if (call.route != nullptr && call.route->access.probe) return true;
  const bool known = !call.caller.name.empty();
  const bool within = known ? members_.take(call.caller.name, call.began)
                            : strangers_.take(std::string(host_of(call.address)), call.began);
  if (within) return true;
  net::Response response =
      problem(429, "rate",
              {Code::over_quota, known ? "identity " + call.caller.name : "address",
               "too many requests in a short time", "wait a second, then go on"});
  response.headers.push_back({"Retry-After", "1"});
  reply(desk_, call, std::move(response));
  return false;
}

bool Api::authorise(Call& call) {
  if (call.route->access.anonymous) return true;
  call.scope = scope_of(call.route->access, call.caller.roles);
  if (call.scope == Scope::none) {
    services::refuse(desk_, call,
                     {Code::denied, fmt::format("{} {}", call.route->method, call.route->path),
                      fmt::format("only this may: {}", who_may(call.route->access)),
                      "ask an operator for a token with that role"});
    return false;
  }
  if (call.scope == Scope::all) return true;
  const Subject subject = call.route->subject;
  const bool says_whose = subject == Subject::owned || subject == Subject::cluster;
  if (!says_whose || call.parameters[0] == call.caller.name) return true;
  const bool pool = call.route->path.starts_with("/v1/pools");
  const std::string_view noun = subject == Subject::cluster ? "cluster" : pool ? "pool" : "offer";
  services::refuse(
      desk_, call,
      missing(noun, subject == Subject::cluster ? call.parameters[0] : call.owned_id()));
  return false;
}

net::Response Api::refuse(int status, std::string_view reason) {
  const std::string_view code = status == 413   ? "too-large"
                                : status == 431 ? "header-too-large"
                                : status == 408 ? "too-slow"
                                : status == 500 ? "internal"
                                : status == 503 ? "unavailable"
                                                : "malformed";
  desk_.metrics
      .counter("spillway_unparsed_total", "What never became a request, by answer",
               {{"status", fmt::format("{}", status)}})
      .add();
  return problem(status, code,
                 {Code::invalid, "request", std::string(reason), "see docs/broker.md for limits"});
}

}  // namespace spillway::services
