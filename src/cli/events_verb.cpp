// spillway events, spillway audit: the log, page by page or as it grows.
#include <deque>

#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/follow.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

// Without --after: so many of the federation's newest are looked through for those that concern us.
constexpr int64_t k_window = 1000;
constexpr int64_t k_usual_limit = 100;

struct EventsArguments {
  Asking asking;
  bool follow = false;
  int64_t after = -1;
  int64_t limit = 0;  // 0: not given
  bool audit = false;
  const char* verb() const { return audit ? "audit" : "events"; }
};

Result<wire::EventPage> page_after(Session& session, bool audit, int64_t after) {
  return session.ask(audit ? &wire::BrokerClient::audit : &wire::BrokerClient::list_events, after,
                     k_page);
}

// A page without ?after= begins at the end of the log, and says where that is.
Result<int64_t> end_of_log(Session& session) {
  net::Request request;
  request.target = "/v1/events?limit=1";
  request.headers.push_back({"Accept", "application/json"});
  const auto response = session.send(request);
  if (!response) return tl::unexpected(response.error());
  if (response->status >= 300) return tl::unexpected(wire::error_of(*response));
  return event_page_from(response->body).map([](const wire::EventPage& page) { return page.next; });
}

// From `after` on, or the newest when it is negative: at most `limit`.
Result<wire::EventPage> collect(Session& session, const EventsArguments& arguments) {
  int64_t after = arguments.after;
  const bool newest = after < 0;
  int64_t window = std::max(k_window, arguments.limit);
  int64_t end = 0;
  if (newest) {
    const auto told = end_of_log(session);
    if (!told) return tl::unexpected(told.error());
    end = *told;
    after = std::max<int64_t>(0, end - window);
  }
  std::deque<wire::EventBody> kept;
  wire::EventPage all;
  while (true) {
    auto page = page_after(session, arguments.audit, after);
    if (!page && newest && page.error().code == Code::gone && window > 0) {
      window /= 2;  // the log is shorter than that
      after = std::max<int64_t>(0, end - window);
      continue;
    }
    if (!page) return tl::unexpected(page.error());
    for (wire::EventBody& event : page->events) {
      if (newest && std::cmp_equal(kept.size(), arguments.limit)) kept.pop_front();
      if (std::cmp_equal(kept.size(), arguments.limit)) break;
      kept.push_back(std::move(event));
    }
    const bool enough = !newest && std::cmp_equal(kept.size(), arguments.limit);
    all.next = enough ? kept.back().sequence : page->next;
    all.more = enough || page->more;
    if (enough || !page->more || page->next <= after) break;
    after = page->next;
  }
  all.events.assign(std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end()));
  return all;
}

Table events_table(const wire::EventPage& page, const EventsArguments& arguments) {
  const Clock clock = arguments.asking.clock();
  if (arguments.audit) {
    Table table(
        {{"NR", Align::right}, {"WHEN"}, {"BY"}, {"WHAT"}, {"ON"}, {"REQUEST"}, {"DETAIL"}});
    for (const wire::EventBody& event : page.events) {
      table.add({fmt::format("{}", event.sequence), clock(event.at), event.by, event.kind,
                 event.subject, event.request, event.detail});
    }
    return table;
  }
  Table table({{"NR", Align::right}, {"WHEN"}, {"WHAT"}, {"ON"}, {"BUYER"}, {"DETAIL"}});
  for (const wire::EventBody& event : page.events) {
    table.add({fmt::format("{}", event.sequence), clock(event.at), event.kind, event.subject,
               event.buyer.text, event.detail});
  }
  return table;
}

Status list_events(const EventsArguments& arguments, Session& session) {
  const auto page = collect(session, arguments);
  if (!page) return tl::unexpected(page.error());
  return show(arguments.asking.form(), json_of(*page), events_table(*page, arguments),
              "No events that concern this identity.");
}

int run_events(EventsArguments arguments) {
  if (!arguments.follow && arguments.limit == 0) arguments.limit = k_usual_limit;
  return with_session(arguments.verb(), arguments.asking, [&](Session& session) {
    if (!arguments.follow) return list_events(arguments, session);
    return follow_events(session, arguments.asking.form(), arguments.after, arguments.limit);
  });
}

}  // namespace

void add_events(Word verb) {
  auto arguments = std::make_shared<EventsArguments>();
  verb.flag("--follow", arguments->follow, "Stay, and print events as they happen");
  verb.option("--after", arguments->after, "After this number; 0: all that is kept (the newest)")
      .not_negative();
  verb.option("--limit", arguments->limit, "At most so many (100; without end with --follow)")
      .positive();
  add_asking(verb, arguments->asking);
  verb.examples(
      "  spillway events\n"
      "  spillway events --follow -o json | jq -r .kind\n"
      "  spillway events --after 0 --limit 1000 -o wide\n");
  verb.run([arguments] { return run_events(*arguments); });
}

void add_audit(Word verb) {
  auto arguments = std::make_shared<EventsArguments>();
  arguments->audit = true;
  verb.option("--after", arguments->after, "After this number; 0: all that is kept (the newest)")
      .not_negative();
  verb.option("--limit", arguments->limit, "At most so many (100)").positive();
  add_asking(verb, arguments->asking);
  verb.examples(
      "  spillway audit\n"
      "  spillway audit --after 0 -o wide\n"
      "  spillway audit -o json | jq '.events[] | select(.by == \"milan-edge\")'\n");
  verb.run([arguments] { return run_events(*arguments); });
}

}  // namespace spillway::cli
