// Bodies in and out, for handlers.
#pragma once

#include "services/broker/desk.h"
#include "services/json_body.h"
#include "services/wire/fields.h"

namespace spillway::services {

// Answers itself when it is null.
template <class T>
std::optional<T> read_body(Desk& desk, Call& call, std::string_view what) {
  auto body = json_body<T>(call.request, what);
  if (body) return std::move(*body);
  reply(desk, call, std::move(body.error()));
  return std::nullopt;
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
