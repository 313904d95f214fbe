#include "embedded/continuation.h"

#include "base/base64.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::embedded {

std::string to_text(const Continuation& continuation) {
  model::Node token = model::object_node();
  model::put(token, "v", model::text_node("meta.k8s.io/v1"));
  model::put(token, "rv", model::integer_node(continuation.version));
  model::put(token, "start",
             model::text_node(continuation.after.space + "/" + continuation.after.name));
  return to_base64(model::to_json(token));
}

std::optional<Continuation> parse_continuation(std::string_view text) {
  const auto decoded = from_base64(text);
  if (!decoded) return std::nullopt;
  const auto token = model::parse_json(*decoded, "continue");
  if (!token) return std::nullopt;
  const std::string_view start = model::text_at(*token, {"start"});
  const size_t slash = start.find('/');
  const int64_t version = model::integer_at(*token, {"rv"});
  if (slash == std::string_view::npos || version == 0) return std::nullopt;
  return Continuation{version,
                      {std::string(start.substr(0, slash)), std::string(start.substr(slash + 1))}};
}

}  // namespace spillway::embedded
