// Bodies of requests as the services read them: strict JSON, and a problem that says what is wrong
// with it where it is not.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "model/codec.h"
#include "net/message.h"
#include "services/problem.h"

namespace spillway::services {

bool is_json(const net::Request& request);  // by its Content-Type; none is taken for JSON
net::Response json_response(int status, std::string body);

// JSON that is none is 400; JSON that means nothing here is 422.
template <class T>
tl::expected<T, net::Response> json_body(const net::Request& request, std::string_view what) {
  if (!is_json(request)) {
    return tl::unexpected(problem(
        415, "media-type",
        {Code::invalid, "Content-Type", "it is not application/json", "send JSON and say so"}));
  }
  const auto root = model::parse_json(request.body, what, model::k_max_row_bytes);
  if (!root) {
    Error error = root.error();
    if (error.next.empty()) error.next = "send JSON as described in the OpenAPI document";
    return tl::unexpected(problem(400, "malformed", error));
  }
  auto body = model::read_node<T>(*root, model::Heading{.what = what});
  if (body) return std::move(*body);
  Error error = body.error();
  if (error.next.empty()) error.next = "correct it and ask again";
  return tl::unexpected(problem(error));
}

}  // namespace spillway::services
