#include "embedded/api.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "embedded/discovery.h"
#include "embedded/drops.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

net::Response response_of(const Answer<Reply>& reply) {
  net::Response response;
  response.headers = {{"Cache-Control", "no-cache, private"}};
  if (reply) {
    response.status = reply->status;
    response.headers.push_back({"Content-Type", reply->type});
    response.body = reply->body;
    return response;
  }
  const Refusal& refusal = reply.error();
  response.status = refusal.code;
  response.headers.push_back({"Content-Type", "application/json"});
  if (refusal.retry_after_seconds > 0) {
    response.headers.push_back({"Retry-After", std::to_string(refusal.retry_after_seconds)});
  }
  response.body = model::to_json(status_document(refusal)) + "\n";
  return response;
}

// What is no text could not be repeated in an answer, nor kept in a document.
bool is_text(const net::Target& target) {
  return std::all_of(target.segments.begin(), target.segments.end(),
                     [](const std::string& one) { return is_utf8(one); }) &&
         std::all_of(target.query.begin(), target.query.end(),
                     [](const auto& one) { return is_utf8(one.first) && is_utf8(one.second); });
}

Reply page_not_found() { return {404, "404 page not found\n", "text/plain; charset=utf-8"}; }

}  // namespace

Api::Api(Objects& objects, Access& access, Faults& faults, host::Loop& loop, ApiOptions options)
    : objects_(objects),
      access_(access),
      faults_(faults),
      loop_(loop),
      options_(options),
      watches_(objects.table, loop, objects.random, options.watches),
      // Where nobody can cut, no answer comes: by then every client has given up.
      cut_([this](const std::string&, ExchangePtr exchange) {
        loop_.after(minutes(10), [exchange = std::move(exchange)] {});
      }) {}

void Api::handle(net::Request request, const net::Peer& peer, ExchangePtr exchange) {
  Ask ask;
  ask.request = std::move(request);
  ask.peer = peer.address;
  if (is_down_) return cut_(ask.peer, exchange);
  if (!net::parse_target(ask.request.target, ask.target) || !is_text(ask.target)) {
    return send(exchange, bad_request("the request's path is malformed"), {}, ask.peer);
  }
  // By the true time: a skew shall show in answers, not lock everybody out.
  const auto user = access_.who(ask.request, peer, loop_.now());
  if (!user) return send(exchange, unauthorized(), {}, ask.peer);
  ask.user = *user;
  const bool is_known = route(objects_.registry, ask);
  if (auto allowed = access_.check(ask); !allowed) {
    return send(exchange, Refused(allowed.error()), {}, ask.peer);
  }
  if (!is_known) return send(exchange, page_not_found(), {}, ask.peer);
  const Fault fault = faults_.next(ask).value_or(Fault{});
  if (fault.delay.ms <= 0) return serve(ask, exchange, fault);
  loop_.after(fault.delay, lifeline_.guard([this, ask = std::move(ask), exchange, fault] {
    serve(ask, exchange, fault);
  }));
}

net::Response Api::refuse(int status, std::string_view reason) {
  const char* word = status == 413 ? "RequestEntityTooLarge" : "BadRequest";
  return response_of(Refused(Refusal{status, word, std::string(reason)}));
}

void Api::set_down(bool is_down) {
  is_down_ = is_down;
  if (is_down) watches_.cut_all();
}

void Api::serve(const Ask& ask, const ExchangePtr& exchange, const Fault& fault) {
  if (fault.cuts) return cut_(ask.peer, exchange);
  if (fault.code != 0) return send(exchange, Refused(refusal_of(fault, ask)), fault, ask.peer);
  if (ask.verb == "watch") return watch(ask, exchange, fault);
  const bool reads = ask.verb == "get" || ask.verb == "list";
  const auto version = reads && ask.kind != nullptr ? read_version(ask) : Answer<int64_t>(-1);
  if (!version) return send(exchange, Refused(version.error()), fault, ask.peer);
  if (*version <= objects_.table.version()) return send(exchange, run(ask), fault, ask.peer);
  wait_for_version(
      *version, loop_.now() + options_.version_wait,
      [this, ask, exchange, fault, wanted = *version] {
        const int64_t present = objects_.table.version();
        send(exchange,
             present < wanted ? Answer<Reply>(too_large_version(wanted, present)) : run(ask), fault,
             ask.peer);
      });
}

void Api::wait_for_version(int64_t version, Instant until, std::function<void()> then) {
  if (objects_.table.version() >= version || loop_.now() >= until) return then();
  loop_.after(milliseconds(100), lifeline_.guard([this, version, until, then = std::move(then)] {
    wait_for_version(version, until, then);
  }));
}

void Api::send(const ExchangePtr& exchange, const Answer<Reply>& reply, const Fault& fault,
               const std::string& peer) {
  if (fault.loses_answer) return cut_(peer, exchange);
  net::Response response = response_of(reply);
  if (fault.garbles) response.body.resize(response.body.size() / 2);
  if (fault.drop_bytes == 0) return exchange->respond(std::move(response));
  const std::string body = std::exchange(response.body, {});
  const auto stream = exchange->stream(std::move(response));
  if (stream == nullptr) return;
  const auto drops = std::make_shared<Drops>(loop_, stream, fault.drop_bytes, fault.drop_every);
  drops->send(body);
  drops->close();
}

Answer<Reply> Api::run(const Ask& ask) {
  if (ask.kind == nullptr) {
    const auto& path = ask.target.segments;
    if (debug_ && !path.empty() && path[0] == "debug") return debug_(ask);
    auto found = discover(objects_.registry, ask);
    return found ? *found : page_not_found();
  }
  if (ask.kind->is_question) return ask.verb == "create" ? review(ask) : not_allowed();
  if (!ask.subresource.empty() && ask.subresource != "status") return run_subresource(ask);
  if (ask.verb == "get") return get(ask);
  if (ask.verb == "list") return list(ask);
  if (ask.verb == "create" && ask.name.empty()) return create(ask);
  if (ask.verb == "update" && !ask.name.empty()) return update(ask);
  if (ask.verb == "patch" && !ask.name.empty()) return patch(ask);
  if (ask.verb == "delete" && ask.subresource.empty()) return remove(ask);
  if (ask.verb == "deletecollection") return remove_all(ask);
  return not_allowed();
}

Answer<Reply> Api::run_subresource(const Ask& ask) {
  if (ask.subresource == "binding" && ask.verb == "create") return bind(ask);
  if (ask.subresource == "eviction" && ask.verb == "create") return evict(ask);
  if (ask.subresource == "finalize" && ask.verb == "update") return finalize(ask);
  if (ask.subresource == "token" && ask.verb == "create") return give_token(ask);
  if (ask.subresource == "scale") return scale(ask);
  return not_allowed();
}

}  // namespace spillway::embedded
