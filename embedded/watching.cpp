// watch.
#include <charconv>

#include "embedded/api.h"
#include "embedded/rows.h"

namespace spillway::embedded {
namespace {

Done check_initial(const Ask& ask) {
  static const Kind k_options{
      .group = "meta.k8s.io", .version = "v1", .plural = "", .name = "ListOptions"};
  const std::string_view match = ask.parameter("resourceVersionMatch");
  const bool says_initial = !ask.parameter("sendInitialEvents").empty();
  if (says_initial && match != "NotOlderThan") {
    return invalid(k_options, "",
                   {forbidden_field("resourceVersionMatch",
                                    "sendInitialEvents requires setting resourceVersionMatch to "
                                    "NotOlderThan")});
  }
  if (!says_initial && !match.empty()) {
    return invalid(k_options, "",
                   {forbidden_field("resourceVersionMatch",
                                    "resourceVersionMatch is forbidden for watch unless "
                                    "sendInitialEvents is provided")});
  }
  return {};
}

Duration read_timeout(const Ask& ask) {
  const std::string_view text = ask.parameter("timeoutSeconds");
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return seconds(std::clamp<int64_t>(value, 0, 24 * 3600));
}

}  // namespace

void Api::watch(const Ask& ask, const ExchangePtr& exchange, const Fault& fault) {
  const auto refuse_with = [&](Refusal refusal) {
    send(exchange, Refused(std::move(refusal)), fault, ask.peer);
  };
  if (auto done = check_initial(ask); !done) return refuse_with(done.error());
  auto filter = read_filter(ask);
  if (!filter) return refuse_with(filter.error());
  const auto version = read_version(ask);
  if (!version) return refuse_with(version.error());
  Watches::Opening opening;
  opening.kind = ask.kind;
  opening.version = ask.version;
  opening.filter = std::move(*filter);
  opening.after = *version;
  opening.marks_initial_end = ask.is_set("sendInitialEvents");
  opening.sends_initial =
      opening.marks_initial_end || (*version <= 0 && ask.parameter("sendInitialEvents") != "false");
  if (*version <= 0 && !opening.sends_initial) opening.after = objects_.table.version();
  opening.wants_bookmarks = ask.is_set("allowWatchBookmarks");
  opening.timeout = read_timeout(ask);
  opening.fault = fault;
  if (ask.wants_table()) {
    opening.shown = [this](const Object& object) {
      return table_text(*object.kind, {std::make_shared<Object>(object)}, {}, object.version,
                        objects_.clock.now());
    };
  } else {
    opening.shown = [as = ask.version](const Object& object) { return object.text_as(as); };
  }
  auto stream = exchange->stream(
      {200, {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}, ""});
  if (stream != nullptr) watches_.open(std::move(opening), std::move(stream));
}

}  // namespace spillway::embedded
