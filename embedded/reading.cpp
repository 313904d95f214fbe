// get and list.
#include <charconv>

#include <fmt/format.h>

#include "embedded/api.h"
#include "embedded/continuation.h"
#include "embedded/rows.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

Refused invalid_list(Cause cause) {
  static const Kind k_options{
      .group = "meta.k8s.io", .version = "v1", .plural = "", .name = "ListOptions"};
  return invalid(k_options, "", {std::move(cause)});
}

Done check_match(const Ask& ask) {
  const std::string_view match = ask.parameter("resourceVersionMatch");
  const std::string field = "resourceVersionMatch";
  if (!ask.parameter("sendInitialEvents").empty()) {
    return invalid_list(
        forbidden_field("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match.empty()) return {};
  if (ask.parameter("resourceVersion").empty()) {
    return invalid_list(forbidden_field(
        field, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (!ask.parameter("continue").empty()) {
    return invalid_list(
        forbidden_field(field, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (match != "Exact" && match != "NotOlderThan") {
    return invalid_list(unsupported_value(field, match, R"("Exact", "NotOlderThan", "")"));
  }
  if (match == "Exact" && ask.parameter("resourceVersion") == "0") {
    return invalid_list(forbidden_field(
        field, R"(resourceVersionMatch "exact" is forbidden for resourceVersion "0")"));
  }
  return {};
}

struct Page {
  int64_t version = 0;
  std::vector<ObjectPtr> objects;
  std::string next;       // continue token; empty: that was all
  int64_t remaining = 0;  // known only without selectors
};

Page cut_page(const Shelf& shelf, const Filter& filter, int64_t version, const Key* after,
              int64_t limit) {
  Page page{.version = version, .objects = {}, .next = {}};
  auto at = after == nullptr ? shelf.begin() : shelf.upper_bound(*after);
  for (; at != shelf.end(); ++at) {
    if (!filter.matches(*at->second)) continue;
    const bool is_full = limit > 0 && std::ssize(page.objects) >= limit;
    if (is_full && page.next.empty()) {
      page.next = to_text(Continuation{version, page.objects.back()->key});
    }
    if (is_full) {
      ++page.remaining;
    } else {
      page.objects.push_back(at->second);
    }
  }
  return page;
}

Answer<Page> continue_page(const Table& table, const Ask& ask, const Filter& filter,
                           int64_t limit) {
  if (!ask.parameter("resourceVersion").empty()) {
    return bad_request("specifying resource version is not allowed when using continue");
  }
  const auto token = parse_continuation(ask.parameter("continue"));
  if (!token) {
    return bad_request(
        "invalid continue token: continue key is not valid: encoded key is not in the expected "
        "form");
  }
  if (token->version < 0) {
    return cut_page(table.shelf(*ask.kind), filter, table.version(), &token->after, limit);
  }
  const auto shelf = table.shelf_at(*ask.kind, token->version);
  if (shelf) return cut_page(*shelf, filter, token->version, &token->after, limit);
  Refused refused = expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.");
  refused.value().continue_from = to_text(Continuation{-1, token->after});
  return refused;
}

Answer<Page> first_page(const Table& table, const Ask& ask, const Filter& filter, int64_t limit) {
  const auto version = read_version(ask);
  if (!version) return Refused(version.error());
  const std::string_view match = ask.parameter("resourceVersionMatch");
  // With a limit and a version, and no word about matching, the version is meant exactly.
  const bool is_exact = *version > 0 && (match == "Exact" || (match.empty() && limit > 0));
  if (!is_exact) return cut_page(table.shelf(*ask.kind), filter, table.version(), nullptr, limit);
  const auto shelf = table.shelf_at(*ask.kind, *version);
  if (!shelf) return expired("The resourceVersion for the provided list is too old.");
  return cut_page(*shelf, filter, *version, nullptr, limit);
}

// Items of the built-in kinds do not repeat what they are; those of custom kinds do.
void append_item(std::string& out, const Object& object, std::string_view version) {
  const std::string text = object.text_as(version);
  if (object.kind->is_custom) {
    out += text;
    return;
  }
  const size_t kind = text.find("\"metadata\":");
  out += '{';
  out.append(text, kind);
}

std::string list_text(const Ask& ask, const Page& page, bool has_selector) {
  const std::string api =
      ask.kind->group.empty() ? ask.version : ask.kind->group + "/" + ask.version;
  std::string out =
      fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}")",
                  ask.kind->list_name(), api, page.version);
  if (!page.next.empty()) {
    out += fmt::format(R"(,"continue":"{}")", page.next);
    if (!has_selector) out += fmt::format(R"(,"remainingItemCount":{})", page.remaining);
  }
  out += R"(},"items":[)";
  bool is_first = true;
  for (const ObjectPtr& object : page.objects) {
    if (!is_first) out += ',';
    is_first = false;
    append_item(out, *object, ask.version);
  }
  return out + "]}\n";
}

int64_t read_limit(const Ask& ask) {
  const std::string_view text = ask.parameter("limit");
  int64_t limit = 0;
  std::from_chars(text.data(), text.data() + text.size(), limit);
  return limit;
}

}  // namespace

Answer<Reply> Api::get(const Ask& ask) {
  const ObjectPtr object = objects_.table.find(*ask.kind, ask.key());
  if (object == nullptr) return not_found(*ask.kind, ask.name);
  if (!ask.wants_table()) return Reply{200, object->text_as(ask.version) + "\n"};
  return Reply{200, table_text(*ask.kind, {object}, {}, object->version, objects_.clock.now())};
}

Answer<Reply> Api::list(const Ask& ask) {
  if (auto done = check_match(ask); !done) return Refused(std::move(done.error()));
  auto filter = read_filter(ask);
  if (!filter) return Refused(std::move(filter.error()));
  // Whatever the server has at hand (version 0) it gives whole.
  const int64_t limit = ask.parameter("resourceVersion") == "0" ? 0 : read_limit(ask);
  auto page = ask.parameter("continue").empty()
                  ? first_page(objects_.table, ask, *filter, limit)
                  : continue_page(objects_.table, ask, *filter, limit);
  if (!page) return Refused(std::move(page.error()));
  if (ask.wants_table()) {
    return Reply{
        200, table_text(*ask.kind, page->objects, page->next, page->version, objects_.clock.now())};
  }
  const bool has_selector = !filter->labels.empty() || !filter->fields.empty();
  return Reply{200, list_text(ask, *page, has_selector)};
}

}  // namespace spillway::embedded
