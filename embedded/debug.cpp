#include "embedded/debug.h"

#include <fmt/format.h>

#include "embedded/body.h"
#include "embedded/cluster.h"
#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;

Duration duration_at(const Node& document, std::string_view key) {
  const auto parsed = parse_duration(model::text_at(document, {key}));
  return parsed ? std::min(*parsed, hours(24)) : Duration{};
}

// False: it is none of these.
bool read_number(const Node& member, Fault& fault) {
  const auto is = [&](std::string_view name, auto& field) {
    if (member.key != name || member.kind != Node::Kind::integer || member.integer < 0)
      return false;
    field = static_cast<std::remove_reference_t<decltype(field)>>(member.integer);
    return true;
  };
  return is("skip", fault.skip) || is("every", fault.every) || is("times", fault.times) ||
         is("per_mille", fault.per_mille) || is("code", fault.code) ||
         is("retry_after_seconds", fault.retry_after_seconds) ||
         is("drop_bytes", fault.drop_bytes) || is("cut_after_events", fault.cut_after_events) ||
         is("garbage_after_events", fault.garbage_after_events);
}

bool read_other(const Node& member, Fault& fault) {
  const auto is_flag = [&](std::string_view name, bool& field) {
    if (member.key != name || member.kind != Node::Kind::boolean) return false;
    field = member.boolean;
    return true;
  };
  const auto is_text = [&](std::string_view name, std::string& field) {
    if (member.key != name || member.kind != Node::Kind::string) return false;
    field = member.text;
    return true;
  };
  const auto is_duration = [&](std::string_view name, Duration& field) {
    const auto parsed = parse_duration(member.text);
    if (member.key != name || !parsed) return false;
    field = std::min(*parsed, hours(24));
    return true;
  };
  return is_flag("loses_answer", fault.loses_answer) || is_flag("cuts", fault.cuts) ||
         is_flag("garbles", fault.garbles) || is_text("verb", fault.verb) ||
         is_text("resource", fault.resource) || is_duration("delay", fault.delay) ||
         is_duration("drop_every", fault.drop_every) || is_duration("cut_after", fault.cut_after);
}

Reply done() { return {200, model::to_json(success_document(nullptr, {}, {})) + "\n"}; }

Answer<Reply> run(Cluster& cluster, std::string_view what, const Node& body) {
  if (what == "faults") {
    auto fault = read_fault(body);
    if (!fault) return Refused(std::move(fault.error()));
    cluster.faults().add(std::move(*fault));
  } else if (what == "forget-history") {
    cluster.forget_history();
  } else if (what == "restart") {
    cluster.restart(duration_at(body, "down"), model::integer_at(body, {"lost_versions"}));
  } else if (what == "clock") {
    const Duration skew = duration_at(body, "skew");
    cluster.set_clock_skew(model::boolean_at(body, {"is_behind"}) ? Duration{} - skew : skew);
  } else if (what == "kubelet") {
    cluster.set_kubelet(std::string(model::text_at(body, {"node"})),
                        model::boolean_at(body, {"is_on"}));
  } else {
    return Reply{404, "404 page not found\n", "text/plain; charset=utf-8"};
  }
  return done();
}

}  // namespace

Answer<Fault> read_fault(const Node& document) {
  Fault fault;
  for (const Node& member : document.items) {
    if (read_number(member, fault) || read_other(member, fault)) continue;
    return bad_request(fmt::format("a fault has no member {} like that", member.key));
  }
  if (fault.every < 1) return bad_request("every must be at least 1");
  return fault;
}

Answer<Reply> debug(Cluster& cluster, const Ask& ask) {
  const std::string what = ask.target.segments.size() == 2 ? ask.target.segments[1] : "";
  if (what == "faults" && ask.verb == "delete") {
    cluster.faults().clear();
    return done();
  }
  if (ask.verb != "post") return not_allowed();
  if (ask.request.body.empty()) return run(cluster, what, model::object_node());
  const auto body = read_document(ask);
  if (!body) return Refused(body.error());
  return run(cluster, what, *body);
}

}  // namespace spillway::embedded
