// The log of events: as a stream that stays open, or page by page.
#include <charconv>

#include "services/broker/body.h"
#include "services/broker/event_hub.h"
#include "services/broker/handlers.h"
#include "services/broker/snapshot.h"
#include "services/wire/convert.h"

namespace spillway::services {
namespace {

// Last-Event-ID is what a browser sends when it comes back; ?after= is for everyone else.
std::optional<int64_t> after_asked(Desk& desk, Call& call, int64_t otherwise) {
  const std::string* text = net::find_header(call.request.headers, "Last-Event-ID");
  if (text == nullptr) text = call.target.parameter("after");
  if (text == nullptr) return otherwise;
  int64_t after = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, after);
  if (error == std::errc{} && stop == end && after >= 0) return after;
  refuse(desk, call,
         {Code::invalid, "after", "it is not a sequence number",
          "send the last id that you saw, or 0 for all that is kept"});
  return std::nullopt;
}

bool wants_stream(const Call& call) {
  const std::string* accept = net::find_header(call.request.headers, "Accept");
  return accept != nullptr && accept->find("text/event-stream") != std::string::npos;
}

Listener listener_of(const Call& call) {
  return {call.caller.name, call.scope == Scope::all, call.caller.not_after};
}

void refuse_with_snapshot(Desk& desk, const std::shared_ptr<Call>& call, Error error) {
  error.next = "take over the snapshot and follow the events after its sequence";
  take_snapshot(desk, call, [&desk, call, error](const wire::SnapshotAnswer& snapshot) {
    reply(desk, *call, problem(error, snapshot));
  });
}

// As after a backup was restored.
void refuse_beyond(Desk& desk, const std::shared_ptr<Call>& call, int64_t after) {
  refuse_with_snapshot(desk, call,
                       {Code::gone,
                        fmt::format("event {}", after),
                        fmt::format("the log ends at {}: it has become shorter", desk.log.last()),
                        {}});
}

bool may_open(Desk& desk, Call& call) {
  if (desk.draining) {
    refuse(desk, call,
           {Code::unavailable, "broker", "it is shutting down", "try again in a second"});
    return false;
  }
  if (desk.hub.streams_of(call.caller.name) < desk.caps.streams) return true;
  refuse(desk, call,
         {Code::over_quota, "identity " + call.caller.name,
          fmt::format("it has {} streams open", desk.caps.streams), "close one first"});
  return false;
}

// Whether it may is asked here and not earlier: many may have asked the store at once.
void open_stream(Desk& desk, const std::shared_ptr<Call>& call, int64_t after) {
  if (!may_open(desk, *call)) return;
  net::Response head;
  head.headers = {{"Content-Type", "text/event-stream"},
                  {"Cache-Control", "no-store"},
                  {"X-Accel-Buffering", "no"},
                  {"X-Request-Id", call->id}};
  finish(desk, *call, 200);
  if (auto stream = call->exchange->stream(std::move(head))) {
    desk.hub.add(listener_of(*call), std::move(stream), after);
  }
}

void begin_stream(Desk& desk, const std::shared_ptr<Call>& call, int64_t after) {
  if (after > desk.log.last()) return refuse_beyond(desk, call, after);
  // Whether the log still has what is asked for is the store's to say.
  if (after >= desk.log.first_kept() - 1) return open_stream(desk, call, after);
  desk.store.events_after({after, 1, true},
                          [&desk, call, after](const Result<std::vector<market::Event>>& events) {
                            if (events) return open_stream(desk, call, after);
                            if (events.error().code == Code::gone) {
                              return refuse_with_snapshot(desk, call, events.error());
                            }
                            refuse(desk, *call, events.error());
                          });
}

// `pick`: which of the log's events are told. The page may be shorter than asked for, even empty,
// and yet not the last: `next` and `more` tell.
using Pick = std::function<bool(const market::Event&)>;

void tell_after(Desk& desk, const std::shared_ptr<Call>& call, int64_t after, int32_t limit,
                const Pick& pick) {
  if (after > desk.log.last()) return refuse_beyond(desk, call, after);
  desk.store.events_after(
      {after, limit, true},
      [&desk, call, pick, limit, after](const Result<std::vector<market::Event>>& events) {
        if (!events && events.error().code == Code::gone) {
          return refuse_with_snapshot(desk, call, events.error());
        }
        if (!events) return refuse(desk, *call, events.error());
        wire::EventPage page;
        page.next = events->empty() ? after : events->back().sequence;
        page.more = std::cmp_equal(events->size(), limit);
        for (const market::Event& event : *events) {
          if (pick(event)) {
            page.events.push_back(wire::body_of(event, call->scope == Scope::all));
          }
        }
        answer(desk, *call, 200, page);
      });
}

// Without `after` from the oldest that is kept.
void tell_page(Desk& desk, const std::shared_ptr<Call>& call, const Pick& pick) {
  const auto after = after_asked(desk, *call, -1);
  PageAsked asked;
  if (!after || !page_asked(desk, *call, asked)) return;
  if (*after >= 0) return tell_after(desk, call, *after, asked.limit, pick);
  load(desk, call, {}, [&desk, call, pick, asked](const host::Snapshot& snapshot) {
    tell_after(desk, call, snapshot.first_event - 1, asked.limit, pick);
  });
}

}  // namespace

void handle_events(Desk& desk, const std::shared_ptr<Call>& call) {
  if (!wants_stream(*call)) {
    return tell_page(desk, call, [call](const market::Event& event) {
      return concerns(event, listener_of(*call));
    });
  }
  const auto after = after_asked(desk, *call, desk.log.last());
  if (after) begin_stream(desk, call, *after);
}

// What somebody did, as opposed to what the market did by itself.
void handle_audit(Desk& desk, const std::shared_ptr<Call>& call) {
  tell_page(desk, call, [](const market::Event& event) { return !event.by.empty(); });
}

}  // namespace spillway::services
