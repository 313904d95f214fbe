#include "services/broker/desk.h"

#include <algorithm>
#include <charconv>

#include "services/broker/body.h"
#include "services/problem.h"

namespace spillway::services {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// RFC 9110, 13.1.2: "*", or a list of tags, compared weakly.
bool lists(std::string_view tags, std::string_view etag) {
  if (trimmed(tags) == "*") return true;
  while (!tags.empty()) {
    std::string_view tag = tags.substr(0, tags.find(','));
    tags.remove_prefix(std::min(tag.size() + 1, tags.size()));
    tag = trimmed(tag);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag) return true;
  }
  return false;
}

// Where the store lies is for the log and for operators.
Error without_path(Error error) {
  if (error.thing.starts_with("store ")) error.thing = "store";
  return error;
}

bool is_operator(const Call& call) { return call.caller.has(model::Role::operator_); }

bool is_change(const Call& call) { return call.request.method != "GET"; }

}  // namespace

void finish(Desk& desk, Call& call, int status) {
  const double took = static_cast<double>((desk.loop.now() - call.began).ms) / 1000.0;
  desk.request_metrics.note(call.route, status, took);
  const Level level = status >= 500                      ? Level::error
                      : status >= 400 || is_change(call) ? Level::info
                                                         : Level::debug;
  if (!desk.journal.takes(level)) return;
  desk.journal.write(level, "request",
                     {{"request", call.id},
                      {"by", call.caller.name},
                      {"from", call.address},
                      {"method", call.request.method},
                      {"target", call.request.target},
                      {"status", fmt::format("{}", status)},
                      {"ms", fmt::format("{}", (desk.loop.now() - call.began).ms)}});
}

void reply(Desk& desk, Call& call, net::Response response) {
  response.headers.push_back({"X-Request-Id", call.id});
  finish(desk, call, response.status);
  call.exchange->respond(std::move(response));
}

void refuse(Desk& desk, Call& call, const Error& error) {
  if (error.code == Code::internal || error.code == Code::unavailable) {
    desk.journal.write(Level::error, "refusal", {{"request", call.id}, {"why", error.message()}});
  }
  reply(desk, call, problem(is_operator(call) ? error : without_path(error)));
}

void submit(Desk& desk, const std::shared_ptr<Call>& call, market::Command command,
            std::function<void(const market::Answer&)> then) {
  desk.book.submit(std::move(command),
                   [&desk, call, then = std::move(then)](const Result<market::Answer>& answer) {
                     if (!answer) return refuse(desk, *call, answer.error());
                     then(*answer);
                   },
                   {call->caller.name, call->id});
}

std::function<void(const market::Answer&)> done(Desk& desk, const std::shared_ptr<Call>& call) {
  return [&desk, call](const market::Answer&) { reply(desk, *call, net::Response{204, {}, {}}); };
}

void load(Desk& desk, const std::shared_ptr<Call>& call, host::Load what,
          std::function<void(const host::Snapshot&)> then) {
  what.may_wait = !what.scans.empty();  // else whoever reads lists would keep others from buying
  desk.store.load(std::move(what),
                  [&desk, call, then = std::move(then)](const Result<host::Snapshot>& snapshot) {
                    if (!snapshot) return refuse(desk, *call, snapshot.error());
                    then(*snapshot);
                  });
}

bool page_asked(Desk& desk, Call& call, PageAsked& page) {
  if (const std::string* after = call.target.parameter("after")) page.after = *after;
  const std::string* limit = call.target.parameter("limit");
  if (limit == nullptr) return true;
  const auto [end, error] =
      std::from_chars(limit->data(), limit->data() + limit->size(), page.limit);
  const bool whole = error == std::errc{} && end == limit->data() + limit->size();
  if (whole && page.limit >= 1 && std::cmp_less_equal(page.limit, desk.caps.page)) return true;
  refuse(desk, call,
         {Code::invalid, "limit", fmt::format("it is not a number from 1 to {}", desk.caps.page),
          "ask for less and follow `next`"});
  return false;
}

host::Scan scan_of(market::Kind kind, host::Scan::By by, const std::string& name,
                   const PageAsked& page) {
  host::Scan scan;
  scan.kind = kind;
  scan.by = by;
  scan.name = name;
  scan.after = page.after;
  scan.limit = page.limit;
  return scan;
}

std::string etag_of(int64_t version) { return fmt::format("\"{}\"", version); }

bool not_modified(Desk& desk, Call& call, const std::string& etag) {
  const std::string* known = net::find_header(call.request.headers, "If-None-Match");
  if (known == nullptr || !lists(*known, etag)) return false;
  net::Response response;
  response.status = 304;
  response.headers.push_back({"ETag", etag});
  reply(desk, call, std::move(response));
  return true;
}

Error missing(std::string_view noun, const std::string& id) {
  return {Code::not_found, fmt::format("{} {}", noun, id),
          "it does not exist, or is not yours to see", "look at what you have with a list"};
}

}  // namespace spillway::services
