#include "cli/doctor.h"

#include <array>
#include <condition_variable>
#include <ctime>

#include "cli/doctor_local.h"
#include "cli/guard_check.h"

namespace spillway::cli {
namespace {

constexpr Duration k_clock_far = seconds(60);  // certificates begin five minutes early
constexpr Duration k_stream_wait = seconds(10);

Result<net::Response> get(Examination& examination, const std::string& target) {
  net::Request request;
  request.target = target;
  request.headers.push_back({"Accept", "application/json"});
  return examination.session->send(request);
}

// One request tells of TLS, of the authority and of the time.
Result<std::string> look_at_tls(Examination& examination) {
  Asking asking;
  asking.dir = examination.dir;
  asking.broker = examination.broker;
  auto session = open_session(asking);
  if (!session) return tl::unexpected(session.error());
  examination.session = std::move(*session);
  const auto response = get(examination, "/healthz");
  examination.asked = now();
  if (!response) {
    examination.session.reset();
    return tl::unexpected(response.error());
  }
  if (const std::string* date = net::find_header(response->headers, "Date"); date != nullptr) {
    examination.broker_time = parse_http_date(*date);
  }
  return "TLS 1.3; the broker's certificate is signed by an authority that we trust";
}

Result<std::string> look_at_clock(Examination& examination) {
  if (!examination.broker_time) {
    return fail(Code::invalid, "clock", "the broker does not say what time it is",
                "look whether something stands between here and the broker");
  }
  const Instant here = examination.asked;
  const Instant there = *examination.broker_time;
  const Duration apart = here > there ? here - there : there - here;
  const std::string text = fmt::format("{} s apart from the broker's", apart.ms / 1000);
  if (apart < k_clock_far) return text;
  return fail(Code::invalid, "clock", text,
              "set the clock here or there: timedatectl set-ntp true");
}

Result<std::string> look_at_whoami(Examination& examination) {
  const auto told = examination.session->ask(&wire::BrokerClient::whoami);
  if (!told) return tl::unexpected(told.error());
  examination.roles = told->roles;
  if (told->name != examination.member->name) {
    return fail(Code::denied, "identity",
                fmt::format("the broker takes us for {}, the folder says {}", told->name,
                            examination.member->name),
                "join again with a new token");
  }
  return fmt::format("the broker knows us as {}", told->name);
}

Result<std::string> look_at_roles(Examination& examination) {
  if (examination.roles.empty()) {
    return fail(Code::denied, "roles", "there are none", "ask the operator for a new token");
  }
  return model::to_text(examination.roles);
}

Result<std::string> look_at_ready(Examination& examination) {
  const auto response = get(examination, "/readyz");
  if (!response) return tl::unexpected(response.error());
  if (response->status >= 300) return tl::unexpected(wire::error_of(*response));
  return "the broker serves its market";
}

Result<std::string> look_at_stream(Examination& examination) {
  Session& session = *examination.session;
  auto stream = std::make_shared<std::unique_ptr<wire::EventStream>>();
  const Status opened = session.wait<void>([&session, stream](wire::Then<void> then) {
    // Dropped only after the call that it is in has returned.
    const auto end = [&session, stream, then](const Status& status) {
      session.after(milliseconds(0), [stream, then, status] {
        stream->reset();
        then(status);
      });
    };
    wire::EventCalls calls;
    calls.on_open = [end] { end({}); };
    calls.on_event = [](const wire::EventBody&) {};
    calls.on_end = [end](const Error& why, const wire::SnapshotAnswer*) {
      end(tl::unexpected(why));
    };
    *stream = session.broker().follow(-1, std::move(calls));
    session.after(k_stream_wait, [end] {
      end(fail(Code::unavailable, "event stream", "it does not open",
               "look for a proxy on the way that holds answers back"));
    });
  });
  if (!opened) return tl::unexpected(opened.error());
  return "the event stream opens";
}

Result<std::string> look_at_fabric(Examination& examination) {
  return look_at_guard(examination.kubeconfig, examination.context);
}

constexpr std::array k_checks{
    Check{"identity", false, false, look_at_folder},
    Check{"certificate", true, false, look_at_certificate},
    Check{"disk", false, false, look_at_disk},
    Check{"name", true, false, look_up_name},
    Check{"connection", true, false, look_at_tcp},
    Check{"TLS", true, false, look_at_tls},
    Check{"clock", true, true, look_at_clock},
    Check{"whoami", true, true, look_at_whoami},
    Check{"roles", true, true, look_at_roles},
    Check{"broker", true, true, look_at_ready},
    Check{"events", true, true, look_at_stream},
    Check{"guard", false, false, look_at_fabric, true},
};

}  // namespace

std::vector<Finding> examine(Examination& examination,
                             const std::function<void(const Finding&)>& tell) {
  std::vector<Finding> findings;
  for (const Check& check : k_checks) {
    if (check.needs_identity && !examination.member) continue;
    if (check.needs_broker && !examination.session) continue;
    if (check.needs_cluster && examination.kubeconfig.empty()) continue;
    const Result<std::string> seen = check.look(examination);
    Finding finding{seen.has_value(), check.what, {}, {}};
    if (seen) {
      finding.seen = *seen;
    } else {
      const Error& error = seen.error();
      finding.seen = error.thing.empty() ? error.reason : error.thing + ": " + error.reason;
      finding.to_do = error.next;
    }
    tell(finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::optional<Instant> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return Instant{static_cast<int64_t>(::timegm(&parts)) * 1000};
}

}  // namespace spillway::cli
