// Bodies in and out, for handlers.
#pragma once

#include "services/broker/desk.h"
#include "services/problem.h"
#include "services/wire/fields.h"

namespace spillway::services {

bool is_json(const net::Request& request);  // by its Content-Type; none is taken for JSON

// JSON that is none is 400; JSON that means nothing here is 422. Answers itself when it is null.
template <class T>
std::optional<T> read_body(Desk& desk, Call& call, std::string_view what) {
  if (!is_json(call.request)) {
    reply(desk, call,
          problem(415, "media-type",
                  {Code::invalid, "Content-Type", "it is not application/json",
                   "send JSON and say so"}));
    return std::nullopt;
  }
  const auto root = model::parse_json(call.request.body, what, model::k_max_row_bytes);
  if (!root) {
    Error error = root.error();
    if (error.next.empty()) error.next = "send JSON as described in api/openapi.yaml";
    reply(desk, call, problem(400, "malformed", error));
    return std::nullopt;
  }
  auto body = model::read_node<T>(*root, model::Heading{.what = what});
  if (!body) {
    Error error = body.error();
    if (error.next.empty()) error.next = "correct it and ask again";
    refuse(desk, call, error);
    return std::nullopt;
  }
  return std::move(*body);
}

// Where all of a body may be left out, so may the body.
template <class T>
std::optional<T> read_body_if_any(Desk& desk, Call& call, std::string_view what) {
  if (call.request.body.empty()) return T{};
  return read_body<T>(desk, call, what);
}

// For routes that take no body: what somebody meant by one must not be lost in silence.
inline bool no_body(Desk& desk, Call& call) {
  return call.request.body.empty() || read_body<wire::Nothing>(desk, call, "body").has_value();
}

template <class T>
void answer(Desk& desk, Call& call, int status, const T& body) {
  reply(desk, call, json_response(status, model::write_json(body)));
}

template <class T>
void answer_tagged(Desk& desk, Call& call, const T& body, int64_t version) {
  const std::string etag = etag_of(version);
  if (not_modified(desk, call, etag)) return;
  net::Response response = json_response(200, model::write_json(body));
  response.headers.push_back({"ETag", etag});
  reply(desk, call, std::move(response));
}

// The record that a row holds, or null.
template <class T>
const T* held(const host::Row& row) {
  const auto* shared = std::get_if<market::Shared<T>>(&row.record);
  return shared == nullptr ? nullptr : shared->get();
}

}  // namespace spillway::services
