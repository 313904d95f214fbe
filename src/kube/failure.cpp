#include "kube/failure.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::kube {
namespace {

constexpr size_t k_most_status = size_t{1} << 20;
constexpr Duration k_longest_asked = minutes(1);

struct Meaning {
  Code code;
  const char* next;
};

bool is_budget(const model::Node& status) {
  for (const model::Node& cause : model::items_at(status, {"details", "causes"})) {
    if (model::text_at(cause, {"reason"}) == "DisruptionBudget") return true;
  }
  return false;
}

Meaning meaning_of(int http, const model::Node& status) {
  const std::string_view reason = model::text_at(status, {"reason"});
  switch (http) {
    case 401:
      return {Code::denied, "look whether the credentials are in date and of this cluster"};
    case 403:
      return {Code::denied, "give this identity a role that allows it"};
    case 404:
      return {Code::not_found, ""};
    case 409:
      if (reason == "Conflict") return {Code::contended, "read it again and repeat the change"};
      return {Code::conflict, ""};
    case 410:
      return {Code::gone, "list again"};
    case 429:
      if (is_budget(status)) return {Code::taken, "wait until its disruption budget allows it"};
      return {Code::unavailable, "try again later"};
    default:
      return http >= 500 ? Meaning{Code::unavailable, "try again"} : Meaning{Code::invalid, ""};
  }
}

}  // namespace

Error failure_in(const model::Node& status, const std::string& thing) {
  const auto http =
      static_cast<int>(std::clamp<int64_t>(model::integer_at(status, {"code"}), 0, 999));
  const Meaning meaning = meaning_of(http, status);
  const std::string_view message = model::text_at(status, {"message"});
  return {meaning.code, thing,
          message.empty() ? fmt::format("the API server says {}", http) : std::string(message),
          meaning.next};
}

Error failure_of(const net::Response& response, const std::string& thing) {
  const auto body =
      model::parse_json(response.body, "status", k_most_status, model::k_max_foreign_depth);
  const bool is_status = body && model::text_at(*body, {"kind"}) == "Status";
  if (is_status && model::integer_at(*body, {"code"}) == response.status) {
    return failure_in(*body, thing);
  }
  const Meaning meaning = meaning_of(response.status, is_status ? *body : model::Node{});
  return {meaning.code, thing,
          fmt::format("it was answered with {} {}", response.status, in_quotes(response.body)),
          is_status || *meaning.next != '\0' ? meaning.next : "look whether this is an API server"};
}

std::optional<Duration> asked_to_wait(const net::Response& response) {
  const std::string* text = net::find_header(response.headers, "Retry-After");
  if (text == nullptr) return std::nullopt;
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), whole);
  if (error != std::errc{} || end != text->data() + text->size() || whole < 0) return std::nullopt;
  return std::min(seconds(std::min<int64_t>(whole, 3600)), k_longest_asked);
}

}  // namespace spillway::kube
